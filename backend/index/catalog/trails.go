package catalog

import (
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/deb"
	"svc/backend/index/record"
	"svc/backend/sliced"
)

// maxCandidates is how many packages are worth a person's look.
const maxCandidates = 4

// step collects what the target release says of names that it may not have.
type step struct {
	from, to  *Release
	providers map[string][]string // virtual name → packages of the target
	replacers map[string][]string // name → packages with Replaces and Breaks or Conflicts
	related   map[string][]string // software and stem → packages of the target
	canonical map[string]string   // canonical → package of the target
	sources   map[string]bool     // softwares of the target
	curated   map[string]record.Trail
	versions  map[string]string   // package of the target → the version in its source's name
	newcomers map[string][]string // software and role → packages that the source lacks
}

// Trails finds what becomes of the packages of a release in a later one.
// Curated trails, by name, come before all other evidence.
func Trails(from, to *Release, n *Naming, curated map[string]record.Trail) map[string]record.Trail {
	h := &step{
		from: from, to: to, curated: curated,
		providers: map[string][]string{}, replacers: map[string][]string{}, related: map[string][]string{},
		canonical: map[string]string{}, sources: map[string]bool{}, versions: map[string]string{}, newcomers: map[string][]string{},
	}
	h.collect(n)
	trails := map[string]record.Trail{}
	for _, name := range from.Names {
		if t, changes := h.trail(from.Packages[name], n); changes {
			trails[name] = t
		}
	}
	return trails
}

// collect reads the target release once.
func (h *step) collect(n *Naming) {
	for _, name := range h.to.Names {
		p := h.to.Packages[name]
		h.canonical[p.Canonical] = name
		software, version := n.software(p.Source)
		h.sources[software], h.versions[name] = true, version
		if h.from.Packages[name] == nil {
			key := software + " " + string(roleOf(p))
			h.newcomers[key] = append(h.newcomers[key], name)
		}
		key := software + " " + stem(name)
		h.related[key] = append(h.related[key], name)
		for virtual := range deb.Names(p.Provides) {
			h.providers[virtual] = record.AppendNew(h.providers[virtual], name)
		}
		against := slices.Concat(slices.Collect(deb.Names(p.Breaks)), slices.Collect(deb.Names(p.Conflicts)))
		for old := range deb.Names(p.Replaces) {
			if old != name && slices.Contains(against, old) {
				h.replacers[old] = record.AppendNew(h.replacers[old], name)
			}
		}
	}
}

// trail tries the evidence from the surest on; changes is false for a package
// that stays as it is.
func (h *step) trail(p *Package, n *Naming) (t record.Trail, changes bool) {
	if t, ok := h.curated[p.Name]; ok && h.has(t.Targets) {
		return t, true
	}
	if q, stays := h.to.Packages[p.Name]; stays {
		targets := h.to.targetsOf(q)
		if q.Transitional() && len(targets) > 0 {
			return h.leads(targets, record.TransitionalInTarget, 0.99), true
		}
		return record.Trail{}, false
	}
	if p.Transitional() {
		if targets := h.to.targetsOf(p); len(targets) > 0 {
			return h.leads(targets, record.TransitionalDropped, 0.98), true
		}
	}
	if t, ok := h.byRelations(p); ok {
		return t, true
	}
	return h.bySource(p, n), true
}

// has reports whether the target release has all the packages.
func (h *step) has(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return h.to.Packages[name] == nil })
}

// leads is a trail to packages that take the name's place.
func (h *step) leads(targets []string, method string, confidence float64) record.Trail {
	relation := api.RelationRenamed
	if len(targets) > 1 {
		relation = api.RelationSplit
	}
	return record.Trail{Relation: relation, Confidence: confidence, Targets: targets, Method: method}
}

// byRelations reads what packages of the target declare about a name that is
// gone: Provides, and Replaces with Breaks or Conflicts.
func (h *step) byRelations(p *Package) (record.Trail, bool) {
	providers, replacers := h.providers[p.Name], h.replacers[p.Name]
	for _, q := range providers {
		if strings.Contains(q, "t64") && strings.Replace(q, "t64", "", 1) == p.Name {
			return h.leads([]string{q}, record.T64, 0.99), true
		}
	}
	both := sliced.Filter(replacers, func(q string) bool { return slices.Contains(providers, q) })
	for _, e := range []struct {
		names      []string
		method     string
		confidence float64
	}{{both, record.ReplacesProvides, 0.97}, {replacers, record.Replaces, 0.93}, {providers, record.Provides, 0.97}} {
		if len(e.names) == 1 {
			return h.takes(e.names[0], e.method, e.confidence), true
		}
	}
	return record.Trail{}, false
}

// takes is a trail to one package: merged where that was there before.
func (h *step) takes(target, method string, confidence float64) record.Trail {
	relation := api.RelationRenamed
	if _, before := h.from.Packages[target]; before {
		relation = api.RelationMerged
	}
	return record.Trail{Relation: relation, Confidence: confidence, Targets: []string{target}, Method: method}
}

