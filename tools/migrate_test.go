package tools

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend"
	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/client"
	"svc/tools/account"
	"svc/tools/artifact"
	"svc/tools/assessment"
	"svc/tools/evidence"
	"svc/tools/machine"
	"svc/tools/move"
	"svc/tools/tool"
)

const fixture = "../fixtures/hosts/debian-11-web"

// newEnv is a real environment: the embedded backend on a store in a new folder.
func newEnv(t *testing.T) *tool.Env {
	t.Helper()
	c, closer, err := backend.OpenEmbedded(t.Context(), t.TempDir(), backend.Config{})
	is.New(t).NoErr(err)
	t.Cleanup(func() { closer.Close() })
	key := attest.NewKey()
	return &tool.Env{
		Client:   func(context.Context) (*client.Client, error) { return c, nil },
		LocalKey: func() (ed25519.PrivateKey, error) { return key, nil },
		Log:      slog.New(slog.DiscardHandler), Now: time.Now, Version: "test",
	}
}

// copyHost is a copy of the fixture that a test may change.
func copyHost(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "host")
	is.New(t).NoErr(exec.Command("cp", "-a", fixture, dir).Run())
	return dir
}

func confirmed(t *testing.T) move.Input {
	t.Helper()
	return move.Input{Machine: machine.Machine{Root: fixture}, Target: "debian-13", Out: filepath.Join(t.TempDir(), "out"), Confirm: true}
}

func migrate(t *testing.T, env *tool.Env, in move.Input) move.Result {
	t.Helper()
	r, err := move.Migrate(t.Context(), env, in)
	is.New(t).NoErr(err)
	return r
}

// contents reads a folder, but for the attestation, whose time differs.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	is.New(t).NoErr(filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == evidence.AttestationFile {
			return err
		}
		b, err := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		all[rel] = string(b)
		return err
	}))
	return all
}

func TestMigrateWritesEverything(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	in := confirmed(t)
	r := migrate(t, env, in)
	is.Equal([]string{r.Source, r.Target}, []string{"debian-11", "debian-13"})
	is.Equal(r.Sum.Total, 246)
	is.Equal(r.Sum.Unknown, 0)
	is.True(r.SeatClaimed && r.Licensed)
	is.Equal(len(r.Inhibitors), 0)
	files := contents(t, in.Out)
	for _, name := range []string{evidence.AssessmentFile, evidence.PlanFile, evidence.ReportFile, "site.yml", "role/tasks/main.yml", "role/defaults/main.yml", "role/library/svc_files.py", "role/meta/argument_specs.yml"} {
		is.True(files[name] != "")
	}
	for name, content := range files {
		if name != evidence.ReportFile {
			is.True(!strings.Contains(content, in.Out)) // nothing depends on where it was written
		}
	}
	is.True(!strings.Contains(files["role/defaults/main.yml"], "shop.key")) // no secret without being asked
	var a assess.Assessment
	is.NoErr(json.Unmarshal([]byte(files[evidence.AssessmentFile]), &a))
	is.Equal(a.Fingerprint, r.Fingerprint)
}

func TestTheAttestationCoversTheArtifacts(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	in := confirmed(t)
	r := migrate(t, env, in)
	c, err := env.Client(t.Context())
	is.NoErr(err)
	published, err := client.Call(t.Context(), c, api.AttestKeys, api.None{})
	is.NoErr(err)
	keys, err := attest.ParsePublicKeys([]byte(published.Keys[0].PEM))
	is.NoErr(err)
	envelope, err := os.ReadFile(filepath.Join(in.Out, evidence.AttestationFile))
	is.NoErr(err)
	s, err := attest.Verify(envelope, keys)
	is.NoErr(err)
	files := contents(t, in.Out)
	digests, err := artifact.ReadManifest(in.Out, s.Root())
	is.NoErr(err)
	is.Equal(len(digests)+1, len(files)) // every artifact, the role's files too, but for the manifest
	states, err := digests.Compare(in.Out, evidence.AttestationFile)
	is.NoErr(err)
	for _, f := range states {
		is.Equal(f.State, artifact.Same)
	}
	p, err := s.Known()
	is.NoErr(err)
	is.Equal(attest.VM(p), r.Fingerprint)
}

