package inspect

import (
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/anchore/go-rpmdb/pkg" // its test data are read
	"github.com/matryer/is"
	_ "modernc.org/sqlite" // writes what is read here

	"svc/assess"
	"svc/backend/release"
)

// realRPM copies a real database of the library's test data into a machine.
func realRPM(tb testing.TB, data, place, osRelease string, files map[string]string) string {
	tb.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/anchore/go-rpmdb").Output()
	if err != nil {
		tb.Skip("no go command, or no module cache")
	}
	db, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "pkg", "testdata", data, filepath.Base(place)))
	is.New(tb).NoErr(err)
	all := map[string]string{"etc/os-release": osRelease, "etc/machine-id": testID, place: string(db)}
	for name, content := range files {
		all[name] = content
	}
	return writeRoot(tb, all)
}

func find(t *testing.T, a *assess.Assessment, name string) assess.Package {
	t.Helper()
	i := slices.IndexFunc(a.Packages, func(p assess.Package) bool { return p.Name == name })
	is.New(t).True(i >= 0) // the package is there
	return a.Packages[i]
}

const (
	osCentOS7 = "ID=\"centos\"\nID_LIKE=\"rhel fedora\"\nVERSION_ID=\"7\"\n"
	osAlma8   = "ID=\"almalinux\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"8.4\"\n"
	osRocky9  = "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"9.3\"\n"
	osSLES15  = "ID=\"sles\"\nID_LIKE=\"suse\"\nVERSION_ID=\"15.3\"\n"
)

func TestRPMInEachOfItsForms(t *testing.T) {
	for _, c := range []struct {
		data, place, osRelease, release, arch string
		packages                              int
	}{
		{"centos7-many", "var/lib/rpm/Packages", osCentOS7, "centos-7", "x86_64", 395},
		{"centos8-modularitylabel", "var/lib/rpm/Packages", osAlma8, "almalinux-8", "x86_64", 517},
		{"rockylinux-9", "var/lib/rpm/rpmdb.sqlite", osRocky9, "rocky-9", "aarch64", 142},
		{"sle15-bci", "usr/lib/sysimage/rpm/Packages.db", osSLES15, "sles-15", "x86_64", 35},
		{"fedora35", "usr/share/rpm/rpmdb.sqlite", "ID=fedora\nVERSION_ID=35\n", "fedora-35", "x86_64", 137},
	} {
		t.Run(c.data, func(t *testing.T) {
			is := is.New(t)
			a := mustAssess(t, realRPM(t, c.data, c.place, c.osRelease, nil))
			is.Equal(a.Release, c.release)
			is.Equal(a.System.Architecture, c.arch)
			is.Equal(source(a, "packages.rpm"), assess.SourceOK)
			is.Equal(len(a.Packages), c.packages) // rpm -qa, less its keys
			is.True(!slices.ContainsFunc(a.Packages, func(p assess.Package) bool { return p.Name == "gpg-pubkey" }))
		})
	}
}

func TestWhatRPMSaysOfAPackage(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, realRPM(t, "centos8-modularitylabel", "var/lib/rpm/Packages", osAlma8, nil))
	p := find(t, a, "npm")
	is.Equal(p.Version, "1:6.14.4-1.10.21.0.3.module_el8.2.0+391+8da3adc6")
	is.Equal(p.Source+" "+p.SourceVersion, "nodejs 10.21.0-3.module_el8.2.0+391+8da3adc6")
	is.Equal(p.Origin, "CentOS")
	is.Equal(p.Module, "nodejs:10")
	is.Equal(p.InstalledAt.Location(), time.UTC)
	is.Equal(find(t, a, "bash").Module, "")
}

