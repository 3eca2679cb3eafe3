package convert

import (
	"path"
	"strings"
)

// mariadbPlaces are where the families keep what MariaDB's configuration names.
var mariadbPlaces = places{
	{"/var/lib/mysql/mysql.sock", "/run/mysqld/mysqld.sock"},
	{"/var/log/mariadb/mariadb.log", "/var/log/mysql/error.log"},
	{"/var/log/mysqld.log", "/var/log/mysql/error.log"},
	{"/var/log/mysql-slow.log", "/var/log/mysql/mariadb-slow.log"},
	{"/var/log/mariadb", "/var/log/mysql"},
	{"/var/run/mariadb", "/run/mysqld"},
	{"/run/mariadb", "/run/mysqld"},
	{"/usr/lib64/mysql/plugin", "/usr/lib/mysql/plugin"},
	{"/usr/share/mysql", "/usr/share/mariadb"},
	{"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt"},
	{"/etc/pki/tls/certs", "/etc/ssl/certs"},
	{"/etc/pki/tls/private", "/etc/ssl/private"},
}

// servers are the groups of my.cnf that mariadbd reads.
var servers = map[string]bool{"mysqld": true, "server": true, "mariadb": true, "mariadbd": true}

// mariadb makes a file of MariaDB's of what was written for MySQL or an earlier
// MariaDB: options that are gone become comments. Debian reads the files of
// mariadb.conf.d in their order, so what comes from my.cnf is read last.
func mariadb(in Input) (r Result) {
	for _, f := range in.Files {
		s := settings{comment: "#", equals: true, places: mariadbPlaces}.towards(in)
		s.own = func(p *page, i int, name, _ string) bool {
			switch {
			case strings.HasPrefix(name, "["):
				s.program = ""
				if base, _, _ := strings.Cut(strings.Trim(name, "[]"), "-"); servers[base] {
					s.program = "mariadb"
				}
				return true
			case strings.HasPrefix(name, "!include"):
				mariadbInclude(p, i, in)
				return true
			case strings.HasPrefix(name, ";"):
				return true
			}
			return false
		}
		p := open(f, "#")
		for i := range p.active() {
			s.line(p, i)
		}
		r.close(p, mariadbPlace(in, f.Path))
	}
	return r
}

// mariadbInclude leaves what is read to the target's own file.
func mariadbInclude(p *page, i int, in Input) {
	switch {
	case fromRPM(in):
		p.drop(i, "Debian's /etc/mysql/mariadb.cnf includes the files.")
	case fromDebian(in):
		p.drop(i, "The target's /etc/my.cnf includes the files of /etc/my.cnf.d.")
	}
}

func mariadbPlace(in Input, file string) string {
	switch {
	case withinRPM(in):
		return file
	case fromDebian(in):
		return "/etc/my.cnf.d/" + path.Base(file)
	}
	switch name := path.Base(file); path.Dir(file) {
	case "/etc":
		return "/etc/mysql/mariadb.conf.d/90-my.cnf"
	case "/etc/my.cnf.d":
		return "/etc/mysql/mariadb.conf.d/70-" + name
	}
	return file
}
