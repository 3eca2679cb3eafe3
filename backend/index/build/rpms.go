package build

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/backend/api"
	"svc/backend/index/catalog"
	"svc/backend/index/pes"
	"svc/backend/index/record"
	"svc/backend/index/repomd"
	"svc/backend/index/rpm"
	"svc/backend/index/table"
	"svc/backend/release"
)

// foreign makes the tables of the rpm distributions from the curated rows, the
// names that EL is known to have, and the packages of Debian.
type foreign struct {
	derivatives map[string]rpm.Guess // rows of what derivatives of Debian have
	own         map[string]derivativePackage
	vendors     map[string]string // vendor → what to know of its repository
	ownNames    map[string]string // the table of el_names.tsv
	lines       map[string]string // name → the only line that has it, el or suse
	rows        map[string]rpm.Guess
	patterns    *record.Globs
	trails      map[string]map[string]record.Trail // level, such as el-7 → name → what it becomes in the next
	levels      map[string]string                  // name → levels of EL
	before      map[string][]int                   // name → levels of EL until which it was something else
	suse        map[string]string                  // name → levels of SUSE
	lists       map[string]string                  // name → words of rpm_lists.tsv
	listed      map[string]bool                    // names that imported lists have
	suites      []*catalog.Release
	canonical   map[string]string // canonical → package, of the newest suite that has it
	provided    map[string]string
	libraries   map[string]string
}

func newForeign(r *reader, releases []*catalog.Release) *foreign {
	f := &foreign{
		derivatives: map[string]rpm.Guess{}, vendors: map[string]string{}, ownNames: map[string]string{},
		rows: map[string]rpm.Guess{}, levels: map[string]string{}, before: map[string][]int{}, suse: map[string]string{}, lines: map[string]string{}, listed: map[string]bool{}, suites: slices.Clone(releases),
		canonical: map[string]string{}, provided: map[string]string{}, libraries: map[string]string{}, lists: map[string]string{},
		trails: map[string]map[string]record.Trail{},
	}
	slices.Reverse(f.suites)
	f.collect()
	f.read(r)
	return f
}

// collect indexes the suites, newer ones first: libraries by their stems, and
// those that are alone in having their name, whatever versions are in it, by
// that without.
func (f *foreign) collect() {
	for _, r := range f.suites {
		for virtual, name := range singleProviders(r) {
			setNew(f.provided, virtual, name)
		}
		stems, versionless := map[string]string{}, map[string]string{}
		for _, name := range r.Names {
			p := r.Packages[name]
			setNew(f.canonical, p.Canonical, name)
			if record.Role(p.Canonical) != api.RoleLib {
				continue
			}
			stem, bare := rpm.Stem(name), rpm.Versionless(name)
			if old, ok := stems[stem]; !ok || len(p.Canonical) < len(old) {
				stems[stem] = p.Canonical
			}
			if old, ok := versionless[bare]; ok && old != p.Canonical {
				versionless[bare] = "" // which of them it is, nobody knows
			} else {
				versionless[bare] = p.Canonical
			}
		}
		maps.DeleteFunc(versionless, func(_, canonical string) bool { return canonical == "" })
		for stem, canonical := range stems {
			setNew(f.libraries, stem, canonical)
		}
		for bare, canonical := range versionless {
			setNew(f.libraries, bare, canonical)
		}
	}
}

// read reads the curated rows and the facts.
func (f *foreign) read(r *reader) {
	for _, c := range r.singles("rpm_debian.tsv", 4) {
		g := rpm.Guess{Relation: api.Relation(c[1]), Confidence: record.RowConfidence, Targets: strings.Fields(c[2]), Method: rpm.Curated}
		f.add(r, "rpm_debian.tsv", c[0], g)
		if line := lineOf(c[3]); line != "" {
			f.lines[c[0]] = line
		}
		name, until := record.PartKey(c[0])
		switch {
		case strings.HasPrefix(c[0], record.SuseKey):
			f.lines[c[0]], f.lines[name] = "suse", "el"
		case until > 0:
			f.lines[c[0]], f.before[name] = "el", append(f.before[name], until)
		}
	}
	f.readOthers(r)
	for _, c := range r.rows("el_packages.tsv", 2) {
		for l := range strings.FieldsSeq(c[1]) {
			f.has(c[0], l)
		}
	}
	f.readPatterns()
	for _, c := range r.rows("rpm_lists.tsv", 2) { // where a layer has a name again, its words are added
		f.lists[c[0]] = strings.TrimSpace(f.lists[c[0]] + " " + c[1])
	}
	f.readSUSE(r)
	f.readOwnNames(r)
	f.readTrails(r)
	f.addFormer("suse-15", "suse-16")
}

