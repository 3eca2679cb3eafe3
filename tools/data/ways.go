package data

import (
	"cmp"
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"svc/backend/release"
	"svc/backend/tsv"
	"svc/tools/database"
)

// way is how a kind of data moves, and what makes it unsafe while the source
// writes.
type way struct {
	method      Method
	why         string
	unsafe      string
	replication string // what the target becomes, where the engine replicates
}

// methods are how a way of a database's data is carried out.
var methods = map[database.Way]Method{database.Dump: DumpAndLoad, database.Copy: Rsync}

//go:embed ways.tsv
var wayRows string

// kindWays and engineWays are the ways of kinds of data, and what is to be said of those
// that are recommended for engines.
var kindWays, engineWays = waysOf("kind"), waysOf("engine")

func waysOf(of string) map[string]way {
	all := map[string]way{}
	for c := range tsv.Rows(wayRows, 6) {
		if c[0] == of {
			all[c[1]] = way{Method(tsv.Said(c[2])), c[3], tsv.Said(c[4]), tsv.Said(c[5])}
		}
	}
	return all
}

// replicating are the engines of which there are scripts, and whose.
var replicating = map[string]string{"postgresql": "postgresql", "mysql": "mysql", "mariadb": "mysql", "redis": "redis", "valkey": "redis"}

// readers are the programs that alone read the files of a server; any newer
// server of its engine does where there are none. Valkey left Redis at 7.2, and
// refuses the dumps of what came after (valkey.io: migration).
func readers(p Place) []string {
	version, known := database.ParseVersion(p.Version)
	if p.Kind == Database && p.What == "redis" && known && version.Compare("7.2") > 0 {
		return []string{"redis-server"}
	}
	return nil
}

// publishes reports whether a server can be followed by another version. Before
// 10, PostgreSQL could not.
func publishes(p Place) bool {
	major, _, _ := strings.Cut(p.Version, ".")
	n, err := strconv.Atoi(major)
	return p.What != "postgresql" || err != nil || n >= 10
}

func wayOf(p Place) way {
	switch {
	case p.Kind == Database:
		if w, ok := engineWays[p.What]; ok {
			w.method = cmp.Or(methods[database.Recommended(p.What)], w.method)
			return w
		}
		return kindWays["other-engine"]
	case p.Kind == Containers && (lists("whole-systems", p.What) || isVolumes(p)):
		return kindWays["volumes"]
	}
	return kindWays[string(p.Kind)]
}

func isVolumes(p Place) bool { return strings.HasPrefix(p.What, "volume") }

// alternatives are other ways to move a place.
func (i *Item) alternatives(w way, p Place) {
	if w.replication != "" && publishes(p) {
		i.Alternatives = append(i.Alternatives, Alternative{Method: Replication, Why: "The target becomes " + w.replication + "; the downtime is that of the switch alone, in which both sides are counted."})
	}
	if i.Method == Rsync && slices.Contains(snapshots, p.Snapshot.Kind) {
		i.Alternatives = append(i.Alternatives, Alternative{Method: FromSnapshot, Why: "A copy from a snapshot is of one moment, while the source runs; what is written afterwards is not in it: " + p.Snapshot.Why + "."})
	}
	if p.Kind == Disk {
		i.Alternatives = append(i.Alternatives, Alternative{Method: LeaveMounted, Why: "The disk can be taken out of the source and given to the target."})
	}
}

// snapshots are the kinds that there are scripts for.
var snapshots = []string{"lvm", "btrfs", "zfs"}

// line is that of a slug, also of a release that is not known: distributions of one
// name their accounts alike.
func line(slug string) release.Line {
	distro, _ := release.Split(slug)
	return release.FamilyOf(distro).Conventions().Line
}

//go:embed accounts.tsv
var accountRows string

// accountNames and groupNames, by line of families, are names that do the same work; the
// second are those of groups alone.
var accountNames, groupNames = namesOf("account"), namesOf("group")

// namesOf are the rows of a kind.
func namesOf(kind string) (all []map[release.Line]string) {
	for c := range tsv.Rows(accountRows, 2) {
		if c[0] != kind {
			continue
		}
		names := map[release.Line]string{}
		for cell := range strings.FieldsSeq(c[1]) {
			line, name, _ := strings.Cut(cell, "=")
			names[release.Line(line)] = name
		}
		all = append(all, names)
	}
	return all
}

// remap says what becomes of every owner of the places.
func remap(places []Place, from, to release.Line) Remap {
	var users, groups [][]Owner
	for _, p := range places {
		users, groups = append(users, p.Users), append(groups, p.Groups)
	}
	return Remap{accountsFor(users, accountNames, from, to), accountsFor(groups, slices.Concat(groupNames, accountNames), from, to)}
}

func accountsFor(lists [][]Owner, names []map[release.Line]string, from, to release.Line) []Account {
	all := []Account{}
	for _, o := range slices.Concat(lists...) {
		if !slices.ContainsFunc(all, func(a Account) bool { return a.ID == o.ID }) {
			all = append(all, counterpart(o, names, from, to))
		}
	}
	slices.SortFunc(all, func(a, b Account) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func counterpart(o Owner, names []map[release.Line]string, from, to release.Line) Account {
	if o.Name == "" {
		return Account{o.ID, "", "", "The source has no account of this number: it stays."}
	}
	for _, row := range names {
		if from != to && row[from] == o.Name && row[to] != "" && row[to] != o.Name {
			return Account{o.ID, o.Name, row[to], "The target calls it " + row[to] + "."}
		}
	}
	return Account{o.ID, o.Name, o.Name, "The account of that name, whatever its number."}
}
