package prove

import (
	"crypto/ed25519"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/cmd/svc/program"
)

// TestSignersAreFoundByTheirKeys: a signature is checked with the keys of every
// service that this user used, and of the one alone that is named.
func TestSignersAreFoundByTheirKeys(t *testing.T) {
	is := is.New(t)
	home := t.TempDir()
	env := func(name string) string { return map[string]string{"HOME": home}[name] }
	p := &program.Program{Env: env, Stdout: io.Discard, Stderr: io.Discard, Paths: program.PathsOf(env)}
	first, second, stranger := attest.NewKey(), attest.NewKey(), attest.NewKey()
	public := func(key ed25519.PrivateKey) string { return attest.PublicPEM(key.Public().(ed25519.PublicKey)) }
	const one, two = "https://one.example", "https://two.example"
	for server, key := range map[string]ed25519.PrivateKey{one: first, two: second} {
		_, err := p.Pins().Trust(server, []api.Key{{PEM: public(key)}})
		is.NoErr(err)
		_, err = p.Pins().Trust(server, []api.Key{{PEM: public(key)}}) // what was pinned is read
		is.NoErr(err)
		_, err = p.Pins().Trust(server, []api.Key{{PEM: public(stranger)}})
		is.True(err != nil)
	}
	signedBy := func(key ed25519.PrivateKey) []byte {
		s, err := attest.New(strings.Repeat("0", 64), &attest.MigrationPredicate{})
		is.NoErr(err)
		e, err := attest.Sign(s, key)
		is.NoErr(err)
		b, err := json.Marshal(e)
		is.NoErr(err)
		return b
	}
	keyFile := filepath.Join(home, "key.pem")
	is.NoErr(os.WriteFile(keyFile, []byte(public(stranger)), 0o644))
	for name, c := range map[string]struct {
		key             ed25519.PrivateKey
		server, keyFile string
		by, err         string
	}{
		"no server named":       {second, "", "", two, ""},
		"its server named":      {second, two, "", two, ""},
		"another server named":  {second, one, "", "", "signed by " + two + ", and not by " + one},
		"a stranger":            {stranger, "", "", "", "--key FILE"},
		"a stranger's own file": {stranger, one, keyFile, "a key of " + keyFile, ""},
		"another's file":        {first, one, keyFile, "", "no trusted key"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p.Settings.Server = c.server
			var got attested
			err := Commands{p}.verify(signedBy(c.key), c.keyFile, &got)
			is.Equal(got.SignedBy, c.by)
			is.Equal(err != nil, c.err != "")
			is.True(err == nil || strings.Contains(err.Error(), c.err))
		})
	}
}
