package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	codes "modernc.org/sqlite/lib"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies the migrations that the file has not seen, each with its
// number in one transaction. Of several processes that start at once, one does.
func (s *sqlite) migrate(ctx context.Context) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	slices.Sort(files)
	version, err := s.version(ctx)
	if err != nil {
		return err
	}
	if version > len(files) {
		return fmt.Errorf("its schema is version %d, newer than this program's %d: use a newer svc", version, len(files))
	}
	for i := version; i < len(files); i++ {
		if err := s.applyFile(ctx, files[i], i); err != nil {
			return fmt.Errorf("applying %s: %w", filepath.Base(files[i]), err)
		}
	}
	return nil
}

// version is the number of the last migration. Where several processes make a file
// at once, SQLite lets one begin its log, and turns the others away at once
// although they would wait.
func (s *sqlite) version(ctx context.Context) (v int, err error) {
	for end := time.Now().Add(busyWait); ; time.Sleep(busyPause) {
		err = s.write.QueryRowContext(ctx, "PRAGMA user_version").Scan(&v)
		if code(err)&0xff != codes.SQLITE_BUSY || time.Now().After(end) {
			return v, err
		}
	}
}

func (s *sqlite) applyFile(ctx context.Context, file string, before int) error {
	text, err := migrations.ReadFile(file)
	if err != nil {
		return err
	}
	t, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback()
	var version int
	if err := t.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version != before {
		return err // another process was faster
	}
	if _, err := t.ExecContext(ctx, string(text)+fmt.Sprintf("\nPRAGMA user_version = %d;", before+1)); err != nil {
		return err
	}
	return t.Commit()
}
