package migration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/sliced"
)

// CaveatCondition is the code of what is needed as a condition of the index holds.
const CaveatCondition = "CONDITION"

// conditional are the caveats of the conditionals that hold, with what they bring.
func conditional(in Input, r Package) (all []api.Caveat) {
	for _, c := range held(in, r) {
		text := fmt.Sprintf("%s As the machine has %s, %s is installed too.", c.Text, cmp.Or(c.When.PathExists, c.When.ServiceEnabled, c.When.CanonicalInstalled), strings.Join(c.Packages, " and "))
		all = append(all, api.Caveat{Code: CaveatCondition, Severity: api.SeverityInfo, Text: text})
	}
	return all
}

// held are the conditionals of a package's counterpart whose condition the machine
// meets. That is what says that they are needed, whoever chose the package.
func held(in Input, r Package) []api.Conditional {
	there := r.Relation == api.RelationIncluded || slices.Contains(installable, r.Relation)
	if !there || len(r.Targets) == 0 || r.Confidence < Sure {
		return nil
	}
	return sliced.Filter(in.Translations[r.Canonical].Conditionals, func(c api.Conditional) bool { return holds(in, c.When) })
}

// holds evaluates a condition of the index on the machine.
func holds(in Input, c api.Condition) bool {
	switch {
	case c.CanonicalInstalled != "":
		return slices.ContainsFunc(in.Resolutions, func(r api.Resolution) bool { return r.Canonical != nil && *r.Canonical == c.CanonicalInstalled })
	case c.ServiceEnabled != "":
		return slices.ContainsFunc(in.Assessment.Services, func(u assess.Unit) bool {
			return u.State == "enabled" && strings.TrimSuffix(u.Name, ".service") == strings.TrimSuffix(c.ServiceEnabled, ".service")
		})
	case c.PathExists != "" && in.PathExists != nil:
		return in.PathExists(c.PathExists)
	}
	return false
}

// installable are the relations by which a counterpart can be installed.
var installable = []api.Relation{api.RelationSame, api.RelationRenamed, api.RelationSplit, api.RelationMerged, api.RelationReplaced}
