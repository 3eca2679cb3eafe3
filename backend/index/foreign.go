package index

import (
	"cmp"
	"strconv"
	"strings"

	"svc/backend/api"
	"svc/backend/api/release"
	"svc/backend/index/catalog"
	"svc/backend/index/rpm"
	"svc/backend/index/table"
)

// The tables of the rpm distributions.
const (
	rpmNames      = "rpm/names"      // name → canonical, major, levels of EL that are known to have it, line, levels until which it was something else, levels of SUSE
	rpmCanonicals = "rpm/canonicals" // canonical → names
	rpmDebian     = "rpm/debian"     // name → trail to packages of Debian
	rpmRows       = "rpm/rows"       // curated name or pattern → trail
	rpmLibraries  = "rpm/libraries"  // stem → canonical of Debian
	kinRows       = "kin/rows"       // the same for packages that only kin of Debian has
	vendorsTable  = "vendors"        // vendor → what to know of its repository
	rpmTrails     = "rpm/trails/"    // and a level: name → trail to the next level
	rpmOwn        = "rpm/own"        // distribution/own name → EL's; EL's and a distribution → relation, own names
)

// level is how far an rpm release is along its line, in the major versions of
// EL or of SLES: what Amazon and Fedora make of EL's packages is nearest to it.
func level(r release.Release) (line string, n int, known bool) {
	major, _ := strconv.Atoi(strings.SplitN(r.Version, ".", 2)[0])
	switch r.Family {
	case release.EL:
		return "el", major, major >= 7
	case release.Amazon:
		return "el", amazonLevel(major), false
	case release.Fedora:
		return "el", fedoraLevel(major), false
	case release.SUSE:
		return "suse", major, false
	}
	return "", 0, false
}

// amazonLevel: Amazon Linux 2 follows EL 7, 2023 follows Fedora 34 to 36.
func amazonLevel(version int) int {
	if version >= 2023 {
		return 9
	}
	return 7
}

// fedoraLevel: EL 8 was made of Fedora 28, 9 of 34, 10 of 40.
func fedoraLevel(version int) int {
	switch {
	case version < 34:
		return 8
	case version < 40:
		return 9
	}
	return 10
}

// rpmRelease makes the tables of an rpm release: it shares those of its line, and
// if it is one of SUSE, which names are those of other packages.
func (ix *Index) rpmRelease(r release.Release, others map[string]bool) *releaseTables {
	line, n, known := level(r)
	if line == "" {
		return nil
	}
	if line != "suse" {
		others = nil
	}
	return &releaseTables{
		slug: r.Slug, release: r, names: ix.file.Table(rpmNames), canonicals: ix.file.Table(rpmCanonicals),
		provides: ix.file.Table(r.Slug + providesTable), sources: ix.file.Table(""),
		files: ix.file.Table(r.Slug + filesTable), owners: ix.file.Table(r.Slug + ownersTable),
		rpm: &rpmLine{
			line: line, level: n, known: known, others: others,
			rpms: ix.file.Table(r.Slug + rpmsTable), obsoletes: ix.file.Table(r.Slug + obsoletesTable),
		},
	}
}

// suseNames are those that SUSE gives to other packages than EL.
func (ix *Index) suseNames() map[string]bool {
	names := map[string]bool{}
	for key := range ix.file.Table(rpmNames).With('/') {
		if name, ok := strings.CutPrefix(key, suseKey); ok {
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

	others map[string]bool // names that SUSE gives to other packages than EL, of a release of SUSE

	rpms, obsoletes *table.Table // of the release's own repositories; empty where they were not imported
}

// rpmRecord is what is known of an rpm's name.
type rpmRecord struct {
	record
	key    string // its name in the tables
	levels string // the levels of EL that are known to have it
	suse   string // those of SUSE
	line   string // el or suse where only that line has it
	before string // the levels of EL until which the name was that of something else
	until  int    // the last level of EL where the name is that of this; 0 for all
	whole  bool   // of an answer: it is the package of Debian, not a part of it
	among  bool   // of an answer: others have parts of that package too
	listed bool   // the release's own list has it
}

// suseKey is what the keys of packages begin with whose names SUSE gives to
// other packages than EL: its mariadb is the server, EL's the client.
const suseKey = "suse/"

// partKey parts the key of a package into its name and the last level of EL for
// which the key is: 8/ctags is what EL has under that name up to 8.
func partKey(key string) (name string, until int) {
	if strings.IndexByte(key, '/') < 0 {
		return key, 0 // as most are
	}
	name = strings.TrimPrefix(key, suseKey)
	level, own, ok := strings.Cut(name, "/")
	if !ok {
		return name, 0
	}
	if until, err := strconv.Atoi(level); err == nil {
		return own, until
	}
	return name, 0
}

func untilKey(level, name string) string { return level + "/" + name }

func decodeRPM(key, value string) rpmRecord {
	r := rpmRecord{key: key}
	r.Name, r.until = partKey(key)
	r.Canonical, value = column(value)
	r.Major, value = column(value)
	r.levels, value = column(value)
	r.line, value = column(value)
	r.before, r.suse = column(value)
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
			return untilKey(until, r.Name)
		}
	}
	return r.key
}

