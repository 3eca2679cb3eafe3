package assess

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess/host"
	"svc/assess/packages/rpm"
	"svc/assess/programs"
)

// Program is a program or library that no package owns, or a file that runs with
// more rights than those of who runs it, whoever owns it.
type Program struct {
	Path         string `json:"path"`
	Package      string `json:"package"` // owner, if any
	Mode         string `json:"mode"`    // octal: 4755
	Owner        string `json:"owner"`   // names by the machine's own passwd
	Group        string `json:"group"`
	Size         int64  `json:"size"`
	SHA256       string `json:"sha256"`         // of what no package owns; empty where too large to be read
	Link         string `json:"link,omitempty"` // where it leads
	Capabilities bool   `json:"capabilities"`   // it has capabilities of its own
	Privileged   bool   `json:"privileged"`     // it has setuid, setgid or capabilities
	Changed      bool   `json:"changed"`        // its content is not what its package has; for rpm, or its mode
}

// candidates are the files that may be programs of nobody, with whose they are.
type candidates struct {
	files   []programs.File
	targets map[string]string // of links of PATH, to where they lead in the end
	aliases [][2]string       // folders that are links to others: /bin/ to /usr/bin/
	owner   map[string]string // package, by path; empty where none is known
	folders map[string]bool   // in which they stand, by all of their names, with slashes around

	privileged map[string]bool     // those with more rights, by path
	shipped    map[string]rpm.File // of these, what rpm has noted
}

// Bounds of what is digested, in bytes.
const (
	maxProgram  = 64 << 20
	maxPrograms = 256 << 20
)

// findPrograms lists the candidates, so that the packages' lists can tell whose
// they are.
func (m *machine) findPrograms() {
	c := &m.programs
	found, unread := programs.Find(m.ctx, m.host)
	c.files, c.targets, c.owner = found, map[string]string{}, map[string]string{}
	c.folders, c.privileged, c.shipped = map[string]bool{}, map[string]bool{}, map[string]rpm.File{}
	c.aliases = m.folderLinks()
	m.source("programs", SourceOK, strings.Join(programs.Places(), ", "))
	for _, what := range unread {
		m.source("programs", SourceUnreadable, what)
	}
	m.expectLinks()
	for _, f := range found {
		c.await(f.Path)
		c.privileged[f.Path] = f.Privileged
		if f.Link() {
			c.targets[f.Path] = c.real(m.resolve(f.Path))
			c.await(c.targets[f.Path])
		}
	}
}

// await has the lists of packages looked through for a file, by each of its
// names.
func (c *candidates) await(file string) {
	c.owner[file] = ""
	dir := path.Dir(file) + "/"
	c.folders[dir] = true
	for _, a := range c.aliases {
		for _, name := range []string{dir, strings.Replace(dir, "/usr/bin/", "/usr/sbin/", 1)} { // sbin may lead to bin
			if rest, ok := strings.CutPrefix(name, a[1]); ok {
				c.folders[a[0]+rest] = true
			}
		}
	}
}

// folderLinks are the folders of programs that lead to others.
func (m *machine) folderLinks() (aliases [][2]string) {
	for _, dir := range []string{"bin", "sbin", "lib", "lib32", "lib64", "usr/sbin"} {
		target, err := m.fs.ReadLink(dir)
		if err != nil {
			continue
		}
		if !path.IsAbs(target) {
			target = path.Join("/", path.Dir(dir), target)
		}
		aliases = append(aliases, [2]string{"/" + dir + "/", path.Clean(target) + "/"})
	}
	return aliases
}

// real is a path where its folder is no link.
func (c *candidates) real(file string) string {
	for _, a := range c.aliases { // /sbin/ may lead to /usr/sbin/, and that to /usr/bin/
		if rest, ok := strings.CutPrefix(file, a[0]); ok {
			file = a[1] + rest
		}
	}
	return file
}

// expectLinks asks at once for the links that are followed one by one.
func (m *machine) expectLinks() {
	var links []string
	for _, f := range m.programs.files {
		if f.Link() {
			links = append(links, f.Path[1:])
		}
	}
	host.Expect(m.fs, host.Links, links)
	next := []string{}
	for _, l := range links {
		if target, err := m.fs.ReadLink(l); err == nil && strings.HasPrefix(target, "/etc/alternatives/") {
			next = append(next, path.Clean(target)[1:])
		}
	}
	host.Expect(m.fs, host.Links, next)
}

// maxHops bounds the links that are followed from one.
const maxHops = 8

