package database

import (
	"path"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// postgresVersioned is a place of Debian with PostgreSQL's version in it.
var postgresVersioned = lazyregexp.New(`(/postgresql/|/postgresql-|/run/postgresql/|^cluster_name = ')([0-9]+(?:\.[0-9]+)?)([/-])`)

// PostgreSQL carries the files of a cluster over to the target's version.
func PostgreSQL(in convert.Input) (r convert.Result) {
	version := ""
	for name := range in.Brought {
		if m := postgresPackage.FindStringSubmatch(name); m != nil {
			version = max(version, m[1])
		}
	}
	s := convert.Settings{Program: "postgresql", Comment: "#", Equals: true, Target: in.Target, Version: version, Own: ofExtension}
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		if version == "" {
			p.Refuse(0, "The plan brings no server of PostgreSQL.")
		}
		for i := range p.Active() {
			switch name := path.Base(f.Path); {
			case name == "postgresql.conf", path.Base(path.Dir(f.Path)) == "conf.d":
				s.Line(p, i)
			case name == "pg_hba.conf":
				hbaLine(p, i)
			}
		}
		p.MoveAll(func(line string) string { return postgresVersioned.ReplaceAllString(line, "${1}"+version+"${3}") }, "The version is part of the name.")
		r.Close(p, postgresVersioned.ReplaceAllString(f.Path, "${1}"+version+"${3}"))
	}
	return r
}

var postgresPackage = lazyregexp.New(`^postgresql-([0-9]+)$`)

// ofExtension reports whether a setting is one of an extension: the server takes any name
// with a period in it, and leaves it to the library that it is of.
func ofExtension(_ *convert.Page, _ int, name, _ string) bool { return strings.Contains(name, ".") }
