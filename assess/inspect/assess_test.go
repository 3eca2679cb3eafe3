package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/packages"
)

const fixture = "../../fixtures/hosts/debian-11-web"

// today is a day after the end of bullseye's support and before bookworm's.
var today = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

const (
	osRelease = "ID=debian\nVERSION_ID=\"12\"\nVERSION_CODENAME=bookworm\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"
	testID    = "0123456789abcdef0123456789abcdef\n"
	status    = "Package: bash\nStatus: install ok installed\nArchitecture: amd64\nVersion: 5.2.15-2\nConffiles:\n /etc/bash.bashrc d41d8cd98f00b204e9800998ecf8427e\nMaintainer: X <x@lists.debian.org>\n"
)

// newMachine writes a root with these files; a nil content leaves one out.
func newMachine(t *testing.T, files map[string]string) string {
	t.Helper()
	all := map[string]string{"etc/os-release": osRelease, "etc/machine-id": testID, "var/lib/dpkg/status": status, "etc/bash.bashrc": ""}
	for name, content := range files {
		all[name] = content
	}
	return writeRoot(t, all)
}

// writeRoot writes the files of a root; "-" leaves one out.
func writeRoot(tb testing.TB, files map[string]string) string {
	tb.Helper()
	dir := tb.TempDir()
	for name, content := range files {
		if content == "-" {
			continue
		}
		path := filepath.Join(dir, name)
		is.New(tb).NoErr(os.MkdirAll(filepath.Dir(path), 0o755))
		is.New(tb).NoErr(os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

func assessDir(t *testing.T, dir string) (*assess.Assessment, error) {
	t.Helper()
	h, err := host.OpenRoot(dir)
	is.New(t).NoErr(err)
	defer h.Close()
	return Assess(t.Context(), h, assess.Options{Now: today})
}

func mustAssess(t *testing.T, dir string) *assess.Assessment {
	t.Helper()
	a, err := assessDir(t, dir)
	is.New(t).NoErr(err)
	return a
}

func source(a *assess.Assessment, what string) assess.SourceState {
	for _, s := range a.Sources {
		if s.What == what {
			return s.State
		}
	}
	return ""
}

func keys(a *assess.Assessment) (keys []string) {
	for _, f := range a.Findings {
		keys = append(keys, f.Key)
	}
	return keys
}

func configOf(a *assess.Assessment, path string) *assess.ConfigFile {
	i := slices.IndexFunc(a.Configuration, func(f assess.ConfigFile) bool { return f.Path == path })
	if i < 0 {
		return nil
	}
	return &a.Configuration[i]
}

func TestARealServer(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, fixture)
	is.Equal(a.Release, "debian-11")
	is.Equal(a.System.Architecture, "amd64")
	is.Equal(a.System.Hostname, "web1")
	is.Equal(a.System.TimeZone, "Europe/Vienna")
	is.Equal(a.Fingerprint, Fingerprint(strings.TrimSpace(testID)))
	is.Equal(len(a.Packages), 246) // dpkg -l: 245 ii and 1 hi
	find := func(name string) assess.Package {
		i := slices.IndexFunc(a.Packages, func(p assess.Package) bool { return p.Name == name })
		is.True(i >= 0)
		return a.Packages[i]
	}
	is.True(find("curl").Held)
	is.True(find("apache2").Manual)
	is.True(!find("apache2-bin").Manual)
	is.Equal(find("libmariadb3").Source, "mariadb-10.5")
	is.True(!slices.ContainsFunc(a.Packages, func(p assess.Package) bool { return p.Name == "ntpdate" })) // rc
	is.Equal(configOf(a, "/etc/php/7.4/fpm/php.ini").State, assess.ConfigChanged)                         // ucf's, not dpkg's
	is.Equal(configOf(a, "/etc/apache2/conf-available/security.conf").State, assess.ConfigChanged)
	is.Equal(configOf(a, "/etc/shop app/settings {{ old }}.ini").State, assess.ConfigUnowned)
	is.True(configOf(a, "/etc/ssl/private/shop.key").Secret)
	is.True(configOf(a, "/etc/fstab").Machine)
	is.True(configOf(a, "/etc/apache2/apache2.conf") == nil) // as shipped
	state := func(units []assess.Unit, name string) assess.Unit {
		i := slices.IndexFunc(units, func(u assess.Unit) bool { return u.Name == name })
		is.True(i >= 0)
		return units[i]
	}
	is.Equal(state(a.Services, "shop-worker.service").State, "enabled")
	is.True(state(a.Services, "shop-worker.service").Local)
	is.Equal(state(a.Services, "fail2ban.service").State, "disabled")
	is.True(!state(a.Services, "fail2ban.service").Preset)
	is.True(state(a.Services, "apache2.service").Preset)
	is.Equal(state(a.Services, "apache2.service").Dropins, []string{"/etc/systemd/system/apache2.service.d/limits.conf"})
	is.Equal(state(a.Timers, "apt-daily.timer").State, "masked")
	is.Equal(state(a.Timers, "report.timer").Schedule, "OnCalendar=*-*-* 03:30:00")
	i := slices.IndexFunc(a.Users, func(u assess.User) bool { return u.Name == "deploy" })
	is.Equal(a.Users[i].Groups, []string{"webteam", "www-data"})
	is.True(a.Users[i].Sudo)
	is.Equal(len(a.Users[i].AuthorizedKeys), 1)
	is.Equal(len(a.Databases), 2)
	is.Equal(a.Databases[1].Version, "13")
	is.Equal(a.WebServers[0].Sites[0].Name, "shop.example.org")
	for _, key := range []string{"release.end-of-life", "packages.held", "database.postgresql", "mounts.remote", "services.local", "software.outside"} {
		is.True(slices.Contains(keys(a), key))
	}
}

func TestEqualMachinesGiveEqualBytes(t *testing.T) {
	is := is.New(t)
	one, err := json.Marshal(mustAssess(t, fixture))
	is.NoErr(err)
	for range 3 {
		two, err := json.Marshal(mustAssess(t, fixture))
		is.NoErr(err)
		is.Equal(string(one), string(two))
	}
	is.True(!strings.Contains(string(one), ":null")) // no list is null
}

func TestNoSystem(t *testing.T) {
	is := is.New(t)
	_, err := assessDir(t, t.TempDir())
	is.Equal(err, assess.ErrNoSystem)
	_, err = assessDir(t, newMachine(t, map[string]string{"etc/os-release": "no assignment here"}))
	is.Equal(err, assess.ErrNoSystem)
}

func TestBrokenStatusFiles(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		read    int
	}{
		"empty":                 {"", 0},
		"absent":                {"-", 0},
		"binary":                {"\x00\x01\x02", 0},
		"cut in the middle":     {status + "\nPackage: zsh\nStat", 1},
		"cut between fields":    {status + "\nPackage: zsh\n", 1},
		"cut in a value":        {status + "\nPackage: zsh\nStatus: install ok installed\nVersion: 5", 2},
		"cut before a version":  {status + "\nPackage: zsh\nStatus: install ok installed\n", 1},
		"no package name":       {status + "\nStatus: install ok installed\n", 1},
		"a paragraph too large": {status + "\nPackage: " + strings.Repeat("x", 5<<20) + "\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			a, err := assessDir(t, newMachine(t, map[string]string{"var/lib/dpkg/status": c.content}))
			is.True(errors.Is(err, assess.ErrCorrupt))
			is.Equal(len(a.Packages), c.read) // what stands before the fault is kept
			is.True(source(a, "packages.dpkg") != assess.SourceOK)
		})
	}
}

