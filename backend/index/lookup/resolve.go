package lookup

import (
	"svc/backend/api"
	"svc/backend/index/record"
)

// Resolve says what the named packages of a release are, one result for each
// name in the same order. Its errors are an *api.Error UNKNOWN_RELEASE, or that
// the index is damaged.
func (ix *Tables) Resolve(rel string, names []string) ([]api.Resolution, error) {
	t, err := ix.Release(rel)
	if err != nil {
		return nil, err
	}
	results, of, seen := make([]api.Resolution, len(names)), make([]identity, len(names)), new(Memo)
	for i, name := range names {
		seen.Forget()
		found, match, confidence := ix.ResolveOne(t, name, seen)
		results[i] = of[i].resolution(name, found, match, confidence)
	}
	return results, nil
}

// identity is what the fields of a resolution point to.
type identity struct {
	canonical, software, major string
	role                       api.Role
}

func (v *identity) resolution(name string, r record.Record, match api.Match, confidence float64) api.Resolution {
	if match == api.MatchNone {
		return api.Resolution{Package: name, Match: match}
	}
	*v = identity{r.Canonical, record.Software(r.Canonical, r.Major), r.Major, record.Role(r.Canonical)}
	result := api.Resolution{Package: name, Canonical: &v.canonical, Software: &v.software, Role: &v.role, Confidence: confidence, Match: match}
	if v.major != "" {
		result.Major = &v.major
	}
	return result
}

// ResolveOne tries the ways from the surest on.
func (ix *Tables) ResolveOne(t *Release, name string, seen *Memo) (record.Record, api.Match, float64) {
	if !IsName(BareName(name)) {
		return record.Record{}, api.MatchNone, 0
	}
	if t.RPM != nil {
		return ix.resolveRPM(t, name, seen)
	}
	if t.Counterparts != nil {
		return ix.resolveCounterpart(t, name)
	}
	if r, ok := t.Find(name); ok {
		return r, api.MatchExact, 1
	}
	bare := BareName(name)
	if bare != name {
		if r, ok := t.Find(bare); ok {
			return r, api.MatchAlias, 1
		}
	}
	if r, match, confidence := ix.resolveDerived(t, bare); match != api.MatchNone {
		return r, match, confidence
	}
	for _, way := range []struct {
		names      func(string) (string, bool)
		match      api.Match
		confidence float64
	}{
		{record.KernelMeta, api.MatchAlias, kernelConfidence},
		{t.Provides.Get, api.MatchProvides, providesConfidence},
		{t.sources.Get, api.MatchSource, sourceConfidence},
	} {
		found, ok := way.names(bare)
		if !ok {
			continue
		}
		if r, ok := t.Find(found); ok {
			return r, way.match, way.confidence
		}
	}
	return ix.neighbour(t, bare)
}

// neighbour looks the name up in the other releases, newer ones last.
func (ix *Tables) neighbour(t *Release, name string) (record.Record, api.Match, float64) {
	for _, slug := range ix.Order {
		if slug == t.Slug {
			continue
		}
		if r, ok := ix.BySlug[slug].Find(name); ok {
			return r, api.MatchHeuristic, neighbourConfidence
		}
	}
	r, match, confidence := ix.pattern(name)
	if match != api.MatchNone {
		return r, match, confidence
	}
	return ix.resolveVendor(name)
}

// pattern takes a name for another version of software that is known.
func (ix *Tables) pattern(name string) (record.Record, api.Match, float64) {
	canonical, version, ok := record.OtherVersion(ix.File.Table(record.PatternsTable), name)
	if !ok {
		return record.Record{}, api.MatchNone, 0
	}
	return record.Record{Name: name, Canonical: canonical, Major: version}, api.MatchHeuristic, neighbourConfidence
}

// IsName reports whether a package or a canonical may have a name: keys and patterns
// of the tables, such as 8/ctags and *-logos, have characters that no name has.
func IsName(name string) bool {
	for i := range len(name) {
		if !inNames[name[i]] {
			return false
		}
	}
	return true
}

// inNames are the bytes that names may have.
var inNames = func() (all [256]bool) {
	for _, c := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.+_") {
		all[c] = true
	}
	return all
}()

// BareName drops the architecture that dpkg adds to a name.
func BareName(name string) string {
	bare, _ := record.Cut(name, ':')
	return bare
}
