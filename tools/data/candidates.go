package data

import (
	"cmp"
	_ "embed"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/tsv"
	"svc/tools/database"
)

// candidate is a place that may be there.
type candidate struct {
	path     string // absolute
	kind     Kind
	what     string
	name     string
	version  string
	evidence string
	names    []string // files of the folder that are all of the place; nil: all in it
}

//go:embed places.tsv
var placeRows string

// known are where programs keep data by default.
func known(*assess.Assessment, host.FS) (all []candidate) {
	for c := range tsv.Rows(placeRows, 4) {
		place := candidate{path: c[0], kind: Kind(c[1]), what: c[2]}
		if c[3] != "-" {
			place.names = strings.Fields(c[3])
		}
		all = append(all, place)
	}
	return all
}

// parent is a folder of which each one in it is a place.
type parent struct {
	dir   string
	kind  Kind
	not   []string
	links bool // that stand there are people's
}

//go:embed parents.tsv
var parentRows string

// parents are those of the table; a word behind an at stands for a list of words.
var parents = tsv.List(parentRows, 4, func(c []string) parent {
	p := parent{dir: c[0], kind: Kind(c[1]), links: c[3] == "links"}
	for name := range strings.FieldsSeq(c[2]) {
		switch list, isList := strings.CutPrefix(name, "@"); {
		case list == "managers":
			p.not = append(p.not, managers()...)
		case isList:
			p.not = append(p.not, listOf(list)...)
		default:
			p.not = append(p.not, name)
		}
	}
	return p
})

//go:embed lists.tsv
var listRows string

var words = sync.OnceValue(func() map[string][]string { return tsv.Words(listRows) })

// listOf are the words of a list.
func listOf(name string) []string { return words()[name] }

// lists reports whether a list has a word.
func lists(name, word string) bool { return slices.Contains(listOf(name), word) }

// managers are the programs that install packages and keep their databases, of all families.
func managers() (names []string) {
	for _, c := range release.Families() {
		names = append(names, c.Database, c.Manager)
	}
	return names
}

// candidates lists the places that a machine may have, those that its
// configuration names first: the first of a path counts.
func candidates(a *assess.Assessment, fsys host.FS) []candidate {
	var all []candidate
	for _, list := range []func(*assess.Assessment, host.FS) []candidate{engines, mounted, sites, named, bound, exports, keys, known, homes, listed, loose} {
		all = append(all, list(a, fsys)...)
	}
	all = append(all, stated(a, fsys, all)...)
	return slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.path, "/") || c.path == "/" && c.names == nil })
}

func engines(a *assess.Assessment, _ host.FS) (all []candidate) {
	for _, d := range a.Databases {
		all = append(all, candidate{path: d.Directory, kind: Database, what: d.Engine, name: database.DebianCluster(a.Databases, d), version: d.Version, evidence: d.Evidence.Path})
	}
	return all
}

func mounts(a *assess.Assessment) []assess.Mount {
	if a.Running != nil {
		return slices.Concat(a.Running.Mounts, a.Mounts)
	}
	return a.Mounts
}

// mounted names disks of their own last: what is known of a place beside that
// counts more.
func mounted(a *assess.Assessment, _ host.FS) []candidate {
	var all, disks []candidate
	for _, m := range mounts(a) {
		switch {
		case slices.Contains(m.Options, "bind") || strings.HasPrefix(m.Path, "/media/"):
		case lists("remote-types", m.Type) || slices.Contains(m.Options, "_netdev"): // a disk of iSCSI too
			all = append(all, candidate{path: m.Path, kind: Remote, what: m.Device, evidence: m.Evidence.Path})
		case lists("disk-types", m.Type) && !lists("system-mounts", path.Clean(m.Path)):
			disks = append(disks, candidate{path: m.Path, kind: Disk, what: m.Device, evidence: m.Evidence.Path})
		}
	}
	disks = slices.DeleteFunc(disks, func(c candidate) bool { return len(sameSite(a, c.path)) > 0 })
	return append(all, disks...)
}

// sameSite are the sites and databases whose folder is a mount itself.
func sameSite(a *assess.Assessment, dir string) []candidate {
	return sliced.Filter(slices.Concat(sites(a, nil), engines(a, nil)), func(c candidate) bool { return path.Clean(c.path) == path.Clean(dir) })
}

// shippedRoots are folders of packages that a site may serve as they came.
var shippedRoots = []string{"/usr", "/etc", "/var/lib"}

func sites(a *assess.Assessment, _ host.FS) (all []candidate) {
	for _, w := range a.WebServers {
		for _, s := range w.Sites {
			if s.Root != "" && !slices.ContainsFunc(shippedRoots, func(dir string) bool { return below(s.Root, dir) && !below(s.Root, "/usr/local") }) {
				all = append(all, candidate{path: s.Root, kind: Web, what: s.Name, evidence: s.Evidence.Path})
			}
		}
	}
	return all
}

func exports(a *assess.Assessment, _ host.FS) (all []candidate) {
	for _, f := range a.Facts {
		if f.Area == "exports" {
			all = append(all, candidate{path: f.Key, kind: Served, what: "exported by NFS", evidence: f.Evidence.Path})
		}
	}
	return all
}

func keys(a *assess.Assessment, _ host.FS) (all []candidate) {
	for _, c := range a.Certificates {
		dir := path.Dir(c.Key)
		if c.Key != "" && !lists("key-parents", dir) && !below(dir, "/etc/letsencrypt") {
			all = append(all, candidate{path: dir, kind: Keys, what: "private keys", evidence: c.Path})
		}
	}
	return all
}

// homes are those of people; of a service's account only outside the system.
func homes(a *assess.Assessment, _ host.FS) (all []candidate) {
	for _, u := range a.Users {
		if !u.System && u.Home != "" && !lists("system-mounts", path.Clean(u.Home)) {
			all = append(all, candidate{path: u.Home, kind: Home, what: u.Name, evidence: "/etc/passwd"})
		}
	}
	return all
}

// entriesOf are those of a folder; where they can't be had, unlisted says so.
func entriesOf(fsys host.FS, dir string) ([]fs.DirEntry, error) {
	return fsys.ReadDir(cmp.Or(strings.Trim(dir, "/"), "."))
}

// listed are the folders that stand in the parents.
func listed(_ *assess.Assessment, fsys host.FS) (all []candidate) {
	for _, e := range parents() {
		entries, _ := entriesOf(fsys, e.dir)
		for _, d := range entries {
			if (d.IsDir() || d.Type() != 0) && !slices.Contains(e.not, d.Name()) {
				all = append(all, candidate{path: path.Join(e.dir, d.Name()), kind: e.kind, what: d.Name()})
			}
		}
	}
	return all
}

// loose are the files that stand beside the folders of the parents: each
// such folder is a place of these alone.
func loose(_ *assess.Assessment, fsys host.FS) (all []candidate) {
	for _, e := range parents() {
		c := candidate{path: e.dir, kind: e.kind, what: "files beside its folders"}
		entries, _ := entriesOf(fsys, e.dir)
		for _, d := range entries {
			ours := d.Type().IsRegular() || e.links && d.Type()&fs.ModeSymlink != 0
			if ours && !slices.Contains(e.not, d.Name()) && !lists("system-files", d.Name()) {
				c.names = append(c.names, d.Name())
			}
		}
		if c.names != nil {
			all = append(all, c)
		}
	}
	return all
}
