package index

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/pkgversion"
	"svc/backend/release"
)

// Codes of the caveats across distributions.
const (
	CaveatExistence  = "EXISTENCE_UNKNOWN" // the target's list is not known, or not whole
	CaveatThirdParty = "THIRD_PARTY"       // comes from another vendor's repository
	CaveatManager    = "OTHER_SYSTEM"      // belongs to the distribution itself
)

// rulesConfidence is that of what the rules make of an rpm that no release is
// known to have.
const rulesConfidence = 0.96

// besideConfidence is that of a package which has the canonical of its software
// for want of one of that name, and may be another part of it.
const besideConfidence = 0.7

// partConfidence is that of one of several rpms which have a part of a package each,
// of which no row says whether any has what the package is for.
const partConfidence = 0.6

// What it costs not to know whether the target has a package.
const (
	unlisted  = 0.8  // the list of EL that is known does not have it, and it comes by itself or not at all
	elsewhere = 0.65 // that list, before EL 9 far from whole, does not have it, but another release's has
	later     = 0.55 // that list, nearly whole, does not have it, but that of a later release has
	between   = 0.95 // that list does not have it, but the source has, and that of a later release
	listless  = 0.9  // there is no list, but near releases have it
	guessed   = 0.6  // nobody is known to have it
	soname    = 0.93 // a library of SUSE under another name
	alongside = 0.97 // SUSE's releases of one major version have nearly the same
	onward    = 0.95 // SUSE has it in one major version, and no row says that it went
	bothHave  = 0.95 // SUSE's name is one of EL's at that level, and no row says that SUSE means another package by it
	droppedIn = 0.85 // Debian had it once

	candidateConfidence = 0.4 // what another release had has several that may be its successor
)

// How sure it is that EL has a package no more, by what the lists of its releases
// say of each other. The list of EL 9 has all of 69 names from chapters of its
// manual that it was not made from, and packages of all of 40 source packages drawn
// by lot. Of 393 doubtful names that 8 has and that list lacked, sources of 9 still
// made 109, most of them for nobody: those that 9 is known to have are in the list
// now. What no list has is of EPEL, of a vendor or of the machine's owner, rather
// than something of EL that all lists miss.
const (
	dropped           = "not listed"
	droppedConfidence = 0.95 // the list of a release before has it, that of the target does not
	wholeConfidence   = 0.95 // what it is a part of goes
	unheard           = "in no list"
	unheardConfidence = 0.85 // no list, row or vendor knows the name
)

// ownRepository is the method of an answer from a row that leads to packages which no
// list has.
const ownRepository = "own repository"

// rpmTrail is what the index knows of an rpm of the source: its trail, or what the
// rules make of the canonical of one that is not known.
func (h *hops) rpmTrail(r rpmRecord) (t record.Trail, ok bool, err error) {
	if r.key == "" {
		return h.byRules(r.Canonical)
	}
	if r.trail == "" {
		return t, false, nil
	}
	t, err = record.DecodeTrail(r.trail)
	return t, true, err
}

// byRules is what the rules make of the canonical of an rpm that is not known.
func (h *hops) byRules(canonical string) (record.Trail, bool, error) {
	x := &lexicon{ix: h.ix, line: h.source.rpm.line}
	if name, ok := x.Canonical(canonical); ok {
		relation := api.RelationRenamed
		if record.Role(canonical) == api.RoleLib {
			relation = api.RelationIncluded
		}
		confidence := rulesConfidence
		if record.Role(canonical) == api.RoleMain && rpm.Beside(name, canonical) {
			confidence = besideConfidence
		}
		return record.Trail{Relation: relation, Confidence: confidence, Targets: []string{name}, Method: "canonical"}, true, x.err
	}
	var best rpm.Guess // of the names that the canonical may be of
	for _, name := range rpm.Names(canonical) {
		if g, ok := rpm.Of(name, x); ok && g.Confidence > best.Confidence {
			best = g
		}
	}
	best.Confidence = min(best.Confidence, rulesConfidence)
	return rpm.TrailOf(best), best.Method != "", x.err
}

// fromRPM follows a canonical of an rpm release to one of Debian's kin.
func (h *hops) fromRPM(canonical string) (course, error) {
	r, found, err := h.source.rpmBy(canonical)
	if err != nil {
		return course{}, err
	}
	if !found {
		r.Record = record.Record{Name: canonical, Canonical: canonical}
	}
	t, ok, err := h.rpmTrail(r)
	if !found && len(t.Targets) == 1 && strings.HasPrefix(t.Targets[0], "python3-") {
		r.Name = t.Targets[0] // modules of Python have this name in every family
	}
	if err != nil || !ok {
		return course{source: r.Record, relation: api.RelationUnknown}, err
	}
	return h.byTrail(r.Record, t)
}

// byTrail follows a trail that leads to packages of Debian to the target.
func (h *hops) byTrail(r record.Record, t record.Trail) (course, error) {
	r.Component = "main"
	p := course{source: r, relation: t.Relation, confidence: t.Confidence, methods: []string{t.Method}}
	if t.Method == rpm.Curated && t.Relation == api.RelationIncluded {
		p.confidence, p.methods = min(t.Confidence, includedConfidence), []string{Included}
	}
	for i, target := range t.Targets {
		alternatives := t.Targets[i : i+1]
		if strings.Contains(target, "|") {
			alternatives = strings.Split(target, "|")
		}
		var err error
		if p, err = h.arrive(p, alternatives); err != nil {
			return p, err
		}
	}
	if len(t.Targets) > 0 && len(p.names) == 0 {
		return h.nowhere(p, t.Targets)
	}
	return p.settled(r.Name), nil
}

// nowhere answers where a row leads to nothing that the target has: what any list has
// was dropped, if nothing there may be its successor; what none has is of a repository
// that the row's author knows.
func (h *hops) nowhere(p course, targets []string) (course, error) {
	if len(p.candidates) > 0 {
		p.relation, p.confidence = api.RelationUnknown, candidateConfidence
		return p, nil
	}
	x := &lexicon{ix: h.ix}
	for _, target := range targets {
		first, _, _ := strings.Cut(target, "|")
		if rpm.FirstThere(x, target) == "" && isName(first) {
			p = p.with([]string{first})
		}
	}
	if len(p.names) < len(targets) {
		p.relation, p.confidence, p.names = api.RelationRemoved, droppedIn, nil
		return p, x.err
	}
	p.confidence, p.methods = p.confidence*listless, append(slices.Clip(p.methods), ownRepository)
	return p.settled(p.source.Name), x.err
}

