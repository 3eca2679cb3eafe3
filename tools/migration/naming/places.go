// Package naming says what the target calls what a machine's texts name: files, units,
// accounts, programs with a version in their names. It is pure.
package naming

import (
	"path"
	"strings"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/lazyregexp"
)

// Row is what becomes of a package, as far as names follow from it.
type Row struct {
	Name, Canonical string
	Relation        api.Relation
	Sure            bool // its counterparts are installed
	Base            bool // the source's own installation began with it
	Targets         []string
}

// Places knows where files and units go.
type Places struct {
	files    map[string]api.Relocation // exact paths
	dirs     map[string]api.Relocation // folders, for all below them
	units    map[string]api.Relocation
	accounts map[string]api.Relocation // users
	Groups   map[string]api.Relocation
	Packages map[string]Row      // by the package's name
	programs map[string][]string // where the target has them, first the program, last what people call; by their paths
	runs     map[[2]string]bool  // packages with the accounts that are theirs
}

// New are those of a plan's packages, by the relocations of their canonicals.
func New(rows []Row, relocations map[string][]api.Relocation) Places {
	p := Places{map[string]api.Relocation{}, map[string]api.Relocation{}, map[string]api.Relocation{}, map[string]api.Relocation{}, map[string]api.Relocation{}, map[string]Row{}, map[string][]string{}, map[[2]string]bool{}}
	byKind := map[api.RelocationKind]map[string]api.Relocation{
		api.RelocateFile: p.files, api.RelocateDir: p.dirs, api.RelocateService: p.units, api.RelocateUser: p.accounts, api.RelocateGroup: p.Groups,
	}
	for _, row := range rows {
		p.Packages[row.Name] = row
		for _, r := range relocations[row.Canonical] {
			m, from := byKind[r.Kind], strings.TrimSuffix(r.From, "/")
			if _, ok := m[from]; m != nil && !ok { // of several the first counts
				m[from] = r
			}
			if r.Kind == api.RelocateUser || r.Kind == api.RelocateGroup {
				p.runs[[2]string{row.Name, from}] = true
			}
			p.siblings(from, r)
			p.ofProgram(from, r)
		}
	}
	return p
}

// siblings are the folders beside one that is called main, as Debian's package calls the
// first cluster of PostgreSQL: those that people name stand beside it, in the folder of
// its version, and go where it goes.
func (p Places) siblings(from string, r api.Relocation) {
	above, first := strings.CutSuffix(from, "/main")
	if _, ok := p.dirs[above]; r.Kind != api.RelocateDir || !first || r.To == nil || path.Base(*r.To) != "main" || ok {
		return
	}
	r.From, r.To = above, new(path.Dir(strings.TrimSuffix(*r.To, "/")))
	p.dirs[above] = r
}

// File finds the relocation of a path: its own, or that of the nearest folder
// above it, with the place that follows from it.
func (p Places) File(name string) (r api.Relocation, to string, ok bool) {
	if r, ok := p.files[name]; ok {
		return r, r.Place(), true
	}
	for dir := path.Dir(name); dir != "/" && dir != "."; dir = path.Dir(dir) {
		r, ok := p.dirs[dir]
		if !ok {
			r, ok = p.files[dir] // some indexes call a folder a file
		}
		if ok {
			if r.To == nil {
				return r, "", true
			}
			return r, strings.TrimSuffix(*r.To, "/") + strings.TrimPrefix(name, dir), true
		}
	}
	return api.Relocation{}, name, false
}

// Now is where the target has a file: as here, where nothing says otherwise.
func (p Places) Now(name string) string {
	if _, to, ok := p.File(name); ok && to != "" {
		return to
	}
	return name
}

// Account is what the target calls a user. Those of every system keep their
// names, whoever runs a service there.
func (p Places) Account(name string) string {
	if r, ok := p.accounts[name]; ok && r.To != nil && name != "root" && name != "nobody" {
		return *r.To
	}
	return name
}

