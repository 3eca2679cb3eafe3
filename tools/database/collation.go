package database

import (
	"cmp"
	"fmt"
	"strings"

	"svc/assess/datadir"
	"svc/backend/release"
)

// glibc is the version of the C library by release. Sorting changes with it,
// most of all at 2.28.
var glibc = map[string]Version{
	"el-6": "2.12", "el-7": "2.17", "el-8": "2.28", "el-9": "2.34", "el-10": "2.39", "sles-12": "2.22", "sles-15": "2.31", "amzn-2": "2.26", "amzn-2023": "2.34",
	"debian-9": "2.24", "debian-10": "2.28", "debian-11": "2.31", "debian-12": "2.36", "debian-13": "2.41",
	"ubuntu-16.04": "2.23", "ubuntu-18.04": "2.27", "ubuntu-20.04": "2.31", "ubuntu-22.04": "2.35", "ubuntu-24.04": "2.39", "ubuntu-26.04": "2.43",
}

// Reindex is a database whose indexes on text may be in another order on the
// target, if its files are carried over. A dump is loaded in the target's order.
type Reindex struct {
	Database string `json:"database"`
	Provider string `json:"provider"`
	Collate  string `json:"collate"`
	From     string `json:"from"` // version of the library; empty where unknown
	To       string `json:"to"`
	Why      string `json:"why"`
	Command  string `json:"command"`
}

// reindexes lists the databases of a PostgreSQL cluster to index again.
func reindexes(databases []datadir.Catalog, source Version, target release.Release) []Reindex {
	all := []Reindex{}
	to := glibc[line(target)]
	for _, d := range databases {
		r := Reindex{Database: d.Name, Provider: d.Provider, Collate: d.Collate, From: d.CollationVersion, To: string(to), Command: reindexCommand(d.Name)}
		switch {
		case d.Provider == "icu":
			r.To, r.Why = "", "ICU sorts by its own version's rules: compare pg_collation_actual_version() on the target"
		case d.Provider != "libc" || byBytes(d.Collate):
			continue // sorted by code points, whatever the library
		default:
			r.From = cmp.Or(r.From, string(source))
			r.Why = libcChange(Version(r.From), to)
		}
		if r.Why != "" {
			all = append(all, r)
		}
	}
	return all
}

// byBytes reports whether a collation sorts by code points.
func byBytes(collate string) bool {
	name, _, _ := strings.Cut(collate, ".")
	return name == "C" || name == "POSIX"
}

// libcChange says what a change of the C library does to sorting; nothing where
// there is none.
func libcChange(from, to Version) string {
	switch {
	case from == "" || to == "":
		return "the version of the C library on one side is not known: sorting may differ"
	case from == to:
		return ""
	case from.compare("2.28", 0) < 0 && to.compare("2.28", 0) >= 0:
		return fmt.Sprintf("the C library goes from %s to %s, over 2.28, where the order of nearly everything changed: indexes on text give wrong answers until they are made again", from, to)
	}
	return fmt.Sprintf("the C library goes from %s to %s: some characters sort otherwise, so indexes on text may give wrong answers until they are made again", from, to)
}

// reindexCommand is what a person runs on the target, with the name quoted as
// SQL wants it.
func reindexCommand(database string) string {
	quoted := `"` + strings.ReplaceAll(database, `"`, `""`) + `"`
	return fmt.Sprintf("REINDEX DATABASE %s; ALTER DATABASE %s REFRESH COLLATION VERSION;", quoted, quoted)
}
