package inspect

import (
	"crypto/md5"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
)

// TestFolders: what no package brings is listed with its mode; what a package
// brings, what belongs to the machine alone and what is in a service's own folder
// is not.
func TestFolders(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	is.NoErr(os.CopyFS(root, os.DirFS("../../fixtures/hosts/debian-11-web")))
	for dir, mode := range map[string]os.FileMode{
		"etc/letsencrypt/archive": 0o700, "var/log/named/old": 0o2750, "var/log/journal/0123456789abcdef0123456789abcdef": 0o755,
		"var/cache/nginx": 0o755, "var/cache/nginx/site/a": 0o700, "var/cache/man/de": 0o755,
		"etc/app": 0o755, "etc/lvm/backup": 0o700, "etc/nginx/sites-available": 0o755, "etc/nginx/sites-enabled": 0o755,
	} {
		is.NoErr(os.MkdirAll(filepath.Join(root, dir), 0o755))
		is.NoErr(os.Chmod(filepath.Join(root, dir), mode&0o777|os.ModeSetgid*(mode>>10&1)))
	}
	for _, file := range []string{"sites-available/default", "sites-available/shop", "sites-enabled/shop"} {
		is.NoErr(os.WriteFile(filepath.Join(root, "etc/nginx", file), nil, 0o644))
	}
	is.NoErr(os.WriteFile(filepath.Join(root, "var/lib/dpkg/info/curl.list"), []byte("/.\n/etc\n/etc/app\n/var/log\n/var/cache/man\n"), 0o644))
	a, err := assessDir(t, root)
	is.NoErr(err)
	modes := map[string]string{}
	for _, f := range a.Folders {
		modes[f.Path] = f.Mode
	}
	is.Equal(modes["/etc/letsencrypt/archive"], "0700")
	is.Equal(modes["/var/log/named/old"], "2750")
	is.Equal(modes["/var/cache/nginx"], "0755")
	is.Equal(modes["/var/cache/nginx/site"], "0755")
	for _, absent := range []string{"/var/cache/nginx/site/a", "/var/cache/man", "/var/cache/man/de", "/etc/app", "/etc/lvm/backup", "/var/log/journal/0123456789abcdef0123456789abcdef"} {
		_, there := modes[absent]
		is.True(!there)
	}
	is.True(slices.Contains(a.Disabled, "/etc/nginx/sites-enabled/default"))
	is.True(!slices.Contains(a.Disabled, "/etc/nginx/sites-enabled/shop"))
}