// TestAStatusFileCutBetweenPackages looks whole, but dpkg has more lists.
func TestAStatusFileCutBetweenPackages(t *testing.T) {
	is := is.New(t)
	a, err := assessDir(t, newMachine(t, map[string]string{"var/lib/dpkg/info/bash.list": "/.\n", "var/lib/dpkg/info/zsh:amd64.list": "/.\n"}))
	is.True(errors.Is(err, assess.ErrCorrupt))
	is.True(strings.Contains(err.Error(), "zsh"))
	is.Equal(len(a.Packages), 1)
}

func TestAHundredMegabytesOfStatus(t *testing.T) {
	is := is.New(t)
	var b strings.Builder
	paragraph := strings.Repeat("X-Field: "+strings.Repeat("y", 1000)+"\n", 100)
	for b.Len() < 100<<20 {
		b.WriteString("Package: p\nStatus: install ok installed\nVersion: 1\n" + paragraph + "\n")
	}
	a := mustAssess(t, newMachine(t, map[string]string{"var/lib/dpkg/status": b.String()}))
	is.True(len(a.Packages) > 900)
}

func TestHostileNamesStayData(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, newMachine(t, map[string]string{"var/lib/dpkg/status": "Package: ../../etc/passwd\nStatus: install ok installed\nVersion: 1\n" +
		"Conffiles:\n /../../etc/hostname d41d8cd98f00b204e9800998ecf8427e\n /etc/../../x d41d8cd98f00b204e9800998ecf8427e\n junk\n\n"}))
	is.Equal(a.Packages[0].Name, "../../etc/passwd")
	for _, f := range a.Configuration {
		is.True(!strings.Contains(f.Path, ".."))
	}
}

