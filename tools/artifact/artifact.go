// Package artifact writes the folder of a migration, or of a verification:
// everything or nothing, and never over what is not ours.
package artifact

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"svc/backend/api/attest"
)

// Attestation is the file that signs a folder's manifest.
const Attestation = "attestation.dsse.json"

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

// DigestIn is the SHA-256 of a file, in hex.
func DigestIn(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return DigestOf(f)
}

// Digests are the digests of the contents.
func (f Files) Digests() Digests {
	d := Digests{}
	for name, content := range f {
		d[name] = Digest(content)
	}
	return d
}

// Check says why out can't become a folder with the main file given, or nil: one
// of another kind is not replaced. It writes nothing.
func Check(out, main string) error {
	if out == "-" {
		return errors.New("out is a folder, and - is the standard output; nothing was written: name a folder, or ./- if it is to be called so")
	}
	parent := filepath.Dir(filepath.Clean(out))
	info, err := os.Lstat(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkParent(parent)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s is a file, so out can't be made in it; nothing was written: name another out", parent)
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
		return fmt.Errorf("out %s holds something else than what svc wrote there, or was changed since; nothing was written: name a new or an empty folder", out)
	}
	return cmp.Or(checkParent(parent), checkReplaceable(out, parent))
}

// checkParent refuses a parent that is not there, is no folder, or can't be written
// to: of a path that was mistyped, or whose disk is not mounted, nothing is made.
func checkParent(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s to make out in; nothing was written: make it first, or name another out", dir)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%s is below a file, so out can't be made in it; nothing was written", dir)
	case err != nil:
		return fmt.Errorf("looking at the folder of out: %w", err)
	case !info.IsDir():
		return fmt.Errorf("%s is no folder, so out can't be made in it; nothing was written", dir)
	}
	if !writable(dir) {
		return fmt.Errorf("%s can't be written to; nothing was written: name another out", dir)
	}
	return nil
}

// ours reports whether a folder holds an earlier main file with what belongs to
// it, and that alone: the files that its manifest lists, as they were written.
func ours(dir, main string) bool {
	root, err := signedRoot(dir)
	if err != nil {
		return false
	}
	d, err := ReadManifest(dir, root)
	if err != nil || d[main] == "" {
		return false
	}
	states, err := d.Compare(dir, Attestation)
	return err == nil && !slices.ContainsFunc(states, func(f FileState) bool { return f.State == Changed || f.State == Added })
}

// signedRoot reads which manifest an earlier attestation signed. It is no matter
// of trust, only of not losing what somebody else put there.
func signedRoot(dir string) (root string, err error) {
	b, err := os.ReadFile(filepath.Join(dir, Attestation))
	if err != nil {
		return "", err
	}
	var envelope struct{ Payload []byte }
	if err := json.Unmarshal(b, &envelope); err != nil {
		return "", err
	}
	s, err := attest.Parse(envelope.Payload)
	if err != nil {
		return "", err
	}
	return s.Root(), nil
}
