package database

import (
	"fmt"
	"slices"
	"strings"

	"svc/assess"
)

// MainCluster is the one that Debian's package of PostgreSQL makes, at UsualPort.
const (
	MainCluster = "main"
	UsualPort   = 5432
)

// DebianCluster is what Debian's tools call the cluster of a target that takes a database of
// PostgreSQL. A source that has these tools has its name. Of other sources, the one that
// clients find at the usual port goes to main; others are called by their folder, and by
// their port too where folders are called alike.
func DebianCluster(all []assess.Database, d assess.Database) string {
	alike := func(o assess.Database) bool {
		return o.Engine == d.Engine && o.Name == d.Name && o.Directory != d.Directory
	}
	switch {
	case d.Engine != "postgresql" || ofDebian(d):
		return d.Name
	case d.Directory != "" && d.Directory == mainOf(all).Directory:
		return MainCluster
	case slices.ContainsFunc(all, alike):
		return fmt.Sprintf("%s-%d", d.Name, d.Port)
	}
	return d.Name
}

// mainOf is the database that main takes; a zero one where none does.
func mainOf(all []assess.Database) (main assess.Database) {
	for _, d := range all {
		switch {
		case d.Engine != "postgresql":
		case ofDebian(d) && d.Name == MainCluster:
			return d
		case main.Directory == "" && !ofDebian(d) && d.Port == UsualPort:
			main = d
		}
	}
	return main
}

func ofDebian(d assess.Database) bool {
	return strings.HasPrefix(d.Evidence.Path, "/etc/postgresql/")
}
