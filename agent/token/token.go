// Package token keeps the API token of the OS user: in the OS keyring, or,
// where there is none, in a file that only this user can read. SVC_API_KEY
// overrides both.
package token

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/zalando/go-keyring"
)

// Variable is the environment variable that overrides a stored token.
const Variable = "SVC_API_KEY"

const (
	service = "svc"
	user    = "api-token"
)

// ErrNone means that no token is stored.
var ErrNone = errors.New("no API token is stored: store one with `svc auth --server URL TOKEN`")

// Place says where a token came from or went to.
type Place string

// The places.
const (
	Environment Place = "environment"
	Keyring     Place = "keyring"
	File        Place = "file"
)

// Store is the token store of one OS user.
type Store struct {
	// File is the fallback where there is no keyring.
	File string
	// Env looks up environment variables.
	Env func(string) string
}

// Get gives the token and where it was found, or ErrNone.
func (s Store) Get() (token string, from Place, err error) {
	if t := strings.TrimSpace(s.Env(Variable)); t != "" {
		return t, Environment, nil
	}
	// The file exists only where the keyring failed, so it is asked first: a
	// keyring that is missing can take long to say so.
	b, err := os.ReadFile(s.File)
	switch {
	case err == nil:
		return strings.TrimSpace(string(b)), File, nil
	case !errors.Is(err, fs.ErrNotExist):
		return "", "", fmt.Errorf("reading the stored token: %w", err)
	}
	if t, err := keyring.Get(service, user); err == nil {
		return t, Keyring, nil
	}
	return "", "", ErrNone
}

// Set stores the token and says where.
func (s Store) Set(token string) (Place, error) {
	if err := keyring.Set(service, user, token); err == nil {
		return Keyring, s.removeFile()
	}
	if err := os.MkdirAll(filepath.Dir(s.File), 0o700); err != nil {
		return "", fmt.Errorf("storing the token: %w", err)
	}
	if err := renameio.WriteFile(s.File, []byte(token+"\n"), 0o600, renameio.IgnoreUmask()); err != nil {
		return "", fmt.Errorf("storing the token: %w", err)
	}
	return File, nil
}

// Delete forgets the stored token. It reports whether there was one.
func (s Store) Delete() (bool, error) {
	_, statErr := os.Stat(s.File)
	ringErr := keyring.Delete(service, user)
	return statErr == nil || ringErr == nil, s.removeFile()
}

func (s Store) removeFile() error {
	if err := os.Remove(s.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the stored token: %w", err)
	}
	return nil
}
