package catalog

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/deb"
)

// Trail is what a package becomes in a neighbouring release. A package without
// one stays as it is.
type Trail struct {
	Relation   api.Relation
	Confidence float64 // in hundredths
	Targets    []string
	Method     string
	Candidates []string // where the relation is unknown
}

// The methods of trails, that is the evidence for them.
const (
	TransitionalInTarget = "transitional-in-target"
	TransitionalDropped  = "transitional-dropped"
	T64                  = "t64"
	ReplacesProvides     = "replaces+breaks+provides"
	Replaces             = "replaces+breaks"
	Provides             = "provides"
	Soname               = "soname"
	Lineage              = "lineage"
	Default              = "default"
	Kernel               = "kernel"
	Back                 = "back"
	Gone                 = "gone"
	Several              = "several"
	Curated              = "curated"
)

// hop collects what the target release says of names that it may not have.
type hop struct {
	from, to  *Release
	providers map[string][]string // virtual name → packages of the target
	replacers map[string][]string // name → packages with Replaces and Breaks or Conflicts
	kin       map[string][]string // software and stem → packages of the target
	canonical map[string]string   // canonical → package of the target
	sources   map[string]bool     // softwares of the target
	defaults  map[string]string
	curated   map[string][]string
}

// Trails finds what becomes of the packages of a release in a later one.
// Curated rows, name to names, come before all other evidence.
func Trails(from, to *Release, n *Naming, curated map[string][]string) map[string]Trail {
	h := &hop{
		from: from, to: to, curated: curated,
		providers: map[string][]string{}, replacers: map[string][]string{}, kin: map[string][]string{},
		canonical: map[string]string{}, sources: map[string]bool{}, defaults: to.defaults,
	}
	h.collect(n)
	trails := map[string]Trail{}
	for _, name := range from.Names {
		if t, changes := h.trail(from.Packages[name], n); changes {
			trails[name] = t
		}
	}
	return trails
}

func (h *hop) collect(n *Naming) {
	for _, name := range h.to.Names {
		p := h.to.Packages[name]
		h.canonical[p.Canonical] = name
		software, _ := n.software(p.Source)
		h.sources[software] = true
		key := software + " " + stem(name)
		h.kin[key] = append(h.kin[key], name)
		for virtual := range deb.Names(p.Provides) {
			h.providers[virtual] = appendNew(h.providers[virtual], name)
		}
		against := slices.Concat(slices.Collect(deb.Names(p.Breaks)), slices.Collect(deb.Names(p.Conflicts)))
		for old := range deb.Names(p.Replaces) {
			if old != name && slices.Contains(against, old) {
				h.replacers[old] = appendNew(h.replacers[old], name)
			}
		}
	}
}

func appendNew(names []string, name string) []string {
	if slices.Contains(names, name) {
		return names
	}
	return append(names, name)
}

// trail tries the evidence from the surest on; changes is false for a package
// that stays as it is.
func (h *hop) trail(p *Package, n *Naming) (t Trail, changes bool) {
	if targets, ok := h.curated[p.Name]; ok && h.has(targets) {
		return h.leads(targets, Curated, 1), true
	}
	if q, stays := h.to.Packages[p.Name]; stays {
		targets := h.to.targetsOf(q)
		if q.Transitional() && len(targets) > 0 {
			return h.leads(targets, TransitionalInTarget, 0.98), true
		}
		return Trail{}, false
	}
	if p.Transitional() {
		if targets := h.to.targetsOf(p); len(targets) > 0 {
			return h.leads(targets, TransitionalDropped, 0.97), true
		}
	}
	if t, ok := h.byRelations(p); ok {
		return t, true
	}
	return h.bySource(p, n), true
}

func (h *hop) has(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return h.to.Packages[name] == nil })
}

// leads is a trail to packages that take the name's place.
func (h *hop) leads(targets []string, method string, confidence float64) Trail {
	relation := api.RelationRenamed
	if len(targets) > 1 {
		relation = api.RelationSplit
	}
	return Trail{Relation: relation, Confidence: confidence, Targets: targets, Method: method}
}

