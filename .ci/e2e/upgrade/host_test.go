package upgrade_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

// host has versions 13, 15 and 17 of PostgreSQL installed together, as one has that went
// from Debian 11 to 13. All changes to it go to memory.
type host struct {
	*e2e.Work
	t        *testing.T
	is       *is.I
	root     string
	patience string // in seconds, with an upgrade
}

// newHost has a cluster 13/main with something of everything, which is kept too.
func newHost(t *testing.T) *host {
	t.Setenv("TMPDIR", "") // a root has its own
	h := (&host{Work: e2e.New(t)}).in(t)
	h.Memory("3g")
	kept := filepath.Join(e2e.Cache(), "upgrade")
	h.Call(0, `. .ci/e2e/shop.sh; servers_root "$1"`, kept)
	h.root = h.Overlay(filepath.Join(kept, "postgresql"), "root")
	h.Run(0, "cp", h.Command().Path, h.at("usr/local/bin/svc"))
	h.add("etc/postgresql-common/createcluster.conf", "listen_addresses = ''") // ports are those of the machine
	h.chroot("pg_createcluster", "13", "main", "-p", "5432", "-e", "UTF8", "--locale", "en_US.UTF-8", "--", "--data-checksums")
	h.add("etc/postgresql/13/main/postgresql.conf", "work_mem = 5MB\noperator_precedence_warning = off")
	h.control("13 main start")
	h.shop("fill")
	h.keep("sums", h.shop("sums").Out)
	h.control("13 main stop")
	h.Shell(0, `mkdir "$2" && cp -a "$1/var/lib/postgresql" "$2/data" && cp -a "$1/etc/postgresql" "$2/etc"`, h.root, h.Path("saved"))
	h.control("13 main start")
	return h
}

// in is the same host for a part of the test.
func (h *host) in(t *testing.T) *host {
	return &host{Work: h.In(t), t: t, is: is.New(t), root: h.root, patience: cmp.Or(h.patience, "300")}
}

// reset has the cluster, and no other, as it was kept.
func (h *host) reset() {
	h.End(h.root)
	h.Shell(0, `rm -rf "$1/var/lib/postgresql" "$1/etc/postgresql" "$1"/run/postgresql/.s* "$1"/run/postgresql/*.pid "$1"/srv/*
		cp -a "$2/data" "$1/var/lib/postgresql"
		cp -a "$2/etc" "$1/etc/postgresql"`, h.root, h.Path("saved"))
	h.control("13 main start")
}

// at is a path in the root.
func (h *host) at(name string) string { return filepath.Join(h.root, name) }

// keep writes a text into a file of the test's.
func (h *host) keep(name, text string) { h.Files(h.Dir, map[string]string{name: text}) }

