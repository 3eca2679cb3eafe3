// Package migration_test migrates real servers to Debian 13: it assesses and plans, applies
// the role to a real root, applies it again, and compares what is there with the source and
// with what each program says of its configuration. What the migrated machine does not
// have of its source, what somebody adds to it, and what drifts later is named.
package migration_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/rogpeppe/go-internal/txtar"

	"svc/.ci/e2e"
	"svc/tools/migration"
)

func TestMain(m *testing.M) {
	e2e.Main(m, "mmdebstrap:mmdebstrap", "ansible-playbook:ansible", "ansible-lint:ansible-lint", "rsync:rsync", "jq:jq", "rpmbuild:rpm", "openssl:openssl", "unshare:util-linux", "npm:npm")
}

// converted are the files of the converters' own tests.
const converted = "../../../tools/convert/registry/testdata/"

// move is a migration from a source to a Debian 13.
type move struct {
	*e2e.Work
	t                   *testing.T
	is                  *is.I
	source, target, out string
}

func newMove(t *testing.T) *move {
	w := e2e.New(t)
	w.Memory("5g") // a package manager waits for the disk at each package
	return &move{w, t, is.New(t), w.Path("source"), w.Path("target"), w.Path("out")}
}

// makeTarget makes a Debian 13, with what its packages' scripts look for.
func (m *move) makeTarget() {
	m.Call(0, "bash .ci/e2e/roots.sh")
	m.Copy(filepath.Join(e2e.Cache(), "roots/trixie-base"), "target")
	m.Hold(`mount -t proc proc "$1/proc"; mount --bind /dev "$1/dev"`, `umount -q -l "$1/proc" "$1/dev"`, m.target)
}

// brings writes the files of a converter's test into the source.
func (m *move) brings(name string) {
	m.t.Helper()
	archive, err := txtar.ParseFile(converted + name)
	m.is.NoErr(err)
	for _, f := range archive.Files {
		m.Files(m.source, map[string]string{f.Name: string(f.Data)})
	}
}

// modes gives files of the source their modes; a name may be a pattern.
func (m *move) modes(modes map[string]os.FileMode) {
	m.t.Helper()
	for name, mode := range modes {
		files, err := filepath.Glob(filepath.Join(m.source, name))
		m.is.NoErr(err)
		m.is.True(len(files) > 0)
		for _, f := range files {
			m.is.NoErr(os.Chmod(f, mode))
		}
	}
}

// in runs a command on the target.
func (m *move) in(code int, command ...string) e2e.Said {
	m.t.Helper()
	return m.Run(code, "chroot", append([]string{m.target}, command...)...)
}

// lines are what a command of the shell says on the target, in one line.
func (m *move) lines(command string) string {
	m.t.Helper()
	return strings.ReplaceAll(m.in(0, "sh", "-c", command).Line(), "\n", " ")
}

func (m *move) at(name string) string { return filepath.Join(m.target, name) }

func (m *move) read(path string) string {
	m.t.Helper()
	b, err := os.ReadFile(path)
	m.is.NoErr(err)
	return string(b)
}

// there reports whether the target has a file.
func (m *move) there(name string) bool {
	_, err := os.Lstat(m.at(name))
	return err == nil
}

// plan is what the migration's folder has.
func (m *move) plan() (p migration.Plan) {
	m.t.Helper()
	m.is.NoErr(json.Unmarshal([]byte(m.read(filepath.Join(m.out, "plan.json"))), &p))
	return p
}

// rows are those of a plan's configuration for a file of the source.
func rows(p migration.Plan, from string) (all []migration.Config) {
	for _, c := range p.Configuration {
		if c.From == from {
			all = append(all, c)
		}
	}
	return all
}

// apply runs the role on the target; packages that are recommended would only take time
// here.
func (m *move) apply() e2e.Said {
	m.t.Helper()
	return m.Shell(0, `cd "$1" && env -u TMPDIR ANSIBLE_NOCOWS=1 ansible-playbook -i "$2," -c community.general.chroot -e role_install_recommends=false -e ansible_python_interpreter=/usr/bin/python3 site.yml`, m.out, m.target)
}

// unchanged is how Ansible ends where there was nothing to do.
var unchanged = regexp.MustCompile(`changed=0 +unreachable=0 +failed=0`)

func (m *move) applyTwice() {
	m.apply()
	if again := m.apply(); !unchanged.MatchString(again.Out) {
		m.t.Fatalf("the role changes something the second time:\n%s", again.Out)
	}
}

// installed: all packages of the plan are.
func (m *move) installed(p migration.Plan) {
	m.t.Helper()
	m.is.True(len(p.Install) > 0)
	have := strings.Fields(strings.ReplaceAll(m.in(0, "dpkg-query", "-W", "-f", "${db:Status-Abbrev}=${Package}\n").Out, "ii =", ""))
	for _, name := range p.Install {
		if !slices.Contains(have, name) {
			m.t.Errorf("%s is not installed", name)
		}
	}
}

// takes: each program on the target takes its configuration, as a command of the shell.
func (m *move) takes(commands ...string) {
	m.t.Helper()
	for _, c := range commands {
		m.in(0, "sh", "-c", c)
	}
}
