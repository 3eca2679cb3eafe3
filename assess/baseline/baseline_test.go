package baseline

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/scripts"
)

// machine is a root with some files.
func machine(t testing.TB, files map[string]string) host.Host {
	t.Helper()
	is := is.New(t)
	root := t.TempDir()
	for name, text := range files {
		is.NoErr(os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	h, err := host.OpenRoot(root)
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(h.Close()) })
	return h
}

func TestWhatPackagesAccountFor(t *testing.T) {
	is := is.New(t)
	h := machine(t, map[string]string{
		"usr/lib/sysusers.d/chrony.conf":      "# chrony\nu _chrony - \"Chrony daemon\" /var/lib/chrony\ng extra -\n",
		"usr/lib/sysusers.d/shell.conf":       "u ops 100 \"Operator\" /srv /bin/sh\n",
		"etc/sysusers.d/mine.conf":            "u mine -\n", // people's own accounts for nothing
		"usr/share/base-passwd/passwd.master": "sync:*:4:65534:sync:/bin:/bin/sync\n",
		"usr/share/base-passwd/group.master":  "adm:*:4:\n",
		"var/lib/dpkg/info/mail.postinst":     "#!/bin/sh\nadduser --system \"postman\" || true\n",
		"var/lib/dpkg/info/mail.postrm":       "rm -f /etc/mailname; rm -rf /etc/mail/\n",
		"var/lib/dpkg/info/mail.list":         "/.\n",
		"var/lib/dpkg/info/wall.postinst":     "RULES=/etc/wall\nfor f in user.rules; do\n\tcp $TEMPLATES/$f $RULES/$f\ndone\nchmod 04755 \\\n\t/usr/lib/wall/door\necho /usr/bin/bash\n",
		"usr/share/pam-configs/unix":          "Auth:\n\t[success=end default=ignore]\tpam_unix.so nullok try_first_pass\n",
		"usr/share/pam/common-auth":           "auth\trequisite\t\t\tpam_deny.so\n",
		"etc/pam.d/common-auth":               "# made\nauth\t[success=1 default=ignore]\tpam_unix.so nullok\nauth requisite pam_deny.so\nauth sufficient pam_evil.so\n",
		"etc/svc/fingerprint":                 "x\n",
	})
	b := Read(t.Context(), h, &assess.Assessment{
		Users:         []assess.User{{Name: "postman", System: true}, {Name: "eve", System: true}},
		Configuration: []assess.ConfigFile{{Path: "/etc/mailname"}, {Path: "/etc/evil"}, {Path: "/etc/wall/user.rules"}, {Path: "/etc/wall/evil"}},
		Programs: []assess.Program{
			{Path: "/usr/lib/wall/door", Package: "wall", Privileged: true}, {Path: "/usr/bin/bash", Package: "wall", Privileged: true}, {Path: "/usr/bin/door", Package: "mail", Privileged: true},
		},
	})
	is.Equal(b.Users, map[string]Account{
		"_chrony": {"/usr/sbin/nologin", "/usr/lib/sysusers.d/chrony.conf"}, "ops": {"/bin/sh", "/usr/lib/sysusers.d/shell.conf"},
		"sync": {"/bin/sync", "/usr/share/base-passwd/passwd.master"},
	})
	is.Equal(b.Groups["extra"], "/usr/lib/sysusers.d/chrony.conf")
	is.Equal(b.Groups["adm"], "/usr/share/base-passwd/group.master")
	is.Equal(b.Named, map[string]string{"postman": "/var/lib/dpkg/info/mail.postinst", "/etc/mailname": "/var/lib/dpkg/info/mail.postrm", "/etc/wall/user.rules": "/var/lib/dpkg/info/wall.postinst"})
	is.Equal(b.Rights, map[string]string{"/usr/lib/wall/door": "/var/lib/dpkg/info/wall.postinst"}) // by a script of its own package
	is.Equal(len(b.Modules), 1)
	is.Equal(b.Modules[0], assess.Fact{Area: "pam", Key: "pam_evil.so", Value: "auth sufficient pam_evil.so", Evidence: assess.Evidence{Path: "/etc/pam.d/common-auth", Line: 4}})
}

func TestWhenPackagesCame(t *testing.T) {
	is := is.New(t)
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	b := &Baseline{Applied: day, Installed: map[string]time.Time{"old": day.Add(-time.Hour), "new": day.Add(time.Hour)}}
	is.True(!b.After(assess.Package{Name: "old"}))
	is.True(b.After(assess.Package{Name: "new"}))
	is.True(b.After(assess.Package{Name: "unknown"}))
	is.True(!b.After(assess.Package{Name: "rpm", InstalledAt: day.Add(-time.Hour)}))
	is.True((&Baseline{}).After(assess.Package{Name: "old"})) // nothing says when the role was applied
}

// FuzzWords reads any line as one of sysusers.d, of PAM and of a script.
func FuzzWords(f *testing.F) {
	f.Add("u _chrony - \"Chrony daemon\" /var/lib/chrony")
	f.Add("auth [success=1] pam_unix.so nullok")
	f.Add("\" \"\"")
	f.Fuzz(func(t *testing.T, text string) {
		fields(text)
		module(text)
		r := reader{Baseline: &Baseline{Named: map[string]string{}, Rights: map[string]string{}}}
		w := wanted{scripts.Looking([]string{"/etc/x"}, []string{"x"}), map[string]string{"s x": "/x"}}
		w.In([]byte(text))
		r.grants([]byte(text), w, "s", "s.postinst")
	})
}

// rpm keeps in its database what scripts of packages make: here that of a CentOS 7,
// from the tests of go-rpmdb.
func TestScriptletsAccountForWhatTheyName(t *testing.T) {
	is := is.New(t)
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/anchore/go-rpmdb").Output()
	if err != nil {
		t.Skip("no go command, or no module cache")
	}
	db, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "pkg/testdata/centos7-many/Packages"))
	is.NoErr(err)
	h := machine(t, map[string]string{"var/lib/rpm/Packages": string(db)})
	b := Read(t.Context(), h, &assess.Assessment{
		Users:         []assess.User{{Name: "dbus", System: true}, {Name: "eve", System: true}, {Name: "nobody-made-this", System: true}},
		Configuration: []assess.ConfigFile{{Path: "/etc/ld.so.cache"}, {Path: "/etc/evil.conf"}},
	})
	is.Equal(b.Named["dbus"], "a scriptlet of the package dbus")
	is.Equal(b.Named["eve"]+b.Named["nobody-made-this"]+b.Named["/etc/evil.conf"], "")
}
