package tools

import (
	"crypto/ed25519"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api/attest"
	"svc/tools/artifact"
	"svc/tools/dataplan"
	"svc/tools/evidence"
	"svc/tools/machine"
	"svc/tools/tool"
)

func TestDataPlanIsSignedByTheLocalKeyAndRepeats(t *testing.T) {
	is := is.New(t)
	env, key := newEnv(t), attest.NewKey()
	env.Client = nil // no service is called
	env.LocalKey = func() (ed25519.PrivateKey, error) { return key, nil }
	in := dataplan.PlanInput{Machine: machine.Machine{Root: fixture}, Target: "debian-13", Out: filepath.Join(t.TempDir(), "out"), SourceOffline: true, Confirm: true}
	r, err := dataplan.Plan(t.Context(), env, in)
	is.NoErr(err)
	is.Equal(len(r.Inhibitors), 0)
	first := contents(t, in.Out)
	envelope, err := os.ReadFile(filepath.Join(in.Out, evidence.AttestationFile))
	is.NoErr(err)
	s, err := attest.Verify(envelope, []ed25519.PublicKey{key.Public().(ed25519.PublicKey)})
	is.NoErr(err)
	digests, err := artifact.ReadManifest(in.Out, s.Root())
	is.NoErr(err)
	is.Equal(len(digests)+1, len(first))
	p, err := s.Known()
	is.NoErr(err)
	is.True(p.(*attest.DataPlanPredicate).SourceOffline)
	_, err = dataplan.Plan(t.Context(), env, in)
	is.NoErr(err)
	is.Equal(contents(t, in.Out), first)
}

func TestDataPlanNeedsConfirm(t *testing.T) {
	is := is.New(t)
	in := dataplan.PlanInput{Machine: machine.Machine{Root: fixture}, Target: "debian-13", Out: filepath.Join(t.TempDir(), "out")}
	_, err := dataplan.Plan(t.Context(), newEnv(t), in)
	var confirm *tool.NeedsConfirm
	is.True(errors.As(err, &confirm))
	_, err = os.Stat(in.Out)
	is.True(os.IsNotExist(err))
}
