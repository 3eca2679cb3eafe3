package course

import (
	"fmt"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
)

// Caveats adds what a person should know that follows from the data alone.
func (h *Pair) Caveats(all []api.Caveat, p *Course, targets []record.Record) []api.Caveat {
	all = h.OfCourse(all, p, len(targets))
	for _, t := range targets {
		before, after := h.Source.Major(p.Source), h.Target.Major(t)
		if before != "" && after != "" && before != after {
			all = append(all, Caveat(CaveatMajor, api.SeverityInfo,
				"%s goes from major version %s to %s.", record.Software(t.Canonical, t.Major), before, after))
		}
		if h.Target.Nearest == nil && t.Component != "main" && t.Component != p.Source.Component {
			all = append(all, Caveat(CaveatComponent, api.SeverityWarning,
				"%s is in the archive component %s of %s, which must be enabled.", t.Name, t.Component, h.Target.Slug))
		}
	}
	return all
}

// OfCourse adds the caveats of the way by which n packages were found.
func (h *Pair) OfCourse(all []api.Caveat, p *Course, n int) []api.Caveat {
	if p.Source.Name == "" && n > 0 {
		all = append(all, Caveat(CaveatNotInSource, api.SeverityInfo, "%s has no such package; the answer is %s's own.", h.Source.Slug, h.Target.Slug))
	}
	if slices.Contains(p.Methods, OwnRepository) {
		all = append(all, Caveat(CaveatExistence, api.SeverityWarning, "No list of %s has %s: enable the repository that has it first.",
			h.Target.Slug, strings.Join(p.Names, ", ")))
	}
	if slices.ContainsFunc(p.Methods, isTransitional) {
		all = append(all, Caveat(CaveatTransitional, api.SeverityInfo, "%s is a transitional package: what it leads to is named instead.", p.Source.Name))
	}
	if slices.Contains(p.Methods, record.Kernel) {
		all = append(all, Caveat(CaveatKernel, api.SeverityInfo, "The kernel is installed by its metapackage; this one belongs to %s.", h.Source.Slug))
	}
	if h.Target.Nearest != nil && n > 0 && p.Relation != api.RelationIncluded {
		all = append(all, api.Caveat{Code: CaveatExistence, Severity: api.SeverityInfo, Text: h.NoList})
	}
	if p.Relation == api.RelationUnknown && len(p.Candidates) > 0 {
		all = append(all, Caveat(CaveatCandidates, api.SeverityWarning, "Not sure enough to choose; in %s these may do the job of %s: %s.",
			h.Target.Slug, p.Source.Name, strings.Join(p.Candidates, ", ")))
	}
	if slices.Contains(p.Methods, Choice) {
		all = append(all, Caveat(CaveatCandidates, api.SeverityInfo, "%s has others that may do the job of %s as well: %s.",
			h.Target.Slug, p.Source.Name, strings.Join(p.Candidates, ", ")))
	}
	if p.Relation == api.RelationRemoved && !slices.ContainsFunc(p.Methods, rpm.IsVendor) {
		all = append(all, api.Caveat{Code: CaveatNoCounterpart, Severity: lossOf(p.Source), Text: h.Target.Slug + " has no counterpart of " + p.Source.Name + "."})
	}
	return all
}

// Caveat is one with its text filled in.
func Caveat(code string, severity api.Severity, text string, args ...any) api.Caveat {
	return api.Caveat{Code: code, Severity: severity, Text: fmt.Sprintf(text, args...)}
}

// lossOf grades the loss of a package: libraries and the like are there for
// others alone.
func lossOf(r record.Record) api.Severity {
	switch record.Role(r.Canonical) {
	case api.RoleLib, api.RoleDebug, api.RoleLang, api.RoleDoc, api.RoleCommon:
		return api.SeverityInfo
	}
	return api.SeverityWarning
}

// OfVendor adds what to know of the repository that a package is from.
func (h *Pair) OfVendor(all []api.Caveat, p *Course) []api.Caveat {
	i := slices.IndexFunc(p.Methods, rpm.IsVendor)
	if i < 0 {
		return all
	}
	text := h.Tables.Vendors.Value(strings.TrimPrefix(p.Methods[i], rpm.Vendor))
	return append(all, api.Caveat{Code: CaveatThirdParty, Severity: api.SeverityWarning, Text: p.Source.Name + " is of another vendor. " + text})
}

func isTransitional(method string) bool { return strings.HasPrefix(method, "transitional") }

// InPlaceOfOthers begins the key of what holds where a package takes the place of
// other software.
const InPlaceOfOthers = ">"

// curatedCaveats are the rows of a canonical, or those of what takes its place:
// families know software by other names.
func (h *Pair) curatedCaveats(canonical string, relation api.Relation, targets []record.Record) ([]record.CuratedCaveat, error) {
	all, err := lookup.Curated[record.CuratedCaveat](h.Tables.Caveats, canonical)
	if err != nil || len(all) > 0 || relation == api.RelationIncluded {
		return all, err
	}
	for _, t := range targets {
		key := t.Canonical
		if relation == api.RelationReplaced {
			key = InPlaceOfOthers + key
		}
		if key == canonical {
			continue // it has none
		}
		rows, err := lookup.Curated[record.CuratedCaveat](h.Tables.Caveats, key)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// AddCurated adds the curated caveats and conditionals of a canonical.
// Conditionals that name packages which the target lacks are left out.
func (h *Pair) AddCurated(canonical string, t *api.Translation, targets []record.Record) error {
	caveats, err := h.curatedCaveats(canonical, t.Relation, targets)
	if err != nil {
		return err
	}
	arrives := len(t.Packages) > 0
	changes := h.mayChangeMajor() ||
		slices.ContainsFunc(t.Caveats, func(c api.Caveat) bool { return c.Code == CaveatMajor })
	for _, c := range caveats {
		if arrives && h.Holds(c.Span, changes) && !slices.Contains(t.Caveats, c.Caveat) {
			t.Caveats = append(t.Caveats, c.Caveat)
		}
	}
	t.Conditionals = h.addConditions(t.Conditionals, canonical)
	built, err := lookup.Curated[record.CuratedConditional](h.Tables.Conditionals, canonical)
	if err != nil {
		return err
	}
	for _, c := range built {
		if h.Holds(c.Span, changes) && h.Target.HasAll(c.Packages) {
			t.Conditionals = append(t.Conditionals, c.Conditional)
		}
	}
	return nil
}
