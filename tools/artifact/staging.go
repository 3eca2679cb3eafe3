package artifact

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc/backend/api/attest"
	"svc/backend/osfile"
)

const (
	stagingName = ".svc-staging-"
	// reserve keeps room on the disk while a folder is made.
	reserve = ".reserve"
)

// Staging is a folder in the making, beside the one it will become.
type Staging struct {
	out     string
	main    string
	dir     string
	lock    io.Closer // of dir, held while this process works on it
	private bool
	digests Digests // of what was added
}

// Stage writes files, of which main is the first to be read, to a folder beside
// out, and has the disk keep them. It makes sure that the folder can take out's
// place. The caller ends it with Commit or Discard. What a run that was killed
// left is removed.
func Stage(out, main string, files Files) (*Staging, error) {
	out, err := filepath.Abs(out)
	if err != nil {
		return nil, fmt.Errorf("staging: %w", err)
	}
	if err := Check(out, main); err != nil {
		return nil, err
	}
	parent := filepath.Dir(out)
	sweep(parent)
	s := &Staging{out: out, main: main, digests: Digests{}}
	if s.dir, s.lock, err = claim(parent); errors.Is(err, fs.ErrNotExist) { // it was there a moment ago: a folder such as /proc
		return nil, fmt.Errorf("nothing can be made in %s; nothing was written: name another out", parent)
	} else if err != nil {
		return nil, fmt.Errorf("staging: %w; nothing was written", err)
	}
	err = s.Add(files)
	if err == nil {
		err = s.exchangeable()
	}
	if err == nil {
		err = s.sync()
	}
	if err != nil {
		return nil, errors.Join(err, s.Discard())
	}
	return s, nil
}

// claim makes a folder and locks it. Whoever sweeps may find it unlocked in
// between, and remove it: then another is made.
func claim(parent string) (dir string, lock io.Closer, err error) {
	for range 10 {
		if dir, err = os.MkdirTemp(parent, stagingName); err != nil {
			return "", nil, err
		}
		if lock, err = lockFolder(dir); err != nil {
			continue
		}
		if _, gone := os.Lstat(dir); err == nil && gone == nil {
			return dir, lock, nil
		}
		lock.Close()
	}
	return "", nil, errors.Join(err, fmt.Errorf("%s was removed by somebody else", dir))
}

// sweep removes the folders that runs of this user left that were killed: those
// that nobody locks. What can't be removed stays.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), stagingName) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if release, ok := abandoned(dir); ok {
			_ = os.RemoveAll(dir)
			release()
		}
	}
}

// Add writes more files. A name that would lead out of the folder is an error.
func (s *Staging) Add(files Files) error {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return fmt.Errorf("staging: %w", err)
	}
	defer root.Close()
	if err := root.Remove(reserve); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("staging: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := s.write(root, filepath.FromSlash(name), files[name]); err != nil {
			return fmt.Errorf("writing %s: %w; nothing was kept", name, err)
		}
		s.digests[name] = Digest(files[name])
	}
	return nil
}

func (s *Staging) write(root *os.Root, name string, content []byte) error {
	folder, file := fs.FileMode(0o755), fs.FileMode(0o644)
	if s.private {
		folder, file = 0o700, 0o600
	}
	if err := root.MkdirAll(filepath.Dir(name), folder); err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, file)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// Digests are those of what was added so far.
func (s *Staging) Digests() Digests { return s.digests }

// Reserve keeps room for what is still to be added, in bytes, and for the manifest,
// until the next Add.
func (s *Staging) Reserve(bytes int64) error {
	bytes += int64(len(s.digests.lines()))
	f, err := os.OpenFile(filepath.Join(s.dir, reserve), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("reserving room: %w", err)
	}
	defer f.Close()
	if err := allocate(f, bytes); err != nil {
		return fmt.Errorf("%s needs %d MiB more on the disk for what is still to be written: %w; nothing was written", s.out, bytes>>20+1, err)
	}
	return nil
}

// Seal adds the salt and the manifest of all that was added, and gives the
// manifest's SHA-256. Only the attestation is added after it.
func (s *Staging) Seal(secret []byte) (root string, err error) {
	sealed, files, err := s.digests.Sealed(secret)
	if err == nil {
		err = s.Add(files)
	}
	return sealed[attest.Manifest], err
}

// Private keeps the folder closed to other users, and all that is in it: it holds
// what is closed on the machine.
func (s *Staging) Private() error {
	s.private = true
	return filepath.WalkDir(s.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("closing the folder: %w", err)
		}
		mode := fs.FileMode(0o600)
		if d.IsDir() {
			mode = 0o700
		}
		return os.Chmod(name, mode)
	})
}

// Discard removes what was staged; of nil, nothing.
func (s *Staging) Discard() error {
	if s == nil {
		return nil
	}
	return errors.Join(os.RemoveAll(s.dir), s.lock.Close())
}

// Commit puts the folder in its place in one step: afterwards out is the whole
// of the new one, or still the old one, also where the power fails.
func (s *Staging) Commit() error {
	if err := s.commit(); err != nil {
		return errors.Join(fmt.Errorf("committing: %w; nothing was written", err), s.Discard())
	}
	return s.lock.Close()
}

func (s *Staging) commit() error {
	if !s.private {
		// A folder for staging is made private.
		if err := os.Chmod(s.dir, 0o755); err != nil {
			return err
		}
	}
	// What stands in out may have changed since it was looked at.
	if err := Check(s.out, s.main); err != nil {
		return err
	}
	// All that the new name leads to must be on the disk before the name is.
	if err := s.sync(); err != nil {
		return err
	}
	if err := s.swap(); err != nil {
		return err
	}
	return osfile.SyncNames(filepath.Dir(s.out))
}

// sync has the disk keep the folder: one call for all its files and folders.
func (s *Staging) sync() error {
	if err := osfile.SyncFiles(s.dir); err != nil {
		return fmt.Errorf("having the disk keep %s: %w", s.out, err)
	}
	return nil
}

// swap gives the folder its name. Of an old one that has it the names are
// exchanged, and the old one is removed.
func (s *Staging) swap() error {
	if occupied, err := rename(s.dir, s.out); !occupied {
		return err
	}
	if err := exchange(s.dir, s.out); err != nil {
		return err
	}
	_ = os.RemoveAll(s.dir) // the new folder stands; a rest of the old one is no failure
	return nil
}

// exchangeable tries out, inside the folder, whether its file system can exchange
// two folders; where there is no old one, nothing needs to be.
func (s *Staging) exchangeable() error {
	if entries, err := os.ReadDir(s.out); err != nil || len(entries) == 0 {
		return nil
	}
	a, b := filepath.Join(s.dir, ".a"), filepath.Join(s.dir, ".b")
	err := errors.Join(os.Mkdir(a, 0o700), os.Mkdir(b, 0o700))
	if err == nil {
		err = exchange(a, b)
	}
	if err != nil {
		return fmt.Errorf("the file system of %s can't exchange two folders in one step (%w), so the earlier one there can't be replaced; nothing was written: name a new folder", s.out, err)
	}
	return errors.Join(os.Remove(a), os.Remove(b))
}
