package course

import (
	"strings"
	"sync"

	"svc/backend/api"
	"svc/backend/index/data"
	"svc/backend/index/record"
	"svc/backend/release"
	"svc/backend/tsv"
)

// conditionRow is what a target needs of software only where something holds on the
// machine.
type conditionRow struct {
	source, target releases
	api.Conditional
}

// conditions are the rows of conditions.tsv by canonical.
var conditions = sync.OnceValue(func() map[string][]conditionRow {
	all := map[string][]conditionRow{}
	for c := range tsv.Rows(data.Conditions, 8) {
		when, err := record.Condition(c[3], c[4])
		if err != nil {
			continue // a test reads all
		}
		all[c[0]] = append(all[c[0]], conditionRow{releases(c[1]), releases(c[2]), api.Conditional{When: when, Text: c[6], Packages: strings.Fields(c[5])}})
	}
	return all
})

// releases names some of them: words that are each a family or a distribution, and
// behind a dash the versions from..to, of which either may be missing.
type releases string

func (s releases) has(r release.Release) bool {
	for word := range strings.FieldsSeq(string(s)) {
		name, span, spanned := strings.Cut(word, "-")
		if name != string(r.Family) && name != r.ID {
			continue
		}
		if !spanned || record.Within(r.Version, span) {
			return true
		}
	}
	return false
}

// addConditions adds the rows of a canonical for the move. Those that name packages
// which a suite of Debian lacks are left out; lists of rpms are lower bounds, which
// say so of nothing.
func (h *Pair) addConditions(all []api.Conditional, canonical string) []api.Conditional {
	for _, row := range conditions()[canonical] {
		if !row.source.has(h.Source.Release) || !row.target.has(h.Target.Release) {
			continue
		}
		if h.Target.Foreign() || h.Target.HasAll(row.Packages) {
			all = append(all, row.Conditional)
		}
	}
	return all
}
