package attest

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

func migration() *MigrationPredicate {
	return &MigrationPredicate{
		Operation: Operation{
			Fingerprint: strings.Repeat("ab", 32), Source: "centos-7", Target: "debian-12",
			IndexVersion: "1", Tool: "svc test",
		},
		Packages: PackageSum{Total: 3, Same: 2, Unknown: 1},
	}
}

func statement(t *testing.T) Statement {
	t.Helper()
	s, err := New(strings.Repeat("1", 64), migration())
	is.New(t).NoErr(err)
	return s
}

func signed(t *testing.T, key ed25519.PrivateKey) []byte {
	t.Helper()
	is := is.New(t)
	e, err := Sign(statement(t), key)
	is.NoErr(err)
	b, err := json.Marshal(e)
	is.NoErr(err)
	return b
}

func public(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

func TestWhatIsSignedVerifies(t *testing.T) {
	is := is.New(t)
	key := NewKey()
	got, err := Verify(signed(t, key), []ed25519.PublicKey{public(NewKey()), public(key)})
	is.NoErr(err)
	is.Equal(*got, statement(t))
	p, err := got.Known()
	is.NoErr(err)
	is.Equal(p, migration())
	is.Equal(VM(p), migration().Fingerprint)
}

func TestAnyChangedByteFails(t *testing.T) {
	is := is.New(t)
	key := NewKey()
	envelope := signed(t, key)
	keys := []ed25519.PublicKey{public(key)}
	for i := range envelope {
		for _, flip := range []byte{1, 2, 4, 0x20, 0x80} {
			changed := append([]byte{}, envelope...)
			changed[i] ^= flip
			if _, err := Verify(changed, keys); err == nil {
				t.Fatalf("byte %d: %q passed as %q", i, envelope[i], changed[i])
			}
		}
	}
	_, err := Verify(envelope, []ed25519.PublicKey{public(NewKey())})
	is.True(errors.Is(err, ErrBadSignature))
	_, err = Verify(envelope, nil)
	is.True(errors.Is(err, ErrBadSignature))
}

func TestVerifyRefuses(t *testing.T) {
	key := NewKey()
	good := string(signed(t, key))
	for name, envelope := range map[string]string{
		"nothing":          "",
		"trailing data":    good + "{}",
		"unknown member":   strings.Replace(good, "{", `{"x":1,`, 1),
		"repeated member":  strings.Replace(good, "{", `{"payloadType":"a",`, 1),
		"no signature":     good[:strings.Index(good, `"signatures"`)] + `"signatures":[]}`,
		"no key id":        strings.Replace(good, KeyID(public(key)), "", 1),
		"other type":       strings.Replace(good, PayloadType, "text/plain", 1),
		"newline in it":    strings.Replace(good, `"payload":"`, `"payload":"\n`, 1),
		"too large":        strings.Repeat(" ", MaxEnvelope) + good,
		"many signatures":  good[:strings.Index(good, `"signatures"`)] + `"signatures":[` + strings.Repeat(`{"keyid":"","sig":""},`, 99) + `{"keyid":"","sig":""}]}`,
		"case of a member": strings.Replace(good, `"payload":`, `"Payload":`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Verify([]byte(envelope), []ed25519.PublicKey{public(key)})
			is.New(t).True(err != nil)
		})
	}
}

