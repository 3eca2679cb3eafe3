package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/tools/evidence"
	"svc/tools/machine"
	"svc/tools/move"
	"svc/tools/parity"
	"svc/tools/tool"
	"svc/tools/verification"
)

// ofGit is accepted: the fixtures are files of a checkout, which keeps no owner.
const ofGit = "configuration /var/spool/cron/crontabs/deploy # a checkout keeps no owner\n"

func accept(t *testing.T, lines string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "accept")
	is.New(t).NoErr(os.WriteFile(file, []byte(ofGit+lines), 0o644))
	return file
}

// verified is a machine that was migrated to the release it has, so that it is
// its own counterpart, with the folders of that.
func verified(t *testing.T, env *tool.Env, changes ...func(*testing.T, string)) (root, migration, folder string) {
	t.Helper()
	is := is.New(t)
	root = copyHost(t)
	for _, change := range changes {
		change(t, root)
	}
	out := t.TempDir()
	in := move.Input{Machine: machine.Machine{Root: root}, Target: "debian-11", Out: filepath.Join(out, "migration"), Confirm: true}
	migrate(t, env, in)
	r, err := verification.Verify(t.Context(), env, verification.Input{Machine: in.Machine, Source: in.Out, Out: filepath.Join(out, "verification"), Detail: tool.DetailFull, Accept: accept(t, "")})
	is.NoErr(err)
	is.True(r.Parity)
	is.True(r.Licensed && !r.SeatClaimed) // the migration has the seat
	is.Equal(len(r.Artifacts), 6)         // the salt and the manifest too
	is.Equal(r.Sum.Total, len(r.Checks))
	return root, in.Out, r.Out
}

func TestVerifySignsWhatItFinds(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	root, migrated, _ := verified(t, env)
	is.NoErr(os.WriteFile(filepath.Join(root, "etc/sysctl.d/90-shop.conf"), []byte("net.core.somaxconn = 7\n"), 0o644))
	r, err := verification.Verify(t.Context(), env, verification.Input{Machine: machine.Machine{Root: root}, Source: migrated})
	is.NoErr(err)
	is.True(!r.Parity)
	is.True(r.Attestation != nil && r.Out == "" && len(r.Artifacts) == 0) // nothing was written
	is.True(len(tool.Encoded(r)) <= tool.SummaryBudget)
	is.Equal(r.Checks[0].Result, parity.Differs) // the worst first

	// Accepted in writing, it is no difference.
	lines := ""
	for _, c := range r.Differences() {
		lines += c.Dimension + " " + c.Subject + " # reviewed\n"
	}
	r, err = verification.Verify(t.Context(), env, verification.Input{Machine: machine.Machine{Root: root}, Source: migrated, Accept: accept(t, lines)})
	is.NoErr(err)
	is.True(r.Parity)
}

func TestVerifyTakesAnAssessment(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	_, migrated, _ := verified(t, env)
	r, err := verification.Verify(t.Context(), env, verification.Input{Machine: machine.Machine{Root: fixture}, Source: filepath.Join(migrated, evidence.AssessmentFile), Detail: tool.DetailFull})
	is.NoErr(err)
	is.True(r.Sum.Total > 100)
}

func TestDriftSinceTheVerification(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	root, migrated, verifiedOut := verified(t, env)
	r, err := verification.Drift(t.Context(), env, verification.Input{Machine: machine.Machine{Root: root}, Source: verifiedOut})
	is.NoErr(err)
	is.True(r.Parity)
	is.NoErr(os.WriteFile(filepath.Join(root, "etc/new.conf"), []byte("x\n"), 0o644))
	for _, source := range []string{verifiedOut, migrated} {
		r, err = verification.Drift(t.Context(), env, verification.Input{Machine: machine.Machine{Root: root}, Source: source})
		is.NoErr(err)
		is.Equal(r.Kind, "drift")
	}
	r, err = verification.Drift(t.Context(), env, verification.Input{Machine: machine.Machine{Root: root}, Source: verifiedOut, Detail: tool.DetailFull})
	is.NoErr(err)
	is.Equal(len(r.Checks), 1)
	is.Equal(r.Checks[0].Subject, "/etc/new.conf")
}

func TestVerifyRefusals(t *testing.T) {
	env := newEnv(t)
	root, migrated, verifiedOut := verified(t, env)
	changed := filepath.Join(t.TempDir(), "changed")
	is.New(t).NoErr(os.CopyFS(changed, os.DirFS(migrated)))
	plan, err := os.ReadFile(filepath.Join(changed, evidence.PlanFile))
	is.New(t).NoErr(err)
	is.New(t).NoErr(os.WriteFile(filepath.Join(changed, evidence.PlanFile), []byte(strings.Replace(string(plan), "debian-11", "debian-12", 1)), 0o644))
	// The attestation is a true one, but of a verification, which has no plan.
	unsigned := filepath.Join(t.TempDir(), "unsigned")
	is.New(t).NoErr(os.CopyFS(unsigned, os.DirFS(migrated)))
	for _, name := range []string{evidence.AssessmentFile, attest.Manifest, evidence.AttestationFile} {
		b, err := os.ReadFile(filepath.Join(verifiedOut, name))
		is.New(t).NoErr(err)
		is.New(t).NoErr(os.WriteFile(filepath.Join(unsigned, name), b, 0o644))
	}
	text := filepath.Join(t.TempDir(), "text")
	is.New(t).NoErr(os.WriteFile(text, []byte("packages x"), 0o644))
	for name, c := range map[string]struct {
		in  verification.Input
		why string
	}{
		"no source":              {verification.Input{}, "source is required"},
		"no such source":         {verification.Input{Source: "/does/not/exist"}, "no such file"},
		"a folder of others":     {verification.Input{Source: t.TempDir()}, evidence.AssessmentFile},
		"a file of others":       {verification.Input{Source: text}, "no JSON document"},
		"a changed plan":         {verification.Input{Source: changed}, "plan.json in " + changed + " is not what was attested"},
		"a plan nobody signed":   {verification.Input{Source: unsigned}, "plan.json in " + unsigned + " is not what was attested"},
		"a verification":         {verification.Input{Source: verifiedOut}, "folder of a verification"},
		"the migration's folder": {verification.Input{Source: migrated, Out: migrated}, "nothing was written"},
		"unreasoned acceptances": {verification.Input{Source: migrated, Accept: text}, "line 1"},
		"an unknown detail":      {verification.Input{Source: migrated, Detail: "all"}, "detail"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			c.in.Root = root
			_, err := verification.Verify(t.Context(), env, c.in)
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), c.why))
		})
	}
	is := is.New(t)
	_, err = verification.Drift(t.Context(), newEnv(t), verification.Input{Machine: machine.Machine{Root: root}, Source: migrated})
	is.Equal(api.CodeOf(err), api.UnlicensedVM) // another service, where the machine has no seat
}
