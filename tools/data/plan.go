package data

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"svc/assess"
	"svc/assess/ledger"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/visible"
	"svc/tools/convert"
)

// PlanSchema names the form of a data plan.
const PlanSchema = "svc.data-plan/v1"

// Method is how the data of a place move.
type Method string

// The methods.
const (
	Rsync        Method = "rsync"         // its files are copied
	DumpAndLoad  Method = "dump-and-load" // by the engine's own tools
	Replication  Method = "replication"   // the target follows the source until it takes over
	FromSnapshot Method = "snapshot"      // copied from a snapshot of the file system
	Export       Method = "export"        // a person moves them by the engine's own tools: its files fit no other version
	LeaveMounted Method = "leave-mounted" // the data are elsewhere: the target mounts them too
	Leave        Method = "leave"         // stays behind, for the reason given
)

// PlanInput is all that a plan depends on.
type PlanInput struct {
	Discovery     *Discovery
	Target        release.Release
	SourceOffline bool  // somebody asserts that nothing writes to the source
	Rate          int64 // bytes a second that the way between the machines takes
}

// Plan is plan.json of a data plan. No list is ever null.
type Plan struct {
	Schema        string           `json:"schema"`
	Source        string           `json:"source"`
	Target        string           `json:"target"`
	Fingerprint   string           `json:"fingerprint"`
	SourceOffline bool             `json:"source_offline"`
	Rate          int64            `json:"rate_bytes_per_second"`
	Assumptions   []string         `json:"assumptions"`
	Items         []Item           `json:"items"`     // in the order of the move
	Snapshots     []Volume         `json:"snapshots"` // that the source can take, as an alternative
	Sum           PlanSum          `json:"sum"`
	Accounts      Remap            `json:"accounts"`
	Quiesce       []string         `json:"quiesce"` // what to stop on the source, before its data are counted
	Inhibitors    []assess.Finding `json:"inhibitors"`
	Notes         []Note           `json:"notes"` // what discovery did not look at
}

// PlanSum is all items that move, together.
type PlanSum struct {
	Items           int   `json:"items"`
	Files           int64 `json:"files"`
	Bytes           int64 `json:"bytes"`
	CopySeconds     int64 `json:"copy_seconds"`
	DowntimeSeconds int64 `json:"downtime_seconds"`
	SpaceBytes      int64 `json:"space_bytes"` // that the target needs
}

// Item is what happens to one place.
type Item struct {
	Order           int           `json:"order"` // 0 where nothing moves
	Path            string        `json:"path"`
	RawPath         []byte        `json:"raw_path,omitempty"`  // where the path is not UTF-8
	Target          string        `json:"target,omitempty"`    // where the target has it, where that is elsewhere
	Names           []string      `json:"names,omitempty"`     // these files of the folder alone; none: all in it
	RawNames        [][]byte      `json:"raw_names,omitempty"` // all of them, where one is not UTF-8
	Kind            Kind          `json:"kind"`
	What            string        `json:"what"`
	Name            string        `json:"name,omitempty"` // of the database
	Version         string        `json:"version,omitempty"`
	Method          Method        `json:"method"`
	Why             string        `json:"why"`
	Script          string        `json:"script,omitempty"`       // of this place alone, below the folder of the plan
	Excludes        []string      `json:"excludes"`               // names below the place that move for themselves, or not at all
	RawExcludes     [][]byte      `json:"raw_excludes,omitempty"` // all of them, where one is not UTF-8
	Files           int64         `json:"files"`
	Bytes           int64         `json:"bytes"`
	CopySeconds     int64         `json:"copy_seconds"`
	DowntimeSeconds int64         `json:"downtime_seconds"`
	SpaceBytes      int64         `json:"space_bytes"`
	Unsafe          string        `json:"unsafe,omitempty"`  // why it can't move while the source writes to it
	Readers         []string      `json:"readers,omitempty"` // programs of which the target must have one; none: any newer server of the engine
	Warnings        []string      `json:"warnings"`
	Alternatives    []Alternative `json:"alternatives"`
	RollBack        string        `json:"roll_back"`

	configuration convert.Dump // that comes with its dump
}

// Alternative is another way to move a place.
type Alternative struct {
	Method          Method `json:"method"`
	Why             string `json:"why"`
	Script          string `json:"script,omitempty"` // below the folder of the plan
	DowntimeSeconds int64  `json:"downtime_seconds"`
}

