package torpm

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/record"
)

// arriveListed takes the names of a course to what the target's list has:
// themselves, what obsoletes them, or what alone provides them.
func (h *Path) arriveListed(p course.Course) course.Course {
	next := p
	next.Names = nil
	for _, name := range p.Names {
		if _, there := h.Target.RPM.Own(name); there {
			next = next.With([]string{name})
			continue
		}
		next = h.succeeded(next, name)
	}
	if len(next.Names) > 0 {
		return next.SettledAmong(p)
	}
	if _, there := h.Target.RPM.Own(p.Source.Name); there {
		next.Relation, next.Confidence, next.Names = api.RelationSame, course.ReturnedConfidence, []string{p.Source.Name}
		return next
	}
	if next.Relation != api.RelationRemoved {
		next.Relation, next.Confidence = api.RelationRemoved, course.GoneConfidence
	}
	return next
}

// confirmListed makes surer, or less sure, of names by the target's own list.
func (h *Path) confirmListed(p *course.Course) {
	if !h.Target.RPM.Lists() || len(p.Names) == 0 {
		return
	}
	there := h.arriveListed(*p)
	if slices.Equal(there.Names, p.Names) {
		there.Confidence = max(there.Confidence, course.ReturnedConfidence)
	}
	*p = there
}

// succeeded adds the packages of the target that come in the place of one.
func (h *Path) succeeded(p course.Course, name string) course.Course {
	by := h.obsoleters(name)
	provider := h.Target.Provides.Value(name)
	switch {
	case len(by) > 0:
		p.Relation, p.Confidence = course.Stronger(p.Relation, h.succession(name, by, provider)), p.Confidence*record.ObsoletesConfidence
		p.Methods = append(slices.Clip(p.Methods), record.Obsoleted)
		return p.With(by)
	case provider != "":
		p.Relation, p.Confidence = course.Stronger(p.Relation, api.RelationRenamed), p.Confidence*course.ProviderConfidence
		return p.With([]string{provider})
	}
	return p
}

// obsoleters are the packages of the target that obsolete the source's version
// of a package.
func (h *Path) obsoleters(name string) []string {
	version := ""
	if h.Source.RPM != nil {
		own, _ := h.Source.RPM.Own(name)
		version = own.Version
	}
	var names []string
	for text := range strings.FieldsSeq(h.Target.RPM.Obsoletes.Value(name)) {
		c := append(strings.Split(text, "|"), "", "")
		if o := (record.Obsolete{Name: name, Flags: c[1], Version: c[2]}); o.Covers(version) && !slices.Contains(names, c[0]) {
			names = append(names, c[0])
		}
	}
	return names
}

// succession is the relation of a package to those that obsolete it: it was
// renamed where one provides its name or is of its source, else it went into
// one that was there before, or another took its place.
func (h *Path) succession(name string, by []string, provider string) api.Relation {
	if len(by) > 1 {
		return api.RelationSplit
	}
	if by[0] == provider || h.Source.RPM == nil {
		return api.RelationRenamed
	}
	old, _ := h.Source.RPM.Own(name)
	successor, _ := h.Target.RPM.Own(by[0])
	if old.Source != "" && old.Source == successor.Source {
		return api.RelationRenamed
	}
	if _, before := h.Source.RPM.Own(by[0]); before {
		return api.RelationMerged
	}
	return api.RelationReplaced
}

// streamCaveat tells which module streams have a package that none has by default.
func (h *Path) streamCaveat(name string, l record.Listed) api.Caveat {
	return course.Caveat(course.CaveatStream, api.SeverityWarning, "%s is in module streams of %s alone: enable one of %s before it is installed.",
		name, h.Target.Slug, strings.Join(l.Streams, ", "))
}
