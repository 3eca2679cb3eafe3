package rehearse_test

import (
	"os/exec"
	"testing"

	"svc/.ci/e2e"
	"svc/tools/rehearsal"
)

// account is this test's: its name is in no check.
const account = "svc-e2e-user"

// user is a person without root, with the server, the program and all results in the home.
type user struct {
	*machine
	home string
}

func newUser(t *testing.T) user {
	m := newServer(t)
	m.Call(0, "needs newuidmap:uidmap")
	// With a control group, as systemd gives one to its users.
	m.Hold(`useradd --create-home "$1"; mkdir "$(group)/$1"; chown -R "$1" "$(group)/$1"`,
		`find "$(group)/$1" -depth -type d -exec rmdir {} \;; userdel --remove "$1"`, account)
	u := user{m, m.Run(0, "sh", "-c", "getent passwd $0 | cut -d: -f6", account).Line()}
	u.Run(0, "mv", u.root, u.home+"/source")
	u.Run(0, "cp", u.Command().Path, u.home+"/svc")
	u.root = u.home + "/source"
	return u
}

// as is a command of the user.
func (u user) as(words ...string) *exec.Cmd {
	environment := []string{"-u", account, "--", "env", "-u", "XDG_DATA_HOME", "-u", "XDG_CONFIG_HOME", "-u", "XDG_STATE_HOME", "-C", u.home, "HOME=" + u.home}
	return exec.Command("runuser", append(environment, words...)...)
}

// svc rehearses the server into a folder of the home.
func (u user) svc(folder string, options ...string) *exec.Cmd {
	return u.as(append([]string{u.home + "/svc", "rehearse", "--root", u.root, "--target", "debian-13", "--archive", u.archive, "--out", folder}, options...)...)
}

// grouped has a command begin in the user's control group.
func (u user) grouped(code int, c *exec.Cmd) e2e.Said {
	u.t.Helper()
	return u.Call(code, `echo 0 >"$(group)/$1/cgroup.procs"; shift; exec "$@"`, append([]string{account}, c.Args...)...)
}

// TestUser rehearses without root, with -all.
func TestUser(t *testing.T) {
	if !*all {
		t.Skip("-all rehearses without root")
	}
	u := newUser(t)
	u.alone()
	u.boots()
	u.is.Equal(u.Do(0, u.as("ls", ".cache/svc/rehearsals/running")).Out, "") // nothing is left
	u.Run(1, "pgrep", "-u", account)
}

// alone it goes as far as it can, and says how far: nothing is started.
func (u user) alone() {
	u.Do(0, u.svc("chroot")).Has("Level chroot")
	d := u.document(u.home + "/chroot")
	u.went(d, rehearsal.Chroot, filesAlone)
	u.judged(d, map[string]rehearsal.Verdict{
		"unit clock.service":                rehearsal.Untried, // it is there
		"site ":                             rehearsal.Untried,
		"configuration /usr/sbin/nginx":     rehearsal.Runs,
		"configuration /usr/sbin/logrotate": rehearsal.Runs, // what is root's is root's
	})
}

// boots: with a control group of one's own it does.
func (u user) boots() {
	u.grouped(0, u.svc("booted"))
	d := u.document(u.home + "/booted")
	u.went(d, rehearsal.Booted, bootedCopy)
	u.judged(d, map[string]rehearsal.Verdict{"unit clock.service": rehearsal.Runs})

	u.grouped(6, u.svc("data", "--with-data"))
	d = u.document(u.home + "/data")
	u.onlyShopFails(d)
	u.judged(d, map[string]rehearsal.Verdict{
		"data files, as":                    rehearsal.Runs,
		"data files that could not be read": rehearsal.Untried,
		"unit redis-server.service":         rehearsal.Runs, // its settings only root reads
	})
}
