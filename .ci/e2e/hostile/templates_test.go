package hostile_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
	"svc/cmd/svc/exit"
)

var all = flag.Bool("all", false, "have this machine's own Ansible apply the role, too")

// TestTemplates migrates a machine whose every text is a program for Ansible or a
// shell: what it says runs nowhere, neither here nor there, and its role is applied, in
// check mode and then for real.
func TestTemplates(t *testing.T) {
	w := e2e.New(t)
	p := newPlayer(w)
	templated(t, w.Path("templated"))
	t.Run("it is migrated, and what no system takes is said", func(t *testing.T) {
		w.In(t).SVC(exit.Done, "migrate", "--root", w.Path("templated"), "--target", "debian-13", "--out", p.role, "--confirm").Has("source.invalid-values")
	})
	if *all {
		t.Run("its role is looked at by this machine's Ansible", func(t *testing.T) { p.own(t, "--check") })
	}
	t.Run("its role is looked at by Debian 13's", func(t *testing.T) { p.play(t, "--check") })
	if *all {
		t.Run("it is applied by this machine's", func(t *testing.T) { p.own(t) })
	}
	t.Run("it is applied by Debian 13's", func(t *testing.T) {
		said := p.play(t)
		if *all {
			said.Has("changed=0 ") // the other has applied it
		}
	})
	t.Run("nothing of what it says was run", func(t *testing.T) {
		is.New(t).Equal(p.ran(t), nil)
	})
	t.Run("files have the names that they had", func(t *testing.T) {
		_, err := os.Stat(p.root + "/etc/file {{ " + strings.ReplaceAll(touch, "@@", "b") + " }}")
		is.New(t).NoErr(err)
	})
	t.Run("it would have been run, were it no text", func(t *testing.T) {
		w.In(t).Run(0, "sed", "-i", "s/!unsafe //", p.role+"/role/defaults/main.yml")
		w.In(t).Shell(0, `"$@" || true`, p.command(t, "--check")...) // it may fail of it
		is.New(t).True(len(p.ran(t)) > 0)
	})
}

// touch is what Ansible would run in a template.
const touch = `lookup("pipe","touch \x2ftmp\x2fsvc-ran-@@")`

// templates are texts that would leave a file whose name begins with /tmp/svc-ran, or
// change what the role is. Each has its letter in the place of @@.
var templates = []string{
	"#jinja2:variable_start_string:\"[[\",variable_end_string:\"]]\"\n[[" + touch + "]]",
	"{{ " + touch + " }}",
	"{% set x = " + touch + " %}",
	`$(touch \x2ftmp\x2fsvc-ran-@@)`,
	"x\nrole_packages: [@@]",
	"@@\u2028- x\u0085\u202e\x1b[31m",
	"-rf @@",
	"'\"`@@`",
}

// templated makes the machine.
func templated(t *testing.T, root string) {
	is := is.New(t)
	is.NoErr(exec.Command("cp", "-a", "../../../fixtures/hosts/debian-11-web", root).Run())
	m := machine{t, root}
	for i, text := range templates {
		letter := string(rune('a' + i))
		m.template(letter, strings.ReplaceAll(text, "@@", letter), 'a'+i)
	}
	if err := os.Remove(m.at("etc/localtime")); !os.IsNotExist(err) {
		is.NoErr(err)
	}
	m.write("etc/timezone", "#jinja2:x\n")
	m.write("etc/hostname", "#jinja2:x\n")
	m.write("etc/default/locale", "LANG=#jinja2:x\n")
}

// template has files, links, folders, units, accounts and archives of a text.
func (m machine) template(letter, text string, number int) {
	is := is.New(m.t)
	line := strings.NewReplacer(":", ";", "\n", " ").Replace(text)
	for _, name := range []string{"etc/file ", "etc/apache2/sites-available/", "etc/sysctl.d/", "etc/cron.d/"} {
		m.write(name+text, text)
	}
	m.link("etc/link-"+letter, text)
	m.link("etc/at "+text, letter)
	for _, name := range []string{"etc/folder ", "var/log/"} {
		is.NoErr(os.MkdirAll(m.at(name+text), 0o755))
	}
	unit := "etc/systemd/system/" + text + ".service"
	m.write(unit, "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n")
	m.link("etc/systemd/system/multi-user.target.wants/"+text+".service", "/"+unit)
	for i, user := range []string{line, "u" + letter} {
		id := 3000 + 200*i + number
		m.add("etc/passwd", fmt.Sprintf("%[1]s:x:%[2]d:%[2]d:%[3]s:/home/%[3]s:/bin/%[3]s\n", user, id, line))
		m.add("etc/group", fmt.Sprintf("%s:x:%d:u%s\n", user, id, letter))
	}
	m.write("home/"+line+"/.ssh/authorized_keys", "ssh-ed25519 AAAA "+line+"\n")
	m.write("etc/apt/sources.list.d/"+text+".list", "deb http://"+line+"/ "+line+" main\n")
}

// add adds to a file.
func (m machine) add(name, text string) {
	is := is.New(m.t)
	f, err := os.OpenFile(m.at(name), os.O_APPEND|os.O_WRONLY, 0)
	is.NoErr(err)
	defer f.Close()
	_, err = f.WriteString(text)
	is.NoErr(err)
}

// player is a Debian 13 with its own Ansible, and nothing of what is written to it kept.
type player struct {
	*e2e.Work
	root, role string // role is the folder of the migration
}

func newPlayer(w *e2e.Work) player {
	w.Run(0, "bash", "../roots.sh", "ansible")
	return player{w, w.Overlay(filepath.Join(e2e.Cache(), "roots", "trixie-ansible"), "here"), w.Path("out")}
}

// command is the role, as it is now, by the Ansible of the root on that system itself.
func (p player) command(t *testing.T, args ...string) []string {
	w := p.In(t)
	w.Run(0, "rm", "-rf", p.root+"/role-of-svc")
	w.Run(0, "cp", "-a", p.role, p.root+"/role-of-svc")
	return append([]string{"chroot", p.root, "sh", "-c", `cd /role-of-svc && exec ansible-playbook -i localhost, -c local -e "{role_packages: []}" "$@" site.yml`, "sh"}, args...)
}

func (p player) play(t *testing.T, args ...string) e2e.Said {
	command := p.command(t, args...)
	return p.In(t).Run(0, command[0], command[1:]...)
}

// own applies the role by this machine's Ansible, from outside.
func (p player) own(t *testing.T, args ...string) {
	p.In(t).Run(0, "ansible-playbook", append([]string{"-i", p.root + ",", "-c", "community.general.chroot", "-e", "{role_packages: []}", "-e", "ansible_python_interpreter=/usr/bin/python3", p.role + "/site.yml"}, args...)...)
}

// ran are the files that programs in the machine's texts have left.
func (p player) ran(t *testing.T) (files []string) {
	for _, folder := range []string{"/tmp", p.root + "/tmp", p.Dir} {
		found, err := filepath.Glob(folder + "/svc-ran*")
		is.New(t).NoErr(err)
		files = append(files, found...)
	}
	return files
}