// has reports whether a level is known to have the package.
func (r *rpmRecord) has(l *rpmLine) bool {
	if l.lists() {
		return r.listed
	}
	return (l.known || l.line == "suse") && r.atLevel(l.line, l.level)
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
func (r *rpmRecord) inEPEL() bool { return strings.HasSuffix(r.levels, vendorEPEL) }

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
	return 4*r.presence(l) + 2*boolOrder(r.line == l.line) + boolOrder(l.line == "suse" && r.levels == "")
}

// presence orders what a release is known to have, or EL at its level, before
// the rest.
func (r *rpmRecord) presence(l *rpmLine) int {
	return boolOrder(r.has(l) || !l.lists() && r.atLevel(l.line, l.level))
}

// of reports whether a line has the package, at the release's level.
func (r *rpmRecord) of(l *rpmLine) bool {
	return (r.line == "" || r.line == l.line) && (r.until == 0 || l.level <= r.until)
}

// findRPM finds an rpm by its name or its key.
func (t *releaseTables) findRPM(name string) (r rpmRecord, ok bool, err error) {
	if t.rpm.others[name] {
		return t.rpmOf(suseKey + name)
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
		name, rest = cut(rest, ' ')
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

func boolOrder(b bool) int {
	if b {
		return 1
	}
	return 0
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
			return decodeRecord(name, value).Canonical, true
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
	return x.ofLine(name, func(key string) (string, bool) { return x.get(x.ix.rpmRows.Table, key) })
}

func (x *lexicon) Pattern(name string) (rpm.Guess, bool) {
	return x.ofLine(name, x.ix.rpmRows.patterns().match)
}

// ofLine is the row of a name, that of its line first.
func (x *lexicon) ofLine(name string, row func(key string) (string, bool)) (rpm.Guess, bool) {
	if x.line == "suse" {
		if value, ok := row(suseKey + name); ok {
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
	t, err := decodeTrail(value)
	if err != nil {
		x.err = err
	}
	return guessOf(t), err == nil
}

func guessOf(t catalog.Trail) rpm.Guess {
	return rpm.Guess{Relation: t.Relation, Confidence: t.Confidence, Targets: t.Targets, Method: t.Method}
}

func trailOf(g rpm.Guess) catalog.Trail {
	return catalog.Trail{Relation: g.Relation, Confidence: g.Confidence, Targets: g.Targets, Method: g.Method}
}

// resolveRPM says what the rpms of a name are: what the tables have, else what
// the rules make of it.
func (ix *Index) resolveRPM(t *releaseTables, name string) (record, api.Match, float64, error) {
	name = withoutArch(name)
	r, ok, err := t.findRPM(name)
	if err != nil {
		return record{}, api.MatchNone, 0, err
	}
	if ok {
		confidence := 1.0
		if !r.has(t.rpm) {
			confidence = neighbourRPM
		}
		return r.record, api.MatchExact, confidence, nil
	}
	x := &lexicon{ix: ix, line: t.rpm.line}
	g, ok := rpm.Of(name, x)
	if !ok || x.err != nil {
		return record{}, api.MatchNone, 0, x.err
	}
	canonical := ""
	if one(g) {
		canonical, _ = x.Package(firstThere(x, g.Targets[0]))
	}
	if canonical == "" {
		canonical = rpm.Recoverable(name)
	}
	return record{Name: name, Canonical: canonical}, api.MatchHeuristic, min(g.Confidence, neighbourConfidence+0.15), x.err
}

// neighbourRPM is the confidence of a name that is known from other releases of
// rpm distributions.
const neighbourRPM = 0.97

// one reports whether a guess says that the rpm is one package of Debian.
func one(g rpm.Guess) bool {
	return len(g.Targets) == 1 && (g.Relation == api.RelationSame || g.Relation == api.RelationRenamed)
}

// firstThere is the first of alternatives that a lexicon has.
func firstThere(x rpm.Lexicon, alternatives string) string {
	for name := range strings.SplitSeq(alternatives, "|") {
		if _, ok := x.Package(name); ok {
			return name
		}
	}
	return ""
}

// withoutArch drops the architecture that rpm prints after a name.
func withoutArch(name string) string {
	at := max(strings.LastIndexByte(name, '.'), 0)
	switch name[at:] {
	case ".x86_64", ".noarch", ".i686", ".i386", ".aarch64":
		return name[:at]
	}
	return name
}