func TestARepeatIsTheSameAndFree(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	in := confirmed(t)
	migrate(t, env, in)
	first := contents(t, in.Out)
	again := migrate(t, env, in)
	is.Equal(contents(t, in.Out), first)
	is.True(again.SeatClaimed) // the answer of the same operation
	account, err := account.Whoami(t.Context(), env, account.WhoamiInput{})
	is.NoErr(err)
	is.Equal(account.BillableInstances, 1)
}

func TestPreflightWritesNothing(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	in := confirmed(t)
	in.Preflight = true // wins over confirm
	r := migrate(t, env, in)
	is.True(!r.SeatClaimed && !r.Licensed)
	is.Equal(len(r.Artifacts), 0)
	_, err := os.Stat(in.Out)
	is.True(os.IsNotExist(err))
	account, err := account.Whoami(t.Context(), env, account.WhoamiInput{})
	is.NoErr(err)
	is.Equal(account.BillableInstances, 0)
}

func TestSecretsAreCarriedWhereAsked(t *testing.T) {
	is := is.New(t)
	in := confirmed(t)
	in.Root = copyHost(t)
	shadow := filepath.Join(in.Root, "etc/shadow")
	b, err := os.ReadFile(shadow)
	is.NoErr(err)
	is.NoErr(os.WriteFile(shadow, []byte(strings.Replace(string(b), "anna:!", "anna:$6$salt$digest", 1)), 0o600))
	in.IncludeSecrets = true
	migrate(t, newEnv(t), in)
	vars := contents(t, in.Out)["role/defaults/main.yml"]
	is.True(strings.Contains(vars, "/etc/ssl/private/shop.key"))
	is.True(strings.Contains(vars, "$6$salt$digest"))
	info, err := os.Stat(in.Out)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o700))
}

func TestMigrateUnconfirmedSaysExactlyWhatItWouldWrite(t *testing.T) {
	is := is.New(t)
	env, in := newEnv(t), confirmed(t)
	in.Confirm = false
	_, err := move.Migrate(t.Context(), env, in)
	var before *tool.NeedsConfirm
	is.True(errors.As(err, &before))
	is.True(strings.Contains(before.Cost, "claims one licence seat"))
	in.Confirm = true
	done := migrate(t, env, in)
	for _, said := range []string{
		done.Out, done.PlanDigest, fmt.Sprintf("role of %d files", done.RoleFiles), fmt.Sprintf("source: %d, as", done.Sum.Total),
		fmt.Sprintf("same %d", done.Sum.Same), fmt.Sprintf("installs %d", done.Install), fmt.Sprintf("copy %d", done.Configuration["copy"]),
		fmt.Sprintf("Findings: %d", len(done.Findings)),
	} {
		is.True(strings.Contains(before.Would, said))
	}
	in.Confirm = false
	_, err = move.Migrate(t.Context(), env, in)
	var after *tool.NeedsConfirm
	is.True(errors.As(err, &after))
	is.Equal(after.Would, before.Would)
	is.True(strings.Contains(after.Cost, "costs nothing"))
}

func TestMigrateRefusals(t *testing.T) {
	broken := copyHost(t)
	is.New(t).NoErr(os.Truncate(filepath.Join(broken, "var/lib/dpkg/status"), 5000))
	nameless := copyHost(t)
	is.New(t).NoErr(os.Remove(filepath.Join(nameless, "etc/machine-id")))
	foreign := t.TempDir()
	is.New(t).NoErr(os.WriteFile(filepath.Join(foreign, "thesis.txt"), []byte("x"), 0o644))
	var confirm *tool.NeedsConfirm
	var input *tool.InputError
	for name, c := range map[string]struct {
		change func(*move.Input)
		is     func(error) bool
	}{
		"no confirm":        {func(in *move.Input) { in.Confirm = false }, func(err error) bool { return errors.As(err, &confirm) }},
		"no out":            {func(in *move.Input) { in.Out = "" }, func(err error) bool { return errors.As(err, &input) }},
		"no target":         {func(in *move.Input) { in.Target = "" }, func(err error) bool { return errors.As(err, &input) }},
		"no such target":    {func(in *move.Input) { in.Target = "debain-13" }, func(err error) bool { return strings.Contains(err.Error(), "debian-13") }},
		"two machines":      {func(in *move.Input) { in.SSH = "a@b" }, func(err error) bool { return err != nil }},
		"a foreign folder":  {func(in *move.Input) { in.Out = foreign }, func(err error) bool { return strings.Contains(err.Error(), "nothing was written") }},
		"a broken database": {func(in *move.Input) { in.Root = broken }, func(err error) bool { return errors.Is(err, assess.ErrCorrupt) }},
		"no identity":       {func(in *move.Input) { in.Root = nameless }, func(err error) bool { return errors.Is(err, assess.ErrNoFingerprint) }},
		"no system":         {func(in *move.Input) { in.Root = foreign }, func(err error) bool { return errors.Is(err, assess.ErrNoSystem) }},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			env := newEnv(t)
			in := confirmed(t)
			out := in.Out
			c.change(&in)
			_, err := move.Migrate(t.Context(), env, in)
			is.True(err != nil)
			is.True(c.is(err))
			_, err = os.Stat(out)
			is.True(os.IsNotExist(err)) // nothing was written
			account, err := account.Whoami(t.Context(), env, account.WhoamiInput{})
			is.NoErr(err)
			is.Equal(account.BillableInstances, 0) // and nothing seated
		})
	}
}

