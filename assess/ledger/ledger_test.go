package ledger

import (
	"context"
	"crypto/md5"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/assess"
	"svc/assess/host"
)

// disk is a root with one package of dpkg, made in a folder.
type disk struct {
	dir  string
	list []string
	sums []string
}

// old is before the package came, soon after it.
var old, soon = time.Unix(1_600_000_000, 0), time.Unix(1_700_000_000, 0)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// put writes a file; one of the package is in its lists.
func (d *disk) put(name, content string, owned bool) {
	file := filepath.Join(d.dir, name)
	must(os.MkdirAll(filepath.Dir(file), 0o755))
	must(os.WriteFile(file, []byte(content), 0o755))
	must(os.Chtimes(file, old, old))
	if owned {
		d.list = append(d.list, "/"+name)
		d.sums = append(d.sums, fmt.Sprintf("%x  %s", md5.Sum([]byte(content)), name))
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			d.list = append(d.list, "/"+dir)
		}
	}
}

// change gives a file other content, and a date.
func (d *disk) change(name, content string, when time.Time) {
	file := filepath.Join(d.dir, name)
	must(os.WriteFile(file, []byte(content), 0o755))
	must(os.Chtimes(file, when, when))
}

// sum makes the ledger.
func (d *disk) sum(places ...Place) *Sum {
	const info = "var/lib/dpkg/info/pkg"
	must(os.MkdirAll(filepath.Join(d.dir, "var/lib/dpkg/info"), 0o755))
	must(os.WriteFile(filepath.Join(d.dir, info+".list"), []byte(strings.Join(d.list, "\n")+"\n"), 0o644))
	must(os.WriteFile(filepath.Join(d.dir, info+".md5sums"), []byte(strings.Join(d.sums, "\n")+"\n"), 0o644))
	between := time.Unix(1_650_000_000, 0)
	must(os.Chtimes(filepath.Join(d.dir, info+".list"), between, between))
	h, err := host.OpenRoot(d.dir)
	must(err)
	defer h.Close()
	s, err := Of(context.Background(), h, Input{Assessment: &assess.Assessment{}, Places: places})
	must(err)
	return s
}

// rowOf is the row of the one file of a disk that a place or name has.
func paths(all []Path) (names []string) {
	for _, p := range all {
		names = append(names, p.Path)
	}
	return names
}