func TestADamagedRPMDatabase(t *testing.T) {
	is := is.New(t)
	dir := realRPM(t, "centos7-plain", "var/lib/rpm/Packages", osCentOS7, nil)
	is.NoErr(os.Truncate(filepath.Join(dir, "var/lib/rpm/Packages"), 8<<20))
	a, err := assessDir(t, dir)
	is.True(errors.Is(err, assess.ErrCorrupt))
	is.True(len(a.Packages) > 20)
	is.Equal(source(a, "packages.rpm"), assess.SourceCorrupt)
	is.True(strings.Contains(err.Error(), "cut off"))
	is.NoErr(os.Remove(filepath.Join(dir, "var/lib/rpm/Packages")))
	a, err = assessDir(t, dir)
	is.True(errors.Is(err, assess.ErrCorrupt))
	is.Equal(source(a, "packages.rpm"), assess.SourceAbsent)
}

// TestAnEL6Machine has the packages of a real EL 6, and what
// stands beside their database.
func TestAnEL6Machine(t *testing.T) {
	is := is.New(t)
	dir := realRPM(t, "centos6-plain", "var/lib/rpm/Packages", "-", map[string]string{
		"etc/redhat-release": "CentOS release 6.10 (Final)\n",
		"etc/passwd":         "root:x:0:0:root:/root:/bin/bash\n", "etc/group": "root:x:0:\n",
		"etc/bashrc":          "changed by hand\n",
		"etc/app.conf":        "mine\n",
		"etc/rc.d/init.d/app": "#!/bin/sh\n",
		"var/lib/dpkg/status": status,
		"var/lib/yum/yumdb/b/0a1b-bash-4.1.2-48.el6-x86_64/reason":   "dep",
		"var/lib/yum/yumdb/s/0a1b-setup-2.8.14-23.el6-noarch/reason": "user",
		"etc/yum/pluginconf.d/versionlock.list":                      "# kept\n0:setup-2.8.14-*.*\n!0:zlib-1.2.3-1.*\n",
		"etc/yum.conf":                                               "[main]\ngpgcheck=1\nexclude=zlib*\n",
		"etc/yum.repos.d/CentOS-Base.repo":                           "[base]\nname=x\nmirrorlist=http://mirrorlist.centos.org/?release=$releasever&arch=$basearch&repo=os\ngpgkey=file:///k\n\n[C6-extra]\nbaseurl=http://rpms.example.org/${releasever}/$basearch/\n  http://other.example.org/$myvar\nenabled=0\ngpgcheck=0\n",
		"etc/yum/vars/myvar":                                         "seven\n",
	})
	is.NoErr(os.Symlink("rc.d/init.d", filepath.Join(dir, "etc/init.d")))
	a := mustAssess(t, dir)
	is.Equal(a.Release, "centos-6")
	is.Equal(a.System.VersionID, "6.10")
	is.Equal(a.System.Architecture, "x86_64")
	is.True(!find(t, a, "bash").Manual)
	is.True(find(t, a, "setup").Manual)
	is.True(find(t, a, "setup").Held)
	is.True(find(t, a, "zlib").Held)
	is.True(!find(t, a, "bash").Held)
	is.Equal(configOf(a, "/etc/bashrc").State, assess.ConfigChanged)
	is.Equal(configOf(a, "/etc/bashrc").Package, "setup")
	is.Equal(configOf(a, "/etc/app.conf").State, assess.ConfigUnowned)
	is.Equal(configOf(a, "/etc/inputrc").State, assess.ConfigMissing)
	is.True(slices.Contains(keys(a), "packages.other-manager"))
	is.True(!slices.Contains(keys(a), "packages.third-party"))
	is.Equal(len(a.Origins), 3)
	is.Equal(a.Origins[0].URI, "http://mirrorlist.centos.org/?release=6&arch=x86_64&repo=os")
	is.Equal(a.Origins[0].SignedBy, "file:///k")
	is.True(a.Origins[0].Enabled && !a.Origins[0].ThirdParty && !a.Origins[0].Unchecked)
	is.Equal(a.Origins[1].URI, "http://rpms.example.org/6/x86_64/")
	is.Equal(a.Origins[2].URI, "http://other.example.org/seven")
	is.Equal(a.Origins[2].Suite, "C6-extra")
	is.True(!a.Origins[2].Enabled && a.Origins[2].ThirdParty && a.Origins[2].Unchecked)
	is.Equal(a.Origins[2].Evidence, assess.Evidence{Path: "/etc/yum.repos.d/CentOS-Base.repo", Line: 6})
}