// TestNoSeatForAMoveThatCannotFinish: what can be known to fail fails before the
// seat is claimed.
func TestNoSeatForAMoveThatCannotFinish(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		change func(*testing.T, *tool.Env, *move.Input)
		why    string
	}{
		"other keys of the service": {func(_ *testing.T, e *tool.Env, _ *move.Input) {
			e.Trust = func([]api.Key) ([]ed25519.PublicKey, error) { return nil, broken }
		}, "broken"},
		"no key of this user": {func(_ *testing.T, e *tool.Env, _ *move.Input) {
			e.LocalKey = func() (ed25519.PrivateKey, error) { return nil, broken }
		}, "broken"},
		"no room": {func(t *testing.T, _ *tool.Env, in *move.Input) {
			dir := t.TempDir()
			if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
				t.Skip("mounting needs root")
			}
			t.Cleanup(func() { syscall.Unmount(dir, 0) })
			in.Out = filepath.Join(dir, "out")
		}, "more on the disk"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			env, in := newEnv(t), confirmed(t)
			c.change(t, env, &in)
			_, err := move.Migrate(t.Context(), env, in)
			is.True(err != nil && strings.Contains(err.Error(), c.why))
			left, err := filepath.Glob(filepath.Join(filepath.Dir(in.Out), ".*"))
			is.NoErr(err)
			is.Equal(len(left), 0)
			account, err := account.Whoami(t.Context(), env, account.WhoamiInput{})
			is.NoErr(err)
			is.Equal(account.BillableInstances, 0)
		})
	}
}

func TestAssessDetail(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	full, err := assessment.Assess(t.Context(), env, assessment.Input{Machine: machine.Machine{Root: fixture}, Detail: tool.DetailFull})
	is.NoErr(err)
	is.True(!full.Truncated && len(full.Packages) == 246)
	summary, err := assessment.Assess(t.Context(), env, assessment.Input{Machine: machine.Machine{Root: fixture}})
	is.NoErr(err)
	is.True(summary.Truncated)
	is.Equal(summary.Total["packages"], 246)
	is.True(len(tool.Encoded(summary)) <= tool.SummaryBudget)
	is.Equal(len(summary.Findings), len(full.Findings)) // findings go last
	asked, err := assessment.Assess(t.Context(), env, assessment.Input{Machine: machine.Machine{Root: fixture}, Limit: 30})
	is.NoErr(err)
	is.Equal(asked.Packages, full.Packages[:30]) // a limit that was asked for holds
	for _, bad := range []assessment.Input{{Detail: "all"}, {Limit: -1}, {Limit: 100_000}} {
		bad.Root = fixture
		_, err := assessment.Assess(t.Context(), env, bad)
		is.True(err != nil)
	}
}

func BenchmarkMigratePreflight(b *testing.B) {
	is := is.New(b)
	c, closer, err := backend.OpenEmbedded(b.Context(), b.TempDir(), backend.Config{})
	is.NoErr(err)
	defer closer.Close()
	key := attest.NewKey()
	env := &tool.Env{LocalKey: func() (ed25519.PrivateKey, error) { return key, nil }, Client: func(context.Context) (*client.Client, error) { return c, nil }, Log: slog.New(slog.DiscardHandler), Now: time.Now}
	for b.Loop() {
		_, err := move.Migrate(b.Context(), env, move.Input{Machine: machine.Machine{Root: fixture}, Target: "debian-13", Preflight: true})
		is.NoErr(err)
	}
}
