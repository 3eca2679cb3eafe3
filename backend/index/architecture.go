package index

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/data"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

// CaveatArchitecture says that a package is made for another architecture.
const CaveatArchitecture = "ARCHITECTURE"

// armName is a package of x86-64 alone, and the one that arm64 has in its place, or
// none. An asterisk in both stands for anything.
type armName struct{ x86, arm string }

// armNames are those of each line of releases: debian, el and suse.
var armNames = sync.OnceValue(func() map[string][]armName {
	all := map[string][]armName{}
	for c := range tsv.Rows(data.Architectures, 3) {
		all[c[0]] = append(all[c[0]], armName{c[1], strings.TrimPrefix(c[2], "-")})
	}
	return all
})

// named are the exact rows of each line, by the name on x86-64.
var named = sync.OnceValue(func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for line, rows := range armNames() {
		all[line] = map[string]string{}
		for _, c := range rows {
			if !strings.Contains(c.x86, "*") {
				all[line][c.x86] = c.arm
			}
		}
	}
	return all
})

// abroad is what arm64 has of a package that only x86-64 has, or nothing; false where
// nothing says that other architectures lack it.
func abroad(line, name string) (string, bool) {
	if arm, ok := named()[line][name]; ok {
		return arm, true
	}
	for _, c := range armNames()[line] {
		if strings.Contains(c.x86, "*") {
			if arm, ok := record.Respelt(name, c.x86, c.arm); ok {
				return arm, true
			}
		}
	}
	return "", false
}

// home is the package of x86-64 in whose place arm64 has one of this name, or else the
// name itself.
func home(line, name string) string {
	for _, c := range armNames()[line] {
		if c.arm != "" {
			if x86, ok := record.Respelt(name, c.arm, c.x86); ok {
				return x86
			}
		}
	}
	return name
}

// lineOf is the line of a release in architectures.tsv.
func lineOf(slug string) string {
	r, _ := release.Lookup(slug)
	return string(cmp.Or(r.Family.Conventions().Line, release.LineDebian))
}

// Machine is the index as a machine of an architecture asks it. Its facts are those of
// x86-64: names that are made for that alone are taken for what arm64 has in their place,
// and on other architectures for questions.
type Machine struct {
	ix           *Index
	architecture string
}

// Of is the index for machines of an architecture, as package managers call it; the empty
// one, and that of 32-bit PCs, stand for x86-64.
func (ix *Index) Of(architecture string) Machine { return Machine{ix, api.BesideX86(architecture)} }

// Resolve is that of the index.
func (m Machine) Resolve(rel string, names []string) ([]api.Resolution, error) {
	if m.architecture != api.ARM64 {
		return m.ix.Resolve(rel, names)
	}
	line := lineOf(rel)
	asked := sliced.Map(names, func(name string) string { return home(line, lookup.BareName(name)) })
	results, err := m.ix.Resolve(rel, asked)
	for i := range results {
		results[i].Package = names[i]
	}
	return results, err
}

// Translate is that of the index.
func (m Machine) Translate(source, target string, canonicals []string) ([]api.Translation, error) {
	results, err := m.ix.Translate(source, target, canonicals)
	if m.architecture == "" {
		return results, err
	}
	line := lineOf(target)
	return sliced.Map(results, func(t api.Translation) api.Translation { return m.there(line, t) }), err
}

// there is a translation with the packages that the architecture has.
func (m Machine) there(line string, t api.Translation) api.Translation {
	var kept []api.TargetPackage
	var lacks []string
	for _, p := range t.Packages {
		switch arm, only := abroad(line, p.Name); {
		case !only:
			kept = append(kept, p)
		case m.architecture == api.ARM64 && arm != "":
			p.Name = arm
			kept = append(kept, p)
		default:
			lacks = append(lacks, p.Name)
		}
	}
	t.Packages = slices.CompactFunc(kept, func(a, b api.TargetPackage) bool { return a.Name == b.Name })
	if len(lacks) == 0 {
		return t
	}
	text := strings.Join(lacks, " and ") + ": made for x86-64 alone"
	if m.architecture == api.ARM64 {
		t.Confidence = min(t.Confidence, record.RowConfidence)
	} else {
		text += "; what " + m.architecture + " has in its place is not known"
		t.Confidence = min(t.Confidence, course.Unsure)
	}
	if len(t.Packages) == 0 {
		t.Relation, t.Packages = api.RelationRemoved, []api.TargetPackage{}
	}
	t.Caveats = append(slices.Clip(t.Caveats), api.Caveat{Code: CaveatArchitecture, Severity: api.SeverityInfo, Text: text + "."})
	return t
}
