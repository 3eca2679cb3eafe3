package assess

import (
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/backend/sliced"
)

// Install notes a package that is installed.
func (m *Machine) Install(p Package) {
	words := len(p.Name) + len(p.Version) + len(p.Arch) + len(p.Source) + len(p.SourceVersion) + len(p.Section) + len(p.Origin) + len(p.Maintainer) + len(p.Module)
	if m.Book.Keep(packageCost + words) {
		m.A.Packages = append(m.A.Packages, p)
	}
}

// Installed is the installed package of a name, or nil.
func (r *Reading) Installed(name string) *Package {
	return sliced.Pointer(r.A.Packages, func(p Package) bool { return p.Name == name })
}

// InstalledPrefix is the first installed package whose name begins so.
func (m *Machine) InstalledPrefix(prefix string) *Package {
	return sliced.Pointer(m.A.Packages, func(p Package) bool { return strings.HasPrefix(p.Name, prefix) })
}

// PackageOf is the first of the packages that is installed.
func (m *Machine) PackageOf(names []string, version string) string {
	for _, name := range names {
		if p := m.Installed(strings.Replace(name, "%", version, 1)); p != nil {
			return p.Name
		}
	}
	return ""
}

// EnabledService reports whether a service of one of these names starts with
// the machine.
func (m *Machine) EnabledService(names ...string) bool {
	return slices.ContainsFunc(m.A.Services, func(u Unit) bool {
		return u.State == StateEnabled && slices.Contains(names, strings.TrimSuffix(u.Name, ".service"))
	})
}

// Family is the family of the machine's system, or "".
func (r *Reading) Family() release.Family {
	if r.Known {
		return r.Release.Family
	}
	for _, id := range r.IDs {
		if f := release.FamilyOf(id); f != "" {
			return f
		}
	}
	return ""
}

// Owner is the package of a file: a database may know it by the path from
// before /lib became a link.
func (m *Machine) Owner(file string) string {
	if pkg := m.Book.Owned["/"+file]; pkg != "" {
		return pkg
	}
	if c, ok := m.Book.Conffiles["/"+file]; ok {
		return c.Package
	}
	return m.Book.Owned["/"+strings.TrimPrefix(file, "usr/")]
}

// IsLocal reports whether no package made the file.
func (m *Machine) IsLocal(file string) bool {
	_, conf := m.Book.Conffiles[file]
	return !conf && m.Book.Owned[file] == ""
}

// Pristine reports whether a file has a digest that was shipped.
func (m *Machine) Pristine(name string, shipped Conffile) bool {
	return shipped.Hash.Available() && slices.Contains(shipped.Digests, m.Digest(name, shipped.Hash.New()))
}

// ChangedConffile reports whether a file is a package's own, and not as it was shipped.
func (m *Machine) ChangedConffile(file string) bool {
	c, ok := m.Book.Conffiles[file]
	return ok && !m.Pristine(file[1:], c)
}

// PlainVersion is a version of an engine, not of a form of data: "rdb 9".
var PlainVersion = lazyregexp.New(`^[0-9]+(\.[0-9]+)*$`)
