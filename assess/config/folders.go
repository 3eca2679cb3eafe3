package config

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
)

// maxFolders bounds the folders below one place.
const maxFolders = 2000

// filler is a place in which services write.
type filler struct {
	dir    string
	depth  int
	rooted bool // folders of root are listed too
	within bool // what packages bring is looked into too
}

// fillers are where services write: their folders have to be there before they
// start, with the owner that the service runs as. Below the places with data only
// the first is looked at, for what is in one is its service's, and moves with it.
var fillers = []filler{
	{"var/log", 3, true, true},
	{"var/cache", 2, true, false}, // what is in it does not move: a service makes it anew, but often not its folder
	{"var/lib", 1, false, false},
	{"var/spool", 1, false, false},
}

// ReadFolders lists the folders that no package brings: of /etc, and of where
// services write.
func ReadFolders(m *assess.Machine) {
	for _, f := range fillers {
		f.read(m, f.dir, f.depth, len(m.A.Folders)+maxFolders)
	}
	slices.SortFunc(m.A.Folders, func(a, b assess.Folder) int { return strings.Compare(a.Path, b.Path) })
}

// read adds the folders of dir that no package brings, and those in them, until there are
// most; links are not followed.
func (f filler) read(m *assess.Machine, dir string, depth, most int) {
	entries, err := m.FS.ReadDir(dir)
	m.Unreadable("folders."+path.Base(dir), dir, err)
	for _, e := range entries {
		if len(m.A.Folders) >= most {
			m.Outcome("folders."+path.Base(dir), dir, fmt.Errorf("/%s: more than %d folders; the rest was not looked at", dir, maxFolders))
			return
		}
		name := path.Join(dir, e.Name())
		if !e.IsDir() || ownName(m, e.Name()) {
			continue
		}
		owned := m.Book.Owned["/"+name] != ""
		if folder, ok := folder(m, name); ok && !owned && (f.rooted || folder.UID != 0 || folder.GID != 0) {
			assess.Grow(m, "folders", &m.A.Folders, folder)
		}
		if depth > 1 && (f.within || !owned) {
			f.read(m, name, depth-1, most)
		}
	}
}

// ownName tells the folders that programs call by the machine's id.
func ownName(m *assess.Machine, name string) bool {
	return len(name) == 32 && strings.Trim(name, "0123456789abcdef") == ""
}

// etcFolder adds a folder of /etc that no package brings, or whose package's
// word is not enough: one that is closed.
func etcFolder(m *assess.Machine, name string, info fs.DirEntry) {
	if !info.IsDir() || matches(etc()["machine"], "/"+name+"/") {
		return
	}
	pkg := m.Book.Owned["/"+name]
	if folder, ok := folder(m, name); ok && (pkg == "" || folder.Mode != "0755" || folder.UID != 0 || folder.GID != 0) {
		folder.Package = pkg
		assess.Grow(m, "folders", &m.A.Folders, folder)
	}
}

func folder(m *assess.Machine, name string) (assess.Folder, bool) {
	info, err := m.FS.Lstat(name)
	if err != nil {
		return assess.Folder{}, false
	}
	f := assess.Folder{Path: "/" + name, Mode: fmt.Sprintf("%04o", assess.Octal(info.Mode()))}
	f.UID, f.GID, _ = host.Owner(info)
	f.Owner, f.Group = m.Users[f.UID], m.Groups[f.GID]
	return f, true
}

// disabled notes what a folder has available and its neighbour does not enable by
// a link, as Debian's packages of web servers have it: sites-available and
// sites-enabled.
func disabled(m *assess.Machine, dir string, names []fs.DirEntry) {
	base, ok := strings.CutSuffix(dir, "-available")
	enabled, err := m.Files(base + "-enabled")
	if !ok || err != nil {
		return
	}
	for _, e := range names {
		if !e.IsDir() && !slices.Contains(enabled, e.Name()) {
			assess.Grow(m, "disabled", &m.A.Disabled, "/"+path.Join(base+"-enabled", e.Name()))
		}
	}
}