func TestSpecialFilesAreUnreadableNotHanging(t *testing.T) {
	is := is.New(t)
	dir := newMachine(t, map[string]string{"etc/fstab": "-", "var/lib/dpkg/status": "-"})
	is.NoErr(syscall.Mkfifo(filepath.Join(dir, "etc/fstab"), 0o644))
	is.NoErr(os.Symlink("/etc/loop", filepath.Join(dir, "etc/loop")))
	is.NoErr(os.MkdirAll(filepath.Join(dir, "var/lib/dpkg/status"), 0o755)) // a folder where a file should be
	a, err := assessDir(t, dir)
	is.True(errors.Is(err, assess.ErrCorrupt))
	is.Equal(source(a, "mounts.fstab"), assess.SourceUnreadable)
	is.True(slices.Contains(keys(a), "assessment.incomplete"))
}

func TestIdentity(t *testing.T) {
	is := is.New(t)
	left := strings.Repeat("ab", 32)
	is.Equal(mustAssess(t, newMachine(t, map[string]string{"etc/svc/fingerprint": left + "\n"})).Fingerprint, left) // a migrated machine is its source
	damaged := mustAssess(t, newMachine(t, map[string]string{"etc/svc/fingerprint": "xyz"}))
	is.Equal(damaged.Fingerprint, "") // and is not taken for a new one
	is.Equal(source(damaged, "identity.fingerprint"), assess.SourceCorrupt)
	none := mustAssess(t, newMachine(t, map[string]string{"etc/machine-id": "uninitialized\n"}))
	is.Equal(none.RequireFingerprint(), assess.ErrNoFingerprint)
	is.True(slices.Contains(keys(none), "identity.no-machine-id"))
	dbus := mustAssess(t, newMachine(t, map[string]string{"etc/machine-id": "", "var/lib/dbus/machine-id": testID}))
	is.Equal(dbus.Fingerprint, Fingerprint(strings.TrimSpace(testID)))
}

func TestConfigurationStates(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, newMachine(t, map[string]string{"etc/bash.bashrc": "edited"}))
	is.Equal(configOf(a, "/etc/bash.bashrc").State, assess.ConfigChanged)
	gone := mustAssess(t, newMachine(t, map[string]string{"etc/bash.bashrc": "-"}))
	is.Equal(configOf(gone, "/etc/bash.bashrc").State, assess.ConfigMissing)
	key := mustAssess(t, newMachine(t, map[string]string{"etc/app/key.pem": "-----BEGIN " + "EC PRIVATE KEY-----\nMHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY/PuoAoGCCqGSM49\n"}))
	is.True(configOf(key, "/etc/app/key.pem").Secret)
	key = mustAssess(t, newMachine(t, map[string]string{"etc/app/cert.pem": "-----BEGIN CERTIFICATE-----\n"}))
	is.True(!configOf(key, "/etc/app/cert.pem").Secret)
}