// settled gives the relation that fits the number of packages, and their name:
// what the target has under the same name needs nothing in its place.
func (p course) settled(name string) course {
	switch same := slices.Equal(p.names, []string{name}); {
	case p.relation == api.RelationIncluded || len(p.names) == 0:
	case same:
		p.relation = api.RelationSame
	case len(p.names) > 1 && p.relation != api.RelationReplaced:
		p.relation = api.RelationSplit
	case p.relation == api.RelationSame, len(p.names) == 1 && p.relation == api.RelationSplit:
		p.relation = api.RelationRenamed
	}
	return p
}

// arrive adds what one of the alternatives is in the target: the first that it
// has, else what became of the first that another release had.
func (h *hops) arrive(p course, alternatives []string) (course, error) {
	for i, name := range alternatives {
		ok, err := h.offers(name, p.relation)
		if err != nil {
			return p, err
		}
		if ok {
			p = h.instead(p, alternatives, name).with(alternatives[i : i+1])
			return h.chosen(p, name, alternatives[i+1:])
		}
	}
	for _, name := range alternatives {
		later, ok, err := h.later(name)
		if err != nil {
			return p, err
		}
		if ok && len(later.names) > 0 {
			p.confidence *= min(1, later.confidence/sameConfidence)
			p.relation = stronger(p.relation, later.relation)
			p.candidates = append(p.candidates, later.candidates...)
			return p.with(later.names), nil
		}
		if ok && later.relation == api.RelationUnknown {
			p.candidates = append(p.candidates, later.candidates...)
		}
	}
	return p, nil
}

// offers reports whether the target has a package: in the place of another not one
// that only leads on, for that says which.
func (h *hops) offers(name string, relation api.Relation) (bool, error) {
	_, ok, err := h.target.find(name)
	if !ok || err != nil || relation != api.RelationReplaced {
		return ok, err
	}
	leads, err := h.onlyLeads(name)
	return !leads, err
}

// onlyLeads reports whether a package of the target's suite only leads to
// others, as the trail from the suite before it says.
func (h *hops) onlyLeads(name string) (bool, error) {
	suite, newestFirst := h.target.suite(), h.ix.debian
	at := slices.Index(newestFirst, suite)
	if _, own, err := h.target.findOwn(name); at < 0 || at+1 == len(newestFirst) || own || err != nil {
		return false, err
	}
	value, ok, err := h.ix.file.Table(record.TrailsTable(newestFirst[at+1].slug, suite.slug)).Get(name)
	if !ok || err != nil {
		return false, err
	}
	t, err := record.DecodeTrail(value)
	return t.Method == record.TransitionalInTarget, err
}

// chosen makes a course less sure where the target has others of a row's
// alternatives that are called like the rpm too: the row prefers one of them,
// not everybody does.
func (h *hops) chosen(p course, name string, others []string) (course, error) {
	renamed := p.relation == api.RelationRenamed || p.relation == api.RelationSame
	if h.source.rpm == nil || !renamed || name == p.source.Name {
		return p, nil
	}
	for _, other := range others {
		ok, err := h.rivals(name, other)
		if err != nil {
			return p, err
		}
		if ok && rpm.Alike(p.source.Name, other) {
			p.candidates = append(slices.Clip(p.candidates), other)
			p.confidence, p.methods = min(p.confidence, choiceConfidence), append(slices.Clip(p.methods), choice)
		}
	}
	return p, nil
}

// rivals reports whether the target has another package that may be meant in the
// place of one: not the same part of another GCC than the default, which rows name first.
func (h *hops) rivals(name, other string) (bool, error) {
	if ofGCC(name) && rpm.Unnumbered(other) == rpm.Unnumbered(name) {
		return false, nil
	}
	_, ok, err := h.target.find(other)
	return ok, err
}

