// Package rehearse_test rehearses a server: a Debian 12 with a web server, a database and
// units of its own, to Debian 13. What the rehearsal says is held against what is known of
// the move; a fix mends it; and a rehearsal that is killed leaves nothing. With -all a
// hostile machine tries to get out, and without root it goes as far as that does.
package rehearse_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
	"svc/tools/rehearsal"
)

var all = flag.Bool("all", false, "rehearse a hostile machine, too, and without root")

func TestMain(m *testing.M) {
	e2e.Main(m, "mmdebstrap:mmdebstrap", "ansible-playbook:ansible", "rsync:rsync", "nsenter:util-linux")
}

// machine is one that is rehearsed.
type machine struct {
	*e2e.Work
	t       *testing.T
	is      *is.I
	root    string
	archive string // of Debian
}

// newMachine is a Debian 12 with servers.
func newMachine(t *testing.T, id string) *machine {
	w := e2e.New(t)
	root := w.Copy(w.Kept("roots/bookworm-rehearse", "bookworm", "systemd,systemd-sysv,dbus,procps,python3,nginx-light,redis-server,openssh-server,cron,sudo"), "source")
	w.Files(root, map[string]string{"etc/machine-id": id + "\n"})
	return &machine{w, t, is.New(t), root, w.Call(0, "mirror").Line()}
}

// unit is an enabled service of its own.
func (m *machine) unit(name string, lines ...string) {
	text := "[Service]\n" + strings.Join(lines, "\n") + "\n[Install]\nWantedBy=multi-user.target\n"
	m.Files(m.root, map[string]string{"etc/systemd/system/" + name + ".service": text})
	m.Run(0, "systemctl", "--root="+m.root, "enable", name+".service")
}

// program is a file that can be run.
func (m *machine) program(path, text string) {
	m.Files(filepath.Dir(path), map[string]string{filepath.Base(path): text})
	m.is.NoErr(os.Chmod(path, 0o755))
}

// newServer has a site whose files are data, and a program of its own that needs what the
// target has not.
func newServer(t *testing.T) *machine {
	m := newMachine(t, "0123456789abcdef0123456789abcdef")
	m.Files(m.root, map[string]string{
		"srv/www/index.html":                   "<title>The shop</title>\n<a href=\"list.html\">List</a>\n",
		"srv/www/list.html":                    "<title>What there is</title>\n",
		"etc/nginx/sites-enabled/default.shop": "server {\n listen 80 default_server;\n server_name shop.example.net;\n root /srv/www;\n}\n",
		"etc/cron.d/nightly":                   "0 3 * * * root /usr/local/bin/nightly\n",
		"etc/logrotate.d/shop":                 "/var/log/shop.log {\n weekly\n missingok\n}\n", // which must be root's
	})
	m.is.NoErr(os.Remove(filepath.Join(m.root, "etc/nginx/sites-enabled/default")))
	m.program(filepath.Join(m.root, "usr/local/bin/shopd"), "#!/usr/bin/python3\nopen('/var/log/shopd.log', 'a').write('it opens\\n'); import spwd, time\ntime.sleep(1e6)\n") // Python 3.13 has no spwd, and no package brings it back
	m.program(filepath.Join(m.root, "usr/local/bin/nightly"), "#!/bin/sh\n")
	m.unit("shopd", "ExecStart=/usr/local/bin/shopd")
	m.unit("clock", "ExecStart=/bin/sleep infinity")
	m.program(m.Path("checks/shop"), "#!/bin/sh\necho 'ok 1 - it is asked'\ngrep -q shop /srv/www/index.html && echo 'ok 2 - the shop is there' || echo 'not ok 2 - the shop is there'\nsystemd-run -q --scope true && echo 'ok 3 - a session begins' || echo 'not ok 3 - a session begins'\n") // as su and sudo ask for one, where they have pam_systemd
	m.Files(m.Path("fixes/spwd"), map[string]string{"commands": "#!/bin/sh\nmkdir -p /usr/local/lib/python3.13/dist-packages && touch /usr/local/lib/python3.13/dist-packages/spwd.py\n"})
	return m
}

// words rehearse the machine into a folder.
func (m *machine) words(out string, options ...string) []string {
	return append([]string{"rehearse", "--root", m.root, "--target", "debian-13", "--archive", m.archive, "--out", m.Path(out)}, options...)
}

// rehearse rehearses it, which ends with this exit code.
func (m *machine) rehearse(code int, out string, options ...string) *rehearsal.Document {
	m.t.Helper()
	m.SVC(code, m.words(out, options...)...)
	return m.document(m.Path(out))
}

// document is what a rehearsal says, in its folder.
func (m *machine) document(folder string) *rehearsal.Document {
	m.t.Helper()
	d := new(rehearsal.Document)
	text, err := os.ReadFile(filepath.Join(folder, "rehearsal.json"))
	m.is.NoErr(err)
	m.is.NoErr(json.Unmarshal(text, d))
	return d
}

