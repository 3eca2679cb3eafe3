package software

import (
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/hazards"
	"svc/assess/host"
	"svc/assess/packages"
	"svc/assess/packages/rpm"
	"svc/assess/programs"
	"svc/backend/sliced"
)

// FindPrograms lists the candidates, so that the packages' lists can tell whose
// they are.
func FindPrograms(m *assess.Machine) {
	c := &m.Programs
	found := programs.Find(m.Context, m.Host)
	c.Files, c.Helpers, c.Targets, c.Owner = found.Files, found.Helpers, map[string]string{}, map[string]string{}
	c.Folders, c.Privileged, c.Shipped = map[string]bool{}, map[string]bool{}, map[string]rpm.File{}
	c.Aliases = m.FolderLinks()
	m.Source("programs", assess.SourceOK, strings.Join(programs.Places(), ", "))
	for _, what := range found.Unread {
		m.Source("programs", assess.SourceUnreadable, what)
	}
	expectLinks(m)
	for _, f := range found.Files {
		c.Await(f.Path)
		c.Privileged[f.Path] = f.Privileged
		if f.Link() {
			c.Targets[f.Path] = c.Real(resolve(m, f.Path))
			c.Await(c.Targets[f.Path])
		}
	}
	for _, file := range c.Helpers {
		for at := file; below(at); at = path.Dir(at) {
			c.Await(at)
		}
	}
	awaitLibraries(m)
}

// below reports whether a path is one below a folder of packages: /usr/lib/x, /lib/x.
func below(name string) bool {
	return strings.Count(strings.TrimPrefix(name, "/usr"), "/") > 1
}

// strays are the programs of people among those of packages, where these say whose files
// are.
func strays(m *assess.Machine) (all []hazards.Stray) {
	c := &m.Programs
	said := func(file string) bool { return c.Owner[file] != "" }
	if !slices.ContainsFunc(c.Helpers, said) {
		return nil
	}
	for _, file := range c.Helpers {
		if said(file) {
			continue
		}
		s := hazards.Stray{Path: file}
		for dir := path.Dir(file); below(dir) && !said(dir); dir = path.Dir(dir) {
			s.Folder = dir
		}
		all = append(all, s)
	}
	return append(all, sliced.FilterMap(m.A.Programs, func(p assess.Program) (hazards.Stray, bool) {
		return hazards.Stray{Path: p.Path}, p.Package == "" && p.Link == "" && slices.Contains(programs.Searched, path.Dir(p.Path)[1:])
	})...)
}

// expectLinks asks at once for the links that are followed one by one.
func expectLinks(m *assess.Machine) {
	links := sliced.FilterMap(m.Programs.Files, func(f programs.File) (string, bool) { return f.Path[1:], f.Link() })
	host.Expect(m.FS, host.Links, links)
	host.Expect(m.FS, host.Links, sliced.FilterMap(links, func(l string) (string, bool) {
		target, err := m.FS.ReadLink(l)
		return strings.TrimPrefix(path.Clean(target), "/"), err == nil && strings.HasPrefix(target, "/etc/alternatives/")
	}))
}

// maxHops bounds the links that are followed from one.
const maxHops = 8

// resolve follows a link to what is none.
func resolve(m *assess.Machine, file string) string {
	for range maxHops {
		target, err := m.FS.ReadLink(file[1:])
		if err != nil {
			break
		}
		if file = assess.LeadsTo(file, target); !fs.ValidPath(file[1:]) {
			break
		}
	}
	return file
}

// ReadPrograms lists those of the candidates that are nobody's, and those that
// have more rights.
func ReadPrograms(m *assess.Machine) {
	c := &m.Programs
	diverted(m)
	left := int64(maxPrograms)
	for _, f := range c.Files {
		owner := c.Owner[f.Path]
		target := c.Targets[f.Path]
		if !f.Privileged && (owner != "" || f.Link() && c.Owner[target] != "") {
			continue
		}
		p := assess.Program{
			Path: f.Path, Package: owner, Mode: fmt.Sprintf("%04o", assess.Octal(f.Mode)), Owner: m.Users[f.UID], Group: m.Groups[f.GID],
			Capabilities: f.Capabilities, Privileged: f.Privileged,
		}
		switch {
		case f.Link() && isFolder(m, target):
			continue
		case f.Link():
			p.Link, p.Mode = target, "0777"
		case owner == "" && f.Size <= min(left, maxProgram):
			left -= f.Size
			p.SHA256, p.Size = m.Digest(f.Path[1:], sha256.New()), f.Size
		default:
			p.Size = f.Size
		}
		m.A.Programs = append(m.A.Programs, p)
	}
	m.A.Strays = strays(m)
	changedPrograms(m)
	readLibraries(m)
}

func isFolder(m *assess.Machine, file string) bool {
	info, err := m.FS.Stat(file[1:])
	return err == nil && info.IsDir()
}

// diverted notes whose the files are that dpkg keeps under other names: in
// threes of lines, the name, the other name, and by whom.
func diverted(m *assess.Machine) {
	lines := strings.Split(m.Peek("var/lib/dpkg/diversions"), "\n")
	for three := range slices.Chunk(lines, 3) {
		if len(three) == 3 {
			m.Programs.Own([]byte(three[1]), "dpkg-divert")
		}
	}
}

// changedPrograms holds what has more rights against what the package manager
// has noted of it: dpkg the content, rpm the mode too.
func changedPrograms(m *assess.Machine) {
	host.Expect(m.FS, host.Files, sliced.FilterMap(m.A.Programs, func(p assess.Program) (string, bool) { return p.Path[1:], p.Package != "" }))
	for i := range m.A.Programs {
		p := &m.A.Programs[i]
		if f, ok := m.Programs.Shipped[p.Path]; ok {
			p.Given = p.Capabilities && f.Rights == ""
			p.Changed = f.Verify&rpm.VerifyMode != 0 && fmt.Sprintf("%04o", f.Mode&0o7777) != p.Mode ||
				f.Verify&rpm.VerifyDigest != 0 && f.Hash.Available() && f.Digest != "" && m.Digest(p.Path[1:], f.Hash.New()) != f.Digest
		} else if want := md5Of(m, p); want != "" {
			p.Changed = m.Digest(p.Path[1:], md5.New()) != want
		}
	}
}

// md5Of is what dpkg has noted of a file of a package, or "".
func md5Of(m *assess.Machine, p *assess.Program) string {
	if p.Package == "" || m.Book.Source != "packages.dpkg" || !fs.ValidPath(p.Package) {
		return ""
	}
	for _, name := range []string{p.Package, p.Package + ":" + packages.NativeArch(m)} {
		sums, err := host.ReadFile(m.FS, path.Join("var/lib/dpkg/info", name+".md5sums"), packages.MaxList)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(sums)) {
			sum, file, ok := strings.Cut(strings.TrimSpace(line), "  ")
			if ok && m.Programs.Real("/"+file) == p.Path {
				return sum
			}
		}
	}
	return ""
}

// Bounds of what is digested, in bytes.
const (
	maxProgram  = 64 << 20
	maxPrograms = 256 << 20
)
