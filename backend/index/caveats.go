package index

import (
	"fmt"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/release"
)

// caveats adds what a person should know that follows from the data alone.
func (h *hops) caveats(all []api.Caveat, p *course, targets []record.Record) []api.Caveat {
	all = h.ofCourse(all, p, len(targets))
	for _, t := range targets {
		before, after := h.source.major(p.source), h.target.major(t)
		if before != "" && after != "" && before != after {
			all = append(all, caveat(CaveatMajor, api.SeverityInfo,
				"%s goes from major version %s to %s.", record.Software(t.Canonical, t.Major), before, after))
		}
		if h.target.nearest == nil && t.Component != "main" && t.Component != p.source.Component {
			all = append(all, caveat(CaveatComponent, api.SeverityWarning,
				"%s is in the archive component %s of %s, which must be enabled.", t.Name, t.Component, h.target.slug))
		}
	}
	return all
}

// ofCourse adds the caveats of the way by which n packages were found.
func (h *hops) ofCourse(all []api.Caveat, p *course, n int) []api.Caveat {
	if p.source.Name == "" && n > 0 {
		all = append(all, caveat(CaveatNotInSource, api.SeverityInfo, "%s has no such package; the answer is %s's own.", h.source.slug, h.target.slug))
	}
	if slices.Contains(p.methods, ownRepository) {
		all = append(all, caveat(CaveatExistence, api.SeverityWarning, "No list of %s has %s: enable the repository that has it first.",
			h.target.slug, strings.Join(p.names, ", ")))
	}
	if slices.ContainsFunc(p.methods, isTransitional) {
		all = append(all, caveat(CaveatTransitional, api.SeverityInfo, "%s is a transitional package: what it leads to is named instead.", p.source.Name))
	}
	if slices.Contains(p.methods, record.Kernel) {
		all = append(all, caveat(CaveatKernel, api.SeverityInfo, "The kernel is installed by its metapackage; this one belongs to %s.", h.source.slug))
	}
	if h.target.nearest != nil && n > 0 && p.relation != api.RelationIncluded {
		all = append(all, api.Caveat{Code: CaveatExistence, Severity: api.SeverityInfo, Text: h.noList})
	}
	if p.relation == api.RelationUnknown && len(p.candidates) > 0 {
		all = append(all, caveat(CaveatCandidates, api.SeverityWarning, "Not sure enough to choose; in %s these may do the job of %s: %s.",
			h.target.slug, p.source.Name, strings.Join(p.candidates, ", ")))
	}
	if slices.Contains(p.methods, choice) {
		all = append(all, caveat(CaveatCandidates, api.SeverityInfo, "%s has others that may do the job of %s as well: %s.",
			h.target.slug, p.source.Name, strings.Join(p.candidates, ", ")))
	}
	if p.relation == api.RelationRemoved && !slices.ContainsFunc(p.methods, rpm.IsVendor) {
		all = append(all, caveat(CaveatNoCounterpart, lossOf(p.source), "%s has no counterpart of %s.", h.target.slug, p.source.Name))
	}
	return all
}

func caveat(code string, severity api.Severity, text string, args ...any) api.Caveat {
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

// ofVendor adds what to know of the repository that a package is from.
func (h *hops) ofVendor(all []api.Caveat, p *course) ([]api.Caveat, error) {
	i := slices.IndexFunc(p.methods, rpm.IsVendor)
	if i < 0 {
		return all, nil
	}
	text, _, err := h.ix.vendors.Get(strings.TrimPrefix(p.methods[i], rpm.Vendor))
	return append(all, api.Caveat{Code: CaveatThirdParty, Severity: api.SeverityWarning, Text: p.source.Name + " is of another vendor. " + text}), err
}

func isTransitional(method string) bool { return strings.HasPrefix(method, "transitional") }

func (h *hops) holds(s record.Span, majorChanges bool) bool {
	if s.MajorChanges && !majorChanges {
		return false
	}
	if s.Since == "" {
		return true
	}
	at, ok := release.Lookup(s.Since)
	return ok && h.target.release.ID == at.ID && !h.target.release.Older(at) && before(h.source.release, at)
}

// before reports whether a release came before another: what has no day yet is
// still to come.
func before(r, at release.Release) bool {
	if r.ID == at.ID {
		return r.Older(at)
	}
	return r.Released != "" && (at.Released == "" || r.Released < at.Released)
}

// mayChangeMajor reports whether the releases are so far apart that software
// whose versions the index does not know has another major in each.
func (h *hops) mayChangeMajor() bool {
	from, to := h.source.rpm, h.target.rpm
	if from == nil || to == nil {
		return from != to
	}
	return from.line != to.line || from.level != to.level
}

// inPlaceOfOthers begins the key of what holds where a package takes the place of
// other software.
const inPlaceOfOthers = ">"

// curatedCaveats are the rows of a canonical, or those of what takes its place:
// families know software by other names.
func (h *hops) curatedCaveats(canonical string, relation api.Relation, targets []record.Record) ([]record.CuratedCaveat, error) {
	all, err := curated[record.CuratedCaveat](h.ix.caveats, canonical)
	if err != nil || len(all) > 0 || relation == api.RelationIncluded {
		return all, err
	}
	for _, t := range targets {
		key := t.Canonical
		if relation == api.RelationReplaced {
			key = inPlaceOfOthers + key
		}
		if key == canonical {
			continue // it has none
		}
		rows, err := curated[record.CuratedCaveat](h.ix.caveats, key)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// addCurated adds the curated caveats and conditionals of a canonical.
// Conditionals that name packages which the target lacks are left out.
func (h *hops) addCurated(canonical string, t *api.Translation, targets []record.Record) error {
	caveats, err := h.curatedCaveats(canonical, t.Relation, targets)
	if err != nil {
		return err
	}
	arrives := len(t.Packages) > 0
	changes := h.mayChangeMajor() ||
		slices.ContainsFunc(t.Caveats, func(c api.Caveat) bool { return c.Code == CaveatMajor })
	for _, c := range caveats {
		if arrives && h.holds(c.Span, changes) && !slices.Contains(t.Caveats, c.Caveat) {
			t.Caveats = append(t.Caveats, c.Caveat)
		}
	}
	if t.Conditionals, err = h.addConditions(t.Conditionals, canonical); err != nil {
		return err
	}
	built, err := curated[record.CuratedConditional](h.ix.conditionals, canonical)
	if err != nil {
		return err
	}
	for _, c := range built {
		there, err := h.target.hasAll(c.Packages)
		if err != nil {
			return err
		}
		if h.holds(c.Span, changes) && there {
			t.Conditionals = append(t.Conditionals, c.Conditional)
		}
	}
	return nil
}

func (t *releaseTables) hasAll(names []string) (bool, error) {
	for _, name := range names {
		if _, ok, err := t.names.Get(name); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}
