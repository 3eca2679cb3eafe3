package torpm

import (
	"cmp"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
)

// ownNames are the names that two releases have in place of those of EL, the nearest
// rows first.
type ownNames struct {
	stated       map[string]bool     // the names that such rows say the target has
	own, general []map[string]string // of the target, by EL's name; EL's, by that of the source
}

// readOwnNames reads what the two releases have of names that EL does not have.
func readOwnNames(of *course.Pair) (h ownNames) {
	sources, targets := owners(of.Source, of.Target), owners(of.Target, of.Source)
	h.general, h.own, h.stated = make([]map[string]string, len(sources)), make([]map[string]string, len(targets)), map[string]bool{}
	for key, value := range of.Tables.RpmOwn.All() {
		if name, owner, own := strings.Cut(key, " "); own {
			if at := slices.Index(targets, owner); at >= 0 {
				put(h.own, at, name, value)
				_, names, _ := strings.Cut(value, "\t")
				for stated := range strings.FieldsSeq(names) {
					h.stated[stated] = true
				}
			}
			continue
		}
		owner, name, _ := strings.Cut(key, "/")
		put(h.general, slices.Index(sources, owner), name, value)
	}
	none := func(names map[string]string) bool { return names == nil }
	h.general, h.own = slices.DeleteFunc(h.general, none), slices.DeleteFunc(h.own, none)
	return h
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
func owners(t, other *lookup.Release) []string {
	if t.RPM == nil {
		return nil
	}
	names := []string{t.Slug, record.Distribution(t.Slug)}
	if other.RPM == nil || other.RPM.Line != t.RPM.Line {
		names = append(names, t.RPM.Line)
	}
	return names
}

// ofEL is the name that EL has for the own one of a distribution near to it.
func (h *ownNames) ofEL(name string) string { return cmp.Or(nearestOf(h.general, name), name) }

// ownRPMs are the relation and the names that the target has in place of an rpm
// of EL; empty where they are the same.
func (h *ownNames) ownRPMs(name string) string { return nearestOf(h.own, name) }

// nearestOf is the row of a name in the first of some that have one.
func nearestOf(all []map[string]string, name string) string {
	for _, names := range all {
		if value, ok := names[name]; ok {
			return value
		}
	}
	return ""
}

// inOwnNames gives the names of EL in a course those that the target has for
// the same packages.
func (h *ownNames) inOwnNames(p *course.Course) {
	if !slices.ContainsFunc(p.Names, func(name string) bool { return h.ownRPMs(name) != "" }) {
		p.Settle(p.Source.Name)
		return
	}
	next := *p
	next.Names = nil
	for _, name := range p.Names {
		relation, own, ok := strings.Cut(h.ownRPMs(name), "\t")
		if !ok {
			next = next.With([]string{name})
			continue
		}
		next.Relation, next.Confidence = course.Stronger(p.Relation, api.Relation(relation)), min(p.Confidence, record.RowConfidence)
		next.Found = course.ByRow
		next = next.With(strings.Fields(own))
	}
	if len(next.Names) == 0 {
		next.Relation = api.RelationRemoved
	}
	next.Settle(p.Source.Name)
	*p = next
}
