//go:build linux

package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api/attest"
	"svc/tools/artifact"
	"svc/tools/evidence"
	"svc/tools/rehearsal"
	"svc/tools/verification"
)

func TestAnAgentReadsARehearsalBeforeAnythingIsMoved(t *testing.T) {
	is := is.New(t)
	env, dir := newEnv(t), filepath.Join(t.TempDir(), "tried")
	d := &rehearsal.Document{
		Schema: rehearsal.Schema, Fingerprint: strings.Repeat("0a", 32), Source: "debian-12", Target: "debian-13", IndexVersion: "0", PlanDigest: strings.Repeat("0b", 32),
		Level: rehearsal.Booted, Sum: rehearsal.Sum{Runs: 1, Fails: 1},
		Checks: []rehearsal.Check{{Kind: "unit", Subject: "shopd.service", Verdict: rehearsal.Fails}, {Kind: "port", Subject: "tcp 80", Verdict: rehearsal.Runs}},
	}
	b, err := evidence.Document(d)
	is.NoErr(err)
	key, err := env.LocalKey()
	is.NoErr(err)
	_, err = evidence.WriteOwn(dir, evidence.RehearsalFile, artifact.Files{evidence.RehearsalFile: b}, key, &attest.RehearsalPredicate{Level: string(d.Level)})
	is.NoErr(err)

	call := func() (any, error) {
		return verification.VerifyAny(t.Context(), env, verification.Call{Input: verification.Input{Rehearsal: dir}})
	}
	got, err := call()
	is.NoErr(err)
	said := got.(verification.RehearsalResult).Rehearsal
	is.Equal(said.Sum, d.Sum)
	is.Equal(said.SHA256, artifact.Digest(b))
	is.Equal(said.Failed, d.Checks[:1])

	is.NoErr(os.WriteFile(filepath.Join(dir, evidence.RehearsalFile), []byte(strings.Replace(string(b), "shopd", "other", 1)), 0o644))
	_, err = call()
	is.True(strings.Contains(err.Error(), "is not what was attested"))
}
