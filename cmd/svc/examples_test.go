package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/cmd/svc/exit"
	"svc/cmd/svc/help"
)

// notRunHere are beginnings of examples that need what a test of this package does not
// have; the end-to-end scripts run their commands.
var notRunHere = map[string]string{
	"svc rehearse":          "root, and Ansible",
	"svc db upgrade --":     "a database of this host",
	"svc serve":             "runs until it is stopped",
	"svc auth --server":     "a service with a name",
	"svc advisories update": "the network, but for a folder",
	"svc migrate --root /mnt/web1 --target debian-13 --fixes": "a rehearsal",
}

func needsMore(call string) bool {
	if strings.HasPrefix(call, "svc advisories update --source") {
		return false
	}
	for begin := range notRunHere {
		if strings.HasPrefix(call, begin) {
			return true
		}
	}
	return false
}

// TestExamplesRun runs the examples of the help in the order of its first page, on a
// machine of the project in the place of those that they name.
func TestExamplesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute of work")
	}
	is := is.New(t)
	machine, err := filepath.Abs(fixture)
	is.NoErr(err)
	dir := t.TempDir()
	t.Chdir(dir)
	call := func(args ...string) (int, string) {
		var stdout, stderr bytes.Buffer
		env := map[string]string{"HOME": filepath.Join(dir, "home"), "PATH": os.Getenv("PATH")}
		code := run(t.Context(), args, func(name string) string { return env[name] }, strings.NewReader("words\n"), &stdout, &stderr)
		return code, stdout.String() + stderr.String()
	}
	prepare(t, machine, call)
	here := strings.NewReplacer(
		"--image web1.qcow2", "--root "+machine, "--ssh root@web1.new", "--root "+machine, "--ssh root@web1", "--root "+machine,
		"/mnt/web1", machine, "/mnt/new", machine, "/mnt/db1", machine, "--images /srv/images", "--roots "+filepath.Join(dir, "machines"), "/srv/osv", filepath.Join(dir, "osv"))
	commands := []string{"svc"}
	for _, section := range []string{"releases", "assess", "advisories", "readiness", "migrate", "verify", "attest", "cve-scan", "drift"} {
		commands = append(commands, "svc "+section)
	}
	for full := range help.Pages() {
		if !slices.Contains(commands, full) {
			commands = append(commands, full)
		}
	}
	slices.Sort(commands[10:])
	for _, full := range commands {
		for _, example := range help.Pages()[full].Examples {
			example, _, _ := strings.Cut(example, " # ")
			example = strings.TrimSpace(example)
			if needsMore(example) {
				continue
			}
			code, said := call(shellWords(here.Replace(example))[1:]...)
			if code == exit.Failed || code == exit.Usage {
				t.Errorf("%s: %d\n%s", example, code, said)
			}
		}
	}
}

// prepare makes what the examples name: lists of machines, folders of earlier moves, a
// colleague's key, a feed's source.
func prepare(t *testing.T, machine string, call func(...string) (int, string)) {
	t.Helper()
	is := is.New(t)
	name := filepath.Base(machine)
	for file, text := range map[string]string{
		"fleet.txt": machine + "\n", "new.txt": machine + "\n", "all.txt": machine + "\n", "accepted.txt": "",
		"osv/DSA-1.json": `{"schema_version":"1.4.0","id":"DSA-1-1","modified":"2026-01-01T00:00:00Z","affected":[{"package":{"ecosystem":"Debian:11","name":"openssl"},"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"9"}]}]}]}`,
	} {
		is.NoErr(os.MkdirAll(filepath.Dir(file), 0o755))
		is.NoErr(os.WriteFile(file, []byte(text), 0o644))
	}
	is.NoErr(os.Mkdir("machines", 0o755))
	is.NoErr(os.Symlink(machine, filepath.Join("machines", name)))
	for _, args := range [][]string{
		{"migrate", "--root", machine, "--target", "debian-13", "--out", "moves/" + name, "--confirm"},
		{"verify", "--root", machine, "--source", "moves/" + name, "--out", "proofs/" + name},
	} {
		is.NoErr(os.MkdirAll(filepath.Dir(args[len(args)-2]), 0o755))
		is.NoErr(os.MkdirAll(filepath.Dir(args[len(args)-1]), 0o755))
		code, said := call(args...)
		if code != exit.Done && code != exit.Differ {
			t.Fatal(said)
		}
	}
	_, keys := call("attest", "keys")
	is.NoErr(os.WriteFile("colleague.pem", []byte(keys), 0o644))
}