func TestWhatDNFAndZyppRemember(t *testing.T) {
	is := is.New(t)
	dir := realRPM(t, "sle15-bci", "usr/lib/sysimage/rpm/Packages.db", osSLES15, map[string]string{
		"var/lib/zypp/AutoInstalled":             "# made by zypper\nlibz1\n",
		"etc/zypp/locks":                         "\ntype: package\nmatch_type: glob\ncase_sensitive: on\nsolvable_name: bash*\n\ntype: patch\nsolvable_name: libz1\n",
		"etc/zypp/repos.d/own.repo":              "[own]\nbaseurl=https://updates.suse.com/SUSE/Products/$releasever_major/x86_64/product/\n",
		"etc/zypp/services.d/s.service":          "[s]\nurl = https://scc.example.com/x\nenabled = 1\ntype = ris\n",
		"usr/lib/sysimage/libdnf5/packages.toml": "version = \"1.0\"\n[packages]\n[packages.\"glibc.x86_64\"]\nreason = \"Dependency\"\n[packages.\"bash.x86_64\"]\nreason = \"User\"\n",
	})
	a := mustAssess(t, dir)
	is.True(!find(t, a, "libz1").Manual && !find(t, a, "libz1").Held)
	is.True(!find(t, a, "glibc").Manual)
	is.True(find(t, a, "bash").Manual && find(t, a, "bash").Held)
	is.Equal(len(a.Origins), 2)
	is.Equal(a.Origins[0].URI, "https://updates.suse.com/SUSE/Products/15/x86_64/product/")
	is.True(!a.Origins[0].ThirdParty && !a.Origins[0].Unchecked)
	is.Equal(a.Origins[1].Types, []string{"service"})
}

func TestDNFHistory(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "history.sqlite")
	db, err := sql.Open("sqlite", file)
	is.NoErr(err)
	_, err = db.Exec(`CREATE TABLE trans (id INTEGER PRIMARY KEY AUTOINCREMENT, dt_begin INTEGER NOT NULL, /* (unix timestamp) date, and time */ state INTEGER NOT NULL /* (enum) */);
		CREATE TABLE rpm (item_id INTEGER NOT NULL, name TEXT NOT NULL, epoch INTEGER NOT NULL, arch TEXT NOT NULL, FOREIGN KEY(item_id) REFERENCES item(id), CONSTRAINT rpm_unique UNIQUE (name, epoch, arch));
		CREATE TABLE trans_item (id INTEGER PRIMARY KEY AUTOINCREMENT, trans_id INTEGER REFERENCES trans(id), item_id INTEGER, action INTEGER NOT NULL, reason INTEGER NOT NULL);
		INSERT INTO trans VALUES (1, 1, 1), (2, 2, 1), (3, 3, 2);
		INSERT INTO rpm VALUES (10, 'bash', 0, 'aarch64'), (11, 'glibc', 0, 'aarch64'), (12, 'zlib', 0, 'aarch64');
		INSERT INTO trans_item(trans_id, item_id, action, reason) VALUES (1, 10, 1, 2), (1, 11, 1, 1), (1, 12, 1, 2), (2, 12, 11, 1), (2, 11, 7, 2), (3, 10, 11, 1)`)
	is.NoErr(err)
	is.NoErr(db.Close())
	content, err := os.ReadFile(file)
	is.NoErr(err)
	dir := realRPM(t, "rockylinux-9", "var/lib/rpm/rpmdb.sqlite", osRocky9, map[string]string{"var/lib/dnf/history.sqlite": string(content)})
	a := mustAssess(t, dir)
	is.Equal(source(a, "packages.dnf-history"), assess.SourceOK)
	is.True(find(t, a, "bash").Manual)   // what was not done does not count
	is.True(!find(t, a, "glibc").Manual) // nor what was replaced
	is.True(!find(t, a, "zlib").Manual)  // and the last reason counts
	is.True(find(t, a, "tzdata").Manual) // nothing says
}