// resolve follows a link to what is none.
func (m *machine) resolve(file string) string {
	for range maxHops {
		target, err := m.fs.ReadLink(file[1:])
		if err != nil {
			break
		}
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(file), target)
		}
		if file = path.Clean(target); !fs.ValidPath(file[1:]) {
			break
		}
	}
	return file
}

// ownPrograms notes which candidates are in a part of a package's list of files.
func (c *candidates) ownPrograms(list []byte, pkg string) {
	for line := range bytes.Lines(list) {
		c.own(bytes.TrimSuffix(line, []byte("\n")), pkg)
	}
}

// own notes whose a file is: of several packages always the same one, whichever
// is read first. It reports whether the file is one with more rights.
func (c *candidates) own(file []byte, pkg string) bool {
	old, is := c.owner[string(file)]
	if !is && c.folders[string(file[:bytes.LastIndexByte(file, '/')+1])] {
		file = []byte(c.real(string(file)))
		old, is = c.owner[string(file)]
	}
	if is && (old == "" || pkg < old) {
		c.owner[string(file)] = pkg
	}
	return is && c.privileged[string(file)]
}

// readPrograms lists those of the candidates that are nobody's, and those that
// have more rights.
func (m *machine) readPrograms() {
	c := &m.programs
	m.diverted()
	left := int64(maxPrograms)
	for _, f := range c.files {
		owner := c.owner[f.Path]
		target := c.targets[f.Path]
		if !f.Privileged && (owner != "" || f.Link() && c.owner[target] != "") {
			continue
		}
		p := Program{
			Path: f.Path, Package: owner, Mode: fmt.Sprintf("%04o", octal(f.Mode)), Owner: m.users[f.UID], Group: m.groups[f.GID],
			Capabilities: f.Capabilities, Privileged: f.Privileged,
		}
		switch {
		case f.Link() && m.isFolder(target):
			continue
		case f.Link():
			p.Link, p.Mode = target, "0777"
		case owner == "" && f.Size <= min(left, maxProgram):
			left -= f.Size
			p.SHA256, p.Size = m.digest(f.Path[1:], sha256.New()), f.Size
		default:
			p.Size = f.Size
		}
		m.a.Programs = append(m.a.Programs, p)
	}
	m.changedPrograms()
}

func (m *machine) isFolder(file string) bool {
	info, err := m.fs.Stat(file[1:])
	return err == nil && info.IsDir()
}

// diverted notes whose the files are that dpkg keeps under other names: in
// threes of lines, the name, the other name, and by whom.
func (m *machine) diverted() {
	lines := strings.Split(m.peek("var/lib/dpkg/diversions"), "\n")
	for three := range slices.Chunk(lines, 3) {
		if len(three) == 3 {
			m.programs.own([]byte(three[1]), "dpkg-divert")
		}
	}
}

// changedPrograms holds what has more rights against what the package manager
// has noted of it: dpkg the content, rpm the mode too.
func (m *machine) changedPrograms() {
	var files []string
	for _, p := range m.a.Programs {
		if p.Package != "" {
			files = append(files, p.Path[1:])
		}
	}
	host.Expect(m.fs, host.Files, files)
	for i := range m.a.Programs {
		p := &m.a.Programs[i]
		if f, ok := m.programs.shipped[p.Path]; ok {
			p.Changed = f.Verify&rpm.VerifyMode != 0 && fmt.Sprintf("%04o", f.Mode&0o7777) != p.Mode ||
				f.Verify&rpm.VerifyDigest != 0 && f.Hash.Available() && f.Digest != "" && m.digest(p.Path[1:], f.Hash.New()) != f.Digest
		} else if want := m.md5Of(p); want != "" {
			p.Changed = m.digest(p.Path[1:], md5.New()) != want
		}
	}
}

// md5Of is what dpkg has noted of a file of a package, or "".
func (m *machine) md5Of(p *Program) string {
	if p.Package == "" || m.dpkg.source != "packages.dpkg" || !fs.ValidPath(p.Package) {
		return ""
	}
	for _, name := range []string{p.Package, p.Package + ":" + m.nativeArch()} {
		sums, err := host.ReadFile(m.fs, path.Join("var/lib/dpkg/info", name+".md5sums"), maxList)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(sums)) {
			sum, file, ok := strings.Cut(strings.TrimSpace(line), "  ")
			if ok && m.programs.real("/"+file) == p.Path {
				return sum
			}
		}
	}
	return ""
}
