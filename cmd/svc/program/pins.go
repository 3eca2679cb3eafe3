package program

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/osfile"
	"svc/cmd/svc/exit"
)

// Pins are the services' public keys as this user first saw them, a file for
// each service: an attestation is checked offline against these.
type Pins struct{ dir string }

// file is where the keys of a service are kept; "" is the one built in.
func (k Pins) file(server string) string {
	if server == "" {
		return filepath.Join(k.dir, "embedded.pem")
	}
	name := sha256.Sum256([]byte(server))
	return filepath.Join(k.dir, hex.EncodeToString(name[:8])+".pem")
}

// Keys are the pinned keys of a service.
func (k Pins) Keys(server string) ([]ed25519.PublicKey, error) {
	_, keys, err := readKeys(k.file(server), "the pinned keys", "in")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoPins
	}
	return keys, err
}

// ReadKeys reads a file of public keys.
func ReadKeys(file string) ([]ed25519.PublicKey, error) {
	_, keys, err := readKeys(file, "the keys", "of")
	return keys, err
}

func readKeys(file, what, at string) (text []byte, keys []ed25519.PublicKey, err error) {
	if text, err = ReadBounded(file, MaxKeys); err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", what, err)
	}
	if keys, err = attest.ParsePublicKeys(text); err != nil {
		return nil, nil, fmt.Errorf("reading %s %s %s: %w", what, at, file, err)
	}
	return text, keys, nil
}

// serverLine begins the line of a file of keys that says whose they are.
const serverLine = "server: "

// All are the pinned keys of every service that this user used.
func (k Pins) All() ([]Signer, error) {
	files, err := os.ReadDir(k.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the pinned keys: %w", err)
	}
	signers := []Signer{}
	for _, f := range files {
		path := filepath.Join(k.dir, f.Name())
		if filepath.Ext(path) != ".pem" {
			continue // one in the making
		}
		b, keys, err := readKeys(path, "the pinned keys", "in")
		if err != nil {
			return nil, err
		}
		name := "the service of " + path
		if first, _, _ := strings.Cut(string(b), "\n"); path == k.file("") {
			name = "the service built in"
		} else if server, ok := strings.CutPrefix(first, serverLine); ok {
			name = server
		}
		signers = append(signers, Signer{name, keys, ""})
	}
	return signers, nil
}

// ErrNoPins means that a service was not used yet.
var ErrNoPins = &exit.Error{Code: exit.Usage, Err: errors.New("no keys of this service are pinned here yet: name the file of its public keys with --key")}

// Trust pins the keys of a service at first use, and afterwards takes new ones
// only beside one that is pinned: a service that shows none of those is not the
// one that was trusted.
func (k Pins) Trust(server string, published []api.Key) ([]ed25519.PublicKey, error) {
	var all strings.Builder
	if server != "" {
		all.WriteString(serverLine + server + "\n") // readers of PEM skip it
	}
	for _, key := range published {
		all.WriteString(strings.TrimSpace(key.PEM) + "\n")
	}
	keys, err := attest.ParsePublicKeys([]byte(all.String()))
	if err != nil {
		return nil, fmt.Errorf("reading the service's keys: %w", err)
	}
	pinned, err := k.Keys(server)
	if err != nil && !errors.Is(err, ErrNoPins) {
		return nil, err
	}
	if err == nil && !shareOne(pinned, keys) {
		return nil, fmt.Errorf("the service shows other keys than when it was first used (%s); nothing was written: if that is right, remove that file", k.file(server))
	}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return nil, fmt.Errorf("pinning the service's keys: %w", err)
	}
	if err := osfile.Write(k.file(server), []byte(all.String()), 0o600); err != nil {
		return nil, fmt.Errorf("pinning the service's keys: %w", err)
	}
	return keys, nil
}

func shareOne(a, b []ed25519.PublicKey) bool {
	return slices.ContainsFunc(a, func(x ed25519.PublicKey) bool {
		return slices.ContainsFunc(b, func(y ed25519.PublicKey) bool { return x.Equal(y) })
	})
}

// Signer is somebody whose keys this user trusts.
type Signer struct {
	Name string
	Keys []ed25519.PublicKey
	Only string // predicate type; any where empty
}

// MaxKeys bounds a file of public keys, in bytes.
const MaxKeys = 1 << 20

// ReadBounded reads a regular file of at most limit bytes.
func ReadBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
