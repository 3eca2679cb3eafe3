package torpm

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
)

// suseRows is the level of SUSE whose names the rows between families have.
const suseRows = 15

// nameToday is the name that a source after SLES 15 has for what had another
// there: a module of Python bears its version.
func (h *Path) nameToday(name string) string {
	if h.Source.RPM.Line != "suse" || h.Source.RPM.Level <= suseRows {
		return name
	}
	t := course.Step(func(name string) (string, bool) { return h.trail(suseRows, name) }, name)
	if t.Relation != api.RelationRenamed || len(t.Targets) != 1 {
		return name
	}
	return t.Targets[0]
}

// afterRows takes the names that rows have for SUSE on to the target's level.
func (h *Path) afterRows(p *course.Course) {
	if h.Target.RPM.Line != "suse" || h.Target.RPM.Level <= suseRows || h.Target.RPM.Lists() {
		return
	}
	before := len(p.Methods)
	if h.climb(p, suseRows); len(p.Methods) > before {
		p.Found = course.ByEvent
	}
}

// overLevels follows an rpm from level to level of its line.
func (h *Path) overLevels(p *course.Course) {
	h.climb(p, h.Source.RPM.Level)
	if len(p.Methods) > 0 {
		p.Found = course.ByEvent
	}
	if slices.Contains(p.Methods, course.Dropped) {
		p.Found = course.ByAbsence
	}
	if h.Target.RPM.Lists() {
		*p = h.arriveListed(*p)
		p.Confidence = min(p.Confidence, course.SameConfidence)
		return
	}
	if len(p.Names) == 0 {
		h.back(p)
		return
	}
	p.Confidence = min(p.Confidence, course.SameConfidence)
	for _, name := range p.Names {
		r, ok := h.Seen.Find(h.Target, name)
		if h.ownRPMs(name) != "" {
			continue // the target's own row says what it has
		}
		if h.isUnheard(p, name, ok) {
			p.UnheardOf()
			return
		}
		p.Confidence *= h.persistence(p, r, ok)
	}
	h.inOwnNames(p)
}