// addFormer adds to the lists what packages of one were called at the level before, where a
// row renames all of their kind: python313-attrs of SLES 16 is python3-attrs in 15.
func (f *foreign) addFormer(before, list string) {
	done := map[string]bool{}
	for _, pattern := range slices.Sorted(maps.Keys(f.trails[before])) {
		t := f.trails[before][pattern]
		if t.Relation != api.RelationRenamed || len(t.Targets) != 1 || !strings.Contains(pattern, "*") || done[t.Targets[0]] {
			continue
		}
		done[t.Targets[0]] = true // python311- is for a few
		start, end, _ := strings.Cut(t.Targets[0], "*")
		for _, name := range slices.Sorted(maps.Keys(f.lists)) {
			rest, ok := strings.CutPrefix(name, start)
			stood, whole := strings.CutSuffix(rest, end)
			if ok && whole && record.HasWord(f.lists[name], list) {
				former := strings.Replace(pattern, "*", stood, 1)
				f.lists[former] = strings.TrimSpace(f.lists[former] + " " + list + formerName)
			}
		}
	}
}

// formerName is behind the word of a list whose package has another name there than before.
const formerName = "-former"

// onlyListed are the names of the lists of which nothing else is known, and which the rules surely
// read as a package of Debian whose name they would not make them of: openal-soft-devel is libopenal-dev.
func (f *foreign) onlyListed(known map[string]string) (all []*named) {
	for _, name := range slices.Sorted(maps.Keys(f.lists)) {
		if _, ok := known[name]; ok {
			continue
		}
		g, ok := rpm.Of(name, f)
		if !ok || !rpm.One(g) || g.Confidence < surelyRead || strings.Contains(name, "+") || rpm.OfVersion(name) {
			continue
		}
		if deb := rpm.FirstThere(f, g.Targets[0]); isSpelling(name, rpm.Name(deb)) || !sameNumbers(name, deb) {
			continue
		}
		all = append(all, &named{name: name, line: onlyLine(f.lists[name]), guess: g, sure: true})
	}
	return all
}

// surelyRead is the least that the rules have to claim of a name for which lists alone speak.
const surelyRead = 0.93

// isSpelling reports whether a name is one of those by which another is looked for.
func isSpelling(name, other string) bool {
	if rpm.Squeeze(name) == rpm.Squeeze(other) {
		return true
	}
	for spelling := range rpm.Spellings(other, strings.ToLower(other)) {
		if spelling == name {
			return true
		}
	}
	return false
}

// sameNumbers reports whether a name has the version that is in one of Debian, or none:
// readline6-devel is not what libreadline-dev is.
func sameNumbers(name, deb string) bool {
	own, there := numbers(name), numbers(deb)
	return own == "" || there != "" && (strings.HasPrefix(own, there) || strings.HasPrefix(there, own))
}

// numbers are the digits of a name.
func numbers(name string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, name)
}

// onlyLine is the line of which all lists are that have a name; empty where both have it.
func onlyLine(lists string) string {
	suse := strings.Count(lists, "suse-")
	switch suse {
	case 0:
		return "el"
	case len(strings.Fields(lists)):
		return "suse"
	}
	return ""
}

// spellings are the names of the lists that canonicals spell otherwise, where nothing
// else is known of them.
func (f *foreign) spellings(known map[string]string) map[string]string {
	found := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(f.lists)) {
		if _, ok := known[name]; !ok && rpm.Slug(name) != name {
			setNew(found, rpm.Slug(name), name)
		}
	}
	return found
}

// readSUSE reads suse_packages.tsv. A name that EL is not known to have is SUSE's alone.
func (f *foreign) readSUSE(r *reader) {
	for _, c := range r.rows("suse_packages.tsv", 2) {
		name := c[0]
		if _, other := f.rows[record.SuseKey+name]; other || f.partVendor(name) {
			name = record.SuseKey + name
		}
		f.suse[name] = c[1]
		if _, row := f.rows[name]; !row && f.levels[name] == "" {
			f.lines[name] = "suse"
		}
	}
}