func TestStatementsAreChecked(t *testing.T) {
	for name, change := range map[string]func(*Statement){
		"type":        func(s *Statement) { s.Type = "https://in-toto.io/Statement/v0.1" },
		"no subject":  func(s *Statement) { s.Subject = nil },
		"bad digest":  func(s *Statement) { s.Subject[0].Digest.SHA256 = "ABC" },
		"a file":      func(s *Statement) { s.Subject[0].Name = "role/files/kunde.conf" },
		"two":         func(s *Statement) { s.Subject = append(s.Subject, s.Subject[0]) },
		"unknown":     func(s *Statement) { s.PredicateType = "urn:other" },
		"predicate":   func(s *Statement) { s.Predicate = []byte(`{"vm_fingerprint":"x","colour":"red"}`) },
		"fingerprint": func(s *Statement) { s.Predicate = []byte(`{"vm_fingerprint":"x"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s := statement(t)
			change(&s)
			b, err := json.Marshal(s)
			is.NoErr(err)
			parsed, err := Parse(b)
			if err == nil {
				_, err = parsed.Known()
			}
			is.True(err != nil)
		})
	}
}

func TestTheServiceSaysForWhomAndWhen(t *testing.T) {
	is := is.New(t)
	s, err := statement(t).Issue(7, time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC))
	is.NoErr(err)
	p, err := s.Known()
	is.NoErr(err)
	is.Equal(*p.operation().Issued, Issued{AccountID: 7, At: "2026-08-01T12:00:00Z"})
	forged, err := s.Issue(8, time.Now()) // what a caller writes there does not count
	is.NoErr(err)
	p, err = forged.Known()
	is.NoErr(err)
	is.Equal(p.operation().Issued.AccountID, int64(8))
}

// peer is a verifier for the reference implementation of DSSE.
type peer struct{ key ed25519.PublicKey }

func (p peer) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(p.key, data, sig) {
		return ErrBadSignature
	}
	return nil
}
func (p peer) KeyID() (string, error)   { return KeyID(p.key), nil }
func (p peer) Public() crypto.PublicKey { return p.key }

func TestTheReferenceImplementationAgrees(t *testing.T) {
	is := is.New(t)
	key := NewKey()
	var e dsse.Envelope
	is.NoErr(json.Unmarshal(signed(t, key), &e))
	v, err := dsse.NewEnvelopeVerifier(peer{public(key)})
	is.NoErr(err)
	_, payload, err := v.VerifyAndDecode(t.Context(), &e)
	is.NoErr(err)
	got, err := Parse(payload)
	is.NoErr(err)
	is.Equal(*got, statement(t))
}

func TestKeysOfAFile(t *testing.T) {
	is := is.New(t)
	path := filepath.Join(t.TempDir(), "signing.pem")
	keys := make([]ed25519.PrivateKey, 8)
	var wg sync.WaitGroup
	for i := range keys {
		wg.Go(func() {
			key, err := LoadOrCreateKey(path)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	wg.Wait()
	for _, key := range keys {
		is.True(key.Equal(keys[0])) // everybody got the key of the first
	}
	info, err := os.Stat(path)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), fs.FileMode(0o600))
	next := NewKey()
	is.NoErr(ReplaceKey(path, next))
	loaded, err := LoadOrCreateKey(path)
	is.NoErr(err)
	is.True(loaded.Equal(next))
	left, err := os.ReadDir(filepath.Dir(path))
	is.NoErr(err)
	is.Equal(len(left), 1) // no temporary file stays

	parsed, err := ParsePublicKeys([]byte(PublicPEM(public(keys[0])) + PublicPEM(public(NewKey()))))
	is.NoErr(err)
	is.Equal(len(parsed), 2)
	is.True(parsed[0].Equal(public(keys[0])))
	for _, bad := range []string{"", "x", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"} {
		_, err := ParsePublicKeys([]byte(bad))
		is.True(err != nil)
		is.NoErr(os.WriteFile(path, []byte(bad), 0o600))
		_, err = LoadOrCreateKey(path)
		is.True(err != nil) // a damaged key is never replaced
	}
}

// FuzzVerify checks that foreign bytes never verify and never panic.
func FuzzVerify(f *testing.F) {
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"keyid":"","sig":""}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := Verify(b, []ed25519.PublicKey{public(key)}); err == nil {
			t.Fatalf("%q verified", b)
		}
		if s, err := Parse(b); err == nil {
			s.Known()
		}
	})
}