// Volume is what a snapshot is taken of.
type Volume struct {
	Kind   string   `json:"kind"` // lvm, btrfs or zfs
	Volume string   `json:"volume"`
	Script string   `json:"script"`
	Places []string `json:"places"` // the scripts of those that are copied from it
}

// Remap is what becomes of the owners of the data. The numbers of the target
// are looked up there by 10-check.sh.
type Remap struct {
	Users  []Account `json:"users"`
	Groups []Account `json:"groups"`
}

// Account is an owner and its counterpart on the target.
type Account struct {
	ID      int    `json:"id"`
	Name    string `json:"name"`
	Account string `json:"account"` // on the target; empty where the number stays
	Why     string `json:"why"`
}

// What a second of copying and looking does, of a plain disk.
const (
	filesCopied   = 2000  // files that are made a second
	filesCompared = 20000 // files that are compared by size and time a second
	loadFactor    = 4     // a load takes this much longer than a copy of the same bytes
	headroom      = 10    // a tenth more space than the data have
	switching     = 30    // seconds that a replica needs to take over, beside the counting
)

// NewPlan makes the plan. It is pure: the same input gives the same plan.
func NewPlan(in PlanInput) *Plan {
	d := in.Discovery
	p := &Plan{
		Schema: PlanSchema, Source: d.Release, Target: in.Target.Slug, Fingerprint: d.Fingerprint, SourceOffline: in.SourceOffline, Rate: in.Rate,
		Assumptions: assumptions(in.Rate), Items: []Item{}, Snapshots: []Volume{}, Quiesce: []string{}, Inhibitors: []assess.Finding{}, Notes: d.Notes,
	}
	places := slices.Clone(d.Places)
	slices.SortStableFunc(places, func(a, b Place) int {
		return cmp.Or(cmp.Compare(order[a.Kind], order[b.Kind]), cmp.Compare(a.Path, b.Path))
	})
	for _, place := range places {
		p.add(in, place)
	}
	p.Accounts = remap(slices.DeleteFunc(places, func(place Place) bool { return wayOf(place).method != Rsync }), line(d.Release), line(in.Target.Slug))
	slices.Sort(p.Quiesce)
	p.Quiesce = slices.Compact(p.Quiesce)
	return p
}

// order is that of the move: what changes least first, what must be quiet last.
var order = map[Kind]int{
	Remote: 0, Keys: 1, Software: 2, Backups: 3, Disk: 4, Other: 4, Home: 5, Served: 6, Repository: 7, Web: 8, Logs: 9,
	Machines: 10, Containers: 11, Service: 12, Mail: 13, Queue: 14, Database: 15,
}

func assumptions(rate int64) []string {
	return []string{
		fmt.Sprintf("The way between the machines takes %s a second; a file more costs 1/%d of a second to copy, 1/%d to compare.", Size(rate), filesCopied, filesCompared),
		"What is copied by rsync is copied once while the source runs; its downtime is a second pass and the reading of all contents, before and after.",
		fmt.Sprintf("A dump is read at that rate, and loaded at a quarter of it (%d times as long).", loadFactor),
		"The space has a tenth to spare. What stood on the target before is kept beside it.",
	}
}

// add plans one place.
func (p *Plan) add(in PlanInput, place Place) {
	item := Item{
		Path: place.Path, RawPath: place.RawPath, Names: place.Names, RawNames: raw(place.Names), Kind: place.Kind, What: place.What, Name: place.Name, Version: place.Version, Files: place.Files + place.Folders + place.Links + place.Others, Bytes: place.Bytes,
		Excludes: []string{}, Warnings: warnings(place), Alternatives: []Alternative{},
	}
	item.Target, item.configuration = in.home(place), convert.Dumped(in.move(), place.What)
	way := wayOf(place)
	item.Method, item.Why, item.Unsafe = way.method, way.why, way.unsafe
	item.Readers = readers(place)
	item.estimate(in.Rate, place)
	if item.Moves() {
		item.alternatives(way, place)
		item.excludes(in.Discovery.Places, place)
		p.Sum.Items++
		item.Order = p.Sum.Items
		item.Script = item.scriptName()
		item.replicates(in.Rate)
		p.snapshot(&item, place.Snapshot)
		p.Sum.Files += item.Files
		p.Sum.Bytes += item.Bytes
		p.Sum.CopySeconds += item.CopySeconds
		p.Sum.DowntimeSeconds += item.DowntimeSeconds
		p.Sum.SpaceBytes += item.SpaceBytes
		p.quiet(place)
	}
	if item.Unsafe != "" && item.Moves() && !in.SourceOffline {
		p.Inhibitors = append(p.Inhibitors, running(item))
	}
	if !item.Moves() {
		item.Warnings = []string{}
	}
	if place.Unread > 0 && item.Moves() {
		p.Inhibitors = append(p.Inhibitors, unread(place))
	}
	p.Items = append(p.Items, item)
}

