package token

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/zalando/go-keyring"
)

func newStore(t *testing.T, env map[string]string) Store {
	return Store{File: filepath.Join(t.TempDir(), "svc", "token"), Env: func(k string) string { return env[k] }}
}

func TestWithoutKeyringTheFileIsTheUsersAlone(t *testing.T) {
	is := is.New(t)
	keyring.MockInitWithError(os.ErrNotExist)
	s := newStore(t, nil)
	_, _, err := s.Get()
	is.Equal(err, ErrNone)
	place, err := s.Set("svc_abc")
	is.NoErr(err)
	is.Equal(place, File)
	info, err := os.Stat(s.File)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))
	got, from, err := s.Get()
	is.NoErr(err)
	is.Equal(got, "svc_abc")
	is.Equal(from, File)
	had, unasked, err := s.Delete()
	is.NoErr(err)
	is.True(had)
	is.True(errors.Is(unasked, os.ErrNotExist)) // what a keyring may hold is not known
	had, _, err = s.Delete()
	is.NoErr(err)
	is.True(!had)
}

func TestKeyringWins(t *testing.T) {
	is := is.New(t)
	keyring.MockInit()
	s := newStore(t, nil)
	place, err := s.Set("svc_ring")
	is.NoErr(err)
	is.Equal(place, Keyring)
	_, err = os.Stat(s.File)
	is.True(os.IsNotExist(err))
	got, _, err := s.Get()
	is.NoErr(err)
	is.Equal(got, "svc_ring")
	for _, want := range []bool{true, false} {
		had, unasked, err := s.Delete()
		is.NoErr(err)
		is.NoErr(unasked)
		is.Equal(had, want)
	}
}

func TestEnvironmentOverrides(t *testing.T) {
	is := is.New(t)
	keyring.MockInit()
	s := newStore(t, map[string]string{Variable: "svc_env"})
	_, err := s.Set("svc_ring")
	is.NoErr(err)
	got, from, err := s.Get()
	is.NoErr(err)
	is.Equal(got, "svc_env")
	is.Equal(from, Environment)
}

func TestAKeyringThatHangsIsNotWaitedForEver(t *testing.T) {
	is := is.New(t)
	is.Equal(within(time.Millisecond, func() error { select {} }), errPatience)
	is.NoErr(within(time.Minute, func() error { return nil }))
}
