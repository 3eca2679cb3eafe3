package software

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/programs"
)

// Bounds of what is read for the libraries that programs need.
const (
	maxLinked    = 8 << 20  // of a program
	maxLinkedAll = 64 << 20 // of all of them
	maxNeeded    = 200      // libraries of a program
)

// builtHere are where people put what they built or were given, beside /usr/local.
var builtHere = []string{"opt/bin/*", "opt/*/bin/*", "opt/*/sbin/*", "srv/*/bin/*"}

// maxBuilt bounds how many files there are looked at.
const maxBuilt = 200

// linkerFolders are where the linker finds the libraries of packages.
var linkerFolders = []string{"usr/lib/*-linux-gnu*", "lib/*-linux-gnu*", "usr/lib64", "lib64", "usr/lib", "lib"}

// awaitLibraries notes which libraries of packages the programs of people's own are
// linked with, by path, and has the packages' lists looked through for whose they are.
func awaitLibraries(m *assess.Machine) {
	m.Programs.Libraries = map[string][]string{}
	left := int64(maxLinkedAll)
	for _, file := range linkable(m) {
		info, err := m.FS.Stat(file)
		if err != nil || !info.Mode().IsRegular() || info.Size() > min(left, maxLinked) {
			continue
		}
		left -= info.Size()
		for _, name := range needed(m.FS, file) {
			if at := libraryAt(m.FS, name); at != "" {
				m.Programs.Await(at)
				m.Programs.Libraries[at] = append(m.Programs.Libraries[at], "/"+file)
			}
		}
	}
}

// linkable are the files that may be programs or libraries of people's own.
func linkable(m *assess.Machine) (files []string) {
	for _, f := range m.Programs.Files {
		if file := strings.TrimPrefix(f.Path, "/"); !f.Link() && strings.HasPrefix(file, programs.Local+"/") {
			files = append(files, file)
		}
	}
	for _, pattern := range builtHere {
		found, _ := fs.Glob(m.FS, pattern) // the pattern is sound
		files = append(files, found[:min(len(found), maxBuilt)]...)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// needed are the libraries that a file of ELF names; none where it is of another kind.
func needed(fsys host.FS, file string) []string {
	b, err := host.ReadFile(fsys, file, maxLinked)
	if err != nil {
		return nil
	}
	return linkedWith(b)
}

// libraryAt is where the linker finds a library of that name.
func libraryAt(fsys host.FS, name string) string {
	for _, dir := range linkerFolders {
		found, _ := fs.Glob(fsys, path.Join(dir, name)) // the patterns are sound
		if len(found) > 0 {
			return "/" + found[0]
		}
	}
	return ""
}

// everywhere are the packages whose libraries keep what they had.
var everywhere = []string{"libc6", "libc6-i386", "glibc", "libgcc-s1", "libgcc1", "libgcc", "libstdc++6", "libstdc++"}

// readLibraries tells of which packages these are: a fact for each program.
func readLibraries(m *assess.Machine) {
	c := &m.Programs
	for _, at := range slices.Sorted(maps.Keys(c.Libraries)) {
		owner := cmp.Or(c.Owner[at], c.Owner[c.Real(at)])
		if owner == "" || slices.Contains(everywhere, owner) {
			continue
		}
		for _, file := range c.Libraries[at] {
			m.Fact("library", path.Base(at), owner, assess.Evidence{Path: file})
		}
	}
}