// Group is what the target calls a group: by a relocation of its own, else as the
// user of its name is called, or the group of that one.
func (p Places) Group(name string) string {
	for _, named := range []string{name, p.Account(name)} {
		if r, ok := p.Groups[named]; ok && r.To != nil && name != "root" {
			return *r.To
		}
	}
	return p.Account(name)
}

// Targets are the packages of the target that surely take the place of one.
func (p Places) Targets(pkg string) []string {
	if row := p.Packages[pkg]; row.Sure {
		return row.Targets
	}
	return nil
}

// OfLink finds where a link stands and leads on the target: both move with the
// file that it leads to.
func (p Places) OfLink(f assess.ConfigFile) (at, leads string) {
	target := assess.LeadsTo(f.Path, f.Link)
	_, at, _ = p.File(f.Path)
	_, moved, ok := p.File(target)
	if !ok || moved == "" {
		return at, f.Link
	}
	if path.Base(f.Path) == path.Base(target) {
		at = path.Join(path.Dir(at), path.Base(moved))
	}
	if path.IsAbs(f.Link) {
		return at, moved
	}
	return at, path.Join(path.Dir(f.Link), path.Base(moved))
}

// Dropped reports whether the target's packages have a package's file no more, under any name.
func (p Places) Dropped(file string) bool {
	r, ok := p.files[file]
	return ok && r.To == nil && r.Action == api.ActionDrop
}

// Replaced reports whether another file of the target's packages does what a package's file
// did, which a person has to see to.
func (p Places) Replaced(file string) bool {
	r, ok := p.files[file]
	return ok && r.To != nil && *r.To != file && r.Action == api.ActionManual
}

// Unit finds the relocation of a service: the index knows those that are no
// units of systemd by the name that systemd would give them.
func (p Places) Unit(u assess.Unit) (r api.Relocation, ok bool) {
	if r, ok := p.units[u.Name]; ok {
		return r, true
	}
	if r, ok = p.units[u.Name+".service"]; ok {
		return r, ok
	}
	return p.ofMain(u.Name)
}

// instance is an instance of a template that stands for a version and a name.
var instance = lazyregexp.New(`^([^@]+@[0-9.]+-)([^@]+)(\.service)$`)

// ofMain finds the relocation of an instance by that of its version which is called main, as
// the index has it.
func (p Places) ofMain(unit string) (r api.Relocation, ok bool) {
	m := instance.FindStringSubmatch(unit)
	if m == nil {
		return r, false
	}
	if r, ok = p.units[m[1]+"main"+m[3]]; !ok || r.To == nil || !strings.HasSuffix(*r.To, "-main"+m[3]) {
		return r, false
	}
	to := strings.TrimSuffix(*r.To, "main"+m[3]) + m[2] + m[3]
	r.From, r.To = unit, &to
	return r, true
}

// ofVersion ends the names of Debian's packages of one version of software.
var ofVersion = lazyregexp.New(`-[0-9][0-9.]*$`)

// Gone reports whether a package has nothing on the target that could surely
// take its configuration. Debian's package of a version is as the one that
// brings it.
func (p Places) Gone(pkg string) bool {
	row, ok := p.Packages[pkg]
	if general, has := p.Packages[ofVersion.ReplaceAllString(pkg, "")]; has {
		row = general
	}
	return ok && (row.Relation == api.RelationRemoved || row.Relation == api.RelationUnknown || !row.Sure)
}

// version is a version number, with what stands before it in a name.
var version = lazyregexp.New(`^[^0-9]*[0-9]+(\.[0-9]+)*`)

// OldVersion is how the source's version shows in the paths of a relocation:
// "/13/" of /etc/postgresql/13/main, "php7.4" of php7.4-fpm.conf.
func OldVersion(r api.Relocation) string {
	from, to := strings.Split(r.From, "/"), strings.Split(r.Place(), "/")
	for i, name := range from {
		if i < len(to) && name == to[i] {
			continue
		}
		if found := version.FindString(name); found != name {
			return found
		}
		return "/" + name + "/"
	}
	return r.From
}
