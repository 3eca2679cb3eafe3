package index

import (
	"cmp"
	"strconv"
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/index/table"
	"svc/backend/release"
)

// rpmRelease makes the tables of an rpm release: it shares those of its line, and
// if it is one of SUSE, which names are those of other packages.
func (ix *Index) rpmRelease(r release.Release, others map[string]bool) *releaseTables {
	line, n, known := record.Level(r)
	if line == "" {
		return nil
	}
	if line != "suse" {
		others = nil
	}
	return &releaseTables{
		slug: r.Slug, release: r, names: ix.file.Table(record.RPMNames), canonicals: ix.file.Table(record.RPMCanonicals),
		provides: ix.file.Table(r.Slug + record.ProvidesTable), sources: ix.file.Table(""),
		files: ix.file.Table(r.Slug + record.FilesTable), owners: ix.file.Table(r.Slug + record.OwnersTable),
		rpm: &rpmLine{
			line: line, level: n, known: known, others: others,
			list: record.ListOf(r, line, n), shared: ix.file.Table(record.RPMLists), rpms: ix.file.Table(r.Slug + record.RPMsTable), obsoletes: ix.file.Table(r.Slug + record.ObsoletesTable),
		},
	}
}

// suseNames are those that SUSE gives to other packages than EL.
func (ix *Index) suseNames() map[string]bool {
	names := map[string]bool{}
	for key := range ix.file.Table(record.RPMNames).With('/') {
		if name, ok := strings.CutPrefix(key, record.SuseKey); ok {
			names[name] = true
		}
	}
	return names
}

// rpmLine is the place of a release among those of its line.
type rpmLine struct {
	line  string
	level int
	known bool // the index has a list of its packages, if not a complete one

	list   string          // the word of its list among those of rpmLists; empty for EL, whose lists are levels
	others map[string]bool // names that SUSE gives to other packages than EL, of a release of SUSE

	shared          *table.Table // rpmLists
	rpms, obsoletes *table.Table // of the release's own repositories; empty where they were not imported
}

// rpmRecord is what is known of an rpm's name.
type rpmRecord struct {
	record.Record
	key    string // its name in the tables
	levels string // the levels of EL that are known to have it
	suse   string // those of SUSE
	trail  string // to packages of Debian; empty where it is not known what it is
	lists  string // the lists of releases near EL, and of SUSE, that have it
	line   string // el or suse where only that line has it
	before string // the levels of EL until which the name was that of something else
	until  int    // the last level of EL where the name is that of this; 0 for all
	whole  bool   // of an answer: it is the package of Debian, not a part of it
	among  bool   // of an answer: others have parts of that package too
	listed bool   // the release's own list has it
}

func decodeRPM(key, value string) rpmRecord {
	r := rpmRecord{key: key}
	r.Name, r.until = record.PartKey(key)
	r.Canonical, value = record.Column(value)
	r.Major, value = record.Column(value)
	r.levels, value = record.Column(value)
	r.line, value = record.Column(value)
	r.before, value = record.Column(value)
	r.suse, r.trail = record.Column(value)
	if r.Canonical == "" {
		r.Canonical = r.Name
	}
	return r
}

// keyAt is the key under which a level of EL has the name.
func (r *rpmRecord) keyAt(l *rpmLine) string {
	if l.line != "el" {
		return r.key
	}
	for until := range strings.FieldsSeq(r.before) {
		if n, _ := strconv.Atoi(until); l.level <= n {
			return record.UntilKey(until, r.Name)
		}
	}
	return r.key
}

// has reports whether a level is known to have the package.
func (r *rpmRecord) has(l *rpmLine) bool {
	if l.lists() {
		return r.listed
	}
	return (l.known || l.line == "suse") && r.atLevel(l.line, l.level) || l.list != "" && record.HasWord(r.lists, l.list)
}

// at reports whether the release's line is known to have a package at its level.
func (l *rpmLine) at(r rpmRecord) bool { return r.atLevel(l.line, l.level) }

// atLevel reports whether a line is known to have the package at a level.
func (r *rpmRecord) atLevel(line string, level int) bool {
	levels := r.levels
	if line == "suse" {
		levels = r.suse
	}
	return hasLevel(levels, level)
}

// hasLevel reports whether a level is one of those that blanks part. A word among
// them is none.
func hasLevel(levels string, level int) bool {
	n := 0
	for i := range len(levels) {
		if levels[i] != ' ' {
			n = 10*n + int(levels[i]-'0')
			continue
		}
		if n == level {
			return true
		}
		n = 0
	}
	return n == level && levels != ""
}