// judged: each check whose kind and subject begin so has this verdict, and there is one.
func (m *machine) judged(d *rehearsal.Document, want map[string]rehearsal.Verdict) {
	m.t.Helper()
	for begin, verdict := range want {
		found := 0
		for _, c := range d.Checks {
			if !strings.HasPrefix(c.Kind+" "+c.Subject, begin) {
				continue
			}
			if found++; c.Verdict != verdict {
				m.t.Errorf("%s %s is said to be %q, not %q: %s", c.Kind, c.Subject, c.Verdict, verdict, c.Why)
			}
		}
		if found == 0 {
			m.t.Errorf("nothing is said of %s", begin)
		}
	}
}

// went: the target was tried so far, beside the source, and the role came to its end.
func (m *machine) went(d *rehearsal.Document, level rehearsal.Level, compared string) {
	m.t.Helper()
	m.is.Equal(d.Level, level)
	m.is.Equal(d.Compared, compared)
	m.is.True(d.Role.Applied)
}

// What a rehearsal's target is held against.
const (
	bootedCopy = "a copy of the source, booted"
	filesAlone = "the source's files"
)

// fails are the checks of what does not run.
func fails(d *rehearsal.Document) (checks []rehearsal.Check) {
	for _, c := range d.Checks {
		if c.Verdict == rehearsal.Fails {
			checks = append(checks, c)
		}
	}
	return checks
}

// onlyShopFails: its service and its program, by name.
func (m *machine) onlyShopFails(d *rehearsal.Document) rehearsal.Check {
	m.t.Helper()
	found := fails(d)
	m.is.Equal(len(found), 2)
	m.is.Equal(found[0].Subject, "shopd.service")
	m.is.Equal(found[1].Subject, "/usr/local/bin/shopd")
	m.is.Equal(found[1].Cause.Line, 2)
	m.is.True(strings.Contains(found[1].Why, "spwd"))
	m.is.True(slices.Contains(found[0].Log, "it opens") || d.Level == rehearsal.Chroot) // from a log of its own
	return found[0]
}

// picture is a digest of all files' names, modes, owners, sizes and times.
func (m *machine) picture() string {
	return m.Shell(0, `find "$1" -xdev -printf '%p %m %U %s %T@\n' | sort | sha256sum`, m.root).Out
}

func TestRehearsal(t *testing.T) {
	m := newServer(t)
	before := m.picture()
	m.killed()
	m.withoutData()
	m.is.Equal(m.left(), "")
	m.interrupted()
	m.is.Equal(m.picture(), before) // the source is only read
	m.withData()
	m.mended()
}

// withoutData it tells what does not run.
func (m *machine) withoutData() {
	d := m.rehearse(6, "first", "--checks", m.Path("checks"))
	m.went(d, rehearsal.Booted, bootedCopy)
	m.judged(d, map[string]rehearsal.Verdict{
		"unit nginx.service":           rehearsal.Runs,
		"unit clock.service":           rehearsal.Runs,
		"unit shopd.service":           rehearsal.Untried, // its program is data
		"program /usr/local/bin/shopd": rehearsal.Untried,
		"site http://shop.example.net": rehearsal.Untried,
		"own shop: the shop is there":  rehearsal.Fails,
		"own shop: a session begins":   rehearsal.Runs,
	})
}

// withData the program fails, with what it said.
func (m *machine) withData() {
	d := m.rehearse(6, "second", "--with-data", "--checks", m.Path("checks"))
	m.is.True(slices.ContainsFunc(m.onlyShopFails(d).Log, func(line string) bool { return strings.Contains(line, "spwd") }))
	m.judged(d, map[string]rehearsal.Verdict{
		"site http://shop.example.net":              rehearsal.Runs,
		"site http://shop.example.net:80/list.html": rehearsal.Runs, // which the first page links to
		"program /usr/local/bin/night":              rehearsal.Runs,
		"session root":                              rehearsal.Runs,
		"listing names and modules of":              rehearsal.Runs,
		"data ":                                     rehearsal.Runs,
	})
}

// mended: a fix has it run, and a migration takes the fix and names the rehearsal.
func (m *machine) mended() {
	fixes := m.Path("fixes")
	d := m.rehearse(0, "second", "--with-data", "--fixes", fixes)
	m.is.Equal(d.Fixes[0].Mended, []string{"unit shopd.service", "program /usr/local/bin/shopd"})
	m.SVC(0, "migrate", "--root", m.root, "--target", "debian-13", "--out", m.Path("out"), "--fixes", fixes, "--rehearsal", m.Path("second"), "--confirm")
	next, err := os.ReadFile(m.Path("out/NEXT.md"))
	m.is.NoErr(err)
	m.is.True(!strings.Contains(string(next), "Mend what the rehearsal found")) // nothing is left of it
	digest, _, _ := strings.Cut(m.Run(0, "sha256sum", m.Path("second/rehearsal.json")).Out, " ")
	var envelope struct{ Payload []byte }
	text, err := os.ReadFile(m.Path("out/attestation.dsse.json"))
	m.is.NoErr(err)
	m.is.NoErr(json.Unmarshal(text, &envelope))
	m.is.True(strings.Contains(string(envelope.Payload), digest))
}
