// Package database converts the settings of database servers.
package database

import (
	"path"
	"strings"

	"svc/tools/convert"
)

// mariadbHomes are where the families keep what MariaDB's configuration names.
var mariadbHomes = convert.HomesOf("mariadb")

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
		r.Close(s.Convert(f), mariadbPlace(in, f.Path))
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
