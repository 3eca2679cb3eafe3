package artifact

import (
	"bufio"
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"svc/backend/api/attest"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// Salt is the file of a folder that nobody outside can guess, so that nobody can
// guess the manifest, which lists it too.
const Salt = "manifest.salt"

// maxManifest bounds a manifest that is read, in bytes.
const maxManifest = 256 << 20

// Digests are SHA-256 digests in hex, by slash-separated path below a folder.
type Digests map[string]string

// line is one of a manifest, as sha256sum writes and reads it. Names that it would
// have to escape are not written.
var line = lazyregexp.New(`^([0-9a-f]{64})  ([^\\\x00-\x1f\x7f]+)$`)

// Sealed are the digests with that of the salt, and the two files that seal them:
// the salt and the manifest. The salt follows from the digests and from secret, a
// key of this user: the same files give the same salt, which nobody without the
// key can tell.
func (d Digests) Sealed(secret []byte) (Digests, Files, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "svc manifest salt", sha256.Size)
	if err != nil {
		return nil, nil, fmt.Errorf("sealing: %w", err)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(d.lines())
	salt := append(hex.AppendEncode(nil, mac.Sum(nil)), '\n')
	sealed := maps.Clone(d)
	sealed[Salt] = Digest(salt)
	manifest := sealed.lines()
	if _, err := ParseManifest(manifest); err != nil {
		return nil, nil, fmt.Errorf("sealing: %w", err)
	}
	sealed[attest.Manifest] = Digest(manifest)
	return sealed, Files{Salt: salt, attest.Manifest: manifest}, nil
}

// lines are the digests in the form of sha256sum, in the order of the names.
func (d Digests) lines() []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(d)) {
		fmt.Fprintf(&b, "%s  %s\n", d[name], name)
	}
	return b.Bytes()
}

// ParseManifest reads the digests of a manifest. A line that is none, a name
// twice or one that leads out of the folder is an error.
func ParseManifest(b []byte) (Digests, error) {
	d := Digests{}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		m := line.FindStringSubmatch(lines.Text())
		if m == nil || !fs.ValidPath(m[2]) || d[m[2]] != "" {
			return nil, fmt.Errorf("line %d of %s is not one of a digest and a new name", len(d)+1, attest.Manifest)
		}
		d[m[2]] = m[1]
	}
	return d, lines.Err()
}

// ErrNoManifest means that a folder has no manifest, or another than the one that
// was signed.
var ErrNoManifest = errors.New("the manifest that was signed is not there")

// ReadManifest reads the manifest of a folder, whose SHA-256 is root.
func ReadManifest(dir, root string) (Digests, error) {
	f, err := os.Open(filepath.Join(dir, attest.Manifest))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoManifest, err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxManifest))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the manifest: %w", err)
	case Digest(b) != root:
		return nil, fmt.Errorf("%w: %s was changed", ErrNoManifest, f.Name())
	}
	return ParseManifest(b)
}

// States of a file of a folder, beside what its manifest says.
const (
	Same    = "same"
	Changed = "changed"
	Missing = "missing"
	Added   = "added"
)

// FileState is how a file of a folder stands to the manifest.
type FileState struct {
	Name  string `json:"name"`
	State string `json:"state"` // same, changed, missing, added
}

// Compare holds a whole folder against the digests of its manifest, in the order
// of the names: every file of it, also those below folders that the manifest does
// not know. The manifest itself and the attestation are left out. What is no regular
// file is not what was signed.
func (d Digests) Compare(dir, attestation string) ([]FileState, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("comparing the folder: %w", err)
	}
	defer root.Close()
	states := map[string]string{}
	for name := range d {
		states[name] = Missing
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch _, known := d[name]; {
		case err != nil:
			return err
		case e.IsDir() && !known || name == attestation || name == attest.Manifest:
		case !known:
			states[name] = Added
		default:
			states[name], err = d.state(root, name, e)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("comparing the folder: %w", err)
	}
	all := append([]FileState{}, sliced.Map(slices.Sorted(maps.Keys(states)), func(name string) FileState { return FileState{name, states[name]} })...)
	return all, nil
}

// state is how a file that the manifest lists stands to it.
func (d Digests) state(root *os.Root, name string, e fs.DirEntry) (string, error) {
	if !e.Type().IsRegular() {
		return Changed, nil
	}
	digest, err := DigestIn(root.FS(), name)
	if err != nil {
		return "", err
	}
	if digest != d[name] {
		return Changed, nil
	}
	return Same, nil
}
