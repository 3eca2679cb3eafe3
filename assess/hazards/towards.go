package hazards

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/tsv"
)

// Towards are the releases and versions of software towards which a hazard lies:
// it holds where the target has one of them that the source has not.
type Towards struct {
	always, anywhere bool // - and *
	any              []bound
}

// bound is a family of releases or a software, from or up to a version.
type bound struct {
	name, op, version string
}

var boundForm = lazyregexp.Whole(`([a-z][a-z0-9+-]*)(?:\s*(>=|<|=)\s*([0-9][0-9A-Za-z.]*))?`)

func parseBound(text string) (bound, error) {
	m := boundForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return bound{}, fmt.Errorf("%q is nothing like el>=9, debian, or openssh>=8.8", text)
	}
	b := bound{m[1], m[2], m[3]}
	if families[b.name] == nil && software()[b.name].releases == nil {
		return bound{}, fmt.Errorf("%q is neither a family of releases nor a software of software.tsv", b.name)
	}
	if families[b.name] == nil && b.op == "" {
		return bound{}, fmt.Errorf("%q needs a version, such as %s>=2", b.name, b.name)
	}
	return b, nil
}

func parseTowards(text string) (Towards, error) {
	switch text {
	case "-":
		return Towards{always: true}, nil
	case "*":
		return Towards{anywhere: true}, nil
	}
	var t Towards
	for part := range strings.SplitSeq(text, ",") {
		b, err := parseBound(part)
		if err != nil {
			return t, err
		}
		t.any = append(t.any, b)
	}
	return t, nil
}

// Always reports whether no target is needed.
func (t Towards) Always() bool { return t.always }

// Anywhere reports whether it lies on every way.
func (t Towards) Anywhere() bool { return t.anywhere }

// crossed reports whether a move from the machine to the target goes over it.
func (t Towards) crossed(m *Machine, target *release.Release) bool {
	if t.always {
		return target == nil
	}
	if target == nil {
		return false
	}
	return t.anywhere || slices.ContainsFunc(t.any, func(b bound) bool {
		return b.onTarget(m, *target) && !b.onSource(m)
	})
}

// families are the families by their names in tables: a release's own, and those that
// share a package manager or a format.
var families = func() map[string][]release.Family {
	all := map[string][]release.Family{}
	for _, f := range release.Families() {
		for _, name := range slices.Compact([]string{string(f.Family), f.Manager, string(f.Format)}) {
			all[name] = append(all[name], f.Family)
		}
	}
	return all
}()

// holds compares a version.
func (b bound) holds(version string) bool {
	switch c := pkgversion.Compare(pkgversion.RPM, version, b.version); b.op {
	case ">=":
		return c >= 0
	case "<":
		return c < 0
	case "=":
		return c == 0 || strings.HasPrefix(version, b.version+".")
	}
	return true
}

func (b bound) ofFamily(r release.Release) bool {
	return slices.Contains(families[b.name], r.Family) && b.holds(r.Version)
}

func (b bound) onTarget(m *Machine, target release.Release) bool {
	if families[b.name] != nil {
		return b.ofFamily(target)
	}
	s := software()[b.name]
	if !m.has(s) {
		return false
	}
	version := ""
	for _, name := range s.packages {
		if v := m.Brought[name]; v != "" && pkgversion.Upstream(v) != "" && !slices.Contains(s.defaults, name) {
			version = pkgversion.Upstream(v)
		}
	}
	if version == "" {
		version = s.on(target)
	}
	return version != "" && b.holds(version)
}

// onSource reports whether the source has it too. A software that the source has
// no package of is at no version; it counts as what its release has.
func (b bound) onSource(m *Machine) bool {
	if families[b.name] != nil {
		return b.ofFamily(m.Release)
	}
	version := m.version(b.name)
	return version != "" && b.holds(version)
}

// has reports whether the machine has a package of the software, or the software is
// one that every machine has.
func (m *Machine) has(s program) bool {
	return s.base || len(m.Packages) == 0 || slices.ContainsFunc(s.packages, func(name string) bool { return len(m.packages(name)) > 0 })
}

// version is that of a software on the machine: its package's, or else its
// release's.
func (m *Machine) version(name string) string {
	s := software()[name]
	highest := ""
	for _, pkg := range s.packages {
		for _, v := range m.named(pkg) {
			if v = pkgversion.Upstream(v); !slices.Contains(s.defaults, pkg) && (highest == "" || pkgversion.Compare(pkgversion.RPM, v, highest) > 0) {
				highest = v
			}
		}
	}
	return cmp.Or(highest, s.on(m.Release))
}

// program is a software: the packages that tell its version, and the version that
// releases have.
type program struct {
	packages []string
	base     bool     // every machine has it, whatever its package is called
	defaults []string // packages whose version is not the software's own
	releases map[string]string
}

//go:embed software.tsv
var softwareRows string

// software is the table of versions: name, packages, release=version ….
var software = sync.OnceValue(func() map[string]program {
	all := map[string]program{}
	for c := range tsv.Rows(softwareRows, 3) {
		p := program{releases: map[string]string{}}
		for name := range strings.FieldsSeq(c[1]) {
			if bare, ok := strings.CutPrefix(name, "~"); ok {
				name = bare
				p.defaults = append(p.defaults, name)
			}
			if name == "-" {
				p.base = true
				continue
			}
			p.packages = append(p.packages, name)
		}
		for cell := range strings.FieldsSeq(c[2]) {
			on, version, _ := strings.Cut(cell, "=")
			p.releases[on] = version
		}
		all[c[0]] = p
	}
	return all
})

// VersionOn is the version that a release has of a program of settings.tsv, or of a
// software, by default; empty where that is not known.
func VersionOn(name string, r release.Release) string {
	for c := range tsv.Rows(programRows, 7) {
		if c[0] == name {
			name = c[1]
			break
		}
	}
	return software()[name].on(r)
}

// on is the version that a release has, or of one that the table does not name, the
// newest that an older release of its family has; empty where it has none.
func (p program) on(r release.Release) string {
	major, _, _ := strings.Cut(r.Version, ".")
	family := string(r.Family)
	for _, name := range []string{family + "-" + r.Version, family + "-" + major} {
		if v, ok := p.releases[name]; ok {
			return strings.TrimPrefix(v, "-")
		}
	}
	best, version := "", ""
	for name, v := range p.releases {
		of, at, ok := strings.Cut(name, "-")
		if ok && of == family && pkgversion.Compare(pkgversion.RPM, at, r.Version) <= 0 && (best == "" || pkgversion.Compare(pkgversion.RPM, at, best) > 0) {
			best, version = at, v
		}
	}
	return strings.TrimPrefix(version, "-")
}