func TestAsAnOrdinaryUser(t *testing.T) {
	is := is.New(t)
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := newMachine(t, map[string]string{"etc/shadow": "root:*:1:0:::::\n", "etc/app/secret": "x"})
	is.NoErr(os.Chmod(filepath.Join(dir, "etc/shadow"), 0))
	is.NoErr(os.Chmod(filepath.Join(dir, "etc/app/secret"), 0))
	a := mustAssess(t, dir)
	is.Equal(source(a, "accounts.shadow"), assess.SourceUnreadable)
	is.Equal(configOf(a, "/etc/app/secret").State, assess.ConfigUnreadable)
	is.True(slices.Contains(keys(a), "configuration.unreadable"))
}

func TestOrigins(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, newMachine(t, map[string]string{
		"etc/apt/sources.list":             "# comment\ndeb [arch=amd64 signed-by=/k.gpg] https://ftp.debian.org/debian bookworm main contrib # why\ndeb\ndeb-src http://mirror.example/debian/ bookworm main\n",
		"etc/apt/sources.list.d/x.sources": "Types: deb deb-src\nURIs: https://packages.example.com/apt\nSuites: bookworm bookworm-updates\nComponents: main\nSigned-By: /y.gpg\nEnabled: no\n\nTypes: deb\nURIs: https://other.example\nSuites: ./\n",
	}))
	is.Equal(len(a.Origins), 5)
	is.Equal(a.Origins[0].SignedBy, "/k.gpg")
	is.Equal(a.Origins[0].Components, []string{"main", "contrib"})
	is.Equal(a.Origins[0].Evidence, assess.Evidence{Path: "/etc/apt/sources.list", Line: 2})
	is.True(!a.Origins[0].ThirdParty)
	is.True(!a.Origins[1].ThirdParty) // a mirror
	is.True(a.Origins[2].ThirdParty && !a.Origins[2].Enabled)
	is.True(slices.Contains(keys(a), "origins.third-party"))
}

func TestSSHTakesTheFirstValue(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, newMachine(t, map[string]string{
		"etc/ssh/sshd_config":          "Include /etc/ssh/sshd_config.d/*.conf\nPermitRootLogin yes\nMatch User x\n  PermitEmptyPasswords yes\n",
		"etc/ssh/sshd_config.d/a.conf": "PermitRootLogin no\nInclude /etc/ssh/sshd_config\n",
	}))
	is.True(!slices.Contains(keys(a), "ssh.root-login"))
	is.True(!slices.Contains(keys(a), "ssh.empty-passwords"))
}

func TestATargetIsLookedAt(t *testing.T) {
	is := is.New(t)
	h, err := host.OpenRoot(newMachine(t, nil))
	is.NoErr(err)
	defer h.Close()
	for target, key := range map[string]string{"plan9-4": "target.unknown", "debian-11": "target.older", "debian-10": "target.end-of-life"} {
		a, err := Assess(t.Context(), h, assess.Options{Now: today, Target: target})
		is.NoErr(err)
		is.True(slices.Contains(keys(a), key))
	}
}

