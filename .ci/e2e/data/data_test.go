// Package data_test plans the move of a machine's data and runs the plan's scripts on
// a tree of hostile names, with owners that have other numbers on the target; then
// rolls back, and does it again with a source that is reached by ssh alone.
package data_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

func TestMain(m *testing.M) {
	e2e.Main(m, "rsync:rsync", "setfacl:acl", "setfattr:attr", "shellcheck:shellcheck", "ssh:openssh-client", "sshd:openssh-server")
}

// move is one of data from a source to a target, by the scripts of a plan.
type move struct {
	*e2e.Work
	t              *testing.T
	is             *is.I
	source, target string
	before         string // picture of the target
}

func TestData(t *testing.T) {
	w := e2e.New(t)
	m := &move{Work: w, t: t, is: is.New(t), source: w.Path("source"), target: w.Path("target")}
	t.Setenv("SOURCE_ROOT", m.source)
	t.Setenv("TARGET_ROOT", m.target)
	m.makeSource()
	m.makeTarget()
	m.before = m.picture(m.target)
	m.plans()
	m.refuses()
	m.moves()
	m.holds()
	m.finds()
	m.rollsBack()
	m.overSSH()
}

// picture is all that matters of a tree, byte by byte.
func (m *move) picture(root string) string {
	m.t.Helper()
	return m.Shell(0, `cd "$1"
		places=(); for place in srv home var/mail; do [ ! -e $place ] || places+=($place); done
		find "${places[@]}" -printf '%y %m %U %G %s %n %p %l\0' | LC_ALL=C sort -z | sha256sum
		find "${places[@]}" -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum -z | sha256sum
		getfacl -R -n -p srv home | sha256sum`, root).Out
}

// names is a digest of every name below a folder.
func (m *move) names(dir string) string {
	m.t.Helper()
	return m.Shell(0, `cd "$1" && find . -print0 | sort -z | sha256sum`, dir).Out
}

// beside is a digest of the files that a source has beside its folders, and what they say.
func (m *move) beside(root string) string {
	m.t.Helper()
	return m.Shell(0, `cd "$1" && find home srv -maxdepth 1 ! -type d ! -name own -print0 | sort -z | xargs -0 sha256sum -z -- | sha256sum`, root).Out
}

// stat is what stat's format says of files of the target, a line of each.
func (m *move) stat(format string, names ...string) string {
	m.t.Helper()
	args := []string{"-c", format, "--"}
	for _, name := range names {
		args = append(args, filepath.Join(m.target, name))
	}
	return m.Run(0, "stat", args...).Line()
}

// read is a file of the target.
func (m *move) read(name string) string {
	m.t.Helper()
	b, err := os.ReadFile(filepath.Join(m.target, name))
	m.is.NoErr(err)
	return string(b)
}

// step runs a script of the plan.
func (m *move) step(code int, script string) e2e.Said {
	m.t.Helper()
	return m.Run(code, "bash", m.Path("out", script))
}

func (m *move) plans() {
	plan := func(code int, out string, options ...string) e2e.Said {
		return m.SVC(code, append([]string{"data", "plan", "--root", m.source, "--target", "debian-13", "--out", m.Path(out)}, options...)...)
	}
	plan(2, "out")                                             // without --confirm
	plan(6, "running", "--confirm").Has("data.source-running") // mail still arrives
	plan(0, "out", "--source-offline", "--confirm")            // a quiet source
	m.SVC(0, "attest", "verify", m.Path("out/attestation.dsse.json"))
	plan(0, "again", "--source-offline", "--confirm")
	m.Run(0, "diff", "-r", m.Path("out"), m.Path("again"))
	m.Shell(0, `cd "$1" && shellcheck -x ./*.sh`, m.Path("out"))
	m.Shell(0, `shellcheck -x "$1"/places/*.sh`, m.Path("out"))
	m.is.Equal(m.picture(m.target), m.before) // a plan runs nothing
}

func (m *move) refuses() {
	m.step(1, "20-first-copy.sh") // before the check
	group := m.read("etc/group")
	m.Files(m.target, map[string]string{"etc/group": strings.ReplaceAll(group, "anna:x:1502:\n", "")})
	m.step(1, "10-check.sh").Has("no anna in /etc/group")
	m.Files(m.target, map[string]string{"etc/group": group})
	inPlace := filepath.Join(m.target, "srv/shop/scripts")
	m.Run(0, "cp", "-a", m.Path("out"), inPlace)
	m.Run(1, "bash", filepath.Join(inPlace, "10-check.sh")).Has("Move it elsewhere") // it would be copied over
	m.is.NoErr(os.RemoveAll(inPlace))
}

