package ssh_test

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"svc/assess"
	"svc/cmd/svc/exit"
	"svc/tools/parity"
)

// users are a user without sudo and one with it, of this machine too: sshd asks it.
var users = []string{"svc-e2e-plain", "svc-e2e-sudo"}

// TestReads reads the machine by every way, by which nothing is written on it.
func TestReads(t *testing.T) {
	m := newMachine(t)
	m.users()
	m.serve("jump", jumpPort)
	box := box(m.Work)
	m.serve("box", boxPort, "ChrootDirectory "+box)
	m.Run(0, "touch", m.Path("stamp"))

	root := m.SVC(0, "assess", "--root", m.root, "--json").Out
	for _, destination := range []string{
		at("root", webPort), "web", "behind", fmt.Sprintf("root@[::1]:%d", webPort), at(users[1], webPort),
	} {
		m.same(root, m.SVC(0, "assess", "--ssh", destination, "--json").Out, "running")
	}
	m.same(m.SVC(0, "assess", "--root", box, "--json").Out, m.SVC(0, "assess", "--ssh", at("root", boxPort), "--json").Out, "running")
	m.is.True(m.assess("web").Running.Sockets != nil) // what runs is said too
	m.asUser(root)
	m.migrates()

	written := m.Run(0, "find", m.root, box, "-xdev", "(", "-newer", m.Path("stamp"), "-o", "-cnewer", m.Path("stamp"), ")")
	m.is.Equal(written.Out, "")
	m.is.Equal(bounded(t, m.Command("assess", "--ssh", "web"), 64<<20), exit.Done)
}

// users makes them, on the machine as here; one has sudo there.
func (m *machine) users() {
	m.Hold(`shift
		for name; do
			userdel "$name" 2>/dev/null || true
			useradd --system --no-create-home --home-dir /tmp --shell /bin/sh --password "*" "$name"
		done`, `for name in `+strings.Join(users, " ")+`; do userdel "$name"; done`, append([]string{m.root}, users...)...)
	m.Shell(0, `cd "$1/etc"
		getent passwd "${@:2}" >>passwd
		echo "$3:*:19000:0:99999:7:::" >>shadow
		echo "$3 ALL=(ALL) NOPASSWD: ALL" >sudoers.d/svc-e2e
		chmod 440 sudoers.d/svc-e2e`, append([]string{m.root}, users...)...)
}

// assess is the assessment over ssh.
func (m *machine) assess(destination string) (a assess.Assessment) {
	m.t.Helper()
	m.SVC(0, "assess", "--ssh", destination, "--json").JSON(&a)
	return a
}

// same: two documents are, but for one value in them.
func (m *machine) same(one, two string, value ...string) {
	m.t.Helper()
	m.Files(m.Dir, map[string]string{"one.json": m.without(one, value), "two.json": m.without(two, value)})
	m.Run(0, "diff", m.Path("one.json"), m.Path("two.json"))
}

// without is a document without a value.
func (m *machine) without(document string, value []string) string {
	m.t.Helper()
	var all map[string]any
	m.is.NoErr(json.Unmarshal([]byte(document), &all))
	inner, last := all, len(value)-1
	for _, name := range value[:last] {
		inner = inner[name].(map[string]any)
	}
	delete(inner, value[last])
	text, err := json.MarshalIndent(all, "", " ")
	m.is.NoErr(err)
	return string(text)
}

// asUser reads what a user without sudo may: what is closed is unreadable, and nothing is
// taken for missing.
func (m *machine) asUser(document string) {
	var root assess.Assessment
	m.is.NoErr(json.Unmarshal([]byte(document), &root))
	plain := m.assess(at(users[0], webPort))
	m.is.Equal(plain.Packages, root.Packages)
	m.is.Equal(plain.Fingerprint, root.Fingerprint)
	unreadable, absent := sources(plain, assess.SourceUnreadable), sources(root, assess.SourceAbsent)
	m.is.True(slices.Contains(unreadable, "accounts.shadow") && slices.Contains(unreadable, "accounts.sudoers"))
	for _, what := range sources(plain, assess.SourceAbsent) {
		m.is.True(slices.Contains(absent, what))
	}
	m.is.Equal(files(plain, assess.ConfigMissing), files(root, assess.ConfigMissing))
	m.is.True(len(files(plain, assess.ConfigUnreadable)) > 0)
	m.is.True(slices.ContainsFunc(plain.Findings, func(f assess.Finding) bool { return f.Key == "assessment.incomplete" }))
}

// sources are those of an assessment in a state.
func sources(a assess.Assessment, state assess.SourceState) (what []string) {
	for _, s := range a.Sources {
		if s.State == state {
			what = append(what, s.What)
		}
	}
	return what
}

// files are the paths of the configuration in a state.
func files(a assess.Assessment, state assess.ConfigState) (paths []string) {
	for _, c := range a.Configuration {
		if c.State == state {
			paths = append(paths, c.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

// migrates: a migration over ssh writes the same role, and the same plan but for how many
// files were compared: programs that are no newer than their packages are not fetched.
func (m *machine) migrates() {
	m.SVC(0, "migrate", "--ssh", "web", "--target", "debian-13", "--preflight")
	m.SVC(0, "migrate", "--root", m.root, "--target", "debian-13", "--out", m.Path("one"), "--confirm")
	m.SVC(0, "migrate", "--ssh", "web", "--target", "debian-13", "--out", m.Path("two"), "--confirm")
	m.Run(0, "diff", "-r", m.Path("one/role"), m.Path("two/role"))
	m.same(m.read("one/plan.json"), m.read("two/plan.json"), "files", "looked")
}

// TestWatches verifies the running machine against what it was, and then has a program
// listen on another port: drift names that, and nothing else.
func TestWatches(t *testing.T) {
	m := newMachine(t)
	m.Files(m.Dir, map[string]string{"before.json": m.SVC(0, "assess", "--ssh", "web", "--json").Out})
	m.SVC(0, "verify", "--ssh", "web", "--source", m.Path("before.json"), "--out", m.Path("parity"))
	var verified, drifted parity.Report
	m.is.NoErr(json.Unmarshal([]byte(m.read("parity/parity.json")), &verified))
	m.is.True(slices.ContainsFunc(verified.Checks, func(c parity.Check) bool {
		return c.Result == parity.Match && listens(c, webPort)
	}))
	m.SVC(0, "drift", "--ssh", "web", "--source", m.Path("parity"))

	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", laterPort))
	m.is.NoErr(err)
	defer listener.Close()
	m.SVC(6, "drift", "--ssh", "web", "--source", m.Path("parity"), "--json").JSON(&drifted)
	differs := slices.DeleteFunc(drifted.Checks, func(c parity.Check) bool { return c.Result != parity.Differs })
	m.is.Equal(len(differs), 1)
	m.is.True(listens(differs[0], laterPort))
}

// listens reports whether a check is about a port, by its number or the program's name.
func listens(c parity.Check, port int) bool {
	return c.Dimension == parity.Ports && strings.Contains(c.Subject+" "+c.After, fmt.Sprint(port))
}
