package shipped

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/release"
)

func lookup(t *testing.T, slug string) release.Release {
	r, ok := release.Lookup(slug)
	if !ok {
		t.Fatal("no release", slug)
	}
	return r
}

func TestFiles(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	for _, file := range []string{"/etc/httpd/conf.d/php.conf", "/etc/httpd/conf.d/welcome.conf"} {
		is.NoErr(os.MkdirAll(filepath.Join(root, filepath.Dir(file)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(root, file), []byte("# "+file), 0o644))
	}
	a := &assess.Assessment{Release: "rocky-9", AsShipped: map[string]string{
		"/etc/httpd/conf.d/php.conf": "php-fpm", "/etc/httpd/conf.d/welcome.conf": "httpd",
		"/etc/nginx/nginx.conf": "nginx", // which is not there
	}}
	read := func(file string) ([]byte, error) { return os.ReadFile(filepath.Join(root, file)) }
	described := func(file string) (f assess.Folder, folder, ok bool) {
		info, err := os.Lstat(filepath.Join(root, file))
		return assess.Folder{Path: file, Mode: "0644", Owner: "root", Group: "root"}, err == nil && info.IsDir(), err == nil
	}

	m := Machine{a, read, described}
	all := m.Files(lookup(t, "debian-13"), nil)
	is.Equal(len(all), 1) // the other holds as the target's package has it
	is.Equal(all[0].Path, "/etc/httpd/conf.d/php.conf")
	is.Equal(all[0].Package, "php-fpm")
	is.Equal(all[0].Size, int64(28))
	is.True(all[0].Why != "")

	is.Equal(len(m.Files(lookup(t, "almalinux-10"), nil)), 0)                   // packages of a line have the same files
	is.Equal(len(Machine{Assessment: a}.Files(lookup(t, "debian-13"), nil)), 0) // there is but an assessment
}

func TestFilesThatAreRead(t *testing.T) {
	is := is.New(t)
	texts := map[string]string{
		"/etc/dovecot/conf.d/10-auth.conf":      "auth_mechanisms = plain login\n#!include auth-ldap.conf.ext\n  !include auth-sql.conf.ext # of us\n",
		"/etc/dovecot/conf.d/auth-sql.conf.ext": "passdb {\n}\n", "/etc/dovecot/conf.d/auth-ldap.conf.ext": "passdb {\n}\n",
		"/etc/nginx/conf.d/ours.conf": "server {\n  server_tokens off;\n}\n", "/etc/nginx/nginx.conf": "http {\n}\n",
	}
	of := func(source, target string, carried ...string) (names []string) {
		m := Machine{
			Assessment: &assess.Assessment{Release: source},
			Read:       func(file string) ([]byte, error) { return []byte(texts[file]), nil },
			Described: func(file string) (f assess.Folder, folder, ok bool) {
				_, ok = texts[file]
				return assess.Folder{Mode: "0644"}, false, ok
			},
		}
		for _, f := range m.Files(lookup(t, target), carried) {
			names = append(names, f.Path)
		}
		return names
	}
	auth, ours := "/etc/dovecot/conf.d/10-auth.conf", "/etc/nginx/conf.d/ours.conf"
	is.Equal(of("debian-12", "debian-13", auth, ours), []string{"/etc/dovecot/conf.d/auth-sql.conf.ext"}) // a site's own line is no second one
	is.Equal(of("rocky-9", "debian-13", auth), []string{"/etc/nginx/nginx.conf", "/etc/dovecot/conf.d/auth-sql.conf.ext"})
	is.Equal(of("debian-11", "debian-12", auth), nil) // Dovecot 2.3 has the file as it is
	is.Equal(of("debian-12", "debian-13"), nil)
	texts[ours] = "server_tokens off;\n"
	is.Equal(of("ubuntu-22.04", "debian-13", auth, ours), []string{"/etc/dovecot/conf.d/auth-sql.conf.ext", "/etc/nginx/nginx.conf"})
	is.Equal(of("debian-11", "debian-12", ours), nil)
}

func TestNamed(t *testing.T) {
	is := is.New(t)
	texts := map[string]string{
		"/etc/bind/named.conf.local": `include "/etc/bind/zones.private";`,
		"/etc/bind/zones.private":    `file "/etc/bind/db.empty";`,
		"/etc/bind/db.empty":         "$TTL 86400", "/etc/bind/db.0": "$TTL 1",
		"/etc/cron.d/zones": "0 1 * * * root cat /etc/bind/db.0",
	}
	m := Machine{
		Assessment: &assess.Assessment{AsShipped: map[string]string{"/etc/bind/zones.private": "bind9", "/etc/bind/db.empty": "bind9", "/etc/bind/db.0": "bind9", "/etc/bind/named.conf": "bind9"}},
		Read:       func(file string) ([]byte, error) { return []byte(texts[file]), nil },
		Described: func(file string) (f assess.Folder, folder, ok bool) {
			return assess.Folder{Mode: "0644", Owner: "root", Group: "root"}, false, true
		},
	}
	fate := func(file string) Fate {
		switch file {
		case "/etc/bind/named.conf":
			return Kept
		case "/etc/bind/db.empty":
			return Unknown
		}
		return Gone
	}

	all := m.Named(lookup(t, "debian-13"), fate, []string{"/etc/bind/named.conf.local", "/etc/cron.d/zones"})
	is.Equal(len(all), 2)
	is.Equal(all[0].Path, "/etc/bind/zones.private")
	is.Equal(all[0].Why, "/etc/bind/named.conf.local names it, and bind9 of debian-13 has it no more.")
	is.Equal(all[0].Spare, false)
	is.Equal(all[1].Path, "/etc/bind/db.empty") // which the first one names
	is.Equal(all[1].Why, "/etc/bind/zones.private names it. It comes along where bind9 of debian-13 brings none: whether it does is not known.")
	is.Equal(all[1].Spare, true)
	is.Equal(len(m.Named(lookup(t, "debian-13"), fate, nil)), 0)
	is.Equal(program("/etc/opendkim.conf"), program("/etc/opendkim/TrustedHosts"))
}

func TestRows(t *testing.T) {
	is := is.New(t)
	lines := map[release.Line]bool{}
	for _, f := range release.Families() {
		lines[f.Line] = true
	}
	for _, r := range table() {
		is.True(len(r.sources) > 0)
		is.True(len(r.targets) > 0)
		for _, to := range r.targets {
			is.True(lines[to])
		}
		for _, from := range r.sources {
			is.True(lines[from])
			is.True(r.since != "" || !slices.Contains(r.targets, from))
		}
		is.True(path.IsAbs(r.file))
	}
}
