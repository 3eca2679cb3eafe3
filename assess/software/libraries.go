package software

import (
	"cmp"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/programs"
	"svc/backend/sliced"
)

// Bounds of what is read for the libraries that programs need.
const (
	maxLinked    = 8 << 20  // of a program
	maxLinkedAll = 64 << 20 // of all of them
	maxNeeded    = 200      // libraries of a program
)

// builtHere are where people put what they built or were given, beside /usr/local.
var builtHere = []string{
	"opt/bin/*", "opt/*/bin/*", "opt/*/sbin/*", "srv/*/bin/*",
	"srv/*/cgi-bin/*", "srv/*/*/cgi-bin/*", "var/www/cgi-bin/*", "var/www/*/cgi-bin/*", "var/www/*/*/cgi-bin/*", "home/*/cgi-bin/*", "home/*/public_html/cgi-bin/*",
}

// maxBuilt bounds how many files there are looked at.
const maxBuilt = 200

// usualFolders are where the linker finds the libraries of packages.
var usualFolders = []string{"usr/lib/*-linux-gnu*", "lib/*-linux-gnu*", "usr/lib64", "lib64", "usr/lib", "lib"}

// awaitLibraries notes which libraries the programs of people's own are linked with, and
// these with others, and has the packages' lists looked through for whose they are.
// Everything is read, as the linker would: nothing of the machine is run.
func awaitLibraries(m *assess.Machine) {
	c := &m.Programs
	c.Libraries = map[string][]string{}
	folders, left, seen := linkerFolders(m), int64(maxLinkedAll), map[string]bool{}
	c.Linkable = linkable(m)
	m.A.Apart = sliced.Map(slices.Concat(found(m, builtHere), found(m, besideData())), func(file string) string { return "/" + file })
	for next := slices.Clone(c.Linkable); len(next) > 0; next = next[1:] {
		file := next[0]
		info, err := m.FS.Stat(file)
		if seen[file] || err != nil || !info.Mode().IsRegular() || info.Size() > min(left, maxLinked) {
			continue
		}
		seen[file] = true
		left -= info.Size()
		l := needed(m.FS, file)
		for _, name := range l.names {
			if at := libraryAt(m.FS, slices.Concat(own(l.folders, file), folders), name, l.kind); at != "" {
				at = c.Real(at)
				real := c.Real(resolve(m, at))
				c.Await(at)
				c.Await(real)
				c.Targets[at] = real
				c.Libraries[at] = append(c.Libraries[at], "/"+file)
				if !slices.Contains(ofEverything, name) {
					next = append(next, real[1:])
				}
			}
		}
	}
}

// ofEverything are the libraries of all programs, which need nothing but one another.
var ofEverything = []string{"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6"}

// linkerFolders are those where the linker looks: /etc/ld.so.conf names some, with its
// lines or those of the files that it includes (ldconfig(8)).
func linkerFolders(m *assess.Machine) (folders []string) {
	files := []string{"etc/ld.so.conf"}
	for i := 0; i < len(files) && i < maxBuilt; i++ {
		for line := range strings.Lines(m.Peek(files[i])) {
			line, _, _ = strings.Cut(line, "#")
			switch words := strings.Fields(line); {
			case len(words) > 1 && words[0] == "include":
				for _, pattern := range words[1:] {
					found, _ := fs.Glob(m.FS, assess.LeadsTo("/etc/ld.so.conf", pattern)[1:]) // a bad pattern finds nothing
					files = append(files, found...)
				}
			case len(words) == 1 && path.IsAbs(words[0]) && len(folders) < maxBuilt:
				folders = append(folders, literally.Replace(path.Clean(words[0])[1:]))
			}
		}
	}
	return append(folders, usualFolders...)
}