func TestEachKindHasItsRow(t *testing.T) {
	is := is.New(t)
	d := &disk{dir: t.TempDir()}
	is.NoErr(os.Symlink("usr/lib", filepath.Join(d.dir, "lib")))
	d.put("usr/share/doc/pkg/README", "text", true)
	d.put("usr/share/pkg/edited", "text", true)
	d.put("usr/share/pkg/dated", "text", true)
	d.put("usr/bin/program", "text", true)
	d.put("usr/lib/systemd/system/cron.service", "unit", true)
	d.list[len(d.list)-5] = "/lib/systemd/system/cron.service" // as packages had it before /usr was merged
	d.put("usr/lib/python3/dist-packages/pkg/a.py", "text", true)
	d.put("usr/lib/python3/dist-packages/pkg/__pycache__/a.cpython-311.pyc", "code", false)
	d.put("etc/own.conf", "text", false)
	d.put("etc/ld.so.cache", "text", false)
	d.put("opt/app/run", "text", false)
	d.put("srv/www/index.html", "text", false)
	d.put("usr/lib/tmpfiles.d/pkg.conf", "d /var/lib/pkg 0755 root root -\n", true)
	is.NoErr(os.MkdirAll(filepath.Join(d.dir, "var/lib/pkg"), 0o755))
	d.put("var/cache/pkg", "text", true)
	d.put("var/cache/mine/kept", "123", false) // what no package makes is nobody's
	d.put("usr/share/mine/a/b", "12345", false)
	d.put("usr/share/mine/c", "12345", false)
	d.put("usr/lib/cups/backend/ipp", "code", true)
	d.put("usr/lib/cups/backend/own", "#!/bin/sh\n", false)
	d.put("usr/lib/cups/backend/built", "\x7fELF", false)
	d.put("usr/lib/mine/run", "#!/bin/sh\n", false)
	d.put("usr/lib/mine/built", "\x7fELF", false)       // a folder with what was compiled
	d.put("usr/lib/cgi-bin/card", "#!/bin/sh\n", false) // its folder is no package's: it counts for all in it
	d.change("usr/share/pkg/edited", "Text", soon)
	d.change("usr/share/pkg/dated", "Text", old) // nobody reads it
	d.change("usr/bin/program", "Text", old)
	d.change("usr/lib/systemd/system/cron.service", "Unit", old)
	s := d.sum(Place{Path: "srv/www", What: "site"})
	is.Equal(paths(s.Changed), []string{"/usr/bin/program", "/usr/lib/systemd/system/cron.service", "/usr/share/pkg/edited"})
	is.Equal(s.Rows[Changed], Count{3, 12})
	is.Equal(paths(s.Nobody), []string{"/usr/lib/cgi-bin", "/usr/lib/cups/backend/built", "/usr/lib/cups/backend/own", "/usr/lib/mine", "/usr/share/mine", "/var/cache/mine", "/var/lib"}) // no package of this disk has the last
	is.Equal([]string{s.Nobody[0].Why, s.Nobody[1].Why, s.Nobody[2].Why, s.Nobody[3].Why, s.Nobody[4].Why}, []string{Script, "", Script, "", ""})
	is.Equal(s.Nobody[4].Count, Count{4, 10})
	is.Equal(s.Rows[Data], Count{3, 4}) // with the folder that leads there
	is.Equal(s.Rows[Software], Count{3, 4})
	is.Equal(s.Rows[Configuration], Count{2, 4})
	is.True(s.Looked.Compared == 3 && s.Looked.Assumed > 0 && s.Looked.Unknown == 0)
	origins := []string{}
	for _, r := range s.Rules {
		origins = append(origins, r.Origin)
	}
	for _, want := range []string{"ldconfig(8)", "py3compile(1)", "dpkg(1)", "tmpfiles.d(5): /usr/lib/tmpfiles.d/pkg.conf"} {
		is.True(slices.Contains(origins, want))
	}
}

// TestAFolderOfPackagesFilesIsNotNobodys, though no package has it: what is nobody's in it
// stands by itself.
func TestAFolderOfPackagesFilesIsNotNobodys(t *testing.T) {
	is := is.New(t)
	d := &disk{dir: t.TempDir()}
	d.put("usr/lib/app/module.so", "code", true)
	d.list = []string{"/usr", "/usr/lib/app/module.so"} // as packages of rpm often have it
	d.put("usr/lib/app/own.sh", "#!/bin/sh\n", false)
	d.put("usr/lib/mine/own.sh", "#!/bin/sh\n", false)
	s := d.sum()
	is.Equal(paths(s.Nobody)[:2], []string{"/usr/lib/app/own.sh", "/usr/lib/mine"})
}

// TestTheSumIsClosed puts random trees into ledgers: what is on the disk is in one
// row each, and rows, folders and lists add up.
func TestTheSumIsClosed(t *testing.T) {
	part := rapid.SampledFrom([]string{"usr", "var", "lib", "etc", "srv", "opt", "home", "share", "cache", "python3", "__pycache__", "x.py", "x.pyc", "local", "log", "a", "b", "ä\n"})
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		d := &disk{dir: filepath.Join(base, fmt.Sprint(n))}
		must(os.MkdirAll(filepath.Join(d.dir, "var/lib/dpkg/info"), 0o755))
		defer os.RemoveAll(d.dir)
		for range rapid.IntRange(0, 20).Draw(t, "files") {
			name := strings.Join(rapid.SliceOfN(part, 1, 5).Draw(t, "name"), "/")
			file := filepath.Join(d.dir, name)
			if _, err := os.Lstat(file); err == nil || os.MkdirAll(filepath.Dir(file), 0o755) != nil {
				continue
			}
			if rapid.Bool().Draw(t, "link") {
				must(os.Symlink("nowhere", file))
				continue
			}
			d.put(name, rapid.StringN(0, 9, -1).Draw(t, "content"), rapid.Bool().Draw(t, "owned"))
			if rapid.Bool().Draw(t, "changed") {
				d.change(name, "changed", soon)
			}
		}
		s := d.sum(Place{Path: "srv/a", What: "a"}, Place{Path: "home", What: "homes"}, Place{Path: "usr/share/b", Software: true})
		var want, rows, folders, nobody Count
		must(filepath.WalkDir(d.dir, func(_ string, e fs.DirEntry, err error) error {
			must(err)
			info, err := e.Info()
			must(err)
			want.Paths++
			if info.Mode().IsRegular() {
				want.Bytes += info.Size()
			}
			return nil
		}))
		for _, c := range s.Rows {
			rows.add(c)
			if c.Paths < 0 || c.Bytes < 0 {
				t.Fatalf("a row has less than nothing: %+v", s.Rows)
			}
		}
		for _, f := range s.Folders {
			for _, c := range f.Rows {
				folders.add(c)
			}
		}
		for _, p := range s.Nobody {
			nobody.add(p.Count)
		}
		if s.Total != want || rows != want || folders != want || nobody != s.Rows[Nobody] || int(s.Rows[Changed].Paths) != len(s.Changed) {
			t.Fatalf("the disk has %+v; total %+v, rows %+v, folders %+v, nobody's %+v of %+v, changed %d of %+v", want, s.Total, rows, folders, nobody, s.Rows[Nobody], len(s.Changed), s.Rows[Changed])
		}
	})
}

