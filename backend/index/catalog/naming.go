package catalog

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/deb"
	"svc/backend/index/record"
	"svc/backend/sliced"
)

// Software is a curated row: the sources of a pattern are one software.
type Software struct {
	Pattern string // a source's name; an asterisk stands for a version
	Name    string
	Major   Major
}

// Major says what a software's major version is good for.
type Major string

// The kinds of major versions.
const (
	NoMajor   Major = ""
	Kept      Major = "kept"      // several live side by side: part of the canonical
	Attribute Major = "attribute" // the canonical survives the upgrade
	One       Major = "one"       // an attribute: the first number of the version
	Two       Major = "two"       // an attribute: the first two numbers
)

// Majors lists the kinds of major versions.
var Majors = []Major{NoMajor, Kept, Attribute, One, Two}

// Naming gives packages their canonicals.
type Naming struct {
	exact     map[string]Software
	patterns  []pattern
	overrides map[string]string
	survives  map[string]bool // softwares whose canonical survives an upgrade
}

type pattern struct {
	Software
	re *regexp.Regexp
}

// NewNaming takes the curated rows, the first that fits a source counting, and
// the canonicals of single packages.
func NewNaming(rows []Software, overrides map[string]string) *Naming {
	n := &Naming{exact: map[string]Software{}, overrides: overrides, survives: map[string]bool{}}
	for _, row := range rows {
		n.survives[row.Name] = n.survives[row.Name] || row.Major == Attribute
		if !strings.Contains(row.Pattern, "*") {
			if _, earlier := n.exact[row.Pattern]; !earlier {
				n.exact[row.Pattern] = row
			}
			continue
		}
		expression := "^" + strings.Replace(regexp.QuoteMeta(row.Pattern), `\*`, `([0-9]+(?:\.[0-9]+)*)`, 1) + "$"
		n.patterns = append(n.patterns, pattern{row, regexp.MustCompile(expression)})
	}
	return n
}

// row is the row of a source and the version in its name.
func (n *Naming) row(source string) (Software, string) {
	if row, ok := n.exact[source]; ok {
		return row, ""
	}
	for _, p := range n.patterns {
		if m := p.re.FindStringSubmatch(source); m != nil {
			return p.Software, m[1]
		}
	}
	name := record.Slug(source)
	if bare := strings.TrimSuffix(name, "-defaults"); !n.survives[bare] {
		name = bare
	}
	return Software{Name: name}, ""
}

// software is the name of the software of a source and the version in it.
func (n *Naming) software(source string) (name, version string) {
	row, version := n.row(source)
	return row.Name, version
}

// lineage is one thing through the releases: the packages of a software and
// role with one stem.
type lineage struct {
	base     string // software, with its major where that is kept
	software string
	role     api.Role
	stem     string
	major    Major
	curated  bool
	members  map[string][]*Package // release → packages
}

// Apply sets Canonical and Major of every package, and gives the releases back. Within a release no two
// packages have one canonical.
func (n *Naming) Apply(releases []*Release) []*Release {
	for _, r := range releases {
		n.findDefaults(r)
	}
	c := &claims{taken: map[string]map[string]string{}}
	n.override(releases, c)
	groups := n.group(releases)
	var first, rest []*lineage
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		lineages := slices.SortedFunc(maps.Values(groups[key]), nearest)
		first, rest = append(first, lineages[0]), append(rest, lineages[1:]...)
	}
	slices.SortStableFunc(first, func(a, b *lineage) int { return cmp.Compare(rank(a), rank(b)) })
	for _, l := range first {
		c.name(l, record.WithRole(l.base, l.role), releases)
	}
	slices.SortStableFunc(rest, func(a, b *lineage) int { return cmp.Compare(rank(a), rank(b)) })
	for _, l := range rest {
		c.name(l, record.WithRole(ownSlug(l), l.role), releases)
	}
	for _, r := range releases {
		for _, p := range r.Packages {
			p.Major = n.major(p)
		}
	}
	return releases
}

// rank lets software of curated rows choose before that which only has the
// name: the versioned packages before the metapackages that lead to them.
func rank(l *lineage) int { return record.BoolOrder(!l.curated) }

