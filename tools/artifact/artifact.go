// Package artifact writes the folder of a migration, or of a verification:
// everything or nothing, and never over what is not ours.
package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

const (
	// attestation names every other file of a migration's folder.
	attestation = "attestation.dsse.json"
	stagingName = ".svc-staging-"
)

// Files are contents by their slash-separated path below the folder.
type Files map[string][]byte

// Digest is the SHA-256 of a content, in hex.
func Digest(b []byte) string {
	d := sha256.Sum256(b)
	return hex.EncodeToString(d[:])
}

// DigestOf is the SHA-256 of what a reader has, in hex.
func DigestOf(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Check says why out can't become a folder with the main file given, or nil: one
// of another kind is not replaced. It writes nothing.
func Check(out, main string) error {
	info, err := os.Lstat(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkParent(filepath.Dir(filepath.Clean(out)))
	case err != nil:
		return fmt.Errorf("looking at out: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("out %s is a link; nothing was written: name the folder itself", out)
	case !info.IsDir():
		return fmt.Errorf("out %s is a file; nothing was written: name a new or an empty folder", out)
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		return fmt.Errorf("looking at out: %w", err)
	}
	if len(entries) > 0 && !ours(out, main) {
		return fmt.Errorf("out %s holds something else than an earlier %s as it was written with its files; nothing was written: name a new or an empty folder", out, main)
	}
	return checkParent(filepath.Dir(filepath.Clean(out)))
}

// checkParent refuses a parent that is no folder or can't be written to; one
// that is not there yet is made.
func checkParent(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkParent(filepath.Dir(dir))
	case err != nil:
		return fmt.Errorf("looking at the folder of out: %w", err)
	case !info.IsDir():
		return fmt.Errorf("%s is no folder, so out can't be made in it; nothing was written", dir)
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("%s can't be written to; nothing was written: name another out", dir)
	}
	return nil
}

// ours reports whether a folder holds an earlier main file with what belongs to
// it, and that alone: the files that its attestation names, as they were written.
func ours(dir, main string) bool {
	digests, err := attested(dir)
	if err != nil || digests[main] == "" {
		return false
	}
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil || name == attestation {
			return err
		}
		b, err := os.ReadFile(file)
		if err == nil && (!d.Type().IsRegular() || Digest(b) != digests[filepath.ToSlash(name)]) {
			err = errForeign
		}
		return err
	})
	return err == nil
}

var errForeign = errors.New("not written by a migration, or changed since")

// attested reads which files an earlier migration wrote, with their digests. It
// is no matter of trust, only of not losing what somebody else put there.
func attested(dir string) (map[string]string, error) {
	b, err := os.ReadFile(filepath.Join(dir, attestation))
	if err != nil {
		return nil, err
	}
	var envelope struct{ Payload []byte }
	var statement struct {
		Subject []struct {
			Name   string
			Digest struct{ SHA256 string }
		}
	}
	if err := errors.Join(json.Unmarshal(b, &envelope), json.Unmarshal(envelope.Payload, &statement)); err != nil {
		return nil, err
	}
	digests := map[string]string{}
	for _, s := range statement.Subject {
		digests[s.Name] = s.Digest.SHA256
	}
	return digests, nil
}

// Staging is a folder in the making, beside the one it will become.
type Staging struct {
	out     string
	main    string
	dir     string
	private bool
}

// Stage writes files, of which main is the first to be read, to a folder beside
// out. The caller ends it with Commit or Discard.
func Stage(out, main string, files Files) (*Staging, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, fmt.Errorf("staging: %w", err)
	}
	if err := Check(out, main); err != nil {
		return nil, err
	}
	parent := filepath.Dir(out)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("staging: %w", err)
	}
	dir, err := os.MkdirTemp(parent, stagingName)
	if err != nil {
		return nil, fmt.Errorf("staging: %w", err)
	}
	s := &Staging{out: out, main: main, dir: dir}
	if err := s.Add(files); err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	return s, nil
}

// Add writes more files, each synchronised to disk. A name that would lead out
// of the folder is an error.
func (s *Staging) Add(files Files) error {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return fmt.Errorf("staging: %w", err)
	}
	defer root.Close()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := write(root, filepath.FromSlash(name), files[name]); err != nil {
			return fmt.Errorf("writing %s: %w; nothing was kept", name, err)
		}
	}
	return nil
}

func write(root *os.Root, name string, content []byte) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(f.Sync(), f.Close())
}

// Private keeps the folder closed to other users: it holds secrets.
func (s *Staging) Private() { s.private = true }

// Discard removes what was staged; of nil, nothing.
func (s *Staging) Discard() error {
	if s == nil {
		return nil
	}
	return os.RemoveAll(s.dir)
}

// Commit puts the folder in its place in one step: afterwards out is the whole
// of the new one, or still the old one.
func (s *Staging) Commit() error {
	if !s.private {
		// A folder for staging is made private.
		if err := os.Chmod(s.dir, 0o755); err != nil {
			return errors.Join(fmt.Errorf("committing: %w", err), s.Discard())
		}
	}
	// What stands in out may have changed since it was looked at.
	if err := Check(s.out, s.main); err != nil {
		return errors.Join(err, s.Discard())
	}
	if err := s.swap(); err != nil {
		return errors.Join(fmt.Errorf("committing: %w; nothing was written", err), s.Discard())
	}
	return nil
}

// swap exchanges the folders where there is an old one, and removes that.
func (s *Staging) swap() error {
	err := unix.Renameat2(unix.AT_FDCWD, s.dir, unix.AT_FDCWD, s.out, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EEXIST) {
		if err = unix.Renameat2(unix.AT_FDCWD, s.dir, unix.AT_FDCWD, s.out, unix.RENAME_EXCHANGE); err == nil {
			_ = os.RemoveAll(s.dir) // the new folder stands; a rest of the old one is no failure
		}
	}
	if err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(s.out))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}
