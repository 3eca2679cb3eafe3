package data

import (
	"context"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
	maintained "svc/assess/scripts"
	"svc/backend/sliced"
)

// maxInside bounds how many folders of an empty place are looked at.
const maxInside = 100

// unclaimed are the empty folders below /var that people gave to an account or opened
// to others: programs of theirs write there, and do not make them. What a file of dpkg
// names is its package's, and so is all of a machine without dpkg: a copy of nothing
// would take from the target what its package put there.
func unclaimed(ctx context.Context, fsys host.FS, places []Place) []string {
	entries, err := fsys.ReadDir(maintained.Dir)
	if err != nil {
		return nil
	}
	var folders, files []string
	for _, p := range places {
		if p.nothing() && p.Names == nil && strings.HasPrefix(p.Path, "/var/") {
			folders = append(folders, givenAway(fsys, p)...)
		}
	}
	if len(folders) == 0 {
		return nil
	}
	for _, e := range entries {
		if slices.Contains([]string{".list", ".preinst", ".postinst", ".config"}, path.Ext(e.Name())) {
			files = append(files, path.Join(maintained.Dir, e.Name()))
		}
	}
	rules, _ := fsys.ReadDir("usr/lib/tmpfiles.d")
	for _, e := range rules {
		files = append(files, path.Join("usr/lib/tmpfiles.d", e.Name()))
	}
	bare := []string{} // a script may name them below a root that it is given, as var/mail
	bare = append(bare, sliced.Map(folders, func(name string) string { return name[1:] })...)
	wanted := maintained.Looking(folders, bare)
	claimed := map[string]bool{}
	maintained.Each(ctx, fsys, files, func(_ string, text []byte) {
		for _, name := range wanted.In(text) {
			claimed["/"+strings.TrimPrefix(name, "/")] = true
		}
	})
	return slices.DeleteFunc(folders, func(name string) bool { return claimed[name] })
}

// nothing reports whether no file was met in a place.
func (p *Place) nothing() bool {
	return p.Kind != Remote && p.Kind != Disk && p.Files+p.Links+p.Others+p.Unread == 0 && len(p.Mounts) == 0
}

// givenAway are a place and the folders in it which are not root's alone to write to, as
// one is that nobody thought about. Those in a service's are its own, which makes them
// when it runs.
func givenAway(fsys host.FS, p Place) (all []string) {
	if apart(fsys, p.Path) {
		all = append(all, p.Path)
	}
	if p.Kind == Service {
		return all
	}
	entries, _ := fsys.ReadDir(strings.TrimPrefix(p.Path, "/"))
	for _, e := range entries[:min(len(entries), maxInside)] {
		if e.IsDir() && apart(fsys, path.Join(p.Path, e.Name())) {
			all = append(all, path.Join(p.Path, e.Name()))
		}
	}
	return all
}

// apart reports whether a folder has an owner or a mode of its own.
func apart(fsys host.FS, name string) bool {
	info, err := fsys.Lstat(strings.TrimPrefix(name, "/"))
	if err != nil {
		return false
	}
	uid, gid, known := host.Owner(info)
	return assess.Octal(info.Mode()) != 0o755 || known && (uid != 0 || gid != 0)
}