// TestKeysAreKeys: a user may link authorized_keys to what only root reads.
func TestKeysAreKeys(t *testing.T) {
	is := is.New(t)
	dir := newMachine(t, map[string]string{
		"etc/passwd": "anna:x:1000:1000::/home/anna:/bin/sh\nben:x:1001:1001::/home/ben:/bin/sh\n", "etc/shadow": "root:$6$SECRET:1:0:99999:7:::\n",
		"home/ben/.ssh/authorized_keys": "# a comment\nssh-ed25519 AAAAC3Nz ben@x\nno-pty,command=\"a b\" ssh-rsa AAAAB3Nz\nnonsense\n",
	})
	is.NoErr(os.MkdirAll(filepath.Join(dir, "home/anna/.ssh"), 0o755))
	is.NoErr(os.Symlink("/etc/shadow", filepath.Join(dir, "home/anna/.ssh/authorized_keys")))
	a := mustAssess(t, dir)
	is.Equal(len(a.Users[0].AuthorizedKeys), 0)
	is.Equal(len(a.Users[1].AuthorizedKeys), 2)
	b, err := json.Marshal(a)
	is.NoErr(err)
	is.True(!strings.Contains(string(b), "SECRET"))
}

// TestIncludesEnd: a file that includes itself many times is read once.
func TestIncludesEnd(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, newMachine(t, map[string]string{"etc/ssh/sshd_config": strings.Repeat("Include /etc/ssh/sshd_config\n", 1000) + "Port 22\n"}))
	is.True(len(a.SSH) < 10)
}

func TestTemplatesAreNobodysWork(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, newMachine(t, map[string]string{
		"etc/profile": "same", "usr/share/base-files/profile": "same", "etc/hosts.allow": "# only\n\n# comments\n", "etc/environment": "PATH=/x\n",
	}))
	is.True(configOf(a, "/etc/profile") == nil)
	is.True(configOf(a, "/etc/hosts.allow") == nil)
	is.True(configOf(a, "/etc/environment") != nil)
}

// TestAnAssessmentStopsAtOnce: its context ends while it reads.
func TestAnAssessmentStopsAtOnce(t *testing.T) {
	is := is.New(t)
	h, err := host.OpenRoot(fixture)
	is.NoErr(err)
	defer h.Close()
	var after int
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Assess(ctx, h, assess.Options{Now: today, Progress: func(what string, _, _ int) {
		if what == "services" {
			cancel()
		}
		if ctx.Err() != nil {
			after++
		}
	}})
	is.True(errors.Is(err, context.Canceled))
	is.Equal(after, 1) // no step began after that
	_, err = assess.Watched{FS: h.FS(), Context: ctx}.Open("etc/os-release")
	is.Equal(err, context.Canceled) // and none reads on
}

// TestAClosedTableKeepsItsCommands: whoever may read the assessment might not
// read the table.
func TestAClosedTableKeepsItsCommands(t *testing.T) {
	is := is.New(t)
	dir := newMachine(t, map[string]string{"etc/cron.d/open": "1 2 * * * root /x\n", "etc/cron.d/closed": "1 2 * * * root /x --password=y\n"})
	is.NoErr(os.Chmod(filepath.Join(dir, "etc/cron.d/closed"), 0o640))
	a := mustAssess(t, dir)
	is.Equal(a.Cron[0], assess.CronJob{Schedule: "1 2 * * *", User: "root", Local: true, Hidden: true, Evidence: assess.Evidence{Path: "/etc/cron.d/closed", Line: 1}})
	is.Equal(a.Cron[1].Command, "/x")
}

// TestNoFolderOfConfiguration: without /etc nothing is known of a machine, which
// is no machine on which nothing was set up.
func TestNoFolderOfConfiguration(t *testing.T) {
	is := is.New(t)
	for _, target := range []string{"etc", "usr/loop", "nowhere", "etc/passwd"} {
		dir := writeRoot(t, map[string]string{"usr/lib/os-release": osRelease, "var/lib/dpkg/status": status})
		is.NoErr(os.Symlink("/etc", filepath.Join(dir, "usr/loop")))
		is.NoErr(os.Symlink(target, filepath.Join(dir, "etc")))
		a, err := assessDir(t, dir)
		is.True(errors.Is(err, assess.ErrNoConfiguration))
		is.True(a == nil)
	}
}