// home is where the target has a place of the source, as the converters say in the
// configuration of its program, or as its program looks for it by itself; none where that is
// here, or where another place goes.
func (in PlanInput) home(place Place) string {
	to := convert.OfData(in.move(), place.What, place.Path)
	if to == place.Path || slices.ContainsFunc(in.Discovery.Places, func(p Place) bool { return p.Path == to }) {
		return ""
	}
	return to
}

// move is the way between the releases, as converters know it.
func (in PlanInput) move() convert.Input {
	source, _ := release.Lookup(in.Discovery.Release)
	return convert.Input{Source: source, Target: in.Target}
}

// Moves reports whether data are carried to the target.
func (i *Item) Moves() bool { return i.Method == Rsync || i.Method == DumpAndLoad }

// scriptName is where the item's own file stands below the plan's folder.
func (i *Item) scriptName() string {
	dir := "places"
	if i.Method == DumpAndLoad {
		dir = "databases"
	}
	return path.Join(dir, fmt.Sprintf("%04d-%s.sh", i.Order, slug(string(i.Kind)+"-"+path.Base(i.Path))))
}

// replicates gives the item's replication its script.
func (i *Item) replicates(rate int64) {
	for n := range i.Alternatives {
		if a := &i.Alternatives[n]; a.Method == Replication && replicating[i.What] != "" {
			a.Script = path.Join("replication", path.Base(i.Script))
			a.DowntimeSeconds = switching + max(i.Bytes, 0)/rate
		}
	}
}

// snapshot adds the item to those that are copied from a snapshot of its volume.
func (p *Plan) snapshot(i *Item, s Snapshot) {
	a := slices.IndexFunc(i.Alternatives, func(a Alternative) bool { return a.Method == FromSnapshot })
	if a < 0 {
		return
	}
	v := slices.IndexFunc(p.Snapshots, func(v Volume) bool { return v.Kind == s.Kind && v.Volume == s.Volume })
	if v < 0 {
		v = len(p.Snapshots)
		p.Snapshots = append(p.Snapshots, Volume{Kind: s.Kind, Volume: s.Volume, Script: fmt.Sprintf("snapshots/%02d-%s.sh", v+1, slug(path.Base(s.Volume)))})
	}
	p.Snapshots[v].Places = append(p.Snapshots[v].Places, i.Script)
	i.Alternatives[a].Script = p.Snapshots[v].Script
}

// slug is a name of letters, digits and dashes.
func slug(s string) string {
	const most = 40
	b := []byte(s[:min(len(s), most)])
	for i, c := range b {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') {
			b[i] = '-'
		}
	}
	return string(b)
}

// excludes are the places in this one: each moves by itself, or stays.
func (i *Item) excludes(places []Place, place Place) {
	if i.Method != Rsync {
		return
	}
	for _, o := range places {
		if o.Within == place.Path {
			i.Excludes = append(i.Excludes, o.Path[len(place.Path)+1:])
		}
	}
	i.Excludes = append(i.Excludes, sliced.Map(place.Mounts, func(m string) string { return m[len(place.Path)+1:] })...)
	// The target makes it anew too, so that it is no part of what has to be equal.
	i.Excludes = append(i.Excludes, ledger.Anew(place.Path)...)
	slices.Sort(i.Excludes)
	i.Excludes = slices.Compact(i.Excludes)
	i.RawExcludes = raw(i.Excludes)
}

// raw are the bytes of names, where one is not UTF-8.
func raw(names []string) [][]byte {
	if !slices.ContainsFunc(names, func(name string) bool { return !utf8.ValidString(name) }) {
		return nil
	}
	return sliced.Map(names, func(name string) []byte { return []byte(name) })
}

