package assess

import "crypto"

// maxBook bounds what is kept of a package database, in bytes: some times what a
// desktop with everything installed has.
const maxBook = 10 << 20

// Bytes that an entry takes beside its words: of a package, of a path.
const (
	packageCost = 300
	pathCost    = 120
)

// dpkg is what the package manager's database says beside the packages.
type dpkg struct {
	source    string              // its name among the sources: packages.dpkg
	database  string              // where it is, with a leading slash
	arch      string              // as the manager itself notes it; only dpkg does
	conffiles map[string]conffile // by path with a leading slash
	owned     map[string]string   // other paths of /etc and of unit folders, to the package
	named     map[string]bool     // every package that the status file names, in whatever state
	needed    map[string]bool     // packages that others depend on
	unsettled []Package           // half installed, half configured
	links     map[string]string   // links right in /etc to places below it
	kept      int                 // bytes of all that, about
}

// conffile is a configuration file as a package shipped it.
type conffile struct {
	pkg      string
	hash     crypto.Hash
	digests  []string // in hex; packages that share the file may differ
	link     string   // where it leads, where it was shipped as a link
	access   access   // only rpm says
	obsolete bool     // need not be there any more
}

// keep reports whether there is room for so many bytes more.
func (d *dpkg) keep(n int) bool {
	d.kept += n
	return !d.full()
}

// full reports whether something was left out.
func (d *dpkg) full() bool { return d.kept > maxBook }

// own notes whose a file is: of several packages always the same one, whichever
// is read first.
func (d *dpkg) own(file, pkg string) {
	old, taken := d.owned[file]
	if taken && pkg < old || !taken && d.keep(pathCost+len(file)) {
		d.owned[file] = pkg
	}
}

// ship notes a configuration file.
func (d *dpkg) ship(file string, c conffile) {
	if d.keep(pathCost + len(file)) {
		d.conffiles[file] = c
	}
}

// install notes a package that is installed.
func (m *machine) install(p Package) {
	words := len(p.Name) + len(p.Version) + len(p.Arch) + len(p.Source) + len(p.SourceVersion) + len(p.Section) + len(p.Origin) + len(p.Maintainer) + len(p.Module)
	if m.dpkg.keep(packageCost + words) {
		m.a.Packages = append(m.a.Packages, p)
	}
}