// TestOtherNamesOfPackagesFiles: a hard link under the same name, and a link between / and
// /usr, are the package's; under another name, or to what is nobody's, they are a person's.
func TestOtherNamesOfPackagesFiles(t *testing.T) {
	is := is.New(t)
	d := &disk{dir: t.TempDir()}
	d.put("usr/lib/pkg/available/lpd", "program", true)
	d.put("usr/lib/pkg/enabled/usb", "program", true)
	d.put("bin/touch", "program", true)
	d.put("bin/own", "program", false)
	must(os.MkdirAll(filepath.Join(d.dir, "usr/bin"), 0o755))
	d.list = append(d.list, "/usr/bin", "/var", "/var/lib", "/var/lib/dpkg", "/var/lib/dpkg/info")
	at := func(name string) string { return filepath.Join(d.dir, name) }
	must(os.Link(at("usr/lib/pkg/available/lpd"), at("usr/lib/pkg/enabled/lpd")))
	must(os.Link(at("usr/lib/pkg/available/lpd"), at("usr/lib/pkg/enabled/mine")))
	must(os.Symlink("/bin/touch", at("usr/bin/touch")))
	must(os.Symlink("../../bin/touch", at("usr/bin/feel")))
	must(os.Symlink("/bin/own", at("usr/bin/own")))
	s := d.sum()
	is.Equal(paths(s.Nobody), []string{"/bin/own", "/usr/bin/feel", "/usr/bin/own", "/usr/lib/pkg/enabled/mine"})
	is.Equal(s.Rows[Nobody].Paths, int64(4))
}

func TestRulesAreWellFormed(t *testing.T) {
	is := is.New(t)
	is.Equal(len(rules()), strings.Count(rulesTSV, "\n")-strings.Count(rulesTSV, "\n#")-1) // the first line is a comment
	for _, r := range rules() {
		is.True(r.Row == State || r.Row == Software)
		is.True(r.What != "" && r.Origin != "")
	}
}

// TestCapabilitiesOfRPMs: those that neither a header nor SUSE's lists have, somebody gave.
func TestCapabilitiesOfRPMs(t *testing.T) {
	is := is.New(t)
	d := &disk{dir: t.TempDir()}
	d.put("usr/share/permissions/permissions.easy", "/usr/bin/ping root:root 0755\n +capabilities cap_net_raw=ep\n", false)
	d.put("etc/permissions.local", "/usr/bin/node root:root 0755\n +capabilities cap_net_bind_service=ep\n", false)
	h, err := host.OpenRoot(d.dir)
	is.NoErr(err)
	defer h.Close()
	all := capabilities(h.FS(), &assess.Assessment{Programs: []assess.Program{
		{Path: "/usr/bin/node", Package: "nodejs", Capabilities: true, Given: true},
		{Path: "/usr/bin/ping", Package: "iputils", Capabilities: true, Given: true},
		{Path: "/usr/sbin/arping", Package: "iputils", Capabilities: true},
		{Path: "/usr/local/bin/x", Capabilities: true},
	}})
	is.Equal(len(all), 1)
	is.Equal(all[0].Path, "/usr/bin/node")
}

