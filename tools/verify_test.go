package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/tools/parity"
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
func verified(t *testing.T, env *Env, changes ...func(*testing.T, string)) (root, migration, verification string) {
	t.Helper()
	is := is.New(t)
	root = copyHost(t)
	for _, change := range changes {
		change(t, root)
	}
	out := t.TempDir()
	in := MigrateInput{Machine: Machine{Root: root}, Target: "debian-11", Out: filepath.Join(out, "migration"), Confirm: true}
	migrate(t, env, in)
	r, err := Verify(t.Context(), env, VerifyInput{Machine: in.Machine, Source: in.Out, Out: filepath.Join(out, "verification"), Detail: DetailFull, Accept: accept(t, "")})
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
	r, err := Verify(t.Context(), env, VerifyInput{Machine: Machine{Root: root}, Source: migrated})
	is.NoErr(err)
	is.True(!r.Parity)
	is.True(r.Attestation != nil && r.Out == "" && len(r.Artifacts) == 0) // nothing was written
	is.True(len(encoded(r)) <= summaryBudget)
	is.Equal(r.Checks[0].Result, parity.Differs) // the worst first

	// Accepted in writing, it is no difference.
	lines := ""
	for _, c := range r.Differences() {
		lines += c.Dimension + " " + c.Subject + " # reviewed\n"
	}
	r, err = Verify(t.Context(), env, VerifyInput{Machine: Machine{Root: root}, Source: migrated, Accept: accept(t, lines)})
	is.NoErr(err)
	is.True(r.Parity)
}

func TestVerifyTakesAnAssessment(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	_, migrated, _ := verified(t, env)
	r, err := Verify(t.Context(), env, VerifyInput{Machine: Machine{Root: fixture}, Source: filepath.Join(migrated, assessmentFile), Detail: DetailFull})
	is.NoErr(err)
	is.True(r.Sum.Total > 100)
}

func TestDriftSinceTheVerification(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	root, migrated, verification := verified(t, env)
	r, err := Drift(t.Context(), env, VerifyInput{Machine: Machine{Root: root}, Source: verification})
	is.NoErr(err)
	is.True(r.Parity)
	is.NoErr(os.WriteFile(filepath.Join(root, "etc/new.conf"), []byte("x\n"), 0o644))
	for _, source := range []string{verification, migrated} {
		r, err = Drift(t.Context(), env, VerifyInput{Machine: Machine{Root: root}, Source: source})
		is.NoErr(err)
		is.Equal(r.Kind, "drift")
	}
	r, err = Drift(t.Context(), env, VerifyInput{Machine: Machine{Root: root}, Source: verification, Detail: DetailFull})
	is.NoErr(err)
	is.Equal(len(r.Checks), 1)
	is.Equal(r.Checks[0].Subject, "/etc/new.conf")
}

func TestVerifyRefusals(t *testing.T) {
	env := newEnv(t)
	root, migrated, verification := verified(t, env)
	changed := filepath.Join(t.TempDir(), "changed")
	is.New(t).NoErr(os.CopyFS(changed, os.DirFS(migrated)))
	plan, err := os.ReadFile(filepath.Join(changed, planFile))
	is.New(t).NoErr(err)
	is.New(t).NoErr(os.WriteFile(filepath.Join(changed, planFile), []byte(strings.Replace(string(plan), "debian-11", "debian-12", 1)), 0o644))
	// The attestation is a true one, but of a verification, which has no plan.
	unsigned := filepath.Join(t.TempDir(), "unsigned")
	is.New(t).NoErr(os.CopyFS(unsigned, os.DirFS(migrated)))
	for _, name := range []string{assessmentFile, attest.Manifest, attestationFile} {
		b, err := os.ReadFile(filepath.Join(verification, name))
		is.New(t).NoErr(err)
		is.New(t).NoErr(os.WriteFile(filepath.Join(unsigned, name), b, 0o644))
	}
	text := filepath.Join(t.TempDir(), "text")
	is.New(t).NoErr(os.WriteFile(text, []byte("packages x"), 0o644))
	for name, c := range map[string]struct {
		in  VerifyInput
		why string
	}{
		"no source":              {VerifyInput{}, "source is required"},
		"no such source":         {VerifyInput{Source: "/does/not/exist"}, "no such file"},
		"a folder of others":     {VerifyInput{Source: t.TempDir()}, assessmentFile},
		"a file of others":       {VerifyInput{Source: text}, "no JSON document"},
		"a changed plan":         {VerifyInput{Source: changed}, "plan.json in " + changed + " is not what was attested"},
		"a plan nobody signed":   {VerifyInput{Source: unsigned}, "plan.json in " + unsigned + " is not what was attested"},
		"a verification":         {VerifyInput{Source: verification}, "folder of a verification"},
		"the migration's folder": {VerifyInput{Source: migrated, Out: migrated}, "nothing was written"},
		"unreasoned acceptances": {VerifyInput{Source: migrated, Accept: text}, "line 1"},
		"an unknown detail":      {VerifyInput{Source: migrated, Detail: "all"}, "detail"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			c.in.Root = root
			_, err := Verify(t.Context(), env, c.in)
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), c.why))
		})
	}
	is := is.New(t)
	_, err = Drift(t.Context(), newEnv(t), VerifyInput{Machine: Machine{Root: root}, Source: migrated})
	is.Equal(api.CodeOf(err), api.UnlicensedVM) // another service, where the machine has no seat
}
