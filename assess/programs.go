package assess

import (
	"bytes"
	"path"
	"strings"

	"svc/assess/packages/rpm"
	"svc/assess/programs"
)

// candidates are the files that may be programs of nobody, with whose they are.
type candidates struct {
	Files   []programs.File
	Helpers []string          // programs that no bare name calls, where packages keep theirs
	Targets map[string]string // of links of PATH, to where they lead in the end
	Aliases [][2]string       // folders that are links to others: /bin/ to /usr/bin/
	Owner   map[string]string // package, by path; empty where none is known
	Folders map[string]bool   // in which they stand, by all of their names, with slashes around

	Linkable  []string            // files that may be programs or libraries of people's own, without a slash at the front
	Libraries map[string][]string // where the linker finds them: these files and other libraries that are linked with them, by path

	Privileged map[string]bool     // those with more rights, by path
	Shipped    map[string]rpm.File // of these, what rpm has noted
}

// Await has the lists of packages looked through for a file, by each of its
// names.
func (c *candidates) Await(file string) {
	c.Owner[file] = ""
	dir := path.Dir(file) + "/"
	c.Folders[dir] = true
	for _, a := range c.Aliases {
		for _, name := range []string{dir, strings.Replace(dir, "/usr/bin/", "/usr/sbin/", 1)} { // sbin may lead to bin
			if rest, ok := strings.CutPrefix(name, a[1]); ok {
				c.Folders[a[0]+rest] = true
			}
		}
	}
}

// Real is a path where its folder is no link.
func (c *candidates) Real(file string) string {
	for _, a := range c.Aliases { // /sbin/ may lead to /usr/sbin/, and that to /usr/bin/
		if rest, ok := strings.CutPrefix(file, a[0]); ok {
			file = a[1] + rest
		}
	}
	return file
}

// OwnPrograms notes which candidates are in a part of a package's list of files.
func (c *candidates) OwnPrograms(list []byte, pkg string) {
	for line := range bytes.Lines(list) {
		c.Own(bytes.TrimSuffix(line, []byte("\n")), pkg)
	}
}

// Own notes whose a file is: of several packages always the same one, whichever
// is read first. It reports whether the file is one with more rights.
func (c *candidates) Own(file []byte, pkg string) bool {
	old, is := c.Owner[string(file)]
	if !is && c.Folders[string(file[:bytes.LastIndexByte(file, '/')+1])] {
		file = []byte(c.Real(string(file)))
		old, is = c.Owner[string(file)]
	}
	if is && (old == "" || pkg < old) {
		c.Owner[string(file)] = pkg
	}
	return is && c.Privileged[string(file)]
}