func TestWhatWouldBeLostIsNoticed(t *testing.T) {
	is := is.New(t)
	d := &disk{dir: t.TempDir()}
	d.put("var/lib/dpkg/diversions", "/usr/bin/wall\n/usr/bin/wall.distrib\n:\n/bin/sh\n/bin/sh.distrib\ndash\n", false)
	d.put("var/lib/dpkg/statoverride", "root mail 2755 /usr/bin/x\n", false)
	d.put("var/lib/dpkg/alternatives/editor", "manual\n/usr/bin/editor\n\n/usr/bin/vim\n30\n/usr/local/bin/house-edit\n5\n\n", false)
	d.put("var/lib/dpkg/alternatives/pager", "auto\n/usr/bin/pager\n", false)
	d.put("var/lib/dpkg/alternatives/mytool", "auto\n/usr/bin/mytool\n\n/opt/my tool\n50\n\n", false)
	d.put("var/lib/dpkg/alternatives/older", "manual\n/usr/local/bin/older\nolder.1\n/usr/local/share/man/man1/older.1\n\n/opt/1/older\n10\n/opt/1/older.1\n/opt/2/older\n20\n\n\n", false)
	d.put("var/lib/dpkg/alternatives/helped", "auto\n/usr/bin/helped\n\n/usr/lib/db/15/helped\n50\n\n", false)
	d.put("var/lib/alternatives/edit", "manual\n/usr/local/bin/edit\n\n/opt/edit/edit.py\n@nano@10\n\n", false) // chkconfig's
	d.put("var/lib/dpkg/info/vim.postinst", "update-alternatives --install /usr/bin/editor editor /usr/bin/vim 30; pager\n", false)
	d.put("var/lib/dpkg/info/iputils-ping.postinst", "setcap cap_net_raw+ep /bin/ping\n", false)
	d.put("swapfile", "swap", false)
	d.put("etc/shadow", "anna:$y$secret:19000:0:99999:7:::\nben:!:19000:1:90:7:14:20000:\n", false)
	d.put("var/lib/dhcp/dhcpd.leases", "lease", false)
	d.put("var/lib/systemd/linger/anna", "", false)
	d.put("usr/share/pam-configs/unix", "Session:\n\trequired pam_unix.so\n", false)
	d.put("etc/pam.d/common-session", "session required pam_unix.so\nsession required pam_mkhomedir.so skel=/etc/skel\n", false)
	d.put("etc/pam.d/common-auth", "auth sufficient pam_ldap.so\n", false)
	d.put("etc/.git/HEAD", "ref: refs/heads/master\n", false)
	d.put("var/lib/containers/storage/overlay-images/images.json", `[{"names":["localhost/own/app:1"]},{"names":["docker.io/library/nginx:1","localhost/$(reboot)"]},{}]`, false)
	d.put("var/lib/containers/storage/vfs-images/images.json", `[{"names":["localhost/own/app:1"]}]`, false)
	is.NoErr(os.Symlink("/srv/data", filepath.Join(d.dir, "data")))
	is.NoErr(os.MkdirAll(filepath.Join(d.dir, "etc/alternatives"), 0o755))
	is.NoErr(os.Symlink("/usr/bin/vim", filepath.Join(d.dir, "etc/alternatives/editor")))
	is.NoErr(os.Symlink("/opt/edit/edit.py", filepath.Join(d.dir, "etc/alternatives/edit")))
	is.NoErr(os.Symlink("/opt/1/older", filepath.Join(d.dir, "etc/alternatives/older")))
	h, err := host.OpenRoot(d.dir)
	is.NoErr(err)
	defer h.Close()
	said, commands := []string{}, []string{}
	programs := []assess.Program{{Path: "/usr/bin/node", Package: "nodejs", Capabilities: true}, {Path: "/usr/bin/ping", Package: "iputils-ping", Capabilities: true}, {Path: "/usr/local/bin/x", Capabilities: true}, {Path: "/usr/bin/su", Package: "util-linux", Privileged: true}}
	for _, n := range notices(h.FS(), &assess.Assessment{Programs: programs, Cron: []assess.CronJob{{Schedule: "0 1 * * *", User: "root"}, {Schedule: "at 2027-01-01T00:00:00Z", User: "anna", Evidence: assess.Evidence{Path: "/var/spool/cron/atjobs/a0000101c3a4e0"}}}, Mounts: []assess.Mount{
		{Type: "swap", Device: "/swapfile", Options: []string{"sw", "pri=5"}},
		{Type: "none", Device: "/srv/data", Path: "/srv/ftp/a b", Options: []string{"bind"}},
		{Type: "ext4", Device: "/srv/exam.img", Path: "/mnt/exam", Options: []string{"loop", "noauto"}},
		{Type: "nfs4", Device: "files:/homes", Path: "/home", Options: []string{"rw"}},
		{Type: "cifs", Device: "//files/x", Path: "/mnt/x", Options: []string{"username=a", "password=hunter2hunter2"}},
		{Type: "ext4", Device: "UUID=1", Path: "/srv", Options: []string{"defaults"}},
		{Type: "none", Device: "/dev/disk", Path: "/x", Options: []string{"bind"}},
	}, System: assess.System{Hostname: "web1"}}) {
		said = append(said, n.Kind+" "+n.Path)
		if n.Command != "" {
			commands = append(commands, n.Command)
		}
		is.True(n.Do != "" && !strings.Contains(n.What, "secret"))
	}
	is.Equal(said, []string{
		"diversion /usr/bin/wall", "statoverride /usr/bin/x", "capabilities /usr/bin/node", "alternative /usr/bin/editor", "alternative /usr/bin/mytool", "alternative /usr/local/bin/edit", "alternative /usr/local/bin/older", "swap /swapfile", "mount /home", "mount /mnt/exam", "mount /mnt/x", "mount /srv/ftp/a b", "link /data", "password ageing /etc/shadow", "host name /etc/hostname",
		"leases /var/lib/dhcp/dhcpd.leases", "lingering /var/lib/systemd/linger/anna", "job of at /var/spool/cron/atjobs/a0000101c3a4e0", "line of PAM /etc/pam.d/common-auth", "line of PAM /etc/pam.d/common-session", "history /etc/.git", "image localhost/own/app:1",
	})
	is.Equal(commands, []string{
		`dpkg-divert --local --rename --divert '/usr/bin/wall.distrib' --add '/usr/bin/wall' && rsync -a "$SOURCE_SSH":'/usr/bin/wall' '/usr/bin/wall'`,
		"dpkg-statoverride --force-all --update --add 'root' 'mail' '2755' '/usr/bin/x'",
		`[ ! -e '/usr/bin/node' ] || { d=$(mktemp -d) && rsync -aX "$SOURCE_SSH":'/usr/bin/node' "$d"/ && setcap "$(getcap "$d"/* | sed 's/^[^ ]* *=\{0,1\} *//')" '/usr/bin/node'; r=$?; rm -rf "$d"; [ $r = 0 ]; }`,
		"update-alternatives --install '/usr/bin/editor' 'editor' '/usr/local/bin/house-edit' '5' && update-alternatives --set 'editor' '/usr/bin/vim'",
		"update-alternatives --install '/usr/bin/mytool' 'mytool' '/opt/my tool' '50'",
		"update-alternatives --install '/usr/local/bin/edit' 'edit' '/opt/edit/edit.py' '10' && update-alternatives --set 'edit' '/opt/edit/edit.py'",
		"update-alternatives --install '/usr/local/bin/older' 'older' '/opt/1/older' '10' --slave '/usr/local/share/man/man1/older.1' 'older.1' '/opt/1/older.1' && update-alternatives --install '/usr/local/bin/older' 'older' '/opt/2/older' '20' && update-alternatives --set 'older' '/opt/1/older'",
		"dd if=/dev/zero of='/swapfile' bs=1M count=1 status=none && chmod 600 '/swapfile' && mkswap '/swapfile' && { grep -qF '/swapfile none swap sw,pri=5 0 0' /etc/fstab || echo '/swapfile none swap sw,pri=5 0 0' >>/etc/fstab; }",
		"grep -qF 'files:/homes /home nfs4 rw 0 0' /etc/fstab || { mkdir -p '/home' && echo 'files:/homes /home nfs4 rw 0 0' >>/etc/fstab; }",
		"grep -qF '/srv/exam.img /mnt/exam ext4 loop,noauto 0 0' /etc/fstab || { mkdir -p '/mnt/exam' && echo '/srv/exam.img /mnt/exam ext4 loop,noauto 0 0' >>/etc/fstab; }",
		`grep -qF '/srv/data /srv/ftp/a\040b none bind,nofail 0 0' /etc/fstab || { mkdir -p '/srv/ftp/a b' && echo '/srv/data /srv/ftp/a\040b none bind,nofail 0 0' >>/etc/fstab; }`,
		"[ -e '/data' ] || ln -sn '/srv/data' '/data'",
		`! getent passwd -- 'ben' >/dev/null || chage -m 1 -M 90 -I 14 -E 20000 -- 'ben'`,
		"loginctl enable-linger 'anna' || { mkdir -p /var/lib/systemd/linger && touch '/var/lib/systemd/linger/anna'; }",
		`d=$(ls -d /var/spool/cron/atjobs /var/spool/atjobs /var/spool/at 2>/dev/null | head -n 1) && rsync -a "$SOURCE_SSH":'/var/spool/cron/atjobs/a0000101c3a4e0' "$d"/ && chgrp --reference="$d" "$d"/'a0000101c3a4e0'`,
		`ls /usr/lib/*/security/'pam_mkhomedir.so' >/dev/null && printf '%s\n' 'Name: pam_mkhomedir.so, as on the old machine' 'Default: yes' 'Priority: 0' 'Session-Type: Additional' 'Session-Interactive-Only: yes' 'Session:' '  required pam_mkhomedir.so skel=/etc/skel' >'/usr/share/pam-configs/common-session-pam_mkhomedir' && pam-auth-update --package`,
		`rsync -a --delete "$SOURCE_SSH":/etc/.git/ /etc/.git/`,
	})
}

