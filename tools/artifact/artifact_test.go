package artifact

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api/attest"
)

var plan = Files{"plan.json": []byte(`{"schema":"svc.plan/v1"}`), "role/tasks/main.yml": []byte("---\n")}

func stage(t *testing.T, out string, files Files) *Staging {
	t.Helper()
	s, err := Stage(out, "plan.json", files)
	is.New(t).NoErr(err)
	return s
}

// commit seals what was staged, adds an attestation that nobody signed, and puts
// the folder in its place.
func commit(t *testing.T, s *Staging) {
	t.Helper()
	is := is.New(t)
	root, err := s.Seal([]byte("secret"))
	is.NoErr(err)
	statement, err := attest.New(root, &attest.MigrationPredicate{})
	is.NoErr(err)
	payload, err := json.Marshal(statement)
	is.NoErr(err)
	envelope, err := json.Marshal(map[string]any{"payload": payload})
	is.NoErr(err)
	is.NoErr(s.Add(Files{Attestation: envelope}))
	is.NoErr(s.Commit())
}

// names lists everything below a folder.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	is.New(t).NoErr(filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, p)
			all = append(all, rel)
		}
		return err
	}))
	return all
}

func TestAllOrNothing(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "a", "b", "out")
	_, err := Stage(out, "plan.json", plan)
	is.True(strings.Contains(err.Error(), "there is no folder")) // of a path that was mistyped nothing is made
	is.Equal(len(names(t, dir)), 0)
	is.True(strings.Contains(Check("-", "plan.json").Error(), "standard output"))
	is.NoErr(os.MkdirAll(filepath.Dir(out), 0o755))
	s := stage(t, out, plan)
	_, err = os.Stat(out)
	is.True(os.IsNotExist(err)) // nothing before the commit
	is.NoErr(s.Reserve(1 << 20))
	is.NoErr(s.Add(Files{"more": []byte("{}")}))
	commit(t, s)
	is.Equal(names(t, dir), []string{"a/b/out/attestation.dsse.json", "a/b/out/manifest.salt", "a/b/out/manifest.sha256", "a/b/out/more", "a/b/out/plan.json", "a/b/out/role/tasks/main.yml"})
	info, err := os.Stat(out)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o755))
}

func TestARepeatReplacesTheWhole(t *testing.T) {
	is := is.New(t)
	out := filepath.Join(t.TempDir(), "out")
	commit(t, stage(t, out, plan))
	s := stage(t, out, Files{"plan.json": []byte(`{"x":1}`)})
	is.NoErr(s.Private())
	commit(t, s)
	is.Equal(names(t, filepath.Dir(out)), []string{"out/attestation.dsse.json", "out/manifest.salt", "out/manifest.sha256", "out/plan.json"})
	info, err := os.Stat(out)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o700))
}

// TestNothingOfOthersIsReplaced: what was added to a migration's folder, or
// changed in it, is somebody's work.
func TestNothingOfOthersIsReplaced(t *testing.T) {
	is := is.New(t)
	for _, name := range []string{"role/host_vars", "role/tasks/main.yml"} {
		out := filepath.Join(t.TempDir(), "out")
		commit(t, stage(t, out, plan))
		is.NoErr(os.WriteFile(filepath.Join(out, name), []byte("mine"), 0o644))
		_, err := Stage(out, "plan.json", plan)
		is.True(err != nil && strings.Contains(err.Error(), "nothing was written"))
		b, err := os.ReadFile(filepath.Join(out, name))
		is.NoErr(err)
		is.Equal(string(b), "mine")
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(stage(t, filepath.Join(dir, "out"), plan).Discard())
	is.Equal(len(names(t, dir)), 0)
}

func TestRefusedPlaces(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		p := filepath.Join(dir, name)
		is.New(t).NoErr(os.MkdirAll(filepath.Dir(p), 0o755))
		is.New(t).NoErr(os.WriteFile(p, []byte(content), 0o644))
		return p
	}
	file := write("file", "x")
	foreign := filepath.Dir(write("foreign/thesis.txt", "x"))
	lookalike := filepath.Dir(write("lookalike/plan.json", `{"schema":"other"}`))
	is.New(t).NoErr(os.Symlink(dir, filepath.Join(dir, "link")))
	for name, out := range map[string]string{
		"a file": file, "below a file": filepath.Join(file, "out"), "somebody's": foreign, "a lookalike": lookalike, "a link": filepath.Join(dir, "link"),
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			before := names(t, dir)
			_, err := Stage(out, "plan.json", plan)
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), "nothing was written") || strings.Contains(err.Error(), "not a directory"))
			is.Equal(names(t, dir), before)
		})
	}
}

func TestNamesStayInside(t *testing.T) {
	for _, name := range []string{"../escape", "/etc/escape", "a/../../escape", ""} {
		is := is.New(t)
		dir := t.TempDir()
		_, err := Stage(filepath.Join(dir, "out"), "plan.json", Files{"plan.json": nil, name: []byte("x")})
		is.True(err != nil)
		is.Equal(len(names(t, dir)), 0)
	}
}

func TestSomethingAppearsMeanwhile(t *testing.T) {
	is := is.New(t)
	out := filepath.Join(t.TempDir(), "out")
	s := stage(t, out, plan)
	is.NoErr(os.Mkdir(out, 0o755))
	is.NoErr(os.WriteFile(filepath.Join(out, "thesis.txt"), []byte("x"), 0o644))
	is.True(s.Commit() != nil)
	is.Equal(names(t, filepath.Dir(out)), []string{"out/thesis.txt"})
}

func TestAFullDiskLeavesNothing(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("mounting needs root")
	}
	defer syscall.Unmount(dir, 0)
	_, err := Stage(filepath.Join(dir, "out"), "plan.json", Files{"a": make([]byte, 30<<10), "b": make([]byte, 60<<10)})
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "no space left"))
	is.Equal(len(names(t, dir)), 0)
	entries, err := os.ReadDir(dir)
	is.NoErr(err)
	is.Equal(len(entries), 0)
}

func TestAFolderThatCannotBeWritten(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root writes everywhere")
	}
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.Chmod(dir, 0o555))
	_, err := Stage(filepath.Join(dir, "out"), "plan.json", plan)
	is.True(strings.Contains(err.Error(), "can't be written to"))
}

// TestWhatARunThatWasKilledLeftIsRemoved, and what one that runs works on stays.
func TestWhatARunThatWasKilledLeftIsRemoved(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	running := stage(t, filepath.Join(dir, "other"), plan)
	left := filepath.Join(dir, stagingName+"left")
	is.NoErr(os.Mkdir(left, 0o700))
	commit(t, stage(t, filepath.Join(dir, "out"), plan))
	_, err := os.Stat(left)
	is.True(os.IsNotExist(err))
	commit(t, running)
}

func TestNoRoomIsSaidBeforeAnythingIsClaimed(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("mounting needs root")
	}
	defer syscall.Unmount(dir, 0)
	s := stage(t, filepath.Join(dir, "out"), plan)
	err := s.Reserve(2 << 20)
	is.True(err != nil && strings.Contains(err.Error(), "needs 3 MiB more"))
	is.NoErr(s.Discard())
	_, err = Stage(dir, "plan.json", plan) // no folder takes the place of a mount
	is.True(err != nil && strings.Contains(err.Error(), "is mounted"))
}
