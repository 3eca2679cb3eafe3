// Package database converts the settings of database servers.
package database

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
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
	narrow := narrows(in)
	for _, f := range in.Files {
		s := convert.Settings{Comment: "#", Equals: true, Homes: mariadbHomes}.Towards(in)
		s.Own = func(p *convert.Page, i int, name, _ string) bool {
			switch {
			case strings.HasPrefix(name, "["):
				s.Program = ""
				if base, _, _ := strings.Cut(strings.Trim(name, "[]"), "-"); servers[base] {
					s.Program = "mariadb"
					if narrow {
						p.Replace(i, strings.TrimSpace(p.Lines[i])+"\nbind-address = *", "It listens on every address; by Debian's own file it would on 127.0.0.1 alone.")
						narrow = false
					}
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

// listening are the settings that say where a server listens.
var listening = lazyregexp.New(`(?m)^\s*(bind[-_]address|skip[-_]networking)\b`)

// narrows reports whether a server of the rpm families listens on every address since
// nothing says otherwise: Debian's own file, which is read first, says 127.0.0.1.
func narrows(in convert.Input) bool {
	return convert.FromRPM(in) && !slices.ContainsFunc(in.Files, func(f convert.File) bool { return listening.MatchString(f.Text) })
}

// mariadbInclude leaves what is read to the target's own file.
func mariadbInclude(p *convert.Page, i int, in convert.Input) {
	switch {
	case convert.FromRPM(in), ofMySQL(in) && convert.ToDebian(in):
		p.Drop(i, "Debian's /etc/mysql/mariadb.cnf includes the files.")
	case convert.FromDebian(in):
		p.Drop(i, convert.Whose(in.Target)+" /etc/my.cnf includes the files of /etc/my.cnf.d.")
	}
}

// ofMySQL is a move of a machine whose server is MySQL's.
func ofMySQL(in convert.Input) bool {
	for name := range in.Installed {
		if strings.HasPrefix(name, "mysql-server") || strings.HasPrefix(name, "mysql-community-server") {
			return true
		}
	}
	return false
}

// readLater are the folders that Debian's MariaDB does not read, or reads before its own
// files, and what is put before the names of their files, so that these are read after its
// own, in the order that they had; readLaterOfMySQL are those of Debian's MySQL.
var (
	readLater        = map[string]string{"/etc": "90-", "/etc/my.cnf.d": "70-"}
	readLaterOfMySQL = map[string]string{"/etc/mysql": "90-", "/etc/mysql/mysql.conf.d": "70-", "/etc/mysql/conf.d": "60-"}
)

func mariadbPlace(in convert.Input, file string) string {
	dir, name := path.Dir(file), path.Base(file)
	before := readLater[dir]
	if ofMySQL(in) {
		before = cmp.Or(before, readLaterOfMySQL[dir])
	}
	switch {
	case convert.WithinRPM(in), convert.ToDebian(in) && before == "":
		return file
	case convert.FromDebian(in):
		return "/etc/my.cnf.d/" + name
	}
	return "/etc/mysql/mariadb.conf.d/" + before + name
}
