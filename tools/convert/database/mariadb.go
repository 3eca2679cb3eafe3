// Package database converts the settings of database servers.
package database

import (
	"path"
	"strings"

	"svc/backend/release"
	"svc/tools/convert"
)

// mariadbHomes are where the families keep what MariaDB's configuration names.
var mariadbHomes = convert.Homes{release.LineDebian: {
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
}, release.LineSUSE: {
	{"/var/lib/mysql/mysql.sock", "/run/mysql/mysql.sock"},
	{"/var/log/mariadb/mariadb.log", "/var/log/mysql/mysqld.log"},
	{"/var/log/mariadb", "/var/log/mysql"},
	{"/var/run/mariadb", "/run/mysql"},
	{"/run/mariadb", "/run/mysql"},
}}

// servers are the groups of my.cnf that mariadbd reads.
var servers = map[string]bool{"mysqld": true, "server": true, "mariadb": true, "mariadbd": true}

// MariaDB makes a file of MariaDB's of what was written for MySQL or an earlier
// MariaDB: options that are gone become comments. Debian reads the files of
// mariadb.conf.d in their order, so what comes from my.cnf is read last.
func MariaDB(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		s := convert.Settings{Comment: "#", Equals: true, Homes: mariadbHomes}.Towards(in)
		s.Own = func(p *convert.Page, i int, name, _ string) bool {
			switch {
			case strings.HasPrefix(name, "["):
				s.Program = ""
				if base, _, _ := strings.Cut(strings.Trim(name, "[]"), "-"); servers[base] {
					s.Program = "mariadb"
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
		p := convert.Open(f, "#")
		for i := range p.Active() {
			s.Line(p, i)
		}
		r.Close(p, mariadbPlace(in, f.Path))
	}
	return r
}

// mariadbInclude leaves what is read to the target's own file.
func mariadbInclude(p *convert.Page, i int, in convert.Input) {
	switch {
	case convert.FromRPM(in):
		p.Drop(i, "Debian's /etc/mysql/mariadb.cnf includes the files.")
	case convert.FromDebian(in):
		p.Drop(i, convert.Whose(in.Target)+" /etc/my.cnf includes the files of /etc/my.cnf.d.")
	}
}

func mariadbPlace(in convert.Input, file string) string {
	switch {
	case convert.WithinRPM(in):
		return file
	case convert.FromDebian(in):
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