// partVendor gives EL a row of its own for a name that is a vendor's there, and SUSE's
// own by a pattern: postgresql16 is of the PostgreSQL project on EL.
func (f *foreign) partVendor(name string) bool {
	vendors, vendor := f.Pattern(name)
	own, suse := f.Pattern(record.SuseKey + name)
	if !vendor || !suse || !rpm.IsVendor(vendors.Method) || rpm.IsVendor(own.Method) {
		return false
	}
	f.rows[name], f.lines[name] = vendors, "el"
	f.ownNames[record.OwnKey("suse", name)] = string(api.RelationSame) + "\t" + name
	return true
}

// readOwnNames reads el_names.tsv.
func (f *foreign) readOwnNames(r *reader) {
	for _, c := range r.rows("el_names.tsv", 5) {
		relation := api.Relation(c[2])
		if !leadsRightly(relation, c[3] != "") {
			r.refuse(fmt.Errorf("el_names.tsv: the row of %q is %s %q", c[0], c[2], c[3]))
		}
		f.ownNames[record.OwnKey(c[1], c[0])] = c[2] + "\t" + c[3]
		for own := range strings.FieldsSeq(c[3]) {
			if f.isBack(relation, c[1], own) {
				f.back(record.GeneralKey(c[1], own), c[0])
			}
		}
	}
}

// leadsRightly reports whether a row leads somewhere, unless it says that a package was removed.
func leadsRightly(relation api.Relation, somewhere bool) bool {
	return record.IsRelation(string(relation)) && (relation == api.RelationRemoved) != somewhere
}

// isBack reports whether an own name of a distribution leads back to EL's: what
// EL has too is itself.
func (f *foreign) isBack(relation api.Relation, distribution, own string) bool {
	switch {
	case distribution == "suse":
		_, other := f.rows[record.SuseKey+own]
		return (relation == api.RelationRenamed || relation == api.RelationReplaced) && (f.levels[own] == "" || other)
	case relation != api.RelationReplaced:
		return false
	}
	return ofEL(distribution) || !strings.Contains(f.levels[own], "9")
}

// back leads an own name to that of EL which most of its levels have.
func (f *foreign) back(own, name string) {
	old, ok := f.ownNames[own]
	if !ok || len(f.levels[name]) > len(f.levels[old]) {
		f.ownNames[own] = name
	}
}

// has notes that a level of EL has an rpm.
func (f *foreign) has(name, level string) {
	if !slices.Contains(strings.Fields(f.levels[name]), level) {
		f.levels[name] = strings.TrimSpace(f.levels[name] + " " + level)
	}
}

// addList takes the names of a release whose own list is known.
func (f *foreign) addList(l rpmNamesOf) {
	r, _ := release.Lookup(l.slug)
	line, n, _ := record.Level(r)
	for _, name := range l.names {
		_, row := f.rows[name]
		_, known := f.levels[name]
		f.listed[name] = true
		switch {
		case r.Family == release.EL:
			f.has(name, strconv.Itoa(n))
		case !row && !known && line == "suse":
			f.lines[name] = line
		}
	}
}

// levelsOf are the levels of EL that have the package of a key.
func (f *foreign) levelsOf(key string) string {
	name, until := record.PartKey(key)
	if until == 0 {
		return f.levels[key]
	}
	return strings.Join(slices.DeleteFunc(strings.Fields(f.levels[name]), func(level string) bool {
		n, err := strconv.Atoi(level)
		return err == nil && n > until
	}), " ")
}

// beforeOf are the levels of EL until which a name was that of something else,
// in order.
func (f *foreign) beforeOf(name string) string {
	return strings.Trim(fmt.Sprint(slices.Sorted(slices.Values(f.before[name]))), "[]")
}

// readPatterns makes the patterns of the rows with asterisks.
func (f *foreign) readPatterns() {
	f.patterns = &record.Globs{}
	for name, g := range f.rows {
		f.patterns.Add(name, record.EncodeTrail(g))
	}
}

