package course

import (
	"strings"

	"svc/backend/api"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/release"
)

// Pair are the two releases between which packages are followed.
type Pair struct {
	Tables         *lookup.Tables
	Source, Target *lookup.Release
	NoList         string       // says that there is no list of the target
	Rates          Rates        // of answers between their families
	Seen           *lookup.Memo // what this call has looked up of rpms
}

// RPMTrail is what the index knows of an rpm of the source: its trail, or what the
// rules make of the canonical of one that is not known.
func (h *Pair) RPMTrail(r *lookup.RPM) (t record.Trail, ok bool) {
	if r.Key == "" {
		return h.byRules(r.Canonical)
	}
	if r.Trail == "" {
		return t, false
	}
	return record.DecodeTrail(r.Trail), true
}

// byRules is what the rules make of the canonical of an rpm that is not known.
func (h *Pair) byRules(canonical string) (record.Trail, bool) {
	x := &lookup.Names{Tables: h.Tables, Line: h.Source.RPM.Line}
	if name, ok := x.Canonical(canonical); ok {
		relation := api.RelationRenamed
		if record.Role(canonical) == api.RoleLib {
			relation = api.RelationIncluded
		}
		confidence := rulesConfidence
		if record.Role(canonical) == api.RoleMain && rpm.IsSubpackage(name, canonical) {
			confidence = SubpackageConfidence
		}
		return record.Trail{Relation: relation, Confidence: confidence, Targets: []string{name}, Method: "canonical"}, true
	}
	var best rpm.Guess // of the names that the canonical may be of
	rules := rpm.New(x)
	for _, name := range rpm.Names(canonical) {
		if g, ok := rules.Of(name); ok && g.Confidence > best.Confidence {
			best = g
		}
	}
	best.Confidence = min(best.Confidence, rulesConfidence)
	return best, best.Method != ""
}

// InDebian is the package of Debian that the source of a course is.
func (h *Pair) InDebian(p *Course) string {
	if h.Source.RPM == nil {
		return p.Source.Name
	}
	for _, name := range h.DebianOf(h.Source, p.Source.Name) {
		return name
	}
	return ""
}

// DebianOf are the alternatives for the one package of Debian that an rpm of a release is;
// none where its row and the rules know none, or several packages.
func (h *Pair) DebianOf(t *lookup.Release, name string) []string {
	var g rpm.Guess
	if r, _ := h.Seen.Find(t, name); r.Trail != "" {
		g = record.DecodeTrail(r.Trail) // the tables have what the rules say
	} else {
		g, _ = rpm.Of(name, &lookup.Names{Tables: h.Tables, Line: t.RPM.Line})
	}
	if !rpm.One(g) || rpm.IsVendor(g.Method) {
		return nil
	}
	return strings.Split(g.Targets[0], "|")
}

// Instead says so where one of some alternatives is other software than the
// first of them that any release has.
func (h *Pair) Instead(p *Course, alternatives []string, name string) {
	if name == alternatives[0] || p.Relation != api.RelationRenamed {
		return
	}
	x := &lookup.Names{Tables: h.Tables}
	first, _ := x.Package(rpm.FirstThere(x, strings.Join(alternatives, "|")))
	own, _ := x.Package(name)
	if unversioned(own) != unversioned(first) {
		p.Relation = api.RelationReplaced
	}
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

// Holds reports whether a curated row is for the move: one may be for moves past a
// release alone, or for a change of the major version.
func (h *Pair) Holds(s record.Span, majorChanges bool) bool {
	if s.MajorChanges && !majorChanges {
		return false
	}
	if s.Since == "" {
		return true
	}
	at, ok := release.Lookup(s.Since)
	if target := h.Target.Release; ok && target.Family == release.Ubuntu && at.Family == release.Debian {
		return reached(target, at.Version) && !reached(h.Source.Release, at.Version)
	}
	return ok && h.Target.Release.ID == at.ID && !h.Target.Release.Older(at) && before(h.Source.Release, at)
}

// reached reports whether a release of Debian's line has had the changes of one of Debian's.
func reached(r release.Release, version string) bool {
	had := r.Debian()
	return had != "" && record.CompareVersion(had, version) >= 0
}

// before reports whether a release came before another: what has no day yet is
// still to come.
func before(r, at release.Release) bool {
	if r.ID == at.ID {
		return r.Older(at)
	}
	return r.Released != "" && (at.Released == "" || r.Released < at.Released)
}

// mayChangeMajor reports whether the releases are so far apart that software
// whose versions the index does not know has another major in each.
func (h *Pair) mayChangeMajor() bool {
	from, to := h.Source.RPM, h.Target.RPM
	if from == nil || to == nil {
		return from != to
	}
	return from.Line != to.Line || from.Level != to.Level
}

// Crosses reports whether the way leads from one distribution of Debian's family to
// another whose own lists are known.
func (h *Pair) Crosses() bool {
	return !h.Source.Foreign() && !h.Target.Foreign() &&
		record.Distribution(h.Source.Suite().Slug) != record.Distribution(h.Target.Suite().Slug)
}

// WithoutVersion is the usual name of the metapackage for all versions of what
// is named: golang-go for golang-1.18-go.
func WithoutVersion(name string) string {
	before, _, after, ok := record.AVersion(name)
	if !ok || before == "" {
		return name
	}
	return strings.TrimSuffix(before, "-") + after
}
