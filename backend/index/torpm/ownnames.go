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
	h.stated = map[string]bool{}
	for _, owner := range owners(of.Target, of.Source) {
		h.own = appendRows(h.own, of.Tables, record.OwnKey(owner, ""))
	}
	for _, rows := range h.own {
		for _, value := range rows {
			_, names := record.Column(value)
			for stated := range strings.FieldsSeq(names) {
				h.stated[stated] = true
			}
		}
	}
	for _, owner := range owners(of.Source, of.Target) {
		h.general = appendRows(h.general, of.Tables, record.GeneralKey(owner, ""))
	}
	return h
}

// appendRows adds the rows whose keys begin with a prefix, without it, if there are any.
func appendRows(all []map[string]string, tables *lookup.Tables, prefix string) []map[string]string {
	rows := map[string]string{}
	for key, value := range tables.RpmOwn.Under(prefix) {
		rows[key[len(prefix):]] = value
	}
	if len(rows) == 0 {
		return all
	}
	return append(all, rows)
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