// TestCopiesThatScriptsMake: a file that a maintainer script copies from its package's
// own is as shipped while it is equal to it. One that was edited is a person's, and so
// is one that no script copies from there.
func TestCopiesThatScriptsMake(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	is.NoErr(os.CopyFS(root, os.DirFS("../../fixtures/hosts/debian-11-web")))
	write := func(name, text string) {
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	sums := ""
	for _, name := range []string{"modules.conf", "server.conf", "examples/mine.conf"} {
		sums += fmt.Sprintf("%x  usr/share/ftp/%s\n", md5.Sum([]byte(filepath.Base(name)+"\n")), name)
	}
	write("etc/ftp/modules.conf", "modules.conf\n")
	write("etc/ftp/server.conf", "server.conf\nedited\n")
	write("etc/ftp/mine.conf", "mine.conf\n")
	write("etc/ftp/again.conf", "modules.conf\n")
	write("var/lib/dpkg/info/ftp:amd64.md5sums", sums)
	write("var/lib/dpkg/info/ftp:amd64.postinst", "for name in modules server; do cp /usr/share/ftp/$name.conf /etc/ftp/$name.conf.new; done\nupdate /etc/ftp/modules.conf\nupdate /etc/ftp/server.conf\ntest -e /etc/ftp/mine.conf\n")
	write("var/lib/dpkg/info/other.postinst", "test -e /usr/share/ftp/examples/mine.conf && test -e /etc/ftp/mine.conf\n")
	a, err := assessDir(t, root)
	is.NoErr(err)
	peoples := []string{}
	for _, c := range a.Configuration {
		if filepath.Dir(c.Path) == "/etc/ftp" {
			peoples = append(peoples, filepath.Base(c.Path))
		}
	}
	is.Equal(peoples, []string{"again.conf", "mine.conf", "server.conf"})
	is.Equal(a.AsShipped["/etc/ftp/modules.conf"], "ftp")
	is.Equal(a.AsShipped["/etc/ftp/server.conf"], "")
}

// TestAccountsThatPeopleMade: one of the system's range whose home is where people put theirs, and that
// no script and no declaration of a package makes, is a person's, whatever it is called.
func TestAccountsThatPeopleMade(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	is.NoErr(os.CopyFS(root, os.DirFS("../../fixtures/hosts/debian-11-web")))
	passwd, err := os.ReadFile(filepath.Join(root, "etc/passwd"))
	is.NoErr(err)
	for name, text := range map[string]string{
		"etc/passwd": string(passwd) + "git:x:450:450::/srv/git:/usr/bin/git-shell\nqueue:x:451:451::/srv/queue:/usr/sbin/nologin\n" +
			"declared:x:452:452::/srv/declared:/bin/sh\nscripted:x:453:453::/srv/scripted:/bin/sh\nclosed:x:454:454::/nonexistent:/bin/false\n",
		"usr/lib/sysusers.d/p.conf":     "u declared - - /srv/declared /bin/sh\n",
		"var/lib/dpkg/info/p.postinst":  "adduser --system --home /srv/scripted scripted\n",
		"var/lib/dpkg/info/p2.postinst": "git --version; touch queue\n",
	} {
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	a, err := assessDir(t, root)
	is.NoErr(err)
	var own []string
	for _, u := range a.Users {
		if u.Own {
			own = append(own, u.Name)
		}
	}
	is.Equal(own, []string{"git", "queue", "upload"})
}

// TestLinksThatScriptsMake: a link that a maintainer script names, and that leads
// where it says, is no person's; one that was led elsewhere, or that none names, is.
func TestLinksThatScriptsMake(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	is.NoErr(os.CopyFS(root, os.DirFS("../../fixtures/hosts/debian-11-web")))
	for link, to := range map[string]string{
		"sites-enabled/default": "/etc/nginx/sites-available/default", "sites-enabled/mine": "/etc/nginx/sites-available/default",
		"modules-enabled/50-mod-echo.conf": "/usr/share/nginx/modules-available/mod-echo.conf", "modules-enabled/50-mod-led.conf": "/srv/mine.conf",
	} {
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(root, "etc/nginx", link)), 0o755))
		is.NoErr(os.Symlink(to, filepath.Join(root, "etc/nginx", link)))
	}
	for name, text := range map[string]string{
		"nginx-common":   "#!/bin/sh\nif [ -z \"$2\" ]; then\n  ln -s /etc/nginx/sites-available/default /etc/nginx/sites-enabled/default\nfi\n",
		"libnginx:amd64": "for pair in mod-echo.conf:50-mod-echo.conf mod-led.conf:50-mod-led.conf ; do\n  ln -sf /usr/share/nginx/modules-available/$from \\\n    /etc/nginx/modules-enabled/$to\ndone\n",
	} {
		is.NoErr(os.WriteFile(filepath.Join(root, "var/lib/dpkg/info", name+".postinst"), []byte(text), 0o755))
	}
	a, err := assessDir(t, root)
	is.NoErr(err)
	made := map[string]string{}
	for _, c := range a.Configuration {
		if filepath.Dir(filepath.Dir(c.Path)) == "/etc/nginx" {
			made[filepath.Base(c.Path)] = c.MadeBy
		}
	}
	is.Equal(made, map[string]string{"default": "nginx-common", "mine": "", "50-mod-echo.conf": "libnginx", "50-mod-led.conf": ""})
	for _, f := range a.Findings {
		if f.Key == "configuration.unowned" {
			is.True(!slices.ContainsFunc(f.Related, func(r assess.Resource) bool { return r.Name == "/etc/nginx/sites-enabled/default" }))
			is.True(slices.ContainsFunc(f.Related, func(r assess.Resource) bool { return r.Name == "/etc/nginx/sites-enabled/mine" }))
		}
	}
}
