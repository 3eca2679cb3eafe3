// Package datadir reads what a database's own files state of it: the version
// and form of the data, how they were left, what they hold. Nothing is written
// or run, every read is bounded, and what could not be read is said.
package datadir

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/assess/host"
)

// engines are those whose files are read.
var engines = map[string]func(*reader){
	"postgresql": (*reader).postgresql, "mysql": (*reader).mysql, "mariadb": (*reader).mysql, "redis": (*reader).redis, "valkey": (*reader).redis,
	"mongodb": (*reader).mongodb, "slapd": (*reader).openldap, "sqlite": (*reader).sqlite,
}

// Read reads the directory of an engine's database. Of engines that are only
// known by name the size is counted.
func Read(fsys host.FS, src Source) Statement {
	s := Statement{Facts: []Fact{}, Databases: []Catalog{}, Engines: []Count{}, Auth: []Count{}, Replication: []string{}, Unread: []string{}}
	r := &reader{fsys, Inside(src.Directory), &s}
	if r.dir == wholeDisk {
		s.Unread = append(s.Unread, "no folder of its own is known: it keeps its data in memory, or its settings do not say where")
		return s
	}
	r.measure()
	if read := engines[src.Engine]; read != nil {
		read(r)
	} else {
		s.Unread = append(s.Unread, fmt.Sprintf("files of %s are not understood: only their size is known", src.Engine))
	}
	r.configuration(src)
	for _, list := range [][]Count{s.Engines, s.Auth} {
		slices.SortFunc(list, func(a, b Count) int { return strings.Compare(a.Name, b.Name) })
	}
	return s
}

// Bounds of a directory that is measured.
const (
	maxFolders = 20_000
	maxFiles   = 500_000
)

// measure adds up the sizes of the files.
func (r *reader) measure() {
	open := []string{r.dir}
	for folders := 0; len(open) > 0; folders++ {
		if folders == maxFolders || r.s.Files > maxFiles {
			r.s.Partial = true
			return
		}
		dir := open[len(open)-1]
		open = append(open[:len(open)-1], r.folder(dir)...)
	}
}

// folder adds up the files of a folder and gives the folders in it.
func (r *reader) folder(dir string) (folders []string) {
	entries, err := r.fs.ReadDir(dir)
	if err != nil {
		if info, statErr := r.fs.Stat(dir); statErr == nil && info.Mode().IsRegular() {
			r.s.Files, r.s.Bytes = r.s.Files+1, r.s.Bytes+info.Size()
			return nil
		}
		r.failed(dir, err)
		r.s.Partial = true
		return nil
	}
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, path.Join(dir, e.Name()))
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			r.s.Files, r.s.Bytes = r.s.Files+1, r.s.Bytes+info.Size()
		}
	}
	return folders
}