// back looks whether the target is known to have again what went on the way.
func (h *Path) back(p *course.Course) {
	if h.Target.RPM.Level == nextLevel(h.Target.RPM.Line, h.Source.RPM.Level) {
		return
	}
	r, ok := h.Seen.Find(h.Target, p.Source.Name)
	if ok && h.Target.RPM.At(r) {
		p.Relation, p.Confidence, p.Names, p.Methods = api.RelationSame, course.ReturnedConfidence, []string{p.Source.Name}, nil
	}
	for _, name := range forPython3(p.Source.Name) {
		if len(p.Names) > 0 {
			break
		}
		if module, ok := h.Seen.Find(h.Target, name); ok && h.Target.RPM.At(module) {
			p.Relation, p.Confidence, p.Names, p.Methods = api.RelationReplaced, course.ReturnedConfidence, []string{name}, nil
		}
	}
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
func (h *Path) climb(p *course.Course, from int) {
	for n := from; n < h.Target.RPM.Level; n++ {
		trails := func(name string) (string, bool) { return h.trail(n, name) }
		if h.withItsWhole(p.Names, trails) {
			p.Relation, p.Confidence, p.Names, p.Methods = api.RelationRemoved, course.WholeConfidence, nil, append(slices.Clip(p.Methods), record.Curated)
			return
		}
		p.Follow(trails)
	}
}

// became is what became of an rpm that may be gone after the last level of EL that is known to
// have it, where a trail says so.
func (h *Path) became(p course.Course, r *lookup.RPM) (later course.Course, gone bool) {
	if later = p; !h.Target.RPM.MayHaveLost(r) {
		return p, false
	}
	h.climb(&later, r.NewestBefore(h.Target.RPM.Level))
	if len(later.Methods) == len(p.Methods) || p.Relation == api.RelationIncluded && later.Evidence() == course.Dropped {
		return p, false // a library comes under another name
	}
	later.Found = course.ByEvent
	if slices.Contains(later.Methods, course.Dropped) {
		later.Found = course.ByAbsence
	}
	h.inOwnNames(&later)
	return later, true
}

// nextLevel is the level after one: SUSE has none between 12 and 15.
func nextLevel(line string, n int) int {
	if line == "suse" {
		return max(n+1, suseRows)
	}
	return n + 1
}

// trail finds what becomes of a name after a level: its row, else, unless the next level
// is known to have the name, that of the longest pattern, else what the lists of EL say.
func (h *Path) trail(level int, name string) (trail string, ok bool) {
	if h.keeps(name) {
		return "", false
	}
	rows, next := &h.levels[level], nextLevel(h.Target.RPM.Line, level)
	if trail, ok = rows.Get(name); ok {
		return trail, !h.epelKeeps(name, trail)
	}
	row := rows.Patterns().Longest(name)
	if row == nil && !h.Target.RPM.Listed(next) {
		return "", false
	}
	r, _ := h.Seen.Find(h.Target, name)
	switch {
	case r.AtLevel(h.Target.RPM.Line, next):
		return "", false
	case row != nil:
		return strings.ReplaceAll(row.Value, "*", row.Stood(name)), true
	case h.Target.RPM.Drops(r, next) && h.ownRPMs(name) == "":
		return droppedTrail, true
	}
	return "", false
}

// epelKeeps reports whether EPEL has taken what a trail says has gone from EL.
func (h *Path) epelKeeps(name, trail string) bool {
	if !strings.HasPrefix(trail, string(api.RelationRemoved)) || !h.Target.RPM.Known || h.Target.RPM.Lists() {
		return false
	}
	r, _ := h.Seen.Find(h.Target, name)
	return r.InEPEL(h.Target.RPM)
}

// keeps reports whether a distribution near EL has a package, under its name or that of
// a row, by the row or its own list, whatever EL does with it.
func (h *Path) keeps(name string) bool {
	if h.Target.RPM.Line != "el" {
		return false
	}
	relation, own := record.Column(h.ownRPMs(name))
	if own == name && relation == string(api.RelationSame) {
		return true
	}
	if h.Target.RPM.Known {
		return false
	}
	if h.calledOtherwise(name) {
		return true
	}
	r, _ := h.Seen.Find(h.Target, name)
	return r.Has(h.Target.RPM)
}

// calledOtherwise reports whether the target has what EL calls so under the names of a row.
func (h *Path) calledOtherwise(name string) bool {
	_, own := record.Column(h.ownRPMs(name))
	return own != "" && own != name && h.presenceOf(strings.Fields(own)) == lookup.InList
}

// droppedTrail is the trail of what EL has no more.
var droppedTrail = record.EncodeTrail(record.Trail{Relation: api.RelationRemoved, Confidence: course.DroppedConfidence, Method: course.Dropped})

// withItsWhole reports whether a package goes because what it is a part of does:
// rows name the library alone, not its headers, and no list has every part.
func (h *Path) withItsWhole(names []string, trails course.Trails) bool {
	if len(names) != 1 {
		return false
	}
	name, headers := names[0], strings.HasSuffix(names[0], "-devel")
	if !headers && !h.Target.RPM.Known {
		return false
	}
	r, there := h.Seen.Find(h.Target, name)
	if there && (r.Has(h.Target.RPM) || !headers) {
		return false
	}
	if _, own := trails(name); own {
		return false
	}
	return h.wholeGoes(name, trails)
}

// wholeGoes reports whether the nearest package that anything is known of, of
// those whose names a name goes on from, goes.
func (h *Path) wholeGoes(name string, trails course.Trails) bool {
	for at := strings.LastIndexByte(name, '-'); at > 0; at = strings.LastIndexByte(name, '-') {
		name = name[:at]
		if value, ok := trails(name); ok {
			return record.DecodeTrail(value).Relation == api.RelationRemoved
		}
		if _, there := h.Seen.Find(h.Target, name); there || !h.Target.RPM.Known {
			return false
		}
	}
	return false
}

// persistence is how sure it is that the target still has an rpm.
func (h *Path) persistence(p *course.Course, r *lookup.RPM, ok bool) float64 {
	switch {
	case ok && r.Has(h.Target.RPM), h.sameKind() && h.Source.RPM.Level == h.Target.RPM.Level:
		return 1
	case len(p.Methods) > 0:
		return 1 // an event says so
	case h.Target.RPM.Line == "suse":
		return h.staying(r)
	case !h.Source.RPM.Known || !h.Target.RPM.Known || h.Source.RPM.Level > h.Target.RPM.Level:
		return h.existence(r)
	case r.Newest() > h.Target.RPM.Level:
		return course.Skipped
	}
	return h.existence(r)
}

// staying is how sure it is that a release of SUSE has what another of its line
// has, where no row says that it went.
func (h *Path) staying(r *lookup.RPM) float64 {
	switch {
	case h.Source.RPM.Level == h.Target.RPM.Level:
		return course.Alongside
	case r.Line == "suse" || r.Suse != "":
		return course.Onward
	}
	return course.Listless
}