// TestADatabaseBeyondMeasure: what is kept of a package database is bounded, and
// that something was left out is said.
func TestADatabaseBeyondMeasure(t *testing.T) {
	is := is.New(t)
	var many, long strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&many, "\nPackage: p%d\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1\n", i)
		fmt.Fprintf(&long, "/etc/some/folder/%d/%s\n", i, strings.Repeat("x", 80))
	}
	for _, files := range []map[string]string{{"var/lib/dpkg/status": status + many.String()}, {"var/lib/dpkg/info/bash.list": long.String()}} {
		a, err := assessDir(t, newMachine(t, files))
		is.True(errors.Is(err, assess.ErrCorrupt))
		is.True(strings.Contains(err.Error(), "more than any real one"))
		is.True(len(a.Packages) < 60_000)
	}
}

// TestListsInParts: a list that is longer than its buffer is read whole.
func TestListsInParts(t *testing.T) {
	is := is.New(t)
	var list strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&list, "/etc/part/%d\n/usr/share/doc/something/that/is/not/kept/%d\n", i, i)
	}
	h, err := host.OpenRoot(newMachine(t, map[string]string{"var/lib/dpkg/info/bash.list": list.String(), "var/lib/dpkg/info/one.list": strings.Repeat("x", 300<<10)}))
	is.NoErr(err)
	defer h.Close()
	m := &assess.Machine{FS: h.FS(), Context: t.Context(), Reading: assess.Reading{A: &assess.Assessment{}}}
	packages.ReadPackages(m)
	n := 0
	for file := range m.Book.Owned {
		if strings.HasPrefix(file, "/etc/part/") {
			n++
		}
	}
	is.Equal(n, 9000)
	is.Equal(source(m.A, "packages.dpkg-lists"), assess.SourceUnreadable) // one has a line that has no end
}

// TestEnginesThatAreNamed: an engine whose files are not read is seen by its
// package or by what its folder holds; an empty folder is none.
func TestEnginesThatAreNamed(t *testing.T) {
	is := is.New(t)
	dir := newMachine(t, map[string]string{
		"var/lib/dpkg/status":       status + "\nPackage: firebird4.0-server\nStatus: install ok installed\nArchitecture: amd64\nVersion: 4.0.5.3140.ds6-17\n",
		"opt/ibm/db2/V11.5/bin/db2": "", "var/lib/etcd/member/wal/0.wal": "", "var/lib/prometheus/node-exporter/apt.prom": "",
	})
	is.NoErr(os.MkdirAll(filepath.Join(dir, "var/lib/cassandra"), 0o755))
	a, err := assessDir(t, dir)
	is.NoErr(err)
	var named []string
	for _, d := range a.Databases {
		named = append(named, d.Engine+" "+d.Package+" "+d.Evidence.Path)
	}
	is.Equal(named, []string{"db2  /opt/ibm/db2", "etcd  /var/lib/etcd", "firebird firebird4.0-server /var/lib/dpkg/status"})
}

func TestAuthoritiesOfJavaAlone(t *testing.T) {
	is := is.New(t)
	read := func(name string) string {
		b, err := os.ReadFile("../web/testdata/" + name)
		is.NoErr(err)
		return string(b)
	}
	a := mustAssess(t, newMachine(t, map[string]string{"etc/ssl/certs/java/cacerts": read("cacerts"), "etc/ssl/certs/ca-certificates.crt": read("bundle.pem")}))
	i := slices.IndexFunc(a.Findings, func(f assess.Finding) bool { return f.Key == "certificates.java" })
	is.True(i >= 0)
	is.Equal(a.Findings[i].Summary, "In /etc/ssl/certs/java/cacerts, by keytool: firma-ca. No package brings them.")
	is.True(a.Findings[i].Remediations[0].AfterData)
	is.True(strings.Contains(a.Findings[i].Remediations[0].Text, "for a in 'firma-ca'; do"))

	a = mustAssess(t, newMachine(t, map[string]string{"etc/ssl/certs/java/cacerts": read("cacerts")}))
	is.Equal(source(a, "certificates.java"), assess.SourceUnreadable) // nothing to compare with
	is.True(!slices.Contains(keys(a), "certificates.java"))
}