// override gives the curated canonicals.
func (n *Naming) override(releases []*Release, c *claims) {
	for _, r := range releases {
		for _, name := range r.Names {
			if canonical, ok := n.overrides[name]; ok && c.claim(canonical, r.Slug, name) {
				r.Packages[name].Canonical = canonical
			}
		}
	}
}

// group sorts the packages into lineages, by software and role.
func (n *Naming) group(releases []*Release) map[string]map[string]*lineage {
	groups := map[string]map[string]*lineage{}
	for _, r := range releases {
		for _, name := range r.Names {
			p := r.Packages[name]
			if p.Canonical != "" {
				continue
			}
			l := n.lineageOf(p)
			key := l.base + " " + string(l.role)
			if groups[key] == nil {
				groups[key] = map[string]*lineage{}
			}
			if groups[key][l.stem] == nil {
				groups[key][l.stem] = l
			}
			members := groups[key][l.stem].members
			members[r.Slug] = append(members[r.Slug], p)
		}
	}
	return groups
}

// lineageOf is the lineage that a package belongs to, without members.
func (n *Naming) lineageOf(p *Package) *lineage {
	row, version := n.row(p.Source)
	l := &lineage{base: row.Name, software: row.Name, role: roleOf(p), stem: stem(p.Name), major: row.Major, members: map[string][]*Package{}}
	if row.Major == Kept && version != "" && strings.Contains(p.Name, version) {
		l.base += "-" + version
		l.stem += "-" + version
	}
	if _, kernel := record.KernelMeta(p.Name); kernel {
		l.stem = p.Name
	}
	if l.curated = row.Pattern != ""; !l.curated {
		l.base, l.software = ecosystem(p.Name, row.Name), ecosystem(p.Name, row.Name)
	}
	return l
}

// languages are the prefixes of sources that Debian names after the language of
// a program, though the program is known without.
var languages = []string{"golang-", "haskell-", "rust-"}

// ecosystem names a language's module or program as other distributions can.
func ecosystem(name, software string) string {
	for _, prefix := range languages {
		if strings.HasPrefix(software, prefix) && !strings.HasPrefix(name, prefix) && !strings.HasPrefix(name, "lib") {
			return record.Slug(name)
		}
	}
	if rest, ok := strings.CutPrefix(name, "python3-"); ok && !strings.HasPrefix(software, "python") && strings.HasPrefix(rest, software) {
		return "python-" + software
	}
	if rest, ok := strings.CutPrefix(name, "lib"); ok && strings.HasSuffix(rest, "-perl") && software == name {
		return "perl-" + strings.TrimSuffix(rest, "-perl")
	}
	return software
}

// nearest orders the lineages of a group: the first keeps the short canonical.
func nearest(a, b *lineage) int {
	return cmp.Or(cmp.Compare(a.distance(), b.distance()), cmp.Compare(len(b.members), len(a.members)),
		cmp.Compare(len(a.stem), len(b.stem)), cmp.Compare(a.stem, b.stem))
}

// distance grades how far the names are from the software's.
func (l *lineage) distance() int {
	own, stem := stem(strings.TrimSuffix(l.software, "-defaults")), strings.TrimSuffix(l.stem, "-"+strings.TrimPrefix(l.base, l.software+"-"))
	switch {
	case stem == own:
		return 0
	case stem == own+"-server", stem == "lib"+own, stem == own+"d", stem == "python-"+strings.TrimPrefix(own, "python-"):
		return 1
	case trimRole(stem, l.role) == own, trimRole(stem, l.role) == "lib"+own:
		return 2
	case strings.HasPrefix(stem, own), strings.HasPrefix(stem, "lib"+own):
		return 3
	}
	return 4
}

// ownSlug is the software of a lineage that is not the nearest of its group:
// its one name, or what its names have in common.
func ownSlug(l *lineage) string {
	name := ""
	for _, members := range l.members {
		for _, p := range members {
			if name != "" && p.Name != name {
				return record.Slug(trimRole(l.stem, l.role))
			}
			name = p.Name
		}
	}
	return record.Slug(trimRole(name, l.role))
}

