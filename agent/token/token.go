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
	"syscall"
	"time"

	"github.com/zalando/go-keyring"
	"svc/backend/osfile"
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
	return s.Stored()
}

// Stored gives the token that is stored, whatever the environment says.
func (s Store) Stored() (token string, from Place, err error) {
	// The file exists only where the keyring failed, so it is asked first: a
	// keyring that is missing can take long to say so.
	b, err := os.ReadFile(s.File)
	switch {
	case err == nil:
		return strings.TrimSpace(string(b)), File, nil
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR): // HOME may be no folder
		return "", "", fmt.Errorf("reading the stored token: %w", err)
	}
	found := make(chan string, 1)
	err = within(patience, func() error {
		t, err := keyring.Get(service, user)
		found <- t
		return err
	})
	if err != nil {
		return "", "", ErrNone
	}
	return <-found, Keyring, nil
}

// patience is how long a keyring may take: one that is locked may ask a person
// who is not there.
const patience = 10 * time.Second

var errPatience = errors.New("the OS keyring does not answer")

// within gives up on what takes too long; it goes on alone then.
func within(d time.Duration, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(d):
		return errPatience
	}
}

// Set stores the token and says where.
func (s Store) Set(token string) (Place, error) {
	if within(patience, func() error { return keyring.Set(service, user, token) }) == nil {
		return Keyring, s.removeFile()
	}
	if err := os.MkdirAll(filepath.Dir(s.File), 0o700); err != nil {
		return "", fmt.Errorf("storing the token: %w", err)
	}
	if err := osfile.Write(s.File, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("storing the token: %w", err)
	}
	return File, nil
}

// Delete forgets the stored token. It reports whether there was one, and in
// unasked why the keyring could not be asked for it: a token that it holds stays.
func (s Store) Delete() (had bool, unasked, err error) {
	_, statErr := os.Stat(s.File)
	ringErr := within(patience, func() error { return keyring.Delete(service, user) })
	if ringErr != nil && !errors.Is(ringErr, keyring.ErrNotFound) {
		unasked = fmt.Errorf("asking the OS keyring: %w", ringErr)
	}
	return statErr == nil || ringErr == nil, unasked, s.removeFile()
}

func (s Store) removeFile() error {
	if err := os.Remove(s.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the stored token: %w", err)
	}
	return nil
}
