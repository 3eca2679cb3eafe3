package index

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
)

// What leads from a package to its successor by the target's own metadata.
const (
	providerConfidence = 0.85
)

// lists reports whether the release's own list is known.
func (l *rpmLine) lists() bool { return l.rpms.Len() > 0 }

// own is what the release's list says of a package.
func (l *rpmLine) own(name string) (record.Listed, bool, error) {
	value, ok, err := l.rpms.Get(name)
	if !ok {
		return record.Listed{}, false, err
	}
	return record.DecodeListed(value), true, err
}

// arriveListed takes the names of a course to what the target's list has:
// themselves, what obsoletes them, or what alone provides them.
func (h *hops) arriveListed(p course) (course, error) {
	next := p
	next.names = nil
	for _, name := range p.names {
		_, there, err := h.target.rpm.own(name)
		if err != nil {
			return p, err
		}
		if there {
			next = next.with([]string{name})
			continue
		}
		if next, err = h.succeeded(next, name); err != nil {
			return p, err
		}
	}
	if len(next.names) > 0 {
		return next.settledAmong(p), nil
	}
	_, there, err := h.target.rpm.own(p.source.Name)
	if there {
		next.relation, next.confidence, next.names = api.RelationSame, returnedConfidence, []string{p.source.Name}
		return next, err
	}
	if next.relation != api.RelationRemoved {
		next.relation, next.confidence = api.RelationRemoved, goneConfidence
	}
	return next, err
}

// settledAmong gives the relation of a course that went on from another.
func (p course) settledAmong(before course) course {
	if slices.Equal(p.names, before.names) {
		return p
	}
	p.relation = compose(before.relation, p.relation, len(p.names), api.RelationRemoved)
	if len(p.names) == 1 && p.names[0] == p.source.Name {
		p.relation = api.RelationSame
	}
	return p
}

// succeeded adds the packages of the target that come in the place of one.
func (h *hops) succeeded(p course, name string) (course, error) {
	by, err := h.obsoleters(name)
	if err != nil {
		return p, err
	}
	provider, _, err := h.target.provides.Get(name)
	if err != nil {
		return p, err
	}
	switch {
	case len(by) > 0:
		relation, err := h.succession(name, by, provider)
		p.relation, p.confidence = stronger(p.relation, relation), p.confidence*record.ObsoletesConfidence
		p.methods = append(slices.Clip(p.methods), record.Obsoleted)
		return p.with(by), err
	case provider != "":
		p.relation, p.confidence = stronger(p.relation, api.RelationRenamed), p.confidence*providerConfidence
		return p.with([]string{provider}), nil
	}
	return p, nil
}

// obsoleters are the packages of the target that obsolete the source's version
// of a package.
func (h *hops) obsoleters(name string) ([]string, error) {
	value, _, err := h.target.rpm.obsoletes.Get(name)
	if err != nil {
		return nil, err
	}
	version := ""
	if h.source.rpm != nil {
		own, _, err := h.source.rpm.own(name)
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
func (h *hops) succession(name string, by []string, provider string) (api.Relation, error) {
	if len(by) > 1 {
		return api.RelationSplit, nil
	}
	if by[0] == provider || h.source.rpm == nil {
		return api.RelationRenamed, nil
	}
	old, _, err := h.source.rpm.own(name)
	if err != nil {
		return "", err
	}
	successor, _, err := h.target.rpm.own(by[0])
	if err != nil || old.Source != "" && old.Source == successor.Source {
		return api.RelationRenamed, err
	}
	if _, before, err := h.source.rpm.own(by[0]); before || err != nil {
		return api.RelationMerged, err
	}
	return api.RelationReplaced, nil
}

// streamCaveat tells which module streams have a package that none has by default.
func (h *hops) streamCaveat(name string, l record.Listed) api.Caveat {
	return caveat(CaveatStream, api.SeverityWarning, "%s is in module streams of %s alone: enable one of %s before it is installed.",
		name, h.target.slug, strings.Join(l.Streams, ", "))
}
