package migration_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc/tools/parity"
)

// report is what a verification left in a folder.
func (m *move) report(folder string) (r parity.Report) {
	m.t.Helper()
	m.is.NoErr(json.Unmarshal([]byte(m.read(m.Path(folder, "parity.json"))), &r))
	return r
}

// unknowable are the reasons of checks of what nobody could know.
var unknowable = []string{"Nobody counted", "did not say what databases", "Nothing on the source says"}

// verifies: the migrated root does what its source did, and that is signed. What could not
// be compared was announced by the plan, all with evidence.
func (m *move) verifies() {
	m.is.NoErr(os.RemoveAll(m.at("usr/sbin/policy-rc.d"))) // these roots' own: a target has none
	m.SVC(0, "verify", "--root", m.target, "--source", m.out, "--out", m.Path("parity"))
	r := m.report("parity")
	m.is.True(len(r.Checks) >= 100)
	for _, c := range r.Checks {
		announced := c.Result == parity.Match || c.Result == parity.Planned || c.Result == parity.Manual ||
			slices.ContainsFunc(unknowable, func(why string) bool { return strings.Contains(c.Why, why) })
		if !announced || len(c.Evidence) == 0 {
			m.t.Errorf("not announced, or without evidence: %+v", c)
		}
	}
	m.SVC(0, "attest", "verify", m.Path("parity/attestation.dsse.json"))
	m.additions()
}

// addition is what somebody adds to a copy of the target.
type addition struct {
	file  string
	text  string // a line of it
	mode  fs.FileMode
	grows bool   // the file is there, and gets the line
	named string // by its dimension
}

var additions = []addition{
	{"/etc/apt/sources.list.d/evil.list", "deb [trusted=yes] http://evil.example/debian x main", 0o644, false, "archives http://evil.example/debian x main"},
	{"/root/.ssh/authorized_keys", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl eve", 0o644, false, "authorized_keys root SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"},
	{"/etc/ld.so.preload", "/opt/evil.so", 0o644, false, "configuration /etc/ld.so.preload"},
	{"/etc/cron.d/evil", "* * * * * root /opt/evil", 0o644, false, "jobs root: /opt/evil"},
	{"/etc/modules-load.d/evil.conf", "evil", 0o644, false, "modules evil"},
	{"/var/lib/dpkg/status", "Package: evil\nStatus: install ok installed\nVersion: 1\nArchitecture: all", 0, true, "packages evil"},
	{"/etc/pam.d/common-auth", "auth sufficient pam_evil.so", 0, true, "pam pam_evil.so"},
	{"/usr/bin/su", "#!/bin/sh", 0o755 | fs.ModeSetuid, false, "programs /usr/bin/su"},
	{"/usr/lib/evil/helper", "#!/bin/sh", 0o755 | fs.ModeSetuid, false, "programs /usr/lib/evil/helper"},
	{"/usr/local/bin/evil", "#!/bin/sh", 0o755, false, "programs /usr/local/bin/evil"},
	{"/etc/systemd/system/evil.service", "[Service]", 0o644, false, "services evil.service"},
	{"/etc/sudoers.d/evil", "mallory ALL=(ALL) NOPASSWD: ALL", 0o644, false, "sudoers mallory"},
	{"/etc/passwd", "toor:x:0:0::/root:/bin/bash", 0, true, "users toor"},
}

// add makes the addition in a copy of links: the file that it changes is a new one.
func (a addition) add(root string) error {
	path := filepath.Join(root, a.file)
	var before []byte
	if a.grows {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		a.mode = info.Mode()
		if before, err = os.ReadFile(path); err != nil {
			return err
		}
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.RemoveAll(path)); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path, append(before, a.text+"\n"...), 0o600), os.Chmod(path, a.mode))
}

// additions: what somebody adds to the target, of all kinds and of some that are drawn, is
// named by its own dimension, and nothing else is.
func (m *move) additions() {
	drawn := slices.Clone(additions)
	rand.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	for _, set := range [][]addition{additions, drawn[:1+rand.IntN(6)]} {
		added := m.Path("added")
		m.Run(0, "cp", "-alx", m.target, added)
		var want []string
		for _, a := range set {
			m.is.NoErr(a.add(added))
			want = append(want, a.named)
		}
		slices.Sort(want)
		var r parity.Report
		m.SVC(6, "verify", "--quiet", "--root", added, "--source", m.out, "--json").JSON(&r)
		m.is.Equal(named(r.Differences()), want)
		m.SVC(6, "drift", "--root", added, "--source", m.out) // from the migration's folder finds it too
		m.Run(0, "rm", "-rf", "--one-file-system", added)
	}
}

// named are checks by their dimensions and subjects.
func named(checks []parity.Check) (names []string) {
	for _, c := range checks {
		names = append(names, c.Dimension+" "+c.Subject)
	}
	slices.Sort(names)
	return names
}

// drifts: one package, one unit, one file, one user and one port are changed, and exactly
// these are named. The line that is added to the file is a comment.
func (m *move) drifts(pkg, unit, file string) {
	m.SVC(0, "drift", "--root", m.target, "--source", m.Path("parity"))
	const idle = "usr/sbin/policy-rc.d" // so that no script of a package starts or stops anything
	m.Files(m.target, map[string]string{idle: "#!/bin/sh\nexit 101\n"})
	m.is.NoErr(os.Chmod(m.at(idle), 0o755))
	m.in(0, "dpkg", "--purge", "--force-depends", pkg)
	m.is.NoErr(os.Remove(m.at(idle)))
	m.Run(0, "systemctl", "--root="+m.target, "disable", unit)
	m.in(0, "useradd", "-m", "eve")
	m.Files(m.target, map[string]string{file: m.read(m.at(file)) + "# changed\n", "etc/ssh/sshd_config": "Port 2222\n" + m.read(m.at("etc/ssh/sshd_config"))})
	var r parity.Report
	m.SVC(6, "drift", "--root", m.target, "--source", m.Path("parity"), "--json").JSON(&r)
	m.is.Equal(named(r.Checks), []string{"configuration " + file, "packages " + pkg, "ports ssh", "services " + unit, "users eve"})
}
