package torpm

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/rpm"
)

// spell gives an rpm that no list of the target has the name by which the lists have it,
// and reports whether there is one: it is spelt almost so, and the rules read it as the
// same package of Debian.
func (h *Path) spell(p *course.Course) bool {
	lost := p.Relation == api.RelationRemoved && h.Source.RPM != nil
	if h.Source == h.Target || p.Found == course.ByBoth || h.saysSo(p.Found) && (lost || p.Found != course.ByEvent) {
		return false
	}
	s := spelling{own: p.Source.Name}
	switch {
	case len(p.Names) == 1 && h.presenceOf(p.Names) == lookup.Nowhere:
		s.own, s.mayDiffer = p.Names[0], true
		if module, ok := strings.CutPrefix(s.own, "python-"); ok && strings.HasPrefix(p.Source.Name, "python3-") {
			s.own = "python3-" + module // the name is that of Python 2's
		}
	case !lost:
		return false
	default:
		s.listed, s.mayDiffer = p.Found == course.ByEvent, h.Source.RPM.Line != h.Target.RPM.Line
	}
	name := s.find(h, p)
	if name == "" || rpm.IsIdentity(p.Source.Name) {
		return false
	}
	p.Relation, p.Names, p.Found, p.Confidence = api.RelationSame, []string{name}, course.BySpelling, course.Listless
	p.Settle(p.Source.Name)
	return true
}

// spelling is how an rpm may be called in a target's lists.
type spelling struct {
	own       string
	listed    bool // it has to be in the target's own list
	mayDiffer bool // what is in a list near may differ in more than capitals and dashes
}

// find is the name by which the target's list has an rpm, else one near it; empty where
// none has.
func (s spelling) find(h *Path, p *course.Course) (near string) {
	is := ""
	for name := range h.Tables.Spelled(s.own) {
		known := h.Seen.Presence(h.Target, name)
		if known == lookup.Nowhere || known == lookup.InNear && (near != "" || s.listed) {
			continue
		}
		if rpm.Squeeze(name) != rpm.Squeeze(s.own) {
			if known == lookup.InNear && !s.nearly(name) {
				continue
			}
			if is == "" {
				is = h.InDebian(p)
			}
			if is == "" || !slices.Contains(h.DebianOf(h.Target, name), is) {
				continue
			}
		}
		if known == lookup.InList {
			return name
		}
		near = name
	}
	return near
}

// nearly reports whether a name of a list near may be that of the rpm, for the same version
// of Python.
func (s spelling) nearly(name string) bool {
	return s.mayDiffer && strings.HasPrefix(name, "python3-") == strings.HasPrefix(s.own, "python3-")
}