// own are the folders that a program names itself, beside which it may stand.
func own(folders []string, file string) (all []string) {
	for _, dir := range folders[:min(len(folders), maxBuilt)] {
		dir = strings.NewReplacer("${ORIGIN}", "/"+path.Dir(file), "$ORIGIN", "/"+path.Dir(file)).Replace(dir)
		if path.IsAbs(dir) {
			all = append(all, literally.Replace(path.Clean(dir)[1:]))
		}
	}
	return all
}

// literally quotes a folder's name for a pattern.
var literally = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// linkable are the files that may be programs or libraries of people's own.
func linkable(m *assess.Machine) []string {
	files := sliced.FilterMap(m.Programs.Files, func(f programs.File) (string, bool) {
		file := strings.TrimPrefix(f.Path, "/")
		return file, !f.Link() && strings.HasPrefix(file, programs.Local+"/")
	})
	files = append(files, found(m, builtHere)...)
	slices.Sort(files)
	return slices.Compact(files)
}

// scripts are patterns of the names of programs that people keep among data, few since each lists
// the folders: of a shell, Perl, Python and Ruby, and for a web server.
var scripts = []string{"*.[spr][hlyb]", "*.cgi"}

// besideData are patterns of the programs that people keep among pages and other data, and of
// the files by which they set what a web server and PHP do with a folder of pages.
func besideData() (patterns []string) {
	for _, name := range slices.Concat(assess.PageSettings, scripts) {
		for _, folder := range []string{"var/www", "srv", "home/*/public_html", "home/*/www", "home/*/htdocs"} {
			for _, below := range []string{"", "*", "*/*", "*/*/*"} {
				patterns = append(patterns, path.Join(folder, below, name))
			}
		}
	}
	return patterns
}

// found are the files of patterns, so many of each.
func found(m *assess.Machine, patterns []string) []string {
	return sliced.FlatMap(patterns, func(pattern string) []string {
		found, _ := fs.Glob(m.FS, pattern) // the pattern is sound
		return found[:min(len(found), maxBuilt)]
	})
}

// needed is what a file of ELF says of its libraries; nothing where it is of another kind.
func needed(fsys host.FS, file string) links {
	b, err := host.ReadFile(fsys, file, maxLinked)
	if err != nil {
		return links{}
	}
	return linkedWith(b)
}

// libraryAt is where the linker finds a library of that name: the first of its kind.
func libraryAt(fsys host.FS, folders []string, name, kind string) string {
	for _, dir := range folders {
		found, _ := fs.Glob(fsys, path.Join(dir, name)) // the patterns are sound
		for _, file := range found[:min(len(found), maxBuilt)] {
			if kindAt(fsys, file) == kind {
				return "/" + file
			}
		}
	}
	return ""
}

// kindAt is the kind of a file, by its first bytes.
func kindAt(fsys host.FS, file string) string {
	if info, err := fsys.Stat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := fsys.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, headed)
	if _, err := io.ReadFull(f, b); err != nil {
		return ""
	}
	return kindOf(b)
}

// everywhere are the packages whose libraries keep what they had.
var everywhere = []string{"libc6", "libc6-i386", "glibc", "libgcc-s1", "libgcc1", "libgcc", "libstdc++6", "libstdc++"}

// readLibraries tells of which packages these are: a fact "library" for each program and
// package, and a fact "linked" for each file that is linked with a library, with where
// that stands; of people's own libraries without a package.
func readLibraries(m *assess.Machine) {
	c := &m.Programs
	for _, at := range slices.Sorted(maps.Keys(c.Libraries)) {
		real := c.Targets[at]
		owner := cmp.Or(c.Owner[at], c.Owner[real])
		if slices.Contains(everywhere, owner) {
			continue
		}
		for _, file := range c.Libraries[at] {
			if owner != "" && slices.Contains(c.Linkable, file[1:]) {
				m.Fact("library", path.Base(at), owner, assess.Evidence{Path: file})
			}
			m.Fact("linked", real, owner, assess.Evidence{Path: file})
		}
	}
}