func (m *move) moves() {
	m.step(0, "10-check.sh")
	m.step(0, "20-first-copy.sh")
	later := filepath.Join(m.source, "srv/shop/later")
	m.Files("", map[string]string{later: "later\n"})
	m.is.NoErr(os.Chown(later, 48, 48))
	m.is.NoErr(os.Remove(filepath.Join(m.source, "srv/shop/;")))
	m.step(1, "40-copy.sh") // without counts
	m.step(0, "30-before.sh")
	m.step(1, "50-after.sh") // a copy that is not made yet
	m.step(0, "40-copy.sh")
	m.step(0, "50-after.sh")
	first := m.picture(m.target)
	m.step(0, "40-copy.sh")
	m.is.Equal(m.picture(m.target), first) // a second copy changes nothing
}

// copied is held of every copy, however the source is reached.
func (m *move) copied() {
	m.t.Helper()
	m.is.Equal(m.names(filepath.Join(m.target, "srv/shop")), m.names(filepath.Join(m.source, "srv/shop")))
	m.is.Equal(m.stat("%u:%g", "home/anna/notes", "srv/shop/deep"), "1501:1502\n1501:1502") // anna has another number
	m.is.Equal(m.stat("%u:%g", "srv/shop/-rf"), "4242:4243")                                // a number without a name stays
	acl := m.Run(0, "getfacl", "-npc", "--", filepath.Join(m.target, "srv/shop/plain"))
	acl.Has("user:33:r-x\n")
	acl.Has("group:1502:r--\n")
	m.is.True(!strings.Contains(acl.Out, ":48:") && !strings.Contains(acl.Out, ":1000:")) // rights by ACL have the new numbers alone
}

func (m *move) holds() {
	m.copied()
	m.is.Equal(m.stat("%u:%g", "srv/shop/with space", "srv/shop/later"), "33:33\n33:33") // the web server has another number
	m.is.Equal(m.stat("%a %u:%g", "srv/shop/setuid"), "6755 0:1502")
	m.is.Equal(m.stat("%i", "srv/shop/plain"), m.stat("%i", "srv/shop/deep/hard"))
	m.is.Equal(m.stat("%y", "srv/shop/plain"), m.Run(0, "stat", "-c", "%y", filepath.Join(m.source, "srv/shop/plain")).Line())
	m.Shell(0, `[ "$(stat -c %b "$1")" -lt 2048 ]`, filepath.Join(m.target, "srv/shop/sparse"))
	m.is.Equal(m.Run(0, "getfattr", "--absolute-names", "--only-values", "-n", "user.note", filepath.Join(m.target, "srv/shop/plain")).Out, "a b")
	link, err := os.Readlink(filepath.Join(m.target, "srv/shop/absolute"))
	m.is.NoErr(err)
	m.is.Equal(link, "/etc/shadow")
	for name, content := range map[string]string{
		"srv/shop/upload?[x]*/f": "nested\n", // a place within a place
		"srv/shop/upload?ax/f":   "outer\n",  // and what its name would match as a pattern
		"srv/\xff place/file":    "odd\n",
		"srv/own":                "own\n", // the target's own
		"home/admin/own":         "own\n",
	} {
		m.is.Equal(m.read(name), content) // of the target
	}
	m.is.Equal(m.beside(m.target), m.beside(m.source)) // files beside the folders
	m.is.Equal(m.stat("%u:%g", "srv/link", "srv/-rf"), "33:33\n33:33")
	m.is.Equal(m.stat("%a %u:%g", "srv"), "755 0:0")              // as the target made it
	m.is.Equal(m.Run(0, "find", m.Dir, "-name", "pwned").Out, "") // no name was run
}

// finds: what differs on the target is found, and repaired.
func (m *move) finds() {
	m.Shell(0, `echo changed >>"$1"`, filepath.Join(m.target, "srv/shop/plain"))
	m.step(1, "50-after.sh")
	m.step(0, "40-copy.sh")
	m.is.NoErr(os.Chown(filepath.Join(m.target, "srv/shop/later"), 7, -1))
	m.step(1, "50-after.sh")
}

func (m *move) rollsBack() {
	source := m.picture(m.source)
	for range 2 {
		m.step(0, "90-roll-back.sh")
		m.is.Equal(m.picture(m.target), m.before) // to what the target was
	}
	m.is.Equal(m.picture(m.source), source) // the source was never touched
}

// overSSH makes the same move by the same scripts, but that the source is reached
// by ssh alone.
func (m *move) overSSH() {
	m.Serve()
	m.t.Setenv("SOURCE_SSH", "nobody@source")
	m.step(1, "10-check.sh") // it refuses
	m.t.Setenv("SOURCE_SSH", "source")
	m.t.Setenv("SOURCE_ROOT", m.Path("none"))
	m.step(1, "10-check.sh") // it has not what is planned
	m.t.Setenv("SOURCE_ROOT", m.source)
	for _, script := range []string{"10-check.sh", "20-first-copy.sh", "30-before.sh", "40-copy.sh", "50-after.sh"} {
		m.step(0, script)
	}
	m.copied()
	m.is.NoErr(os.Remove(filepath.Join(m.target, "srv/shop/deep/hard")))
	m.step(1, "50-after.sh") // a file that is lost is found
	m.step(0, "90-roll-back.sh")
	m.is.Equal(m.picture(m.target), m.before)
}