// claims are the canonicals given: canonical → release → name.
type claims struct{ taken map[string]map[string]string }

// claim takes a canonical for a package unless another of the release has it.
func (c *claims) claim(canonical, release, name string) bool {
	if c.taken[canonical] == nil {
		c.taken[canonical] = map[string]string{}
	}
	if owner, ok := c.taken[canonical][release]; ok {
		return owner == name
	}
	c.taken[canonical][release] = name
	return true
}

// name gives the canonical to one package of the lineage in each release: the
// only one, the default of several, or the one without a version. The others,
// and all where the canonical is not to be had, take their own names.
func (c *claims) name(l *lineage, canonical string, releases []*Release) {
	free := c.free(l, canonical)
	for _, r := range releases {
		members := l.members[r.Slug]
		chosen := choose(l, members, r)
		for _, p := range members {
			if free && p == chosen && c.claim(canonical, r.Slug, p.Name) {
				p.Canonical = canonical
				continue
			}
			p.Canonical = c.own(l, p, r.Slug)
		}
	}
}

// free reports whether nobody has the canonical in any release of the lineage:
// a lineage keeps one canonical through the releases, or none.
func (c *claims) free(l *lineage, canonical string) bool {
	for slug := range l.members {
		if _, taken := c.taken[canonical][slug]; taken {
			return false
		}
	}
	return true
}

// choose picks the package of several that the lineage's canonical is for, or
// none.
func choose(l *lineage, members []*Package, r *Release) *Package {
	if len(members) == 1 {
		return members[0]
	}
	for _, p := range members {
		if l.major != Attribute && !versioned(p.Name) {
			return p
		}
	}
	usual := r.defaults[l.software]
	if l.major == Kept || usual == "" {
		return nil
	}
	return sliced.First(members, func(p *Package) bool { return strings.Contains(p.Name, usual) })
}

// own is a canonical made of the package's whole name.
func (c *claims) own(l *lineage, p *Package, release string) string {
	base := record.Slug(p.Name)
	for _, canonical := range []string{record.WithRole(record.Slug(trimRole(p.Name, l.role)), l.role), record.WithRole(base, l.role), base} {
		if c.claim(canonical, release, p.Name) {
			return canonical
		}
	}
	for base += "-defaults"; !c.claim(base, release, p.Name); base += "." {
	}
	return base
}

// major is the major version of a package where it matters. That of a
// database's whole version matters for the programs, not for its libraries.
func (n *Naming) major(p *Package) string {
	row, version := n.row(p.Source)
	program := roleOf(p) == api.RoleMain || roleOf(p) == api.RoleClient
	switch {
	case (row.Major == Kept || row.Major == Attribute) && strings.Contains(p.Name, version):
		return version
	case row.Major == One && program:
		return numbers(p.Version, 1)
	case row.Major == Two && program:
		return numbers(p.Version, 2)
	}
	return ""
}

// numbers is the beginning of an upstream version: its first count numbers.
func numbers(version string, count int) string {
	if _, rest, ok := strings.Cut(version, ":"); ok {
		version = rest
	}
	parts := strings.FieldsFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	return strings.Join(parts[:min(count, len(parts))], ".")
}

// findDefaults finds the version of each software that the release's
// metapackages depend on most: 14 for gcc, by those of gcc-defaults.
func (n *Naming) findDefaults(r *Release) {
	votes := map[string]map[string]int{}
	for _, name := range r.Names {
		p := r.Packages[name]
		if !strings.HasSuffix(p.Source, "-defaults") && !strings.HasSuffix(p.Source, "-common") {
			continue
		}
		for dependency := range deb.Names(p.Depends) {
			q := r.Packages[dependency]
			if q == nil {
				continue
			}
			if software, version := n.software(q.Source); version != "" && strings.Contains(dependency, version) {
				if votes[software] == nil {
					votes[software] = map[string]int{}
				}
				votes[software][version]++
			}
		}
	}
	r.defaults = map[string]string{}
	for software, versions := range votes {
		r.defaults[software] = slices.MaxFunc(slices.Sorted(maps.Keys(versions)), func(a, b string) int {
			return cmp.Compare(versions[a], versions[b])
		})
	}
}
