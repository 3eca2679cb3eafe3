package assess

import (
	"crypto"
	_ "crypto/md5"
	_ "crypto/sha1"
	_ "crypto/sha3"
	_ "crypto/sha512"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/release"
)

// maxBook bounds what is kept of a package database, in bytes: some times what a
// desktop with everything installed has.
const maxBook = 10 << 20

// Bytes that an entry takes beside its words: of a package, of a path.
const (
	packageCost = 300
	pathCost    = 120
)

// Book is what the package manager's database says beside the packages.
type Book struct {
	Source    string              // its name among the sources: packages.dpkg
	Database  string              // where it is, with a leading slash
	Arch      string              // as the manager itself notes it; only dpkg does
	Conffiles map[string]Conffile // by path with a leading slash
	Owned     map[string]string   // other paths of /etc and of unit folders, to the package
	Named     map[string]bool     // every package that the status file names, in whatever state
	Needed    map[string]bool     // packages that others depend on
	Unsettled []Package           // half installed, half configured
	Links     map[string]string   // links right in /etc to places below it
	kept      int                 // bytes of all that, about
}

// Conffile is a configuration file as a package shipped it.
type Conffile struct {
	Package  string
	Hash     crypto.Hash
	Digests  []string // in hex; packages that share the file may differ
	Link     string   // where it leads, where it was shipped as a link
	Access   Access   // only rpm says
	Obsolete bool     // need not be there any more
}

// Keep reports whether there is room for so many bytes more.
func (d *Book) Keep(n int) bool {
	d.kept += n
	return !d.Full()
}

// Full reports whether something was left out.
func (d *Book) Full() bool { return d.kept > maxBook }

// Own notes whose a file is: of several packages always the same one, whichever
// is read first.
func (d *Book) Own(file, pkg string) {
	old, taken := d.Owned[file]
	if taken && pkg < old || !taken && d.Keep(pathCost+len(file)) {
		d.Owned[file] = pkg
	}
}

// Ship notes a configuration file.
func (d *Book) Ship(file string, c Conffile) {
	if d.Keep(pathCost + len(file)) {
		d.Conffiles[file] = c
	}
}

// Install notes a package that is installed.
func (m *Machine) Install(p Package) {
	words := len(p.Name) + len(p.Version) + len(p.Arch) + len(p.Source) + len(p.SourceVersion) + len(p.Section) + len(p.Origin) + len(p.Maintainer) + len(p.Module)
	if m.Book.Keep(packageCost + words) {
		m.A.Packages = append(m.A.Packages, p)
	}
}

// People is where the ids of people begin: of users and of groups.
type People struct{ UID, GID int }

// Named are the digests that were shipped, each with its algorithm.
func (c Conffile) Named() (all []string) {
	for _, digest := range c.Digests {
		if c.Hash.Available() && digest != "" {
			all = append(all, strings.ToLower(c.Hash.String())+":"+digest)
		}
	}
	return all
}

// Pristine reports whether a file has a digest that was shipped.
func (m *Machine) Pristine(name string, shipped Conffile) bool {
	return shipped.Hash.Available() && slices.Contains(shipped.Digests, m.Digest(name, shipped.Hash.New()))
}

// IsLocal reports whether no package made the file.
func (m *Machine) IsLocal(file string) bool {
	_, conf := m.Book.Conffiles[file]
	return !conf && m.Book.Owned[file] == ""
}

func (m *Machine) ChangedConffile(file string) bool {
	c, ok := m.Book.Conffiles[file]
	return ok && !m.Pristine(file[1:], c)
}

// Installed is the installed package of a name, or nil.
func (r *Reading) Installed(name string) *Package {
	i := slices.IndexFunc(r.A.Packages, func(p Package) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &r.A.Packages[i]
}

// InstalledPrefix is the first installed package whose name begins so.
func (m *Machine) InstalledPrefix(prefix string) *Package {
	i := slices.IndexFunc(m.A.Packages, func(p Package) bool { return strings.HasPrefix(p.Name, prefix) })
	if i < 0 {
		return nil
	}
	return &m.A.Packages[i]
}

// Upstream is the upstream part of a package's version.
func Upstream(version string) string {
	if _, rest, ok := strings.Cut(version, ":"); ok {
		version = rest
	}
	if i := strings.LastIndexByte(version, '-'); i > 0 {
		version = version[:i]
	}
	version, _, _ = strings.Cut(version, "+")
	return version
}

// PlainVersion is a version of an engine, not of a form of data: "rdb 9".
var PlainVersion = lazyregexp.New(`^[0-9]+(\.[0-9]+)*$`)

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
