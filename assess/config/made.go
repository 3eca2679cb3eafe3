package config

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"path"
	"slices"
	"strings"

	"svc/assess"
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
	if len(paths) == 0 {
		return
	}
	wanted := scripts.Looking(paths, nil)
	scripts.Each(m.Context, m.FS, postinsts(m), func(script string, text []byte) {
		copies := map[string][]string{}
		for _, file := range wanted.In(text) {
			switch c := unowned[file]; {
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
