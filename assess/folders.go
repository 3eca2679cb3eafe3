package assess

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess/host"
)

// maxFolders bounds the folders below one place.
const maxFolders = 2000

// fillers are where services write: their folders have to be there before they
// start, with the owner that the service runs as. Below the places with data only
// the first is looked at, for what is in one is its service's, and moves with it.
var fillers = []struct {
	dir    string
	depth  int
	rooted bool // folders of root are listed too
}{
	{"var/log", 3, true},
	{"var/cache", 1, false},
	{"var/lib", 1, false},
	{"var/spool", 1, false},
}

// readFolders lists the folders that no package brings: of /etc, and of where
// services write.
func (m *machine) readFolders() {
	before := 0
	for _, f := range fillers {
		before = len(m.a.Folders)
		m.foldersBelow(f.dir, f.depth, before, func(folder Folder) bool { return f.rooted || folder.UID != 0 || folder.GID != 0 })
	}
	slices.SortFunc(m.a.Folders, func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
}

// foldersBelow adds the folders of a folder that match; links are not followed.
func (m *machine) foldersBelow(dir string, depth, before int, match func(Folder) bool) {
	entries, err := m.fs.ReadDir(dir)
	if stateOf(err) == SourceUnreadable {
		m.outcome("folders."+path.Base(dir), dir, err)
	}
	for _, e := range entries {
		if len(m.a.Folders)-before >= maxFolders {
			m.outcome("folders."+path.Base(dir), dir, fmt.Errorf("/%s: more than %d folders; the rest was not looked at", dir, maxFolders))
			return
		}
		name := path.Join(dir, e.Name())
		if !e.IsDir() || m.ownName(e.Name()) {
			continue
		}
		if folder, ok := m.folder(name); ok && m.dpkg.owned["/"+name] == "" && match(folder) {
			grow(m, "folders", &m.a.Folders, folder)
		}
		if depth > 1 {
			m.foldersBelow(name, depth-1, before, match)
		}
	}
}

// ownName tells the folders that programs call by the machine's id.
func (m *machine) ownName(name string) bool {
	return len(name) == 32 && strings.Trim(name, "0123456789abcdef") == ""
}

// etcFolder adds a folder of /etc that no package brings, or whose package's
// word is not enough: one that is closed.
func (m *machine) etcFolder(name string, info fs.DirEntry) {
	if !info.IsDir() || matches(machineOnly, "/"+name+"/") {
		return
	}
	pkg := m.dpkg.owned["/"+name]
	if folder, ok := m.folder(name); ok && (pkg == "" || folder.Mode != "0755" || folder.UID != 0 || folder.GID != 0) {
		folder.Package = pkg
		grow(m, "folders", &m.a.Folders, folder)
	}
}

func (m *machine) folder(name string) (Folder, bool) {
	info, err := m.fs.Lstat(name)
	if err != nil {
		return Folder{}, false
	}
	f := Folder{Path: "/" + name, Mode: fmt.Sprintf("%04o", octal(info.Mode()))}
	f.UID, f.GID, _ = host.Owner(info)
	f.Owner, f.Group = m.users[f.UID], m.groups[f.GID]
	return f, true
}

// disabled notes what a folder has available and its neighbour does not enable by
// a link, as Debian's packages of web servers have it: sites-available and
// sites-enabled.
func (m *machine) disabled(dir string, names []fs.DirEntry) {
	base, ok := strings.CutSuffix(dir, "-available")
	enabled, err := m.files(base + "-enabled")
	if !ok || err != nil {
		return
	}
	for _, e := range names {
		if !e.IsDir() && !slices.Contains(enabled, e.Name()) {
			grow(m, "disabled", &m.a.Disabled, "/"+path.Join(base+"-enabled", e.Name()))
		}
	}
}
