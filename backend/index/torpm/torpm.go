package torpm

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/pkgversion"
)

// Path is the way between two releases of which the target's packages are rpms.
type Path struct {
	*course.Pair
	ownNames
	levels    []levelTrails // of the target's line, by level
	elsewhere api.Caveat    // where a package may be that the target's lists lack
}

// New is the path between two releases.
func New(between *course.Pair) *Path {
	h := &Path{Pair: between, ownNames: readOwnNames(between), elsewhere: elsewhere(between.Target)}
	h.levels = h.levelTrails()
	return h
}

// Follow follows a canonical to the target.
func (h *Path) Follow(canonical string) (course.Course, error) {
	if h.Source.RPM != nil {
		return h.amongRPMs(canonical)
	}
	return h.toRPM(canonical)
}

// toRPM follows a package of Debian's family to an rpm release.
func (h *Path) toRPM(canonical string) (course.Course, error) {
	p, err := h.namedInRPM(canonical)
	if err != nil {
		return p, err
	}
	return h.afterRows(p)
}

// namedInRPM follows it to the names that the rows and tables have.
func (h *Path) namedInRPM(canonical string) (course.Course, error) {
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
func (h *Path) metapackageToRPM(p course.Course) (course.Course, bool, error) {
	name := course.WithoutVersion(p.Source.Name)
	if name == p.Source.Name || p.Source.IsLibrary() {
		return p, false, nil
	}
	x := &lookup.Names{Tables: h.Tables}
	canonical, ok := x.Package(name)
	if !ok || canonical == p.Source.Canonical || x.Err != nil {
		return p, false, x.Err
	}
	meta, found, err := h.knownToRPM(canonical)
	if err != nil || !found || meta.Relation == api.RelationRemoved {
		return p, false, err
	}
	meta.Source, meta.Relation = p.Source, course.Stronger(meta.Relation, api.RelationRenamed)
	meta.Confidence, meta.Found = meta.Confidence*record.LineageConfidence, course.ByMetapackage
	return meta, true, nil
}

// knownToRPM follows it by what the index knows: a row, its canonical, or the
// rpms that are of it.
func (h *Path) knownToRPM(canonical string) (p course.Course, found bool, err error) {
	r, ok, err := h.Source.ByCanonical(canonical)
	if err != nil {
		return course.Course{}, false, err
	}
	p = course.Course{Source: r, Relation: api.RelationUnknown}
	if !ok {
		p.Source = record.Record{Name: canonical, Canonical: canonical}
	}
	if row, ok, err := h.rowToRPM(p); ok || err != nil {
		return row, ok, err
	}
	named, found, err := h.Target.RPMBy(canonical)
	confidence, way := record.RowConfidence, course.ByCanonical
	if !found && err == nil {
		named, found, err = h.reverse(p.Source.Name, false)
		confidence, way = record.LineageConfidence, course.ByPart
		if named.Whole {
			way = course.ByReverse
		}
	}
	if !found || err != nil {
		return p, false, err
	}
	p.Found = way
	p, err = h.rpm(p, named, confidence)
	if named.Among && p.Relation == api.RelationMerged {
		p.Confidence = min(p.Confidence, course.PartConfidence)
	}
	return p, true, err
}

// reverse is the rpm of the target's line that is a package of Debian, or has a
// part of it: strictly, one that is that package and is named so in that line
// alone.
func (h *Path) reverse(name string, strictly bool) (lookup.RPM, bool, error) {
	value, _, err := h.Tables.RpmReverse.Get(name)
	if err != nil {
		return lookup.RPM{}, false, err
	}
	wholes, parts, _ := strings.Cut(value, "\t")
	if strictly {
		parts = ""
	}
	best := preferred{line: h.Target.RPM}
	for i, names := range []string{wholes, parts} {
		for name := ""; names != ""; {
			name, names = record.Cut(names, ' ')
			r, ok, err := h.Target.FindRPM(name)
			if err != nil {
				return r, false, err
			}
			if r.Whole = i == 0; ok && r.Key == name && r.Of(h.Target.RPM) && !(strictly && (r.Line == "" || rpm.OfVersion(name))) {
				best.add(r)
			}
		}
	}
	best.rpm.Among = best.others && !best.rpm.Whole
	return best.rpm, best.rpm.Key != "", nil
}

// preferred is the rpm to be preferred of several: the first that the release is
// known to have, or the newest version where they are versions of one software. What
// is a package of Debian comes before what has a part of it.
type preferred struct {
	line   *lookup.Line
	rpm    lookup.RPM
	others bool // it is not alone with its versions
}

func (p *preferred) add(r lookup.RPM) {
	presence := r.Presence(p.line) - p.rpm.Presence(p.line)
	switch {
	case p.rpm.Key == "" || presence > 0:
		p.rpm, p.others = r, false
	case presence < 0 || p.others || p.rpm.Whole && !r.Whole: // it stays
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
func (h *Path) rpm(p course.Course, r lookup.RPM, confidence float64) (course.Course, error) {
	if h.Target.RPM.Lists() && !r.Listed {
		return h.withoutRPM(p), nil
	}
	p.Names, p.Confidence = []string{r.Name}, confidence
	p.Relation = api.RelationRenamed
	switch {
	case r.Name == p.Source.Name:
		p.Relation = api.RelationSame
	case p.Source.IsLibrary():
		p.Relation = api.RelationIncluded
	case r.Canonical != p.Source.Canonical && !r.Whole:
		p.Relation = api.RelationMerged
	}
	if later, gone, err := h.became(p, r); gone || err != nil {
		return later, err
	}
	if p.Relation != api.RelationIncluded {
		p.Confidence *= h.existence(r) // what comes as a dependency need not be there by name
	} else if h.lacks(r) {
		p.Confidence, p.Names = min(p.Confidence, course.Unlisted), nil
	}
	return h.inOwnNames(p), nil
}

// lacks reports whether the list of a release of EL is nearly whole, and has no such rpm.
func (h *Path) lacks(r lookup.RPM) bool {
	l := h.Target.RPM
	return l.Line == "el" && l.Known && l.Level >= record.WholeLists && !r.Has(l) && !r.InEPEL(l)
}

// became is what became of an rpm after the last level of EL that is known to
// have it, where a trail says so.
func (h *Path) became(p course.Course, r lookup.RPM) (later course.Course, gone bool, err error) {
	newest := r.NewestBefore(h.Target.RPM.Level)
	if newest == 0 || h.Target.RPM.Lists() || r.Has(h.Target.RPM) || h.Target.RPM.Line != "el" || h.Target.RPM.At(r) || r.InEPEL(h.Target.RPM) {
		return p, false, nil
	}
	later, err = h.climb(p, newest, &lookup.Memo{In: h.Target})
	if err != nil || len(later.Methods) == len(p.Methods) || p.Relation == api.RelationIncluded && later.Evidence() == course.Dropped {
		return p, false, err // a library comes under another name
	}
	later.Found = course.ByEvent
	if slices.Contains(later.Methods, course.Dropped) {
		later.Found = course.ByAbsence
	}
	return h.inOwnNames(later), true, nil
}

// existence is how sure it is that the target has an rpm.
func (h *Path) existence(r lookup.RPM) float64 {
	switch l := h.Target.RPM; {
	case r.Has(l):
		return 1
	case l.Known && r.InEPEL(l):
		return course.Listless
	case l.Known && r.Levels != "" && l.Level >= record.WholeLists:
		return course.Later
	case l.Known && r.Levels != "":
		return course.Elsewhere
	case l.At(r), r.Line == l.Line, l.Line == "suse" && r.Levels != "":
		return course.Listless
	}
	return course.Listless - 0.1
}

// withoutRPM answers where the target's own list has nothing of what is known:
// libraries come as dependencies.
func (h *Path) withoutRPM(p course.Course) course.Course {
	switch r := record.Role(p.Source.Canonical); {
	case !h.Target.RPM.Lists():
	case r == api.RoleLib || r == api.RoleLang:
		p.Relation, p.Confidence = api.RelationIncluded, course.Unlisted
	default:
		p.Relation, p.Confidence, p.Names = api.RelationRemoved, course.GoneConfidence, nil
	}
	return p
}

// guessRPM answers for what no rpm is known for: libraries come as
// dependencies, anything else may have the same name.
func (h *Path) guessRPM(p course.Course) course.Course {
	p.Found = course.ByGuess
	switch r := record.Role(p.Source.Canonical); {
	case r == api.RoleLang, p.Source.IsLibrary():
		p.Relation, p.Confidence = api.RelationIncluded, course.Unlisted
	case r == api.RoleDebug:
		p.Relation, p.Confidence = api.RelationRemoved, course.Unlisted
	case record.IsCanonical(p.Source.Name):
		p.Relation, p.Confidence = api.RelationRemoved, course.GoneConfidence
	default:
		p.Relation, p.Confidence, p.Names = api.RelationRenamed, course.Guessed, []string{h.Tables.RPMName(p.Source.Name)}
	}
	return p
}
