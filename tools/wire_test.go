package tools

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend"
	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/client"
	"svc/tools/artifact"
	"svc/tools/machine"
	"svc/tools/move"
	"svc/tools/tool"
	"svc/tools/verification"
)

// newWire is an environment whose requests are kept as they are sent.
func newWire(t *testing.T) (*tool.Env, *bytes.Buffer) {
	t.Helper()
	is := is.New(t)
	_, closer, err := backend.OpenEmbedded(t.Context(), t.TempDir(), backend.Config{})
	is.NoErr(err)
	t.Cleanup(func() { closer.Close() })
	b, token, sent := closer.(*backend.Backend), api.NewToken(), new(bytes.Buffer)
	_, err = b.Store().CreateToken(t.Context(), "test", 1, api.TokenHash(token))
	is.NoErr(err)
	c, err := client.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(sent, "%s %s\n%v\n%s\n", r.Method, r.URL.RequestURI(), r.Header, body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		b.Handler().ServeHTTP(w, r)
	}), token)
	is.NoErr(err)
	key := attest.NewKey()
	return &tool.Env{
		Client:   func(context.Context) (*client.Client, error) { return c, nil },
		LocalKey: func() (ed25519.PrivateKey, error) { return key, nil },
		Log:      slog.New(slog.DiscardHandler), Now: time.Now, Version: "test",
	}, sent
}

// TestNothingOfTheFilesIsSent: no name and no digest of a file of the machine, or
// of what is made of them, leaves the host.
func TestNothingOfTheFilesIsSent(t *testing.T) {
	is := is.New(t)
	env, sent := newWire(t)
	root := copyHost(t)
	is.NoErr(os.WriteFile(filepath.Join(root, "etc/kunde-mueller.conf"), []byte("PIN=4711\n"), 0o644))
	in := move.Input{Machine: machine.Machine{Root: root}, Target: "debian-11", Out: filepath.Join(t.TempDir(), "out"), Confirm: true}
	migrate(t, env, in)
	proof := filepath.Join(t.TempDir(), "proof")
	_, err := verification.Verify(t.Context(), env, verification.Input{Machine: in.Machine, Source: in.Out, Out: proof})
	is.NoErr(err)
	wire := sent.String()
	is.True(!strings.Contains(wire, "kunde"))
	is.True(!strings.Contains(wire, artifact.Digest([]byte("PIN=4711\n"))))
	is.Equal(strings.Count(wire, "POST /v1/attest/sign"), 2)
	for _, dir := range []string{in.Out, proof} {
		manifest, err := os.ReadFile(filepath.Join(dir, attest.Manifest))
		is.NoErr(err)
		is.True(strings.Contains(wire, artifact.Digest(manifest))) // the one digest
		digests, err := artifact.ParseManifest(manifest)
		is.NoErr(err)
		is.True(len(digests) > 3)
		for name, digest := range digests {
			if strings.Contains(wire, digest) || strings.Contains(wire, filepath.Base(name)+`"`) {
				t.Errorf("%s was sent", name)
			}
		}
	}
}