// readOthers reads the rows of other vendors, of Ubuntu, and of its names.
func (f *foreign) readOthers(r *reader) {
	for _, c := range r.rows("vendors.tsv", 2) {
		f.vendors[c[0]] = c[1]
	}
	for _, c := range r.singles("third_party.tsv", 4) {
		if f.vendors[c[1]] == "" {
			r.refuse(fmt.Errorf("third_party.tsv: vendor %q is not in vendors.tsv", c[1]))
		}
		g := rpm.Guess{Relation: api.Relation(c[2]), Confidence: record.PatternConfidence, Targets: strings.Fields(c[3]), Method: rpm.Vendor + c[1]}
		f.add(r, "third_party.tsv", c[0], g)
		f.derivatives[c[0]] = g
	}
	f.own = readDerivativePackages(r, patterns(f.suites))
	for _, c := range r.rows("ubuntu_debian.tsv", 4) {
		f.derivatives[c[0]] = rpm.Guess{Relation: api.Relation(c[1]), Confidence: record.PatternConfidence, Targets: strings.Fields(c[2]), Method: rpm.Curated}
	}
}

// ofEL reports whether a distribution, or a release of it, is one of EL.
func ofEL(name string) bool {
	return slices.ContainsFunc(release.All(), func(r release.Release) bool {
		return r.Family == release.EL && (r.Slug == name || record.Distribution(r.Slug) == name)
	})
}

// readTrails reads el_trails.tsv. What a row tells of has been in its level of EL,
// where no list knows it.
func (f *foreign) readTrails(r *reader) {
	for _, c := range r.rows("el_trails.tsv", 5) {
		t := record.Trail{Relation: api.Relation(c[2]), Confidence: record.RowConfidence, Targets: strings.Fields(c[3]), Method: record.Curated}
		if strings.Contains(c[1], "*") {
			t.Confidence = record.PatternConfidence
		}
		switch c[4] {
		case "PES":
			t.Confidence, t.Method = pes.Confidence, pes.Method
		case "Obsoletes":
			t.Confidence, t.Method = record.ObsoletesConfidence, record.Obsoleted
		}
		if !leadsRightly(t.Relation, len(t.Targets) > 0) {
			r.refuse(fmt.Errorf("el_trails.tsv: the row of %q is %s %v", c[1], c[2], t.Targets))
		}
		if strings.Count(c[1], "*") > 1 {
			r.refuse(fmt.Errorf("el_trails.tsv: %q has more than one asterisk", c[1]))
		}
		f.trail(c[0], c[1], t)
		if n, ok := strings.CutPrefix(c[0], "el-"); ok && f.levels[c[1]] == "" && !strings.Contains(c[1], "*") {
			f.has(c[1], n)
		}
	}
}

// trail sets what becomes of an rpm after a level.
func (f *foreign) trail(level, name string, t record.Trail) {
	if f.trails[level] == nil {
		f.trails[level] = map[string]record.Trail{}
	}
	f.trails[level][name] = t
}

// addEvents takes the events of PES files, which come before the rows. They may
// be a vendor's, of packages that nobody else knows.
func (f *foreign) addEvents(events []pes.Event) {
	steps := pes.Trails(events)
	for _, level := range slices.Sorted(maps.Keys(steps)) {
		for name, t := range steps[level] {
			f.trail("el-"+strconv.Itoa(level), name, t)
			f.hasByEvent(name, level)
			for _, target := range t.Targets {
				f.hasByEvent(target, level+1)
			}
		}
	}
}

// hasByEvent says that a level of EL has a package, unless it is of EPEL.
func (f *foreign) hasByEvent(name string, level int) {
	if !strings.Contains(f.levels[name], record.VendorEPEL) {
		f.has(name, strconv.Itoa(level))
	}
}

// lineOf is the line of distributions that a row's provenance begins with.
func lineOf(provenance string) string {
	first, _, _ := strings.Cut(provenance, ":")
	first, _, _ = strings.Cut(first, " ")
	switch first {
	case "SUSE":
		return "suse"
	case "EL", "EPEL", "Fedora", "Amazon", "Oracle", "Oracle's", "Remi", "ELRepo":
		return "el"
	}
	return ""
}

// add takes a row of a name or a pattern.
func (f *foreign) add(r *reader, file, name string, g rpm.Guess) {
	if !leadsRightly(g.Relation, len(g.Targets) > 0) {
		r.refuse(fmt.Errorf("%s: the row of %q is %s %v", file, name, g.Relation, g.Targets))
	}
	if strings.Contains(name, "*") {
		g.Confidence = min(g.Confidence, record.PatternConfidence)
	}
	f.rows[name] = g
}