// bySource looks among the packages of the same software for one that has the
// same name in another version.
func (h *step) bySource(p *Package, n *Naming) record.Trail {
	if meta, ok := record.KernelMeta(p.Name); ok && h.to.Packages[meta] != nil {
		return record.Trail{Relation: api.RelationRenamed, Confidence: 0.95, Targets: []string{meta}, Method: record.Kernel}
	}
	software, version := n.software(p.Source)
	role := roleOf(p)
	related := h.related[software+" "+stem(p.Name)]
	if next, method, ok := h.successor(p, software, version, related); ok {
		relation := api.RelationRenamed
		if role == api.RoleLib {
			relation, method = api.RelationIncluded, record.Soname
		}
		return record.Trail{Relation: relation, Confidence: record.LineageConfidence, Targets: []string{next}, Method: method}
	}
	if len(related) > 1 {
		return record.Trail{Relation: api.RelationUnknown, Confidence: 0.4, Candidates: related, Method: record.Several}
	}
	return h.lost(software, role, h.newcomers[software+" "+string(role)])
}

// lost is the trail of a package without a successor. Packages of its software
// and role that are new may do its job: the only library surely does, programs
// are for a person to choose from.
func (h *step) lost(software string, role api.Role, newcomers []string) record.Trail {
	program := role == api.RoleMain || role == api.RoleClient
	switch {
	case role == api.RoleLib && len(newcomers) == 1:
		return record.Trail{Relation: api.RelationIncluded, Confidence: 0.8, Targets: newcomers, Method: record.Soname}
	case program && len(newcomers) > 0 && len(newcomers) <= maxCandidates:
		return record.Trail{Relation: api.RelationUnknown, Confidence: 0.3, Candidates: newcomers, Method: record.Several}
	case h.sources[software]:
		return record.Trail{Relation: api.RelationRemoved, Confidence: 0.5, Method: record.Gone}
	}
	return record.Trail{Relation: api.RelationRemoved, Confidence: 0.6, Method: record.Gone}
}

// successor is the package that continues a lineage: the one with the same
// canonical, with the software's default version, or the only one of its stem.
func (h *step) successor(p *Package, software, version string, related []string) (next, method string, ok bool) {
	if next, ok := h.canonical[p.Canonical]; ok {
		return next, record.Lineage, true
	}
	for _, name := range related {
		if h.isDefault(p.Name, version, name, software) {
			return name, record.Default, true
		}
	}
	if len(related) == 1 {
		return related[0], record.Lineage, true
	}
	if roleOf(p) == api.RoleLib {
		if next, ok := ofSeries(p.Name, related); ok {
			return next, record.Lineage, true
		}
	}
	return h.ofDefault(software, related)
}

// ofSeries is the one library that differs from another in the last of its
// versions alone: libgnome-desktop-3-21 of libgnome-desktop-3-20t64, where
// libgnome-desktop-4-2t64 is there too.
func ofSeries(old string, related []string) (next string, ok bool) {
	for _, name := range related {
		if series(name) == series(old) {
			if ok {
				return "", false
			}
			next, ok = name, true
		}
	}
	return next, ok
}

// series is the name of a library without the soname that it ends with.
func series(name string) string {
	return strings.TrimRight(strings.TrimSuffix(name, "t64"), "0123456789.")
}

// ofDefault is the one package whose source has the default version: libasan8
// for libasan6 where gcc-14 is the compiler.
func (h *step) ofDefault(software string, related []string) (next, method string, ok bool) {
	for _, name := range related {
		if h.versions[name] == h.to.defaults[software] && h.versions[name] != "" {
			if ok {
				return "", "", false
			}
			next, method, ok = name, record.Default, true
		}
	}
	return next, method, ok
}

// isDefault reports whether a name is another with the target's default version
// of a software in place of an older one: of the package's own software, or of
// one that it extends, as postgresql-17-postgis-3 is for postgresql-15-postgis-3.
func (h *step) isDefault(old, version, name, software string) bool {
	if next := h.to.defaults[software]; version != "" && next != "" && sameBut(old, name, version, next) {
		return true
	}
	for extended, before := range h.from.defaults {
		next := h.to.defaults[extended]
		if next != "" && (sameBut(old, name, extended+"-"+before, extended+"-"+next) || sameBut(old, name, extended+before, extended+next)) {
			return true
		}
	}
	return false
}

// sameBut reports whether names differ in one part alone, t64 aside.
func sameBut(old, name, part, next string) bool {
	return strings.Contains(old, part) &&
		strings.ReplaceAll(name, "t64", "") == strings.ReplaceAll(strings.Replace(old, part, next, 1), "t64", "")
}

// versioned reports whether a name has a version in it.
func versioned(name string) bool { return strings.ContainsAny(name, "0123456789") }

// Reverse turns the trails of a step around, for a way back to an older release:
// what was renamed gets its old name again where that is unambiguous.
func Reverse(from, to *Release, forward map[string]record.Trail, n *Naming) map[string]record.Trail {
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
		forward := forward[names[0]]
		if len(names) != 1 || surely(trails[target], forward) {
			continue
		}
		relation := forward.Relation
		if relation == api.RelationMerged {
			relation = api.RelationRenamed
		}
		trails[target] = record.Trail{Relation: relation, Confidence: min(forward.Confidence, record.LineageConfidence), Targets: names, Method: record.Back}
	}
	return trails
}

// surely reports whether a trail has evidence of its own that is as good as
// that of a trail the other way round.
func surely(t, other record.Trail) bool {
	switch t.Method {
	case record.Gone, record.Several, "":
		return false
	case record.Soname, record.Lineage, record.Default:
		return other.Method == record.Soname || other.Method == record.Lineage || other.Method == record.Default
	}
	return true
}

// preferReal drops transitional packages where a real one is among the names.
func preferReal(r *Release, names []string) []string {
	isReal := func(name string) bool { return !r.Packages[name].Transitional() }
	if !slices.ContainsFunc(names, isReal) {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool { return !isReal(name) })
}