// byRelations reads what packages of the target declare about a name that is
// gone: Provides, and Replaces with Breaks or Conflicts.
func (h *hop) byRelations(p *Package) (Trail, bool) {
	providers, replacers := h.providers[p.Name], h.replacers[p.Name]
	for _, q := range providers {
		if strings.Contains(q, "t64") && strings.Replace(q, "t64", "", 1) == p.Name {
			return h.leads([]string{q}, T64, 0.99), true
		}
	}
	var both []string
	for _, q := range replacers {
		if slices.Contains(providers, q) {
			both = append(both, q)
		}
	}
	for _, e := range []struct {
		names      []string
		method     string
		confidence float64
	}{{both, ReplacesProvides, 0.95}, {replacers, Replaces, 0.85}, {providers, Provides, 0.85}} {
		if len(e.names) == 1 {
			return h.takes(e.names[0], e.method, e.confidence), true
		}
	}
	return Trail{}, false
}

// takes is a trail to one package: merged where that was there before.
func (h *hop) takes(target, method string, confidence float64) Trail {
	relation := api.RelationRenamed
	if _, before := h.from.Packages[target]; before {
		relation = api.RelationMerged
	}
	return Trail{Relation: relation, Confidence: confidence, Targets: []string{target}, Method: method}
}

// bySource looks among the packages of the same software for one that has the
// same name in another version.
func (h *hop) bySource(p *Package, n *Naming) Trail {
	if meta, ok := KernelMeta(p.Name); ok && h.to.Packages[meta] != nil {
		return Trail{Relation: api.RelationRenamed, Confidence: 0.95, Targets: []string{meta}, Method: Kernel}
	}
	relation, method := api.RelationRenamed, Lineage
	if roleOf(p) == api.RoleLib {
		relation, method = api.RelationIncluded, Soname
	}
	if next, ok := h.canonical[p.Canonical]; ok {
		return Trail{Relation: relation, Confidence: 0.9, Targets: []string{next}, Method: method}
	}
	software, _ := n.software(p.Source)
	kin := h.kin[software+" "+stem(p.Name)]
	if next, ok := h.defaults[stem(p.Name)]; ok && next != p.Name && versioned(p.Name) && slices.Contains(kin, next) {
		return Trail{Relation: relation, Confidence: 0.9, Targets: []string{next}, Method: Default}
	}
	switch {
	case len(kin) == 1:
		return Trail{Relation: relation, Confidence: 0.9, Targets: kin, Method: method}
	case len(kin) > 1:
		return Trail{Relation: api.RelationUnknown, Confidence: 0.4, Candidates: kin, Method: Several}
	case h.sources[software]:
		return Trail{Relation: api.RelationRemoved, Confidence: 0.5, Method: Gone}
	}
	return Trail{Relation: api.RelationRemoved, Confidence: 0.6, Method: Gone}
}

// versioned reports whether a name has a version in it.
func versioned(name string) bool { return strings.ContainsAny(name, "0123456789") }

// findDefaults fills defaults.
func (r *Release) findDefaults() map[string]string {
	found := map[string]string{}
	for _, name := range r.Names {
		s := stem(name)
		for dependency := range deb.Names(r.Packages[name].Depends) {
			if len(dependency) > len(name) && versioned(dependency) && stem(dependency) == s && r.Packages[dependency] != nil {
				found[s] = dependency
			}
		}
	}
	return found
}

// Reverse turns the trails of a hop around, for a way back to an older release:
// what was renamed gets its old name again where that is unambiguous.
func Reverse(from, to *Release, forward map[string]Trail, n *Naming) map[string]Trail {
	old := map[string][]string{}
	for name, t := range forward {
		for _, target := range t.Targets {
			if from.Packages[target] == nil && len(t.Targets) == 1 {
				old[target] = append(old[target], name)
			}
		}
	}
	for target, names := range old {
		slices.Sort(names)
		old[target] = preferReal(from, names)
	}
	trails := Trails(to, from, n, nil)
	for target, names := range old {
		t, changes := trails[target]
		known := changes && t.Method != Gone && t.Method != Several
		if known || len(names) != 1 {
			continue
		}
		back := forward[names[0]]
		relation := back.Relation
		if relation == api.RelationMerged {
			relation = api.RelationRenamed
		}
		trails[target] = Trail{Relation: relation, Confidence: min(back.Confidence, 0.9), Targets: names, Method: Back}
	}
	return trails
}

// preferReal drops transitional packages where a real one is among the names.
func preferReal(r *Release, names []string) []string {
	isReal := func(name string) bool { return !r.Packages[name].Transitional() }
	if !slices.ContainsFunc(names, isReal) {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool { return !isReal(name) })
}