// Package, Canonical, Provided, Library, Row and Pattern answer the rules of package rpm.
func (f *foreign) Package(name string) (string, bool) {
	for _, r := range f.suites {
		if p := r.Packages[name]; p != nil {
			return p.Canonical, true
		}
	}
	p, ok := f.own[name]
	return p.canonical, ok
}

func (f *foreign) Canonical(canonical string) (string, bool) {
	name, ok := f.canonical[canonical]
	return name, ok
}

func (f *foreign) Provided(virtual string) (string, bool) {
	name, ok := f.provided[virtual]
	return name, ok
}

func (f *foreign) Library(stem string) (string, bool) {
	canonical, ok := f.libraries[stem]
	return canonical, ok
}

func (f *foreign) Row(name string) (rpm.Guess, bool) {
	g, ok := f.rows[name]
	return g, ok && !strings.Contains(name, "*")
}

func (f *foreign) Pattern(name string) (rpm.Guess, bool) {
	value, ok := f.patterns.Match(name)
	if !ok {
		return rpm.Guess{}, false
	}
	return record.DecodeTrail(value), true
}

// named is an rpm with what was found of it.
type named struct {
	name, canonical, major string
	line                   string // el or suse where only that line has it
	guess                  rpm.Guess
	sure                   bool // that there is a guess
}

// names finds what every known rpm is and gives it its canonical.
func (f *foreign) names() []*named {
	var all []*named
	known := maps.Clone(f.levels)
	for name := range f.listed {
		setNew(known, name, "")
	}
	for name := range f.suse {
		setNew(known, name, "")
	}
	for name := range f.rows {
		if !strings.Contains(name, "*") {
			setNew(known, name, "")
		}
	}
	for name := range f.before {
		setNew(known, name, "") // leads to the keys of its levels
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		n := &named{name: name}
		n.guess, n.sure = rpm.Of(name, f)
		n.line = f.lines[name]
		if n.guess.Method == rpm.Library {
			n.line = cmp.Or(n.line, "el") // SUSE puts the soname into the name
		}
		all = append(all, n)
	}
	byRank := slices.Clone(all)
	slices.SortStableFunc(byRank, func(a, b *named) int {
		return cmp.Or(cmp.Compare(f.rank(a), f.rank(b)), cmp.Compare(a.name, b.name))
	})
	taken := claimed{}
	for _, n := range byRank {
		f.claim(n, taken)
	}
	return all
}

// rank orders the rpms by their claim on the canonical of a package of Debian:
// the same name first, then what most releases have.
func (f *foreign) rank(n *named) int {
	levels := len(strings.Fields(f.levelsOf(n.name)))
	switch {
	case !rpm.One(n.guess):
		return 100 - record.BoolOrder(f.shared(n, rpm.Canonical(n.name)) != "")
	case n.guess.Relation == api.RelationSame:
		return 0
	case n.guess.Method == rpm.SameName:
		return 10
	case n.guess.Method == rpm.Curated:
		return 20 - levels
	}
	return 40 - levels
}

// claim gives the canonical: that of the package of Debian which the rpm is,
// unless another rpm is nearer to it.
func (f *foreign) claim(n *named, taken claimed) {
	if n.sure && rpm.One(n.guess) {
		target := rpm.FirstThere(f, n.guess.Targets[0])
		canonical, ok := f.Package(target)
		if ok && f.take(taken, canonical, n) {
			n.canonical, n.major = canonical, f.majorOf(target, canonical)
			return
		}
	}
	name, _ := record.PartKey(n.name)
	slug, usual := rpm.Slug(name), rpm.Canonical(name)
	for _, canonical := range []string{slug, usual, f.library(n)} {
		if deb := f.shared(n, canonical); deb != "" && f.take(taken, canonical, n) {
			n.canonical, n.major = canonical, f.majorOf(deb, canonical)
			return
		}
	}
	n.canonical = usual
	for f.canonical[n.canonical] != "" || !taken.take(n.canonical, n.line) {
		n.canonical += record.Apart
	}
}

// take takes a canonical for an rpm: for both lines, or for EL alone where SUSE
// has a name of its own for it.
func (f *foreign) take(taken claimed, canonical string, n *named) bool {
	return taken.take(canonical, n.line) || n.line == "" && f.levels[n.name] != "" && taken.take(canonical, "el")
}