func (i *Item) estimate(rate int64, place Place) {
	bytes := max(place.Bytes, 0)
	switch i.Method {
	case Rsync:
		i.CopySeconds = bytes/rate + i.Files/filesCopied
		i.DowntimeSeconds = i.Files/filesCompared + 2*(bytes/rate)
	case DumpAndLoad:
		i.CopySeconds = (1 + loadFactor) * (bytes / rate)
		i.DowntimeSeconds = i.CopySeconds
	default:
		return
	}
	onDisk := bytes
	if place.Known.Inodes {
		onDisk = place.Allocated
	}
	i.SpaceBytes = onDisk + onDisk/headroom
	i.RollBack = "90-roll-back.sh puts back what stood there before; the source is not touched."
	if i.Method == DumpAndLoad {
		i.SpaceBytes += bytes // the dump
		i.RollBack = "Drop the databases that were loaded; the source is not touched, and serves again when it is started."
	}
}

// quiet notes what to stop before a place is counted. An engine that dumps runs on
// for that.
func (p *Plan) quiet(place Place) {
	w := wayOf(place)
	if w.method == DumpAndLoad {
		return
	}
	if w.unsafe != "" {
		p.Quiesce = append(p.Quiesce, place.Services...)
		if place.Services == nil {
			p.Quiesce = append(p.Quiesce, cmp.Or(place.What, place.Path))
		}
	}
	p.Quiesce = append(p.Quiesce, place.OpenBy...)
}

// warnings are what a person should know of a place.
func warnings(place Place) []string {
	all := []string{}
	for _, w := range []struct {
		holds bool
		text  string
	}{
		{place.Kind == Software, "Programs that were built for the source may need older libraries than the target has."},
		{readers(place) != nil, "These files are read by " + strings.Join(readers(place), " or ") + " alone: where the target has another server in its place, 10-check.sh refuses, and svc db plan names another way."},
		{place.Path == "/root", "What the target has there is replaced: keep elsewhere these scripts, and the keys by which ssh reaches the source."},
		{place.OddNames > 0, fmt.Sprintf("%d names have control characters or are not UTF-8; they are carried as they are.", place.OddNames)},
		{place.Labels > 0, "Labels of SELinux are not carried: the target sets its own."},
		{place.ACLs > 0, "Rights by ACL follow the accounts that own data; those of others keep their numbers."},
		{place.Setuid > 0, fmt.Sprintf("%d files are setuid or setgid, and stay so.", place.Setuid)},
		{place.Privileged > 0, fmt.Sprintf("%d files have capabilities, and keep them.", place.Privileged)},
		{place.Files > 0 && !place.Known.Shared, "There are more hard links than were remembered: the size is what it is at most."},
		{len(place.Mounts) > 0, "Other file systems are mounted in it; they are left out."},
		{place.OpenFiles > 0, fmt.Sprintf("%d files of it were open.", place.OpenFiles)},
	} {
		if w.holds {
			all = append(all, w.text)
		}
	}
	return all
}

func running(item Item) assess.Finding {
	return assess.Finding{
		Key: "data.source-running", Severity: assess.High, Inhibitor: true, Title: "Data can't be copied while the source runs", Summary: visible.Name(item.Path) + ": " + item.Unsafe,
		Remediations: []assess.Remediation{{Type: "hint", Text: "Stop what writes to it, and plan again with source_offline." + item.whileRunning()}},
		Related:      []assess.Resource{{Scheme: "file", Name: item.Path}}, Evidence: []assess.Evidence{{Path: item.Path}},
	}
}

// whileRunning names the scripts that need no quiet source.
func (i *Item) whileRunning() string {
	all := ""
	for _, a := range i.Alternatives {
		if a.Script != "" {
			all += fmt.Sprintf(" While it runs: %s, by %s.", a.Method, a.Script)
		}
	}
	return all
}

func unread(place Place) assess.Finding {
	f := assess.Finding{
		Key: "data.unread", Severity: assess.High, Inhibitor: true, Title: "Data could not be read", Summary: fmt.Sprintf("%s: %d files or folders could not be read, so the plan does not know them.", visible.Name(place.Path), place.Unread),
		Remediations: []assess.Remediation{{Type: "hint", Text: "Read the machine as root, or with its disks mounted, and plan again."}},
		Related:      []assess.Resource{{Scheme: "file", Name: place.Path}}, Evidence: []assess.Evidence{},
	}
	f.Evidence = append(f.Evidence, sliced.Map(place.UnreadPaths, func(n Note) assess.Evidence { return assess.Evidence{Path: n.What} })...)
	return f
}
