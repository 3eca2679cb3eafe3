package config

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/baseline"
	"svc/assess/scripts"
	"svc/backend/sliced"
)

// readMadeBy tells what of /etc the installation of a package made, by its maintainer
// script: links, which say so from here on, and copies of its own files, which are as
// shipped. What else is in a file that a script names may be a person's work.
func readMadeBy(m *assess.Machine) {
	unowned := map[string]*assess.ConfigFile{}
	paths := []string{}
	for i := range m.A.Configuration {
		if c := &m.A.Configuration[i]; c.State == assess.ConfigUnowned && (c.Link != "" || c.Size > 0) {
			unowned[c.Path] = c
			paths = append(paths, c.Path)
		}
	}
	own := lived(m)
	if len(paths) == 0 && len(own) == 0 {
		return
	}
	wanted := scripts.Looking(paths, slices.Collect(maps.Keys(own)))
	all := postinsts(m)
	scripts.Each(m.Context, m.FS, all, func(script string, text []byte) {
		named := wanted.In(text)
		if bytes.Contains(text, []byte("adduser")) || bytes.Contains(text, []byte("useradd")) {
			maps.DeleteFunc(own, func(name string, _ *assess.User) bool { return slices.Contains(named, name) })
		}
		copies := map[string][]string{}
		for _, file := range named {
			switch c := unowned[file]; {
			case c == nil: // an account
			case c.Link == "":
				digest := m.Digest(file[1:], md5.New())
				copies[digest] = append(copies[digest], file)
			case bytes.Contains(text, []byte(path.Base(c.Link))): // else it was led elsewhere
				c.MadeBy = cmp.Or(c.MadeBy, scripts.PackageOf(script))
			}
		}
		delete(copies, "") // unreadable
		for _, file := range copied(m, script, text, copies) {
			m.A.AsShipped[file] = scripts.PackageOf(script)
		}
	})
	m.A.Configuration = slices.DeleteFunc(m.A.Configuration, func(c assess.ConfigFile) bool { return m.A.AsShipped[c.Path] != "" })
	for _, u := range own {
		u.Own = len(all) > 0
	}
}

// lived are the accounts of the system's range, by name, whose home is where no package puts
// one. None is declared by a package (sysusers.d).
func lived(m *assess.Machine) map[string]*assess.User {
	all := map[string]*assess.User{}
	for i := range m.A.Users {
		u := &m.A.Users[i]
		if u.System && u.UID > assess.LastStatic && peoples(u.Home) {
			all[u.Name] = u
		}
	}
	if len(all) == 0 {
		return nil
	}
	for name := range baseline.Declared(m.FS) {
		delete(all, name)
	}
	return all
}

// peoples reports whether a home is below where people put theirs.
func peoples(home string) bool {
	return slices.ContainsFunc([]string{"/home/", "/srv/", "/opt/", "/data/", "/usr/local/"}, func(dir string) bool { return strings.HasPrefix(home, dir) })
}

// postinsts are the scripts that finish the installation of packages.
func postinsts(m *assess.Machine) []string {
	names, _ := m.Files(scripts.Dir) // its state is noted where the lists are read
	return sliced.FilterMap(names, func(name string) (string, bool) {
		return path.Join(scripts.Dir, name), strings.HasSuffix(name, ".postinst")
	})
}

// copied lists which files, by their digests, are copies of one that the script's own
// package has, and that the script names as well: it is what the script copies.
func copied(m *assess.Machine, script string, text []byte, byDigest map[string][]string) (files []string) {
	if len(byDigest) == 0 {
		return nil
	}
	sums := strings.TrimSuffix(script[1:], path.Ext(script)) + ".md5sums"
	for line := range strings.Lines(m.Peek(sums)) {
		digest, original, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if same := byDigest[digest]; same != nil && len(scripts.Looking([]string{"/" + original}, nil).In(text)) > 0 {
			files = append(files, same...)
		}
	}
	return files
}
