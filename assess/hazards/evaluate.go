package hazards

import (
	"slices"
	"strings"

	"svc/backend/release"
)

// Hit is a row that a machine meets.
type Hit struct {
	*Row
	Match
	files []string // of its places, as words of the target's bash
}

// Evaluate gives the rows that a machine meets on its way to a target; without one,
// those that need none.
func (t Table) Evaluate(m *Machine, target *release.Release) (hits []Hit) {
	for _, r := range t {
		if !r.Towards.crossed(m, target) {
			continue
		}
		match, ok := r.When.met(m)
		told := r.comesAlong(m, target, match.Places)
		if !ok || len(match.Places) > 0 && len(told) == 0 {
			continue
		}
		match.Places = told
		match.Pkgs = unique(match.Pkgs)
		match.Names = unique(match.Names)
		hits = append(hits, Hit{r, match, m.words(told)})
	}
	return slices.DeleteFunc(slices.Clone(hits), func(h Hit) bool { return h.setting && said(h, hits) })
}

// comesAlong leaves out lines of files that are as packages ship them, where the row is
// about what a program trips over, and the target has the program: it has its own files in
// their place. What only behaves otherwise there is told all the same, for people rely on
// what a package set too.
func (r *Row) comesAlong(m *Machine, target *release.Release, places []Place) []Place {
	if target == nil || !r.setting && r.Stops != Service {
		return places
	}
	has := slices.ContainsFunc(r.Towards.any, func(b bound) bool {
		return families[b.name] == nil && b.onTarget(m, *target) && !b.onSource(m)
	})
	return slices.DeleteFunc(slices.Clone(places), func(p Place) bool {
		pkg, shipped := m.Shipped[p.Path]
		_, brought := m.Brought[pkg]
		return p.Line > 0 && shipped && (has || brought)
	})
}

// said reports whether rows that were written of their own say where a setting stands:
// that it is gone is then no more news. Of what a language has no more, one line may have
// several, and each row says its own.
func said(h Hit, hits []Hit) bool {
	return len(h.Places) > 0 && !slices.ContainsFunc(h.Places, func(p Place) bool {
		return !slices.ContainsFunc(hits, func(o Hit) bool {
			apart := strings.HasPrefix(h.Key, codeKey) && strings.HasPrefix(o.Key, codeKey) && o.Key != h.Key+packagedKey
			return !o.setting && !apart && slices.Contains(o.Places, p)
		})
	})
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// Summary is the text of the row about what was found; names joins these as people
// should see them.
func (h Hit) Summary(names func([]string) string) string {
	return strings.ReplaceAll(h.Text, "{}", names(h.Names))
}

// Remedy is what to do about what was found.
func (h Hit) Remedy() string { return fill(h.Do, h.files) }
