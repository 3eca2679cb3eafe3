package ledger

import (
	"fmt"
	"io/fs"
	"path"
)

// Migrate has the migrations of a store applied that are newer than its version, each
// with the version that it leads to.
func Migrate(migrations fs.FS, version int, apply func(text string, to int) error) error {
	files, err := fs.Glob(migrations, "migrations/*.sql") // in order
	if err != nil {
		return err
	}
	if version > len(files) {
		return fmt.Errorf("its schema is version %d, newer than this program's %d: use a newer svc", version, len(files))
	}
	for i := version; i < len(files); i++ {
		text, err := fs.ReadFile(migrations, files[i])
		if err == nil {
			err = apply(string(text), i+1)
		}
		if err != nil {
			return fmt.Errorf("applying %s: %w", path.Base(files[i]), err)
		}
	}
	return nil
}