// shared is the package of Debian with a canonical, where an rpm that is not
// only that is of the same software and role: the row names it, it has the same
// name, or both are the libraries of the software.
func (f *foreign) shared(n *named, canonical string) string {
	deb := f.canonical[canonical]
	if deb == "" || !n.sure || n.guess.Relation == api.RelationRemoved {
		return ""
	}
	if r := record.Role(canonical); deb == n.name || r == api.RoleLib || r == api.RoleDev {
		return deb
	}
	for _, target := range n.guess.Targets {
		for name := range strings.SplitSeq(target, "|") {
			if own, _ := f.Package(name); own == canonical {
				return name
			}
		}
	}
	return ""
}

// library is the canonical of the library that an rpm is in Debian, or empty.
func (f *foreign) library(n *named) string {
	if n.guess.Relation != api.RelationIncluded || len(n.guess.Targets) != 1 {
		return ""
	}
	canonical, _ := f.Package(rpm.FirstThere(f, n.guess.Targets[0]))
	if record.Role(canonical) != api.RoleLib {
		return ""
	}
	return canonical
}

// claimed are the canonicals that the lines have given: line and canonical.
type claimed map[[2]string]bool

// take takes a canonical for a line, or for both where line is empty.
func (c claimed) take(canonical, line string) bool {
	lines := []string{"el", "suse"}
	if line != "" {
		lines = []string{line}
	}
	if slices.ContainsFunc(lines, func(l string) bool { return c[[2]string{l, canonical}] }) {
		return false
	}
	for _, l := range lines {
		c[[2]string{l, canonical}] = true
	}
	return true
}

// majorOf is the major version of a package of Debian that is part of its
// canonical.
func (f *foreign) majorOf(name, canonical string) string {
	for _, r := range f.suites {
		if p := r.Packages[name]; p != nil && p.Major != "" && strings.Contains(canonical, p.Major) {
			return p.Major
		}
	}
	return f.own[name].major
}

// put stores the tables.
func (f *foreign) put(w *table.Writer) {
	names, canonicals, all := map[string]string{}, map[string]string{}, f.names()
	shared := sharedCanonicals(all)
	for _, n := range all {
		canonical := n.canonical
		if canonical == n.name {
			canonical = ""
		}
		if canonical != "" || shared[n.canonical] {
			canonicals[n.canonical] = strings.TrimSpace(canonicals[n.canonical] + " " + n.name)
		}
		known := strings.Join([]string{canonical, n.major, f.levelsOf(n.name), n.line, f.beforeOf(n.name), f.suse[n.name]}, "\t")
		if n.sure {
			known += "\t" + record.EncodeTrail(n.guess)
		} else {
			known = strings.TrimRight(known, "\t")
		}
		names[n.name] = known
	}
	patterns := maps.Clone(f.rows)
	maps.DeleteFunc(patterns, func(name string, _ rpm.Guess) bool { return !strings.Contains(name, "*") })
	putTrails(w, record.RPMRows, patterns)
	putTrails(w, record.DerivativeRows, f.derivatives)
	for level, trails := range f.trails {
		putTrails(w, record.RPMTrails+level, trails)
	}
	w.PutAll(record.RPMNames, names)
	w.PutAll(record.RPMCanonicals, canonicals)
	w.PutAll(record.RPMReverse, f.reverse(append(all, f.onlyListed(names)...)))
	w.PutAll(record.RPMLists, f.lists)
	w.PutAll(record.RPMSpellings, f.spellings(names))
	w.PutAll(record.RPMLibraries, f.libraries)
	w.PutAll(record.RPMOwn, f.ownNames)
	w.PutAll(record.VendorsTable, f.vendors)
	putDerivativePackages(w, f.own)
}

// reverse has the rpms of each package of Debian, those that are the package
// before those that have a part of it, and those that Debian has under this name
// before those that it has under another as well.
func (f *foreign) reverse(all []*named) map[string]string {
	ranked := slices.Clone(all)
	slices.SortStableFunc(ranked, func(a, b *named) int { // the shortest name is that of the whole
		return cmp.Or(cmp.Compare(f.rank(a), f.rank(b)), cmp.Compare(len(a.name), len(b.name)))
	})
	found := map[string]*[2][2][]string{}
	for _, n := range ranked {
		if rpm.IsVendor(n.guess.Method) {
			continue // no release has it of its own
		}
		for _, target := range n.guess.Targets {
			first := rpm.FirstThere(f, target)
			for name := range strings.SplitSeq(target, "|") {
				part := 1 - record.BoolOrder(rpm.One(n.guess) && f.alike(first, name))
				if found[name] == nil {
					found[name] = &[2][2][]string{}
				}
				names := &found[name][part][record.BoolOrder(name != first)]
				*names = append(*names, record.OfLine(n.line, n.name))
			}
		}
	}
	values := map[string]string{}
	for name, names := range found {
		values[name] = firstNames(names[0]) + "\t" + firstNames(names[1])
	}
	return values
}

