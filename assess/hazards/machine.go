package hazards

import (
	"crypto/x509"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/backend/release"
	"svc/backend/sliced"
)

// Files are the files of a machine. Names are absolute; every answer is bounded,
// and inside the machine's root.
type Files interface {
	Text(name string) string        // of a small regular file; empty where there is none
	Names(folder string) []string   // what a folder holds
	Folders(folder string) []string // those of them that are folders
	Exists(name string) bool
	Link(name string) string // where a link leads; empty where none stands there
}

// Fact is something that was read of a machine: what it is a setting of, its name
// and value, and where.
type Fact struct {
	Area, Key, Value string
	At               Place
}

// Stray is a program of people among those of packages.
type Stray struct {
	Path   string
	Folder string // the uppermost one that it is in and no package has, if any
}

// Place is a line of a file; Line is 0 where the whole file is meant.
type Place struct {
	Path string
	Line int
}

// Machine is what conditions are asked of.
type Machine struct {
	Release      release.Release
	Architecture string              // as the package manager has it
	Packages     map[string][]string // versions by name
	Brought      map[string]string   // versions of the target's packages by name, where they are known
	Units        map[string]string   // state of a unit by its name
	Facts        []Fact
	Own          []string          // files of /etc that are not as packages ship them
	Shipped      map[string]string // those that are as a package ships them, by path: the package
	Certificates []string          // files that hold the machine's own
	Strays       []Stray           // people's own programs among those of packages
	Files        Files
	Placed       func(file string) string // where the target has a file; nil where it is as here

	read     map[string][]line
	ends     map[string]string // of links
	asked    map[string][]string
	dirs     map[string][]string
	found    map[string][]string
	cut      map[string]string // what is the first that a pattern did not find, as it names too many
	names    []string          // of packages, sorted
	mounts   *[]mount          // of fstab
	boot     *[]word           // of the kernel
	chains   map[string][]*x509.Certificate
	programs map[string][]string          // of people, by language
	unread   string                       // one of these that was not read, as they are too many
	imports  map[string]map[string]string // of a program of Python: what its names stand for
}

type line struct {
	text string
	n    int
}

// lines are those of a file that say something: not empty, and no comment; the first
// of a script, which names the program that runs it, is none.
func (m *Machine) lines(name string) []line {
	return once(&m.read, name, func() (all []line) {
		n, text := 0, m.Files.Text(name)
		if path.Ext(name) == ".xml" {
			text = outsideComments(text)
		}
		for l := range strings.Lines(text) {
			n++
			l = strings.TrimSpace(l)
			if l == "" || l[0] == '#' && !(n == 1 && strings.HasPrefix(l, "#!")) || l[0] == ';' || strings.HasPrefix(l, "//") && name != fstab {
				continue
			}
			all = append(all, line{l, n})
		}
		return all
	})
}

// outsideComments is a text of XML without its comments, line by line where it was.
func outsideComments(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "<!--")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		comment, after, _ := strings.Cut(rest, "-->")
		b.WriteString(strings.Repeat("\n", strings.Count(comment, "\n")))
		text = after
	}
}

// words are the files of places as words of the target's bash, where it has them, once each.
func (m *Machine) words(places []Place) (words []string) {
	for _, p := range places {
		if m.Placed != nil {
			p.Path = m.Placed(p.Path)
		}
		words = asWord(words, p.Path)
	}
	return words
}

// once is what was found by a name before, or is found now and kept.
func once[V any](kept *map[string]V, name string, find func() V) V {
	v, ok := (*kept)[name]
	if !ok {
		if *kept == nil {
			*kept = map[string]V{}
		}
		v = find()
		(*kept)[name] = v
	}
	return v
}

// maxGlob bounds what a pattern of a row finds.
const maxGlob = 1000

// glob are the files that a pattern of path.Match names, sorted.
func (m *Machine) glob(pattern string) []string {
	if !strings.ContainsAny(pattern, "*?[") {
		if m.Files.Exists(pattern) {
			return []string{pattern}
		}
		return nil
	}
	return once(&m.found, pattern, func() []string { return m.search(pattern) })
}