// inEPEL reports whether EPEL has the package, and EL not.
func (r *rpmRecord) inEPEL() bool { return strings.HasSuffix(r.levels, record.VendorEPEL) }

// newestBefore is the newest level before another that is known to have the package; 0 for none.
func (r *rpmRecord) newestBefore(level int) int {
	newest := 0
	for text := range strings.FieldsSeq(r.levels) {
		if n, _ := strconv.Atoi(text); n < level {
			newest = max(newest, n)
		}
	}
	return newest
}

// newest is the newest level that is known to have the package; 0 for none.
func (r *rpmRecord) newest() int { return r.newestBefore(maxLevel) }

// nearness orders the rpms of one canonical: what the release is known to have,
// then what only its line has; for SUSE, what EL has under another name comes last.
func (r *rpmRecord) nearness(l *rpmLine) int {
	return 4*r.presence(l) + 2*record.BoolOrder(r.line == l.line) + record.BoolOrder(l.line == "suse" && r.levels == "")
}

// presence orders what a release is known to have, or EL at its level, before
// the rest.
func (r *rpmRecord) presence(l *rpmLine) int {
	return record.BoolOrder(r.has(l) || !l.lists() && r.atLevel(l.line, l.level))
}

// of reports whether a line has the package, at the release's level.
func (r *rpmRecord) of(l *rpmLine) bool {
	return (r.line == "" || r.line == l.line) && (r.until == 0 || l.level <= r.until)
}

// findRPM finds an rpm by its name or its key.
func (t *releaseTables) findRPM(name string) (r rpmRecord, ok bool, err error) {
	if t.rpm.others[name] {
		return t.rpmOf(record.SuseKey + name)
	}
	r, ok, err = t.rpmOf(name)
	if key := r.keyAt(t.rpm); key != r.key && err == nil {
		return t.rpmOf(key)
	}
	return r, ok, err
}

// sighting is the rpm that was looked for last: a name is asked for more than once
// on its way.
type sighting struct {
	by    *releaseTables
	name  string
	rpm   rpmRecord
	there bool
}

// find is findRPM.
func (s *sighting) find(name string) (*rpmRecord, bool, error) {
	if s.name == name && s.rpm.key != "" {
		return &s.rpm, s.there, nil
	}
	var err error
	s.name = name
	s.rpm, s.there, err = s.by.findRPM(name)
	return &s.rpm, s.there, err
}

func (t *releaseTables) rpmOf(key string) (rpmRecord, bool, error) {
	value, ok, err := t.names.Get(key)
	r := decodeRPM(key, value)
	if err != nil {
		return r, false, err
	}
	if t.rpm.list != "" { // that of EL is in the levels
		r.lists, _, err = t.rpm.shared.Get(r.Name)
	}
	if !ok || err != nil {
		return r, false, err
	}
	if t.rpm.lists() {
		_, r.listed, err = t.rpm.own(r.Name)
	}
	return r, true, err
}

// rpmBy finds the rpm that a canonical names; of several the nearest.
func (t *releaseTables) rpmBy(canonical string) (nearest rpmRecord, found bool, err error) {
	value, _, err := t.canonicals.Get(canonical)
	if err != nil {
		return nearest, false, err
	}
	for name, rest := "", cmp.Or(value, canonical); rest != ""; {
		name, rest = record.Cut(rest, ' ')
		r, ok, err := t.findRPM(name)
		if err != nil {
			return nearest, false, err
		}
		if ok && r.Canonical == canonical && r.of(t.rpm) && (!found || r.nearness(t.rpm) > nearest.nearness(t.rpm)) {
			nearest, found = r, true
		}
	}
	return nearest, found, nil
}

// lexicon answers the rules from the tables. The first error is kept.
type lexicon struct {
	ix   *Index
	line string // of the release that the names are of
	err  error
}

func (x *lexicon) get(t *table.Table, key string) (string, bool) {
	value, ok, err := t.Get(key)
	if err != nil && x.err == nil {
		x.err = err
	}
	return value, ok && err == nil
}

func (x *lexicon) Package(name string) (string, bool) {
	for _, t := range x.ix.debian {
		if value, ok := x.get(t.names, name); ok {
			return record.DecodeRecord(name, value).Canonical, true
		}
	}
	value, ok := x.get(x.ix.kinPackages, name)
	canonical, _, isName := strings.Cut(value, "\t")
	return canonical, ok && isName
}

func (x *lexicon) Canonical(canonical string) (string, bool) {
	for _, t := range x.ix.debian {
		r, ok, err := t.byCanonical(canonical)
		if err != nil {
			x.err = err
		}
		if ok {
			return r.Name, true
		}
	}
	return "", false
}