// ofGCC reports whether a package is a part of one of the versions of GCC.
func ofGCC(name string) bool {
	return slices.ContainsFunc([]string{"gcc-", "libgccjit-", "libstdc++-"}, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

// instead says so where one of some alternatives is other software than the
// first of them that any release has.
func (h *hops) instead(p course, alternatives []string, name string) course {
	if name == alternatives[0] || p.relation != api.RelationRenamed {
		return p
	}
	x := &lexicon{ix: h.ix}
	first, _ := x.Package(rpm.FirstThere(x, strings.Join(alternatives, "|")))
	own, _ := x.Package(name)
	if unversioned(own) != unversioned(first) {
		p.relation = api.RelationReplaced
	}
	return p
}

// unversioned is the software of a canonical without anything of a version.
func unversioned(canonical string) string {
	name, _, _ := strings.Cut(canonical, "--")
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, name)
}

// with is a course that leads to more packages; the names are shared.
func (p course) with(names []string) course {
	if len(p.names) == 0 && len(names) == 1 {
		p.names = slices.Clip(names)
		return p
	}
	for _, name := range names {
		if !slices.Contains(p.names, name) {
			p.names = append(slices.Clip(p.names), name)
		}
	}
	return p
}

// later is what became of a package, by the suite that is nearest to the
// target's and has it.
func (h *hops) later(name string) (course, bool, error) {
	for _, way := range h.nearest() {
		if r, ok, err := way.source.find(name); ok || err != nil {
			p, err := way.from(r)
			return p, true, err
		}
	}
	return course{}, false, nil
}

// waysTo are the ways from the suites to a target, the nearest first.
func (ix *Index) waysTo(target *releaseTables) []*hops {
	var ways []*hops
	for _, suite := range ix.nearestSuites(target.suite()) {
		ways = append(ways, ix.way(suite, target))
	}
	return ways
}

// nearestSuites are the suites by their distance from one.
func (ix *Index) nearestSuites(from *releaseTables) []*releaseTables {
	at := slices.Index(ix.debian, from)
	all := slices.Clone(ix.debian)
	slices.SortStableFunc(all, func(a, b *releaseTables) int {
		return abs(slices.Index(ix.debian, a)-at) - abs(slices.Index(ix.debian, b)-at)
	})
	return all
}

func abs(n int) int { return max(n, -n) }

// toRPM follows a package of Debian's kin to an rpm release.
func (h *hops) toRPM(canonical string) (course, error) {
	p, err := h.namedInRPM(canonical)
	if err != nil {
		return p, err
	}
	return h.afterRows(p)
}

// namedInRPM follows it to the names that the rows and tables have.
func (h *hops) namedInRPM(canonical string) (course, error) {
	p, found, err := h.knownToRPM(canonical)
	if found || err != nil {
		return p, err
	}
	if vendor, ok, err := h.vendorToRPM(p); ok || err != nil {
		return vendor, err
	}
	if meta, ok, err := h.metapackageToRPM(p); ok || err != nil {
		return meta, err
	}
	return h.confirmListed(h.guessRPM(p))
}

// metapackageToRPM follows one of several versions, which rpm releases have no
// name for, as the package that stands for all of them.
func (h *hops) metapackageToRPM(p course) (course, bool, error) {
	name := withoutVersion(p.source.Name)
	if name == p.source.Name || p.source.IsLibrary() {
		return p, false, nil
	}
	x := &lexicon{ix: h.ix}
	canonical, ok := x.Package(name)
	if !ok || canonical == p.source.Canonical || x.err != nil {
		return p, false, x.err
	}
	meta, found, err := h.knownToRPM(canonical)
	if err != nil || !found || meta.relation == api.RelationRemoved {
		return p, false, err
	}
	meta.source, meta.relation = p.source, stronger(meta.relation, api.RelationRenamed)
	meta.confidence, meta.found = meta.confidence*record.LineageConfidence, byMetapackage
	return meta, true, nil
}

// knownToRPM follows it by what the index knows: a row, its canonical, or the
// rpms that are of it.
func (h *hops) knownToRPM(canonical string) (p course, found bool, err error) {
	r, ok, err := h.source.byCanonical(canonical)
	if err != nil {
		return course{}, false, err
	}
	p = course{source: r, relation: api.RelationUnknown}
	if !ok {
		p.source = record.Record{Name: canonical, Canonical: canonical}
	}
	if row, ok, err := h.rowToRPM(p); ok || err != nil {
		return row, ok, err
	}
	named, found, err := h.target.rpmBy(canonical)
	confidence, way := record.RowConfidence, byCanonical
	if !found && err == nil {
		named, found, err = h.reverse(p.source.Name, false)
		confidence, way = record.LineageConfidence, byPart
		if named.whole {
			way = byReverse
		}
	}
	if !found || err != nil {
		return p, false, err
	}
	p.found = way
	p, err = h.rpm(p, named, confidence)
	if named.among && p.relation == api.RelationMerged {
		p.confidence = min(p.confidence, partConfidence)
	}
	return p, true, err
}

// reverse is the rpm of the target's line that is a package of Debian, or has a
// part of it: strictly, one that is that package and is named so in that line
// alone.
func (h *hops) reverse(name string, strictly bool) (rpmRecord, bool, error) {
	value, _, err := h.ix.rpmReverse.Get(name)
	if err != nil {
		return rpmRecord{}, false, err
	}
	wholes, parts, _ := strings.Cut(value, "\t")
	if strictly {
		parts = ""
	}
	best := preferred{line: h.target.rpm}
	for i, names := range []string{wholes, parts} {
		for name := ""; names != ""; {
			name, names = record.Cut(names, ' ')
			r, ok, err := h.target.findRPM(name)
			if err != nil {
				return r, false, err
			}
			if r.whole = i == 0; ok && r.key == name && r.of(h.target.rpm) && !(strictly && (r.line == "" || rpm.OfVersion(name))) {
				best.add(r)
			}
		}
	}
	best.rpm.among = best.others && !best.rpm.whole
	return best.rpm, best.rpm.key != "", nil
}

// preferred is the rpm to be preferred of several: the first that the release is
// known to have, or the newest version where they are versions of one software. What
// is a package of Debian comes before what has a part of it.
type preferred struct {
	line   *rpmLine
	rpm    rpmRecord
	others bool // it is not alone with its versions
}

func (p *preferred) add(r rpmRecord) {
	presence := r.presence(p.line) - p.rpm.presence(p.line)
	switch {
	case p.rpm.key == "" || presence > 0:
		p.rpm, p.others = r, false
	case presence < 0 || p.others || p.rpm.whole && !r.whole: // it stays
	case rpm.OfVersion(r.Name) != rpm.OfVersion(p.rpm.Name): // that of the version which programs mean comes first
		if rpm.OfVersion(p.rpm.Name) {
			p.rpm = r
		}
	case rpm.Unnumbered(r.Name) != rpm.Unnumbered(p.rpm.Name):
		p.others = true
	case pkgversion.Compare(pkgversion.RPM, r.Name, p.rpm.Name) > 0:
		p.rpm = r
	}
}

// rpm answers with an rpm, or with what became of it.
func (h *hops) rpm(p course, r rpmRecord, confidence float64) (course, error) {
	if h.target.rpm.lists() && !r.listed {
		return h.withoutRPM(p), nil
	}
	p.names, p.confidence = []string{r.Name}, confidence
	p.relation = api.RelationRenamed
	switch {
	case r.Name == p.source.Name:
		p.relation = api.RelationSame
	case p.source.IsLibrary():
		p.relation = api.RelationIncluded
	case r.Canonical != p.source.Canonical && !r.whole:
		p.relation = api.RelationMerged
	}
	if later, gone, err := h.became(p, r); gone || err != nil {
		return later, err
	}
	if p.relation != api.RelationIncluded {
		p.confidence *= h.existence(r) // what comes as a dependency need not be there by name
	} else if h.lacks(r) {
		p.confidence, p.names = min(p.confidence, unlisted), nil
	}
	return h.inOwnNames(p), nil
}

// lacks reports whether the list of a release of EL is nearly whole, and has no such rpm.
func (h *hops) lacks(r rpmRecord) bool {
	l := h.target.rpm
	return l.line == "el" && l.known && l.level >= record.WholeLists && !r.has(l) && !r.inEPEL()
}

// became is what became of an rpm after the last level of EL that is known to
// have it, where a trail says so.
func (h *hops) became(p course, r rpmRecord) (later course, gone bool, err error) {
	newest := r.newestBefore(h.target.rpm.level)
	if newest == 0 || h.target.rpm.lists() || r.has(h.target.rpm) || h.target.rpm.line != "el" || h.target.rpm.at(r) || r.inEPEL() {
		return p, false, nil
	}
	later, err = h.climb(p, newest, &sighting{by: h.target})
	if err != nil || len(later.methods) == len(p.methods) || p.relation == api.RelationIncluded && later.evidence() == dropped {
		return p, false, err // a library comes under another name
	}
	later.found = byEvent
	if slices.Contains(later.methods, dropped) {
		later.found = byAbsence
	}
	return h.inOwnNames(later), true, nil
}

// existence is how sure it is that the target has an rpm.
func (h *hops) existence(r rpmRecord) float64 {
	switch l := h.target.rpm; {
	case r.has(l):
		return 1
	case l.known && r.inEPEL():
		return listless
	case l.known && r.levels != "" && l.level >= record.WholeLists:
		return later
	case l.known && r.levels != "":
		return elsewhere
	case l.at(r), r.line == l.line, l.line == "suse" && r.levels != "":
		return listless
	}
	return listless - 0.1
}

// withoutRPM answers where the target's own list has nothing of what is known:
// libraries come as dependencies.
func (h *hops) withoutRPM(p course) course {
	switch r := record.Role(p.source.Canonical); {
	case !h.target.rpm.lists():
	case r == api.RoleLib || r == api.RoleLang:
		p.relation, p.confidence = api.RelationIncluded, unlisted
	default:
		p.relation, p.confidence, p.names = api.RelationRemoved, goneConfidence, nil
	}
	return p
}

// guessRPM answers for what no rpm is known for: libraries come as
// dependencies, anything else may have the same name.
func (h *hops) guessRPM(p course) course {
	p.found = byGuess
	switch r := record.Role(p.source.Canonical); {
	case r == api.RoleLang, p.source.IsLibrary():
		p.relation, p.confidence = api.RelationIncluded, unlisted
	case r == api.RoleDebug:
		p.relation, p.confidence = api.RelationRemoved, unlisted
	case record.IsCanonical(p.source.Name):
		p.relation, p.confidence = api.RelationRemoved, goneConfidence
	default:
		p.relation, p.confidence, p.names = api.RelationRenamed, guessed, []string{h.ix.rpmName(p.source.Name)}
	}
	return p
}

// amongRPMs follows an rpm to another release of rpms.
func (h *hops) amongRPMs(canonical string) (course, error) {
	r, found, err := h.source.rpmBy(canonical)
	if err != nil {
		return course{}, err
	}
	if !found {
		name, err := h.ix.usualName(h.source, canonical)
		if err != nil {
			return course{}, err
		}
		r.Record = record.Record{Name: name, Canonical: canonical}
	}
	p := course{source: r.Record, relation: api.RelationSame, confidence: 1, names: []string{r.Name}, found: byName}
	if h.source.rpm.line != h.target.rpm.line {
		if name, ok := rpm.Usual(r.Name); ok && record.IsCanonical(r.Name) {
			r.Name, p.source.Name, p.names[0], p.spelt = name, name, name, true
		}
		if p, err = h.otherLine(p, r); err != nil {
			return p, err
		}
		return h.afterRows(p)
	}
	if r.Name, err = h.nameToday(r.Name); err != nil {
		return p, err
	}
	p.source.Name, p.names[0] = r.Name, r.Name
	if h.otherSoname(r) {
		p.relation, p.confidence, p.names = api.RelationIncluded, soname, nil
		return p, nil
	}
	if record.IsCanonical(r.Name) {
		return h.underUsualName(p)
	}
	seen := &sighting{by: h.target}
	switch general := h.ofEL(r.Name); {
	case general != r.Name:
		p.names[0], p.relation, p.confidence = general, api.RelationReplaced, record.RowConfidence
		p.found = byRow
	case !h.source.rpm.known && h.target.rpm.known && r.levels == "":
		_, row, err := h.levels[h.source.rpm.level].trail(r.Name, seen)
		if err != nil {
			return p, err
		}
		if !row {
			return h.otherLine(p, r)
		}
	}
	return h.overLevels(p, seen)
}

// suseRows is the level of SUSE whose names the rows between families have.
const suseRows = 15

// nameToday is the name that a source after SLES 15 has for what had another
// there: a module of Python bears its version.
func (h *hops) nameToday(name string) (string, error) {
	if h.source.rpm.line != "suse" || h.source.rpm.level <= suseRows {
		return name, nil
	}
	seen := &sighting{by: h.target}
	t, err := step(func(name string) (string, bool, error) { return h.levels[suseRows].trail(name, seen) }, name)
	if err != nil || t.Relation != api.RelationRenamed || len(t.Targets) != 1 {
		return name, err
	}
	return t.Targets[0], nil
}

// afterRows takes the names that rows have for SUSE on to the target's level.
func (h *hops) afterRows(p course) (course, error) {
	if h.target.rpm.line != "suse" || h.target.rpm.lists() {
		return p, nil
	}
	later, err := h.climb(p, suseRows, &sighting{by: h.target})
	if len(later.methods) > len(p.methods) {
		later.found = byEvent
	}
	return later, err
}

// rpmName is what rpm distributions are likely to call a package of Debian.
func (ix *Index) rpmName(deb string) string {
	if name, ok, err := ix.modules.Get(deb); ok && err == nil {
		return name
	}
	return rpm.Name(deb)
}

// rubies are the prefixes of modules of Ruby, by the levels of SUSE.
var rubies = map[int]string{12: "ruby2.1", 15: "ruby2.5", 16: "ruby3.4"}

// otherSoname reports whether an rpm is a library of SUSE, whose name has its
// soname, that the target's level is not known to have: what needs it brings it.
func (h *hops) otherSoname(r rpmRecord) bool {
	l := h.target.rpm
	return l.line == "suse" && l.level != h.source.rpm.level && r.IsLibrary() && !l.lists() && !l.at(r)
}

// underUsualName answers for an rpm that nobody is known to have, by the name
// that such packages have.
func (h *hops) underUsualName(p course) (course, error) {
	name, ok := rpm.Usual(p.source.Canonical)
	if !ok {
		return h.underItsName(p, guessed)
	}
	p.source.Name, p.names, p.confidence, p.found = name, []string{name}, guessed, byGuess
	if h.target.rpm.line == "suse" {
		p.confidence = listless // the source has it, by a name that its canonical leads back to
	}
	seen := &sighting{by: h.target}
	p, err := h.climb(p, h.source.rpm.level, seen)
	if err != nil {
		return p, err
	}
	_, known, err := seen.find(name)
	if err != nil {
		return p, err
	}
	if unheard, err := h.isUnheard(p, name, known); unheard || err != nil {
		return p.unheardOf(), err
	}
	return h.confirmListed(p)
}

// isUnheard reports whether an rpm that no row speaks of is not known of a later
// release of EL either, whose list is nearly whole, and all that is known of it, nor
// called as those of a vendor are.
func (h *hops) isUnheard(p course, name string, known bool) (bool, error) {
	from, to := h.source.rpm, h.target.rpm
	later := from.known && to.known && from.level < to.level
	if !later || to.level < record.WholeLists || to.lists() || known || len(p.methods) > 0 {
		return false, nil
	}
	vendor, err := h.byPattern(name)
	return vendor == "", err
}

// byPattern is the vendor whose packages are called like an rpm; empty where nobody's are.
func (h *hops) byPattern(name string) (vendor string, err error) {
	x := &lexicon{ix: h.ix, line: "el"}
	if g, ok := x.Pattern(name); ok && rpm.IsVendor(g.Method) {
		vendor = strings.TrimPrefix(g.Method, rpm.Vendor)
	}
	return vendor, x.err
}

// unheardOf answers for an rpm that nothing is known of, so that it is hardly of EL.
func (p course) unheardOf() course {
	p.relation, p.confidence, p.names, p.found = api.RelationRemoved, unheardConfidence, nil, byAbsence
	p.methods = append(slices.Clip(p.methods), unheard)
	return p
}

// overLevels follows an rpm from level to level of its line.
func (h *hops) overLevels(p course, seen *sighting) (course, error) {
	p, err := h.climb(p, h.source.rpm.level, seen)
	if err != nil {
		return p, err
	}
	if len(p.methods) > 0 {
		p.found = byEvent
	}
	if slices.Contains(p.methods, dropped) {
		p.found = byAbsence
	}
	if h.target.rpm.lists() {
		p, err = h.arriveListed(p)
		p.confidence = min(p.confidence, sameConfidence)
		return p, err
	}
	if len(p.names) == 0 {
		return h.back(p, seen)
	}
	p.confidence = min(p.confidence, sameConfidence)
	for _, name := range p.names {
		r, ok, err := seen.find(name)
		if err != nil {
			return p, err
		}
		if h.ownRPMs(name) != "" {
			continue // the target's own row says what it has
		}
		if unheard, err := h.isUnheard(p, name, ok); unheard || err != nil {
			return p.unheardOf(), err
		}
		p.confidence *= h.persistence(p, *r, ok)
	}
	return h.inOwnNames(p), nil
}

// back looks whether the target is known to have again what went on the way.
func (h *hops) back(p course, seen *sighting) (course, error) {
	if h.target.rpm.level == nextLevel(h.target.rpm.line, h.source.rpm.level) {
		return p, nil
	}
	r, ok, err := seen.find(p.source.Name)
	if err == nil && ok && h.target.rpm.at(*r) {
		p.relation, p.confidence, p.names, p.methods = api.RelationSame, returnedConfidence, []string{p.source.Name}, nil
	}
	for _, name := range forPython3(p.source.Name) {
		if err != nil || len(p.names) > 0 {
			break
		}
		var module rpmRecord
		if module, ok, err = h.target.findRPM(name); err == nil && ok && h.target.rpm.at(module) {
			p.relation, p.confidence, p.names, p.methods = api.RelationReplaced, returnedConfidence, []string{name}, nil
		}
	}
	return p, err
}

// forPython3 are the names that a module of EL for another version of Python may
// have for the one that is called Python 3 alone.
func forPython3(name string) []string {
	for _, version := range []string{"python-", "python2-", "python36-"} {
		if module, ok := strings.CutPrefix(name, version); ok {
			return []string{"python3-" + module}
		}
	}
	if library, ok := strings.CutSuffix(name, "-python"); ok {
		return []string{"python3-" + library, library + "-python3", "python3-" + strings.TrimSuffix(library, "-libs")}
	}
	return nil
}

// climb follows a line's trails from a level to the target's.
func (h *hops) climb(p course, from int, seen *sighting) (course, error) {
	for n := from; n < h.target.rpm.level; n++ {
		trails := func(name string) (string, bool, error) { return h.levels[n].trail(name, seen) }
		gone, err := h.withItsWhole(p, trails, seen)
		if err != nil {
			return p, err
		}
		if gone {
			p.relation, p.confidence, p.names, p.methods = api.RelationRemoved, wholeConfidence, nil, append(slices.Clip(p.methods), record.Curated)
			return p, nil
		}
		if p, err = p.follow(trails); err != nil {
			return p, err
		}
	}
	return p, nil
}

// levelTrails are what becomes of rpms after a level of the target's line: the row
// of a name, else, unless the next level is known to have the name, that of the
// longest pattern, else what the lists of EL say.
type levelTrails struct {
	rows namedRows
	*hops
	next int
}

// levelTrails are those of every level of the target's line, by the level.
func (h *hops) levelTrails() []levelTrails {
	all, line := make([]levelTrails, maxLevel), h.target.rpm.line
	for n, rows := range h.ix.levels[line] {
		all[n] = levelTrails{rows, h, nextLevel(line, n)}
	}
	return all
}

// nextLevel is the level after one: SUSE has none between 12 and 15.
func nextLevel(line string, n int) int {
	if line == "suse" {
		return max(n+1, suseRows)
	}
	return n + 1
}

// trail finds the trail of a name.
func (t *levelTrails) trail(name string, seen *sighting) (trail string, ok bool, err error) {
	if kept, err := t.keeps(name, seen); kept || err != nil {
		return "", false, err
	}
	if trail, ok, err = t.rows.Get(name); err != nil {
		return "", false, err
	}
	if ok {
		kept, err := t.epelKeeps(name, trail, seen)
		return trail, !kept, err
	}
	row := t.rows.patterns().Longest(name)
	if row == nil && !t.listed() {
		return "", false, nil
	}
	r, _, err := seen.find(name)
	switch {
	case err != nil || r.atLevel(t.target.rpm.line, t.next):
		return "", false, err
	case row != nil:
		return strings.ReplaceAll(row.Value, "*", row.Stood(name)), true, nil
	case t.drops(*r) && t.ownRPMs(name) == "":
		return droppedTrail, true, nil
	}
	return "", false, nil
}

// epelKeeps reports whether EPEL has taken what a trail says has gone from EL.
func (t *levelTrails) epelKeeps(name, trail string, seen *sighting) (bool, error) {
	if !strings.HasPrefix(trail, string(api.RelationRemoved)) || !t.target.rpm.known || t.target.rpm.lists() {
		return false, nil
	}
	r, _, err := seen.find(name)
	return r.inEPEL(), err
}

// keeps reports whether a distribution near EL has a package under its name, by a row
// or its own list, whatever EL does with it.
func (t *levelTrails) keeps(name string, seen *sighting) (bool, error) {
	if t.target.rpm.line != "el" || t.ownRPMs(name) == string(api.RelationSame)+"\t"+name {
		return t.target.rpm.line == "el", nil
	}
	if t.target.rpm.known {
		return false, nil
	}
	r, _, err := seen.find(name)
	return r.has(t.target.rpm), err
}

// listed reports whether the next level is one of EL whose list is nearly whole,
// and all that is known of the target's.
func (t *levelTrails) listed() bool {
	return t.target.rpm.known && !t.target.rpm.lists() && t.next >= record.WholeLists
}

// droppedTrail is the trail of what EL has no more.
var droppedTrail = record.EncodeTrail(record.Trail{Relation: api.RelationRemoved, Confidence: droppedConfidence, Method: dropped})

// drops reports whether the lists say that EL has a package no more: that of a
// level before the next has it, neither that of the next nor the target's does,
// and EPEL has not taken it.
func (t *levelTrails) drops(r rpmRecord) bool {
	return t.listed() && !t.target.rpm.at(r) && !r.inEPEL() && r.newestBefore(t.next) > 0
}

// withItsWhole reports whether a package goes because what it is a part of does:
// rows name the library alone, not its headers, and no list has every part.
func (h *hops) withItsWhole(p course, trails trails, seen *sighting) (bool, error) {
	if len(p.names) != 1 {
		return false, nil
	}
	name, headers := p.names[0], strings.HasSuffix(p.names[0], "-devel")
	if !headers && !h.target.rpm.known {
		return false, nil
	}
	r, there, err := seen.find(name)
	if err != nil || there && (r.has(h.target.rpm) || !headers) {
		return false, err
	}
	if _, own, err := trails(name); own || err != nil {
		return false, err
	}
	return h.wholeGoes(name, trails)
}

// wholeGoes reports whether the nearest package that anything is known of, of
// those whose names a name goes on from, goes.
func (h *hops) wholeGoes(name string, trails trails) (bool, error) {
	for at := strings.LastIndexByte(name, '-'); at > 0; at = strings.LastIndexByte(name, '-') {
		name = name[:at]
		value, ok, err := trails(name)
		if err != nil {
			return false, err
		}
		if ok {
			t, err := record.DecodeTrail(value)
			return t.Relation == api.RelationRemoved, err
		}
		if _, there, err := h.target.findRPM(name); there || !h.target.rpm.known || err != nil {
			return false, err
		}
	}
	return false, nil
}

// ofEL is the name that EL has for the own one of a distribution near to it.
func (h *hops) ofEL(name string) string {
	for _, names := range h.general {
		if general, ok := names[name]; ok {
			return general
		}
	}
	return name
}

// inOwnNames gives the names of EL in a course those that the target has for
// the same packages.
func (h *hops) inOwnNames(p course) course {
	if !slices.ContainsFunc(p.names, func(name string) bool { return h.ownRPMs(name) != "" }) {
		return p.settled(p.source.Name)
	}
	next := p
	next.names = nil
	for _, name := range p.names {
		relation, own, ok := strings.Cut(h.ownRPMs(name), "\t")
		if !ok {
			next = next.with([]string{name})
			continue
		}
		next.relation, next.confidence = stronger(p.relation, api.Relation(relation)), min(p.confidence, record.RowConfidence)
		next.found = byRow
		next = next.with(strings.Fields(own))
	}
	if len(next.names) == 0 && len(p.names) > 0 {
		next.relation = api.RelationRemoved
	}
	return next.settled(p.source.Name)
}

// ownRPMs are the relation and the names that the target has in place of an rpm
// of EL; empty where they are the same.
func (h *hops) ownRPMs(name string) string {
	for _, names := range h.own {
		if value, ok := names[name]; ok {
			return value
		}
	}
	return ""
}

// readOwnNames reads what the two releases have of names that EL does not have.
func (h *hops) readOwnNames() {
	sources, targets := owners(h.source, h.target), owners(h.target, h.source)
	h.general, h.own, h.stated = make([]map[string]string, len(sources)), make([]map[string]string, len(targets)), map[string]bool{}
	for key, value := range h.ix.rpmOwn.All() {
		if name, of, own := strings.Cut(key, " "); own {
			if at := slices.Index(targets, of); at >= 0 {
				put(h.own, at, name, value)
				_, names, _ := strings.Cut(value, "\t")
				for stated := range strings.FieldsSeq(names) {
					h.stated[stated] = true
				}
			}
			continue
		}
		of, name, _ := strings.Cut(key, "/")
		put(h.general, slices.Index(sources, of), name, value)
	}
	none := func(names map[string]string) bool { return names == nil }
	h.general, h.own = slices.DeleteFunc(h.general, none), slices.DeleteFunc(h.own, none)
}

func put(all []map[string]string, i int, name, value string) {
	if i < 0 {
		return
	}
	if all[i] == nil {
		all[i] = map[string]string{}
	}
	all[i][name] = value
}

// owners are those under whose names a release of rpms has names of its own:
// itself, its distribution, and its line where the other release is not of that.
func owners(t, other *releaseTables) []string {
	if t.rpm == nil {
		return nil
	}
	names := []string{t.slug, record.Distribution(t.slug)}
	if other.rpm == nil || other.rpm.line != t.rpm.line {
		names = append(names, t.rpm.line)
	}
	return names
}

// persistence is how sure it is that the target still has an rpm.
func (h *hops) persistence(p course, r rpmRecord, ok bool) float64 {
	switch {
	case ok && r.has(h.target.rpm), h.sameKind() && h.source.rpm.level == h.target.rpm.level:
		return 1
	case len(p.methods) > 0:
		return 1 // an event says so
	case h.target.rpm.line == "suse":
		return h.staying(r)
	case !h.source.rpm.known || !h.target.rpm.known || h.source.rpm.level > h.target.rpm.level:
		return h.existence(r)
	case r.newest() > h.target.rpm.level:
		return between
	}
	return h.existence(r)
}

// staying is how sure it is that a release of SUSE has what another of its line
// has, where no row says that it went.
func (h *hops) staying(r rpmRecord) float64 {
	switch {
	case h.source.rpm.level == h.target.rpm.level:
		return alongside
	case r.line == "suse" || r.suse != "":
		return onward
	}
	return listless
}

// sameKind reports whether both releases are of EL, or of the one distribution.
func (h *hops) sameKind() bool {
	return h.source.rpm.known && h.target.rpm.known || record.Distribution(h.source.slug) == record.Distribution(h.target.slug)
}

// inOtherLine follows an rpm of EL to SUSE or back by the row of its name.
func (h *hops) inOtherLine(p course) (course, bool, error) {
	if h.target.rpm.line == "suse" {
		relation, own, ok := strings.Cut(h.ownRPMs(p.source.Name), "\t")
		p.relation, p.confidence, p.names = api.Relation(relation), record.RowConfidence*listless, strings.Fields(own)
		return p.settled(p.source.Name), ok, nil
	}
	name := h.ofEL(p.source.Name)
	if name == p.source.Name {
		return p, false, nil
	}
	value, _, err := h.ix.rpmOwn.Get(name + " " + h.source.rpm.line)
	if err != nil {
		return p, false, err
	}
	relation, _, _ := strings.Cut(value, "\t")
	r, _, err := h.target.findRPM(name)
	p.relation, p.confidence, p.names = stronger(api.RelationRenamed, api.Relation(relation)), record.RowConfidence*h.existence(r), []string{name}
	return p, true, err
}

// otherLine follows an rpm of EL to SUSE or back: by its row, the same name, else
// what is the same package of Debian.
func (h *hops) otherLine(p course, r rpmRecord) (course, error) {
	p.found = byName
	if isIdentity(r.Name) {
		p.relation, p.confidence, p.names, p.found = api.RelationRemoved, record.RowConfidence, nil, byRow
		return p, nil
	}
	if row, ok, err := h.inOtherLine(p); ok || err != nil {
		row.found = byRow
		return row, err
	}
	if r.line == "" && r.key == r.Name && h.target.rpm.at(r) {
		p.confidence, p.found = bothHave, byBoth
		return h.inOwnNames(p), nil
	}
	t, known, err := h.rpmTrail(r)
	if err != nil {
		return p, err
	}
	if !known {
		return h.underItsName(p, guessed)
	}
	there, err := h.presenceOf(p, &sighting{by: h.target})
	if err != nil {
		return p, err
	}
	shared := r.line == "" && (r.key == r.Name || there == inList) // the target has the name too
	own, alternatives, name, err := h.ownName(t.Targets, shared)
	if err != nil {
		return p, err
	}
	asLibrary := t.Relation == api.RelationIncluded || h.source.rpm.line == "suse" && r.IsLibrary()
	if !asLibrary && (own.key == "" || t.Relation == api.RelationReplaced || h.lacks(own)) {
		if row, ok, err := h.byDebian(p, t); ok || err != nil {
			return row, err
		}
	}
	if own.key != "" {
		p.found = byDebian
		p, err = h.rpm(p, own, t.Confidence)
		return h.instead(p, alternatives, name), err
	}
	switch {
	case asLibrary:
		p.relation, p.confidence, p.names = api.RelationIncluded, unlisted, nil
		return p, nil
	case t.Relation == api.RelationRemoved && h.target.rpm.line == "el" && r.levels == "":
		p.found = byDebian
		p.relation, p.confidence, p.names = t.Relation, t.Confidence, nil // as from Debian: EL is not known to have it
		return p, nil
	}
	if later, gone, err := h.became(p, r); gone || err != nil {
		return later, err
	}
	switch {
	case there == nowhere && h.lacks(r):
		return p.unheardOf(), nil
	case t.Relation != api.RelationRemoved && r.line == "" && h.source.rpm.line != h.target.rpm.line:
		return h.underItsName(p, listless)
	}
	return h.underItsName(p, guessed)
}

// byDebian follows an rpm of SUSE to EL by the row of the package of Debian that a
// trail leads to.
func (h *hops) byDebian(p course, t record.Trail) (course, bool, error) {
	if h.target.rpm.line != "el" {
		return p, false, nil
	}
	for _, target := range t.Targets {
		for name := range strings.SplitSeq(target, "|") {
			row, ok, err := h.rowToRPM(course{source: record.Record{Name: name}})
			if err != nil {
				return p, false, err
			}
			if ok && len(row.names) > 0 {
				row.source, row.relation, row.found = p.source, stronger(t.Relation, row.relation), byDebianRow
				return row.settled(p.source.Name), true, nil
			}
		}
	}
	return p, false, nil
}

// underItsName answers with the name that an rpm has, if one is known: one that its
// canonical alone leads back to, which may not be spelt so, where a list has it.
func (h *hops) underItsName(p course, confidence float64) (course, error) {
	there, err := h.presenceOf(p, &sighting{by: h.target})
	if err != nil {
		return p, err
	}
	if p.relation, p.confidence = api.RelationSame, confidence; p.spelt && there == nowhere || record.IsCanonical(p.source.Name) {
		p.relation, p.confidence, p.names = api.RelationRemoved, goneConfidence, nil
	}
	return h.confirmListed(p)
}

// confirmListed makes surer, or less sure, of names by the target's own list.
func (h *hops) confirmListed(p course) (course, error) {
	if !h.target.rpm.lists() || len(p.names) == 0 {
		return p, nil
	}
	there, err := h.arriveListed(p)
	if slices.Equal(there.names, p.names) {
		there.confidence = max(there.confidence, returnedConfidence)
	}
	return there, err
}

// ownName is the rpm of the target's line for the first package of Debian that
// has one, which is named with its alternatives.
func (h *hops) ownName(targets []string, strictly bool) (own rpmRecord, alternatives []string, name string, err error) {
	for _, target := range targets {
		alternatives = strings.Split(target, "|")
		for _, name = range alternatives {
			own, found, err := h.reverse(name, strictly)
			if found || err != nil {
				return own, alternatives, name, err
			}
		}
	}
	return own, nil, "", nil
}

// vendorOf is whose repository has an rpm that the target itself has not; empty where
// nobody's is known to.
func (h *hops) vendorOf(r rpmRecord) (vendor string, err error) {
	if r.inEPEL() && h.target.rpm.known {
		return record.VendorEPEL, nil
	}
	_, vendor, _ = strings.Cut(r.trail, rpm.Vendor)
	vendor, _, _ = strings.Cut(vendor, "\t")
	return vendor, nil
}

// doubt says why the target may not have an rpm: a vendor has it, or its list is not
// known.
func (h *hops) doubt(r rpmRecord, vendor string) (api.Caveat, error) {
	if vendor != "" {
		text, _, err := h.ix.vendors.Get(vendor)
		return caveat(CaveatThirdParty, api.SeverityWarning, "%s is not of %s itself. %s", r.Name, h.target.slug, text), err
	}
	return api.Caveat{
		Code: CaveatExistence, Severity: api.SeverityInfo,
		Text: "The index has no full list of " + h.target.slug + ": check that it has " + r.Name + ". " +
			"A list of your own mirror makes it sure: svc admin index build --rpm-md URL --release " + h.target.slug + " --out FILE, then --index FILE.",
	}, nil
}

// elsewhere says where a package may be that the lists of the target lack.
func (h *hops) elsewhere() api.Caveat {
	where := "another repository"
	switch h.target.release.Family {
	case release.EL:
		where = "EPEL or CodeReady Builder (CRB)"
	case release.SUSE:
		where = "a module or Package Hub"
	}
	return caveat(CaveatExistence, api.SeverityInfo, "The lists of %s that the index has are not whole: %s may have it. "+
		"A list of your own mirror makes it sure: svc admin index build --rpm-md URL --release %s --out FILE, then --index FILE.", h.target.slug, where, h.target.slug)
}

// presentRPM makes the answer of a course that ends at rpms.
func (h *hops) presentRPM(canonical string, p course) (api.Translation, error) {
	t := api.Translation{
		Canonical: canonical, Relation: p.relation, Confidence: round(p.confidence),
		Packages: make([]api.TargetPackage, 0, len(p.names)), Caveats: []api.Caveat{}, Conditionals: []api.Conditional{},
	}
	seen := &sighting{by: h.target}
	p, err := h.certain(p, seen)
	if err != nil {
		return t, err
	}
	t.Relation, t.Confidence = p.relation, round(p.confidence)
	for _, name := range p.names {
		own, listed, err := h.target.rpm.own(name)
		if err != nil {
			return t, err
		}
		t.Packages = append(t.Packages, api.TargetPackage{Name: name, Version: own.Version, Repository: own.Repository})
		if own.Hidden {
			t.Caveats = append(t.Caveats, h.streamCaveat(name, own))
		}
		if listed || h.stated[name] || h.source == h.target {
			continue
		}
		r, known, err := seen.find(name)
		if err != nil {
			return t, err
		}
		if r.has(h.target.rpm) {
			continue
		}
		vendor, err := h.vendorOf(*r)
		if !known && name == p.source.Name && err == nil {
			vendor, err = h.byPattern(name)
		}
		if err != nil {
			return t, err
		}
		if vendor == record.VendorEPEL {
			t.Packages[len(t.Packages)-1].Repository = api.EPEL
		}
		doubt, err := h.doubt(*r, vendor)
		if err != nil {
			return t, err
		}
		t.Caveats = append(t.Caveats, doubt)
	}
	if slices.Contains(p.methods, unheard) {
		t.Caveats = append(t.Caveats, caveat(CaveatExistence, api.SeverityInfo,
			"No list of the index, of EL, EPEL or another vendor, knows this package: see where the machine has it from, and whether that has it for %s.", h.target.slug))
	}
	again, err := h.hasAgain(p)
	if err != nil {
		return t, err
	}
	if again {
		t.Confidence = min(t.Confidence, unsure)
		t.Caveats = append(t.Caveats, caveat(CaveatExistence, api.SeverityInfo,
			"Packages of %s by this name are known: a later minor release may have brought it back.", h.target.slug))
	}
	if t.Caveats, err = h.ofVendor(t.Caveats, &p); err != nil {
		return t, err
	}
	t.Caveats = h.ofCourse(t.Caveats, &p, len(p.names))
	if p.relation == api.RelationRemoved && p.confidence < SureConfidence && !h.target.rpm.lists() && !slices.Contains(p.methods, unheard) && !again {
		t.Caveats = append(t.Caveats, h.elsewhere())
	}
	return t, h.addCurated(canonical, &t, nil)
}

// hasAgain reports whether the target is known to have what went, by the events
// of its first minor release, on the way to it.
func (h *hops) hasAgain(p course) (bool, error) {
	if p.relation != api.RelationRemoved || p.found != byEvent || h.target.rpm.lists() || h.source.rpm == nil || h.source.rpm.line != h.target.rpm.line {
		return false, nil
	}
	r, _, err := h.target.findRPM(p.source.Name)
	return h.target.rpm.at(r), err
}
