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

const torn = "files that are written while they are copied do not fit together"

// ways of the kinds.
var ways = map[Kind]way{
	Web:        {method: Rsync, why: "Files of a site."},
	Home:       {method: Rsync, why: "Files of a person."},
	Served:     {method: Rsync, why: "Files that are served to others."},
	Software:   {method: Rsync, why: "Installed by hand; what a package of the target brings is better taken from there."},
	Backups:    {method: Rsync, why: "Backups that were made here."},
	Keys:       {method: Rsync, why: "Keys and certificates: services do not start without them."},
	Disk:       {method: Rsync, why: "A file system of its own."},
	Other:      {method: Rsync, why: "No package made it."},
	Repository: {method: Rsync, why: "Repositories.", unsafe: "a push while it is copied leaves objects without their references"},
	Mail:       {method: Rsync, why: "Mailboxes.", unsafe: "mail that arrives after the copy is lost, and indexes do not fit"},
	Queue:      {method: Rsync, why: "What waits to be delivered.", unsafe: "messages may be delivered twice, or never"},
	Service:    {method: Rsync, why: "State of a service.", unsafe: torn},
	Machines:   {method: Rsync, why: "Disks of virtual machines.", unsafe: "a disk that is written while it is copied is damaged"},
	Containers: {method: Leave, why: "Images and layers are pulled or built again on the target; the volumes move by themselves."},
	Logs:       {method: Leave, why: "Logs stay with the old machine; keep them where a policy asks for it."},
	Remote:     {method: LeaveMounted, why: "The data are on another machine: the target mounts them too, once the source has let go."},
}

// volumes of containers move, unlike the rest of an engine's folder.
var volumes = way{method: Rsync, why: "Volumes of containers.", unsafe: "containers write to them"}

// images of containers that are systems of their own have no other copy.
var wholeSystems = []string{"lxc", "lxd", "incus", "systemd-nspawn"}

const late = "what is written after the dump is lost"

// methods are how a way of a database's data is carried out.
var methods = map[database.Way]Method{database.Dump: DumpAndLoad, database.Copy: Rsync}

// engineWays are what is to be said of the recommended ways of engines.
var engineWays = map[string]way{
	"postgresql": {"", "A dump fits any newer version, and text is sorted by the target's own rules.", late, "a subscriber by logical replication"},
	"mysql":      {"", "A dump fits any newer version.", late, "a replica by the binary log, from a dump on"},
	"mariadb":    {"", "A dump fits any newer version.", late, "a replica by the binary log, from a dump on"},
	"mongodb":    {"", "A dump does not depend on the form of the data files.", late, "a member of the source's replica set, where that is one, of the same version and by MongoDB's own guide: there is no script for it"},
	"slapd":      {"", "LDIF does not depend on the form of the database, and is loaded so fast that a consumer by syncrepl, for which the source's configuration had to change, is not worth it.", late, ""},
	"redis":      {"", "Its dump and log are files. Valkey reads those of Redis up to 7.2; where it takes the place of a later Redis, keys are copied one by one (svc db plan).", torn + "; a dump of before is all that there is without a save", "a replica of the server"},
	"rabbitmq":   {Export, "Its files fit no later series, and carry the source's node name. While the source runs, have its consumers empty the queues, then: rabbitmqctl export_definitions FILE on the source, rabbitmqctl import_definitions FILE on the target (RabbitMQ's guide to blue-green upgrades).", "", ""},
	"valkey":     {"", "Its dump and log are files.", torn + "; a dump of before is all that there is without a save", "a replica of the server"},
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

// otherEngine is an engine whose own tools are not known here.
var otherEngine = way{method: Rsync, why: "The engine's files. They fit the same version on the target alone: compare the two before the copy. Its own export and import are safer where it has them.", unsafe: torn}

func wayOf(p Place) way {
	switch {
	case p.Kind == Database:
		if w, ok := engineWays[p.What]; ok {
			w.method = cmp.Or(methods[database.Recommended(p.What)], w.method)
			return w
		}
		return otherEngine
	case p.Kind == Containers && (slices.Contains(wholeSystems, p.What) || isVolumes(p)):
		return volumes
	}
	return ways[p.Kind]
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