func (m *Machine) search(pattern string) []string {
	dirs := []string{"/"}
	for part := range strings.SplitSeq(strings.Trim(pattern, "/"), "/") {
		var next []string
		for _, dir := range dirs {
			if !strings.ContainsAny(part, "*?[") {
				next = append(next, path.Join(dir, part))
				continue
			}
			for _, name := range m.listed(dir) {
				ok, err := path.Match(part, name)
				switch {
				case !ok || err != nil:
				case len(next) < maxGlob:
					next = append(next, path.Join(dir, name))
				default:
					once(&m.cut, pattern, func() string { return path.Join(dir, name) })
				}
			}
		}
		dirs = next
	}
	dirs = slices.DeleteFunc(dirs, func(name string) bool { return !m.Files.Exists(name) })
	slices.Sort(dirs)
	return dirs
}

// listed are the names in a folder.
func (m *Machine) listed(dir string) []string {
	return once(&m.dirs, dir, func() []string { return m.Files.Names(dir) })
}

// named are the versions of the packages whose name matches a pattern.
func (m *Machine) named(pattern string) []string {
	return sliced.FlatMap(m.packages(pattern), func(name string) []string { return m.Packages[name] })
}

// packages are the names of the packages that match a pattern, sorted.
func (m *Machine) packages(pattern string) []string {
	if !strings.ContainsAny(pattern, "*?[") {
		if m.Packages[pattern] != nil {
			return []string{pattern}
		}
		return nil
	}
	if m.names == nil {
		m.names = slices.Sorted(maps.Keys(m.Packages))
	}
	start, _, _ := strings.Cut(pattern, "*")
	start, _, _ = strings.Cut(start, "?")
	start, _, _ = strings.Cut(start, "[")
	var all []string
	at, _ := slices.BinarySearch(m.names, start)
	for _, name := range m.names[at:] {
		if !strings.HasPrefix(name, start) {
			break
		}
		if ok, err := path.Match(pattern, name); ok && err == nil {
			all = append(all, name)
		}
	}
	return all
}

// fstab is the one file in which a line that begins with two slashes says something:
// a share of Windows.
const fstab = "/etc/fstab"

// mount is a line of fstab.
type mount struct {
	kind    string
	options []string
	place   string
	at      Place
}

func (m *Machine) mounted() []mount {
	if m.mounts == nil {
		m.mounts = &[]mount{}
		for _, l := range m.lines(fstab) {
			if f := strings.Fields(l.text); len(f) > 3 {
				*m.mounts = append(*m.mounts, mount{f[2], strings.Split(f[3], ","), f[1], Place{fstab, l.n}})
			}
		}
	}
	return *m.mounts
}

// word is an argument of the kernel.
type word struct {
	text string
	at   Place
}

// bootFiles are where the kernel's arguments stand, and with what the lines begin
// that have them.
var bootFiles = [][2]string{
	{"/etc/default/grub", "GRUB_CMDLINE"},
	{"/etc/default/grub.d/*.cfg", "GRUB_CMDLINE"},
	{"/etc/sysconfig/grub", "GRUB_CMDLINE"},
	{"/boot/loader/entries/*.conf", "options"},
	{"/etc/kernel/cmdline", ""},
	{"/boot/grub/grub.conf", "kernel"},
	{"/boot/grub/menu.lst", "kernel"},
	{"/boot/grub2/grubenv", "kernelopts="},
	{"/boot/extlinux.conf", "append"},
	{"/etc/zipl.conf", "parameters"},
}

// arguments are those that the machine's kernel is started with.
func (m *Machine) arguments() []word {
	if m.boot == nil {
		m.boot = &[]word{}
		for _, f := range bootFiles {
			for _, name := range m.glob(f[0]) {
				for _, l := range m.lines(name) {
					if rest, ok := strings.CutPrefix(l.text, f[1]); ok {
						for w := range strings.FieldsFuncSeq(afterName(f[1], rest), func(r rune) bool { return strings.ContainsRune(" \t\"'", r) }) {
							*m.boot = append(*m.boot, word{w, Place{name, l.n}})
						}
					}
				}
			}
		}
	}
	return *m.boot
}

// afterName is what stands after the name of a shell's variable.
func afterName(prefix, rest string) string {
	if prefix == "GRUB_CMDLINE" {
		_, rest, _ = strings.Cut(rest, "=")
	}
	return rest
}
