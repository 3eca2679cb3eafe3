package sqlite

import (
	"context"
	"embed"
	"fmt"
	"time"

	codes "modernc.org/sqlite/lib"

	"svc/backend/store/ledger"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies the migrations that the file has not seen, each with its
// number in one transaction. Of several processes that start at once, one does.
func (s *sqlite) migrate(ctx context.Context) error {
	version, err := s.version(ctx)
	if err != nil {
		return err
	}
	return ledger.Migrate(migrations, version, func(text string, to int) error { return s.applyFile(ctx, text, to) })
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

func (s *sqlite) applyFile(ctx context.Context, text string, to int) error {
	t, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback()
	var version int
	if err := t.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil || version != to-1 {
		return err // another process was faster
	}
	if _, err := t.ExecContext(ctx, text+fmt.Sprintf("\nPRAGMA user_version = %d;", to)); err != nil {
		return err
	}
	return t.Commit()
}
