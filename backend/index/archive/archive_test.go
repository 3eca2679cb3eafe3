package archive

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"
	"github.com/matryer/is"
)

func newKey(t *testing.T) *openpgp.Entity {
	t.Helper()
	key, err := openpgp.NewEntity("archive", "", "archive@example.org", nil)
	is.New(t).NoErr(err)
	return key
}

// suite is a mirror of one suite, signed; its InRelease may be changed.
func suite(t *testing.T, key *openpgp.Entity) (dir string, inRelease []byte) {
	t.Helper()
	is := is.New(t)
	packages := []byte("Package: a\nVersion: 1\n\n")
	release := fmt.Sprintf("Codename: bookworm\nSuite: stable\nComponents: main\nSHA256:\n %x %d main/binary-amd64/Packages\n",
		sha256.Sum256(packages), len(packages))
	var b bytes.Buffer
	w, err := clearsign.Encode(&b, key.PrivateKey, nil)
	is.NoErr(err)
	_, err = w.Write([]byte(release))
	is.NoErr(err)
	is.NoErr(w.Close())
	dir = t.TempDir()
	below := filepath.Join(dir, "dists/bookworm/main/binary-amd64")
	is.NoErr(os.MkdirAll(below, 0o755))
	is.NoErr(os.WriteFile(filepath.Join(below, "Packages"), packages, 0o600))
	write(t, dir, b.Bytes())
	return dir, b.Bytes()
}

func write(t *testing.T, dir string, inRelease []byte) {
	t.Helper()
	is.New(t).NoErr(os.WriteFile(filepath.Join(dir, "dists/bookworm/InRelease"), inRelease, 0o600))
}

func TestASignedSuiteIsBrought(t *testing.T) {
	key := newKey(t)
	dir, _ := suite(t, key)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, from := range []string{dir, server.URL} {
		is := is.New(t)
		o := Options{From: from, Release: "debian-12", Keyring: Keyring{key}, Cache: t.TempDir(), Into: t.TempDir()}
		is.NoErr(Apt(t.Context(), o))
		text, err := os.ReadFile(filepath.Join(o.Into, "debian-12/main/Packages"))
		is.NoErr(err)
		is.Equal(string(text), "Package: a\nVersion: 1\n\n")
	}
}

func TestWhatTheKeyDoesNotVouchForIsRefused(t *testing.T) {
	key := newKey(t)
	dir, signed := suite(t, key)
	for name, change := range map[string]func(){
		"a changed line":       func() { write(t, dir, bytes.Replace(signed, []byte("stable"), []byte("stables"), 1)) },
		"no signature":         func() { write(t, dir, unsigned(signed)) },
		"a line after the end": func() { write(t, dir, append(bytes.Clone(signed), "Codename: x\n"...)) },
		"another listing": func() {
			write(t, dir, signed)
			_ = os.WriteFile(filepath.Join(dir, "dists/bookworm/main/binary-amd64/Packages"), []byte("Package: b\nVersion: 1\n\n"), 0o600)
		},
	} {
		change()
		err := Apt(t.Context(), Options{From: dir, Release: "debian-12", Keyring: Keyring{key}, Cache: t.TempDir(), Into: t.TempDir()})
		if err == nil && name != "a line after the end" { // which is not read
			t.Errorf("%s: no error", name)
		}
	}
	write(t, dir, signed)
	err := Apt(t.Context(), Options{From: dir, Release: "debian-12", Keyring: Keyring{newKey(t)}, Cache: t.TempDir(), Into: t.TempDir()})
	is.New(t).True(err != nil) // another key
	err = Apt(t.Context(), Options{From: dir, Release: "rocky-9", Into: t.TempDir()})
	is.New(t).True(strings.Contains(err.Error(), "no release of Debian")) // not a suite
}

func FuzzRelease(f *testing.F) {
	f.Add([]byte("Codename: bookworm\nComponents: main\nSHA256:\n " + strings.Repeat("0", 64) + " 1 main/binary-amd64/Packages\n"))
	f.Add([]byte("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\nCodename: x\n-----BEGIN PGP SIGNATURE-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if r, err := readRelease(unsigned(text)); err == nil && len(r.digests) == 0 {
			t.Error("a Release file without digests")
		}
		if _, err := (Keyring{}).clearsigned(text); err == nil {
			t.Error("a signature without a key")
		}
		if (Keyring{}).detached([]byte("x"), text) == nil {
			t.Error("a signature without a key")
		}
	})
}