func (x *lexicon) Provided(virtual string) (string, bool) {
	for _, t := range x.ix.debian {
		if name, ok := x.get(t.provides, virtual); ok {
			return name, true
		}
	}
	return "", false
}

func (x *lexicon) Library(stem string) (string, bool) {
	return x.get(x.ix.libraries, stem)
}

func (x *lexicon) Row(name string) (rpm.Guess, bool) {
	return x.ofLine(name, func(key string) (string, bool) {
		value, ok := x.get(x.ix.rpmNames, key)
		trail := decodeRPM(key, value).trail
		return trail, ok && trail != ""
	})
}

func (x *lexicon) Pattern(name string) (rpm.Guess, bool) {
	return x.ofLine(name, x.ix.rpmRows.patterns().Match)
}

// ofLine is the row of a name, that of its line first.
func (x *lexicon) ofLine(name string, row func(key string) (string, bool)) (rpm.Guess, bool) {
	if x.line == "suse" {
		if value, ok := row(record.SuseKey + name); ok {
			return x.guess(value, ok)
		}
	}
	return x.guess(row(name))
}

// kin finds the row of a package that only kin of Debian has, or the longest of
// its patterns.
func (x *lexicon) kin(name string) (rpm.Guess, bool) {
	value, ok, err := x.ix.kinRows.of(name)
	if err != nil {
		x.err = err
	}
	return x.guess(value, ok)
}

func (x *lexicon) guess(value string, ok bool) (rpm.Guess, bool) {
	if !ok {
		return rpm.Guess{}, false
	}
	t, err := record.DecodeTrail(value)
	if err != nil {
		x.err = err
	}
	return rpm.GuessOf(t), err == nil
}

// resolveRPM says what the rpms of a name are: what the tables have, else what
// the rules make of it.
func (ix *Index) resolveRPM(t *releaseTables, name string) (record.Record, api.Match, float64, error) {
	name = withoutArch(name)
	r, ok, err := t.findRPM(name)
	if err != nil {
		return record.Record{}, api.MatchNone, 0, err
	}
	if ok {
		confidence := 1.0
		if !r.has(t.rpm) {
			confidence = neighbourRPM
		}
		return r.Record, api.MatchExact, confidence, nil
	}
	x := &lexicon{ix: ix, line: t.rpm.line}
	g, ok := rpm.Of(name, x)
	if !ok || x.err != nil {
		return record.Record{}, api.MatchNone, 0, x.err
	}
	canonical := ""
	if rpm.One(g) {
		canonical, _ = x.Package(rpm.FirstThere(x, g.Targets[0]))
	}
	if t.rpm.line == "suse" && canonical != "" {
		back, err := ix.nameOf(t, canonical)
		if err != nil {
			return record.Record{}, api.MatchNone, 0, err
		}
		if back != name {
			canonical = "" // it would be taken for another rpm
		}
	}
	if canonical == "" {
		canonical = rpm.Recoverable(name)
	}
	return record.Record{Name: name, Canonical: canonical}, api.MatchHeuristic, min(g.Confidence, neighbourConfidence+0.15), x.err
}

// nameOf is the name that a canonical of a release is taken to be of.
func (ix *Index) nameOf(t *releaseTables, canonical string) (string, error) {
	r, found, err := t.rpmBy(canonical)
	if found || err != nil {
		return r.Name, err
	}
	name, err := ix.usualName(t, canonical)
	if record.IsCanonical(name) {
		name, _ = rpm.Usual(name)
	}
	return name, err
}

// usualName is the name that a release gives an rpm which is not known: as the lists
// spell it; modules of languages have other names than in Debian.
func (ix *Index) usualName(t *releaseTables, canonical string) (string, error) {
	if name, ok, err := ix.spellings.Get(canonical); ok || err != nil {
		return name, err
	}
	x := &lexicon{ix: ix}
	deb, _ := x.Canonical(canonical)
	if _, ok := rpm.Module(deb); !ok || x.err != nil {
		return record.WithoutApart(canonical), x.err
	}
	name := ix.rpmName(deb)
	if gem, ok := strings.CutPrefix(name, "rubygem-"); ok && t.rpm.line == "suse" {
		return rubies[t.rpm.level] + "-rubygem-" + gem, nil
	}
	return name, nil
}

// neighbourRPM is the confidence of a name that is known from other releases of
// rpm distributions.
const neighbourRPM = 0.97

// withoutArch drops the architecture that rpm prints after a name.
func withoutArch(name string) string {
	at := max(strings.LastIndexByte(name, '.'), 0)
	switch name[at:] {
	case ".x86_64", ".noarch", ".i686", ".i386", ".aarch64":
		return name[:at]
	}
	return name
}
