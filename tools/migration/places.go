package migration

import (
	"path"
	"strings"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/lazyregexp"
)

// places knows where files and units go.
type places struct {
	files    map[string]api.Relocation // exact paths
	dirs     map[string]api.Relocation // folders, for all below them
	units    map[string]api.Relocation
	accounts map[string]api.Relocation // users
	groups   map[string]api.Relocation
	packages map[string]Package // rows by the package's name
}

func newPlaces(in Input, rows []Package) places {
	p := places{map[string]api.Relocation{}, map[string]api.Relocation{}, map[string]api.Relocation{}, map[string]api.Relocation{}, map[string]api.Relocation{}, map[string]Package{}}
	byKind := map[api.RelocationKind]map[string]api.Relocation{
		api.RelocateFile: p.files, api.RelocateDir: p.dirs, api.RelocateService: p.units, api.RelocateUser: p.accounts, api.RelocateGroup: p.groups,
	}
	for _, row := range rows {
		p.packages[row.Name] = row
		for _, r := range in.Relocations[row.Canonical] {
			m, from := byKind[r.Kind], strings.TrimSuffix(r.From, "/")
			if _, ok := m[from]; m != nil && !ok { // of several the first counts
				m[from] = r
			}
		}
	}
	return p
}

// file finds the relocation of a path: its own, or that of the nearest folder
// above it, with the place that follows from it.
func (p places) file(name string) (r api.Relocation, to string, ok bool) {
	if r, ok := p.files[name]; ok {
		return r, deref(r.To), true
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

// account is what the target calls a user. Those of every system keep their
// names, whoever runs a service there.
func (p places) account(name string) string {
	if r, ok := p.accounts[name]; ok && r.To != nil && name != "root" && name != "nobody" {
		return *r.To
	}
	return name
}

// group is what the target calls a group: by a relocation of its own, else as the
// user of its name is called.
func (p places) group(name string) string {
	if r, ok := p.groups[name]; ok && r.To != nil && name != "root" {
		return *r.To
	}
	return p.account(name)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// leadsTo is the file that a link leads to.
func leadsTo(f assess.ConfigFile) string {
	if path.IsAbs(f.Link) {
		return path.Clean(f.Link)
	}
	return path.Join(path.Dir(f.Path), f.Link)
}

// link finds where a link stands and leads on the target: both move with the
// file that it leads to.
func (p places) link(f assess.ConfigFile) (at, leads string) {
	target := leadsTo(f)
	_, at, _ = p.file(f.Path)
	_, moved, ok := p.file(target)
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

// unit finds the relocation of a service: the index knows those that are no
// units of systemd by the name that systemd would give them.
func (p places) unit(u assess.Unit) (r api.Relocation, ok bool) {
	if r, ok := p.units[u.Name]; ok {
		return r, true
	}
	r, ok = p.units[u.Name+".service"]
	return r, ok
}

// ofVersion ends the names of Debian's packages of one version of software.
var ofVersion = lazyregexp.New(`-[0-9][0-9.]*$`)

// gone reports whether a package has nothing on the target that could surely
// take its configuration. Debian's package of a version is as the one that
// brings it.
func (p places) gone(pkg string) bool {
	row, ok := p.packages[pkg]
	if general, has := p.packages[ofVersion.ReplaceAllString(pkg, "")]; has {
		row = general
	}
	return ok && (row.Relation == api.RelationRemoved || row.Relation == api.RelationUnknown || row.Confidence < Sure)
}
