package course

import (
	"slices"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
)

// Course is what became of one package, as far as it was followed.
type Course struct {
	Source     record.Record // its zero where the source release has no such package
	Relation   api.Relation
	Confidence float64
	Names      []string
	Methods    []string
	Candidates []string
	Found      string // how it was found, where it ends at rpms; see rates.tsv
	Spelt      bool   // the name of its source is what its canonical alone leads back to
}

// Settle gives the relation that fits the number of packages, and their name:
// what the target has under the same name needs nothing in its place.
func (p *Course) Settle(name string) {
	switch same := len(p.Names) == 1 && p.Names[0] == name; {
	case p.Relation == api.RelationIncluded || len(p.Names) == 0:
	case same:
		p.Relation = api.RelationSame
	case len(p.Names) > 1 && p.Relation != api.RelationReplaced:
		p.Relation = api.RelationSplit
	case p.Relation == api.RelationSame, len(p.Names) == 1 && p.Relation == api.RelationSplit:
		p.Relation = api.RelationRenamed
	}
}

// With is a course that leads to more packages; the names are shared.
func (p Course) With(names []string) Course {
	if len(p.Names) == 0 && len(names) == 1 {
		p.Names = slices.Clip(names)
		return p
	}
	p.Names = record.AppendNew(slices.Clip(p.Names), names...)
	return p
}

// UnheardOf answers for an rpm that nothing is known of, so that it is hardly of EL.
func (p *Course) UnheardOf() {
	p.Relation, p.Confidence, p.Names, p.Found = api.RelationRemoved, unheardConfidence, nil, ByAbsence
	p.Methods = append(slices.Clip(p.Methods), Unheard)
}

// Since is a course that went on from another.
func (p Course) Since(before Course) Course {
	p.Source, p.Confidence = before.Source, p.Confidence*before.Confidence
	return p
}

// Evidence is the kind of evidence that a course ends with.
func (p Course) Evidence() string {
	if len(p.Methods) == 0 {
		return "same release or name"
	}
	last := p.Methods[len(p.Methods)-1]
	switch {
	case rpm.IsVendor(last):
		return "third-party"
	case last == rpm.Library && !rpm.IsLibraryName(p.Source.Name):
		return "library of software"
	}
	return last
}

// SettledAmong gives the relation of a course that went on from another.
func (p Course) SettledAmong(before Course) Course {
	if slices.Equal(p.Names, before.Names) {
		return p
	}
	p.Relation = compose(before.Relation, p.Relation, len(p.Names), api.RelationRemoved)
	if len(p.Names) == 1 && p.Names[0] == p.Source.Name {
		p.Relation = api.RelationSame
	}
	return p
}

// Trails are what becomes of packages from one release to the next, by name.
type Trails func(name string) (trail string, ok bool)

// Follow takes every name one release further.
func (p *Course) Follow(trails Trails) {
	if len(p.Names) == 0 {
		return
	}
	if len(p.Names) == 1 {
		if _, changes := trails(p.Names[0]); !changes {
			return
		}
	}
	next := Course{Source: p.Source, Confidence: p.Confidence, Methods: p.Methods, Found: p.Found}
	lost := api.RelationRemoved
	relation := api.RelationSame
	for _, name := range p.Names {
		t := Step(trails, name)
		next.Confidence = min(next.Confidence, after(p.Confidence, t))
		next.Candidates = append(next.Candidates, t.Candidates...)
		if t.Method != "" {
			next.Methods = append(slices.Clip(next.Methods), t.Method)
		}
		if len(t.Targets) == 0 {
			if t.Relation == api.RelationUnknown {
				lost = t.Relation
			}
			continue
		}
		relation = Stronger(relation, t.Relation)
		next.Names = record.AppendNew(next.Names, t.Targets...)
	}
	next.Relation = compose(p.Relation, relation, len(next.Names), lost)
	*p = next
}

// after is the confidence once a trail was followed. What is found by its
// software and version is found as surely from any release: there the steps are
// not independent.
func after(before float64, t record.Trail) float64 {
	switch t.Method {
	case record.Soname, record.Lineage, record.Default:
		return min(before, t.Confidence)
	}
	return before * t.Confidence
}

// Step reads the trail of a package; without one it stays.
func Step(trails Trails, name string) record.Trail {
	value, ok := trails(name)
	if !ok {
		return record.Trail{Relation: api.RelationSame, Confidence: 1, Targets: []string{name}}
	}
	return record.DecodeTrail(value)
}

// strength orders the relations by which of two in a row names the whole.
var strength = []api.Relation{
	api.RelationSame, api.RelationRenamed, api.RelationReplaced, api.RelationMerged, api.RelationSplit, api.RelationIncluded,
}

// Stronger is the one of two relations that names both together.
func Stronger(a, b api.Relation) api.Relation {
	if slices.Index(strength, a) >= slices.Index(strength, b) {
		return a
	}
	return b
}

// compose is the relation of two steps in a row that end at n packages. What
// other software is merged into does the job as it did.
func compose(first, second api.Relation, n int, lost api.Relation) api.Relation {
	whole := Stronger(first, second)
	if first == api.RelationReplaced && second == api.RelationMerged {
		whole = first
	}
	switch {
	case n == 0:
		return lost
	case n > 1 && whole != api.RelationIncluded && whole != api.RelationReplaced:
		return api.RelationSplit
	case n == 1 && whole == api.RelationSplit:
		return api.RelationRenamed
	}
	return whole
}

// Doubt turns an answer that is not sure enough into candidates.
func (p *Course) Doubt() {
	if len(p.Names) > 0 && p.Confidence < LeastConfidence {
		p.Relation, p.Candidates, p.Names = api.RelationUnknown, append(slices.Clip(p.Candidates), p.Names...), nil
	}
}

// Round keeps two digits, so that products print as people write them.
func Round(c float64) float64 { return float64(int(c*100+0.5)) / 100 }