// firstNames are the first of two lists of names, parted by blanks.
func firstNames(lists [2][]string) string {
	names := slices.Concat(lists[0], lists[1])
	return strings.Join(names[:min(len(names), maxReverse)], " ")
}

// alike reports whether a name is another of the same package of Debian, not
// other software in its place.
func (f *foreign) alike(first, name string) bool {
	canonical, _ := f.Package(first)
	own, ok := f.Package(name)
	return !ok || own == canonical
}

// maxReverse bounds how many rpms are looked at for one package of Debian.
const maxReverse = 12

// sharedCanonicals are those that names of both lines have.
func sharedCanonicals(all []*named) map[string]bool {
	seen, shared := map[string]bool{}, map[string]bool{}
	for _, n := range all {
		shared[n.canonical] = seen[n.canonical]
		seen[n.canonical] = true
	}
	return shared
}

// rpmImport is the list of a release.
type rpmImport struct {
	slug     string
	packages repomd.Release
}

// importRPMs reads every repository of a folder, <release>/<name>/repodata.
func importRPMs(ctx context.Context, root fs.FS, log func(string)) ([]rpmImport, error) {
	dirs, err := repomd.Repositories(root)
	if err != nil {
		return nil, err
	}
	var all []rpmImport
	for _, dir := range dirs {
		slug, name, _ := strings.Cut(dir, "/")
		i := slices.IndexFunc(all, func(r rpmImport) bool { return r.slug == slug })
		if i < 0 {
			i, all = len(all), append(all, rpmImport{slug, repomd.Release{}})
		}
		if err := all[i].packages.Add(ctx, root, dir, name, log); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// repositoryName is the folder of a repository without what only says of which
// release and architecture it is.
func repositoryName(dir, above, slug string) string {
	parts := slices.DeleteFunc(strings.Split(dir, "/"), func(s string) bool {
		r, ok := release.Lookup(s)
		return ok && r.Slug == slug || slices.Contains([]string{".", "os", "x86_64", "aarch64", "noarch", "kickstart"}, s)
	})
	return cmp.Or(path.Join(parts...), above)
}

// put stores the tables of the release.
func (r rpmImport) put(w *table.Writer) error {
	if f, ok := release.Lookup(r.slug); !ok || !record.IsRPM(f) {
		return fmt.Errorf("release %q has no rpms", r.slug)
	}
	if len(r.packages) == 0 {
		return fmt.Errorf("release %s has no packages", r.slug)
	}
	shipped, obsoletes := map[string][]string{}, map[string]string{}
	for _, name := range r.packages.Names() {
		p := r.packages[name]
		w.Put(r.slug+record.RPMsTable, name, record.Listed{Version: p.Version, Repository: p.Repository, Source: p.Source, Streams: p.Streams, Hidden: p.Hidden}.Encode())
		shipped[name] = p.Shipped
		for _, o := range p.Obsoletes {
			if o.Name != name && !strings.ContainsAny(o.Name+o.Version, " \t\n|") {
				obsoletes[o.Name] = strings.TrimSpace(obsoletes[o.Name] + " " + strings.Join([]string{name, o.Flags, o.Version}, "|"))
			}
		}
	}
	putFiles(w, r.slug, r.packages.Names(), shipped)
	w.PutAll(r.slug+record.ObsoletesTable, obsoletes)
	w.PutAll(r.slug+record.ProvidesTable, r.providers())
	return nil
}

// providers are the names that one package provides and none has.
func (r rpmImport) providers() map[string]string {
	found := map[string]string{}
	for _, name := range r.packages.Names() {
		for _, virtual := range r.packages[name].Provides {
			if r.packages[virtual] != nil || strings.ContainsAny(virtual, "() \t\n/") {
				continue
			}
			if old, ok := found[virtual]; ok && old != name {
				found[virtual] = "" // several do
				continue
			}
			found[virtual] = name
		}
	}
	maps.DeleteFunc(found, func(_, name string) bool { return name == "" })
	return found
}