// TestProfilesThatAPersonEnabled are told of, and those that every machine has are not.
func TestProfilesThatAPersonEnabled(t *testing.T) {
	is := is.New(t)
	d := &disk{dir: t.TempDir()}
	d.put("usr/share/pam-configs/unix", "Name: Unix\nDefault: yes\n", true)
	d.put("usr/share/pam-configs/mkhomedir", "Name: homes\nDefault: no\n", true)
	d.put("usr/share/pam-configs/idle", "Name: idle\nDefault: no\n", true)
	d.put("usr/share/pam-configs/house", "Name: of the house\nDefault: yes\n", false)
	d.put("var/lib/pam/session", "Module: null\n[default=1]\tpam_permit.so\nModule: unix\nrequired\tpam_unix.so\nModule: mkhomedir\nModule: house\n", false)
	commands := []string{}
	for _, n := range d.sum().Noticed {
		commands = append(commands, n.Kind+": "+n.Command)
	}
	is.Equal(commands, []string{
		`profile of PAM: rsync -a "$SOURCE_SSH":'/usr/share/pam-configs/house' '/usr/share/pam-configs/house' && pam-auth-update --package --enable 'house'`,
		"profile of PAM: pam-auth-update --package --enable 'mkhomedir'",
	})
}

func TestAnEditedUnitIsShown(t *testing.T) {
	is := is.New(t)
	d := &disk{dir: t.TempDir()}
	d.put("usr/lib/systemd/system/cron.service", "[Service]\nExecStart=/usr/sbin/cron\n", true)
	d.put("usr/lib/systemd/system/at.service", "[Service]\nExecStart=/usr/sbin/atd\n", true)
	d.put("usr/lib/python3.9/phello.foo.py", "", true)
	d.put("usr/lib/python3.9/__pycache__/phello.foo.cpython-39.pyc", "", false)
	d.put("usr/lib/python3.9/__pycache__/phello.foo.cpython-39.opt-1.pyc", "", false)
	d.change("usr/lib/systemd/system/cron.service", "[Service]\n# nicer\nNice=5\nEnvironment=PASSWORD=hunter2hunter2\n", soon)
	s := d.sum()
	is.Equal(len(s.Noticed), 1)
	is.Equal(s.Noticed[0].Kind+" "+s.Noticed[0].Path, "edited unit /usr/lib/systemd/system/cron.service")
	is.True(strings.Contains(s.Noticed[0].What, "Nice=5") && !strings.Contains(s.Noticed[0].What, "hunter2"))
	is.Equal(paths(s.Nobody), []string{"/var"}) // byte code is of a package's file, whatever its name has in it
}
