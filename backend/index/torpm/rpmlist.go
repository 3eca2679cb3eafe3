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
func (h *Path) arriveListed(p course.Course) (course.Course, error) {
	next := p
	next.Names = nil
	for _, name := range p.Names {
		_, there, err := h.Target.RPM.Own(name)
		if err != nil {
			return p, err
		}
		if there {
			next = next.With([]string{name})
			continue
		}
		if next, err = h.succeeded(next, name); err != nil {
			return p, err
		}
	}
	if len(next.Names) > 0 {
		return next.SettledAmong(p), nil
	}
	_, there, err := h.Target.RPM.Own(p.Source.Name)
	if there {
		next.Relation, next.Confidence, next.Names = api.RelationSame, course.ReturnedConfidence, []string{p.Source.Name}
		return next, err
	}
	if next.Relation != api.RelationRemoved {
		next.Relation, next.Confidence = api.RelationRemoved, course.GoneConfidence
	}
	return next, err
}

// confirmListed makes surer, or less sure, of names by the target's own list.
func (h *Path) confirmListed(p course.Course) (course.Course, error) {
	if !h.Target.RPM.Lists() || len(p.Names) == 0 {
		return p, nil
	}
	there, err := h.arriveListed(p)
	if slices.Equal(there.Names, p.Names) {
		there.Confidence = max(there.Confidence, course.ReturnedConfidence)
	}
	return there, err
}

// succeeded adds the packages of the target that come in the place of one.
func (h *Path) succeeded(p course.Course, name string) (course.Course, error) {
	by, err := h.obsoleters(name)
	if err != nil {
		return p, err
	}
	provider, _, err := h.Target.Provides.Get(name)
	if err != nil {
		return p, err
	}
	switch {
	case len(by) > 0:
		relation, err := h.succession(name, by, provider)
		p.Relation, p.Confidence = course.Stronger(p.Relation, relation), p.Confidence*record.ObsoletesConfidence
		p.Methods = append(slices.Clip(p.Methods), record.Obsoleted)
		return p.With(by), err
	case provider != "":
		p.Relation, p.Confidence = course.Stronger(p.Relation, api.RelationRenamed), p.Confidence*course.ProviderConfidence
		return p.With([]string{provider}), nil
	}
	return p, nil
}

// obsoleters are the packages of the target that obsolete the source's version
// of a package.
func (h *Path) obsoleters(name string) ([]string, error) {
	value, _, err := h.Target.RPM.Obsoletes.Get(name)
	if err != nil {
		return nil, err
	}
	version := ""
	if h.Source.RPM != nil {
		own, _, err := h.Source.RPM.Own(name)
		if err != nil {
			return nil, err
		}
		version = own.Version
	}
	var names []string
	for text := range strings.FieldsSeq(value) {
		c := append(strings.Split(text, "|"), "", "")
		if o := (record.Obsolete{Name: name, Flags: c[1], Version: c[2]}); o.Covers(version) && !slices.Contains(names, c[0]) {
			names = append(names, c[0])
		}
	}
	return names, nil
}

// succession is the relation of a package to those that obsolete it: it was
// renamed where one provides its name or is of its source, else it went into
// one that was there before, or another took its place.
func (h *Path) succession(name string, by []string, provider string) (api.Relation, error) {
	if len(by) > 1 {
		return api.RelationSplit, nil
	}
	if by[0] == provider || h.Source.RPM == nil {
		return api.RelationRenamed, nil
	}
	old, _, err := h.Source.RPM.Own(name)
	if err != nil {
		return "", err
	}
	successor, _, err := h.Target.RPM.Own(by[0])
	if err != nil || old.Source != "" && old.Source == successor.Source {
		return api.RelationRenamed, err
	}
	if _, before, err := h.Source.RPM.Own(by[0]); before || err != nil {
		return api.RelationMerged, err
	}
	return api.RelationReplaced, nil
}

// streamCaveat tells which module streams have a package that none has by default.
func (h *Path) streamCaveat(name string, l record.Listed) api.Caveat {
	return course.Caveat(course.CaveatStream, api.SeverityWarning, "%s is in module streams of %s alone: enable one of %s before it is installed.",
		name, h.Target.Slug, strings.Join(l.Streams, ", "))
}