func TestAnAlpineMachine(t *testing.T) {
	is := is.New(t)
	const installed = "C:Q1x\nP:musl\nV:1.2.4-r2\nA:x86_64\no:musl\nm:N <n@alpinelinux.org>\nF:lib\nR:ld-musl.so\nZ:Q1\n\n" +
		"P:nginx\nV:1.24.0-r6\nA:x86_64\nF:etc/nginx\nR:nginx.conf\na:0:0:644\nZ:Q1X+zrZv/IbzjZUnhsbWlsecLbwjk=\nR:mime.types\nZ:Q1iEPX+SQWIR3p67lj/0zigSWTKHg=\nF:etc/init.d\nR:nginx\n\n"
	files := map[string]string{
		"etc/os-release": "ID=alpine\nVERSION_ID=3.18.4\n", "etc/machine-id": testID, "lib/apk/db/installed": installed, "etc/apk/world": "nginx=1.24.0-r6\nfoo@edge\n",
		"etc/apk/repositories": "https://dl-cdn.alpinelinux.org/alpine/v3.18/main\n#https://dl-cdn.alpinelinux.org/alpine/v3.18/community\n@x https://pkgs.example.org/x/main\n# a comment\n",
		"etc/nginx/nginx.conf": "abc", "etc/nginx/mime.types": "foobar", "etc/nginx/mine.conf": "x", "etc/init.d/nginx": "#!/sbin/openrc-run\n",
	}
	a := mustAssess(t, writeRoot(t, files))
	is.Equal(a.System.Architecture, "x86_64")
	is.Equal(len(a.Packages), 2)
	is.True(find(t, a, "nginx").Manual && find(t, a, "nginx").Held)
	is.True(!find(t, a, "musl").Manual && !find(t, a, "musl").Held)
	is.Equal(configOf(a, "/etc/nginx/nginx.conf").State, assess.ConfigChanged)
	is.Equal(configOf(a, "/etc/nginx/mine.conf").State, assess.ConfigUnowned)
	is.True(configOf(a, "/etc/nginx/mime.types") == nil) // as shipped
	is.Equal(len(a.Origins), 3)
	is.True(!a.Origins[0].ThirdParty && a.Origins[0].Enabled && !a.Origins[1].Enabled && a.Origins[2].ThirdParty)
	is.Equal(a.Origins[0].Components, []string{"main"})
	for name, broken := range map[string]string{"cut in a package": installed + "P:zlib\nV:1", "no pairs": installed + "\x00\x01\n", "empty": "", "no version": installed + "P:zlib\n\n"} {
		files["lib/apk/db/installed"] = broken
		a, err := assessDir(t, writeRoot(t, files))
		is.True(errors.Is(err, assess.ErrCorrupt)) // name
		is.Equal(source(a, "packages.apk"), assess.SourceCorrupt)
		is.True(len(a.Packages) == 2 || name == "empty")
	}
}

func TestSystemsFromBeforeOSRelease(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string]string{
		"CentOS release 5.11 (Final)\n":                                            "centos-5",
		"Red Hat Enterprise Linux Server release 6.10 (Santiago)\n":                "rhel-6",
		"Enterprise Linux Enterprise Linux Server release 5.5 (Carthage)\n":        "ol-5",
		"Oracle Linux Server release 6.9\n":                                        "ol-6",
		"Amazon Linux AMI release 2018.03\n":                                       "amzn-2018.03",
		"SUSE Linux Enterprise Server 11 (x86_64)\nVERSION = 11\nPATCHLEVEL = 4\n": "sles-11",
		"openSUSE 13.1 (x86_64)\nVERSION = 13.1\nCODENAME = Bottle\n":              "opensuse-13.1",
		"Fedora release 14 (Laughlin)\n":                                           "fedora-14",
		"3.4.6\n":                                                                  "alpine-3.4",
	} {
		info, ok := parseRelease(text)
		is.True(ok)
		is.Equal(release.Slug(info["ID"], info["VERSION_ID"]), want)
	}
	_, ok := parseRelease("hello\n")
	is.True(!ok)
}