// add writes lines at the end of a file of the root.
func (h *host) add(name, lines string) {
	f, err := os.OpenFile(h.at(name), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	h.is.NoErr(err)
	_, err = f.WriteString(lines + "\n")
	h.is.NoErr(err)
	h.is.NoErr(f.Close())
}

// read is what is in a file of the root.
func (h *host) read(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(h.at(name))
	h.is.NoErr(err)
	return string(text)
}

// there reports whether the root has a file.
func (h *host) there(name string) bool {
	_, err := os.Lstat(h.at(name))
	return err == nil
}

// list names what is in a folder of the root.
func (h *host) list(name string) string {
	h.t.Helper()
	entries, err := os.ReadDir(h.at(name))
	h.is.NoErr(err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// place makes an empty backup directory, which the cluster's account can enter.
func (h *host) place(name string) string {
	h.t.Helper()
	h.Run(0, "install", "-d", "-m", "0711", h.at("srv/"+name))
	return name
}

// chroot runs a command in the root.
func (h *host) chroot(command ...string) e2e.Said {
	h.t.Helper()
	return h.Run(0, "chroot", append([]string{h.root}, command...)...)
}

// control has Debian's own command start or stop a cluster.
func (h *host) control(words string) {
	h.t.Helper()
	h.chroot(append([]string{"pg_ctlcluster"}, strings.Fields(words)...)...)
}

// account is a command of the cluster's account.
func (h *host) account(command ...string) *exec.Cmd {
	return exec.Command("chroot", append([]string{h.root, "setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"}, command...)...)
}

func (h *host) psql(args ...string) *exec.Cmd {
	return h.account(append([]string{"psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"}, args...)...)
}

// sql is what a server says, such as to -c STATEMENT.
func (h *host) sql(args ...string) string {
	h.t.Helper()
	return h.Do(0, h.psql(args...)).Line()
}

// script has a server do what a text says.
func (h *host) script(text string, args ...string) string {
	h.t.Helper()
	c := h.psql(args...)
	c.Stdin = strings.NewReader(text)
	return h.Do(0, c).Line()
}

// shop calls a function of shop.sh.
func (h *host) shop(function ...string) e2e.Said {
	h.t.Helper()
	return h.Call(0, `. .ci/e2e/shop.sh
		sql() { chroot "$root" setpriv --reuid postgres --regid postgres --init-groups psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
		root=$1
		"${@:2}"`, append([]string{h.root}, function...)...)
}

// version is that of the server that serves the port.
func (h *host) version() string {
	h.t.Helper()
	major, _, _ := strings.Cut(h.sql("-p", "5432", "-c", "show server_version"), ".")
	return major
}

// holds: this version serves the port, with everything in it.
func (h *host) holds(version string) {
	h.t.Helper()
	h.is.Equal(h.version(), version)
	h.keep("now", h.shop("sums").Out)
	h.Run(0, "diff", h.Path("sums"), h.Path("now"))
}

// asBefore: 13 serves, and no configuration and no data of another cluster are there.
func (h *host) asBefore() {
	h.t.Helper()
	h.holds("13")
	h.Run(0, "diff", "-r", h.Path("saved/etc"), h.at("etc/postgresql"))
	h.is.Equal(h.list("var/lib/postgresql"), "13")
	h.is.True(!h.there("run/svc-db-upgrade")) // nothing private is left
}

// Arguments of svc db upgrade.
func to(version, backup string) string {
	return "--engine postgresql --to " + version + " --backup-dir /srv/" + backup
}
func resume(backup string) string   { return "--backup-dir /srv/" + backup + " --resume --confirm" }
func rollBack(backup string) string { return "--backup-dir /srv/" + backup + " --roll-back --confirm" }

// svc is the command, as root of the host calls it.
func (h *host) svc(args string) []string {
	return append([]string{"chroot", h.root, "env", "-u", "XDG_DATA_HOME", "-u", "XDG_CONFIG_HOME", "-u", "XDG_STATE_HOME", "HOME=/root", "svc", "db", "upgrade"}, strings.Fields(args)...)
}

// upgrade runs it, and it ends with this exit code.
func (h *host) upgrade(code int, args string) e2e.Said {
	h.t.Helper()
	return h.Run(code, "timeout", append([]string{h.patience}, h.svc(args)...)...)
}

// during runs it, and does something to it when it begins a step: that is in its journal
// then.
func (h *host) during(step string, act func(*os.Process), args string) (e2e.Said, int) {
	h.t.Helper()
	c := h.svc(args)
	return h.Upon(exec.Command(c[0], c[1:]...), func(line string) bool {
		return strings.Contains(line, ", "+step+": ") && !strings.Contains(line, ": taking back: ")
	}, act)
}

// kill is SIGKILL, so long after.
func kill(delay time.Duration) func(*os.Process) {
	return func(p *os.Process) {
		time.Sleep(delay)
		_ = p.Kill() // it may have ended
	}
}

// done reports whether the journal of an upgrade has a step as done. There is no journal
// before the first step.
func (h *host) done(step, backup string) bool {
	said, _ := os.ReadFile(h.at("srv/" + backup + "/journal.jsonl"))
	return bytes.Contains(said, fmt.Appendf(nil, `"step":%q,"state":"done"`, step))
}

// within is SIGKILL at once, or in the midst of a step, and no later than at its end: on
// a quick machine all that is left would be done before it.
func (h *host) within(step, backup string) func(*os.Process) {
	return func(p *os.Process) {
		until := time.Now().Add(rand.N(900 * time.Millisecond))
		for time.Now().Before(until) && !h.done(step, backup) {
			time.Sleep(time.Millisecond)
		}
		kill(0)(p)
	}
}

// resumedKilled resumes an upgrade once for each of these steps, and kills it in that. Where
// a busy machine has killed the step before so late that this one was done, there is
// nothing to kill.
func (h *host) resumedKilled(backup, steps string) {
	h.t.Helper()
	for _, step := range strings.Fields(steps) {
		if h.done(step, backup) {
			h.t.Logf("NOT KILLED in %s: it was done when the step before was killed", step)
			continue
		}
		h.during(step, h.within(step, backup), resume(backup))
		h.is.True(strings.Contains(h.read("srv/"+backup+"/journal.jsonl"), `"step":"`+step+`","state":"started"`))
	}
}

// undoingKilled runs svc, and kills it when it says that it takes a step back.
func (h *host) undoingKilled(step, args string) {
	h.t.Helper()
	h.OnOneProcessor(func() {
		c := exec.Command("nice", append([]string{"-n", "5"}, h.svc(args)...)...)
		_, code := h.Upon(c, func(line string) bool { return strings.Contains(line, ", "+step+": taking back: ") }, kill(0))
		h.is.Equal(code, -1) // it did not end by itself
	})
}
