// Package config reads what people set up in /etc: files that are not as packages
// made them, accounts, and the settings of the system.
package config

import (
	"cmp"
	_ "crypto/md5" // digests of packages, with those that follow
	_ "crypto/sha1"
	"crypto/sha256"
	_ "crypto/sha3"
	_ "crypto/sha512"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"svc/assess"
	"svc/assess/host"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

// etcRows are files and folders of /etc, by what they are.
//
//go:embed etc.tsv
var etcRows string

var etc = sync.OnceValue(func() map[string][]string { return tsv.Words(etcRows) })

// templateRows are the files that installation copies into /etc and then forgets:
// one that is still equal to its template is nobody's work.
//
//go:embed templates.tsv
var templateRows string

var templates = sync.OnceValue(func() map[string][]string { return tsv.Words(templateRows) })

// ReadConfiguration lists what of /etc is not as packages made it.
func ReadConfiguration(m *assess.Machine) {
	w := &walk{m: m}
	w.dir("etc", 0)
	m.Outcome("configuration.etc", "etc", w.failed)
	missing(m, w)
	found := make([]*assess.ConfigFile, len(w.files))
	next := make([]int, len(w.files))
	for i := range next {
		next[i] = i
	}
	assess.InParallel(m.Context, next, func(i int) { found[i] = compare(m, w.files[i]) })
	m.A.AsShipped = map[string]string{}
	for i, f := range found {
		if f != nil {
			m.A.Configuration = append(m.A.Configuration, *f)
		} else if c, isConf := m.Book.Conffiles[w.files[i].path]; isConf {
			m.A.AsShipped[w.files[i].path] = c.Package
		}
	}
	slices.SortFunc(m.A.Configuration, func(a, b assess.ConfigFile) int { return cmp.Compare(a.Path, b.Path) })
	readMadeBy(m)
}

// walk collects the files and links below a folder, without following links.
type walk struct {
	m      *assess.Machine
	files  []found
	failed error
}

// found is a file or link of /etc.
type found struct {
	path string // with a leading slash
	kind fs.FileMode
}

func (w *walk) dir(dir string, depth int) {
	entries, err := w.m.FS.ReadDir(dir)
	if err != nil {
		if depth == 0 || !errors.Is(err, fs.ErrNotExist) {
			w.failed = cmp.Or(w.failed, err)
		}
		return
	}
	disabled(w.m, dir, entries)
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch isLink := e.Type()&fs.ModeSymlink != 0; {
		case len(w.files) >= assess.MaxFiles || depth >= assess.MaxDepth:
			w.failed = fmt.Errorf("/%s: more than %d files or %d folders deep; the rest was not looked at", dir, assess.MaxFiles, assess.MaxDepth)
			return
		case slices.Contains(etc()["version-control"], e.Name()):
			w.m.Versioned = append(w.m.Versioned, "/"+name)
		case slices.Contains(etc()["backups"], name), matches(etc()["noise"], "/"+name), isLink && matches(etc()["link-noise"], "/"+name), newer(name):
		case e.IsDir():
			etcFolder(w.m, name, e)
			w.dir(name, depth+1)
		default:
			w.files = append(w.files, found{"/" + name, e.Type()})
		}
	}
}

// missing adds the files of packages that are not there any more.
func missing(m *assess.Machine, w *walk) {
	there := sliced.SetOf(w.files, func(f found) string { return f.path })
	for file, c := range m.Book.Conffiles {
		if there[file] || c.Obsolete || !strings.HasPrefix(file, "/etc/") {
			continue
		}
		// A folder on the way that can't be read says nothing about the file.
		if _, err := m.FS.Lstat(file[1:]); errors.Is(err, fs.ErrNotExist) {
			m.A.Configuration = append(m.A.Configuration, assess.ConfigFile{Path: file, State: assess.ConfigMissing, Package: c.Package})
		}
	}
}

// compare gives the entry of a file that is not as its package made it, or nil.
func compare(m *assess.Machine, f found) *assess.ConfigFile {
	shipped, isConf := m.Book.Conffiles[f.path]
	if !isConf && m.Book.Owned[f.path] != "" {
		return nil // part of a package, and not meant to be edited
	}
	c := &assess.ConfigFile{Path: f.path, Package: shipped.Package, State: assess.ConfigUnowned, Machine: matches(etc()["machine"], f.path) || phpLink(f)}
	if isConf {
		c.State, c.Shipped = assess.ConfigChanged, shipped.Named()
	}
	switch {
	case untouched(m, f.path):
		return nil
	case f.kind&fs.ModeSymlink != 0:
		return link(m, c, shipped)
	case !f.kind.IsRegular():
		return nil // a socket or pipe is nobody's configuration
	}
	return regular(m, c, shipped)
}

// link completes the entry of a link, or gives nil where it leads to where its
// package had it lead. Links have no owner or mode of their own that matters.
func link(m *assess.Machine, c *assess.ConfigFile, shipped assess.Conffile) *assess.ConfigFile {
	target, err := m.FS.ReadLink(c.Path[1:])
	if err == nil && target == shipped.Link {
		return nil
	}
	c.Link, c.Mode, c.Owner, c.Group = target, "0777", m.Users[0], m.Groups[0]
	if err != nil {
		c.State = assess.ConfigUnreadable
	}
	return c
}

// regular completes the entry of a file, or gives nil where it is as shipped.
func regular(m *assess.Machine, c *assess.ConfigFile, shipped assess.Conffile) *assess.ConfigFile {
	name := c.Path[1:]
	if m.Pristine(name, shipped) {
		checkAccess(m, c.Path, shipped)
		return nil
	}
	info, err := m.FS.Stat(name)
	if err != nil {
		c.State = assess.ConfigUnreadable
		return c
	}
	describe(m, c, info)
	unknown := len(shipped.Digests) > 0 && !shipped.Hash.Available()
	if c.SHA256 = m.Digest(name, sha256.New()); c.SHA256 == "" || unknown {
		c.State = assess.ConfigUnreadable
	}
	return c
}

// checkAccess notes a file that has another owner or mode than its package gave
// it, where the package says which.
func checkAccess(m *assess.Machine, file string, shipped assess.Conffile) {
	if shipped.Access == (assess.Access{}) {
		return
	}
	info, err := m.FS.Stat(file[1:])
	if err != nil {
		return
	}
	uid, gid, _ := host.Owner(info)
	is := assess.Access{Mode: assess.Octal(info.Mode()), User: m.Users[uid], Group: m.Groups[gid]}
	was := assess.Access{Mode: cmp.Or(shipped.Access.Mode, is.Mode), User: cmp.Or(shipped.Access.User, is.User), Group: cmp.Or(shipped.Access.Group, is.Group)}
	if is == was || is.User == "" || is.Group == "" {
		return
	}
	m.Reaccessed.Lock()
	defer m.Reaccessed.Unlock()
	m.Reaccessed.Files = append(m.Reaccessed.Files, assess.Evidence{Path: file, Line: 0})
	m.Reaccessed.How = append(m.Reaccessed.How, fmt.Sprintf("%s (%s, shipped as %s)", file, is, was))
}

// describe fills in owner, mode and size.
func describe(m *assess.Machine, c *assess.ConfigFile, info fs.FileInfo) {
	c.UID, c.GID, _ = host.Owner(info)
	c.Owner, c.Group = m.Users[c.UID], m.Groups[c.GID]
	c.Mode, c.Size = fmt.Sprintf("%04o", assess.Octal(info.Mode())), info.Size()
	c.Secret = m.Secret(c.Path, info)
}

// untouched reports whether a file is as installation copied it. What no
// template tells apart counts as a person's.
func untouched(m *assess.Machine, file string) bool {
	template, ok := templates()[file]
	if !ok {
		return false
	}
	if len(template) == 0 {
		return !slices.ContainsFunc(strings.Split(m.Peek(file[1:]), "\n"), func(line string) bool {
			line = strings.TrimSpace(line)
			return line != "" && line[0] != '#'
		})
	}
	return m.Peek(file[1:]) == m.Peek(template[0])
}

// newer tells the files that managers put beside one that was edited: what the package
// would have there. Those of dpkg are told with what editors leave.
func newer(name string) bool {
	return slices.ContainsFunc(release.Families(), func(c release.Conventions) bool {
		return c.Format != release.Deb && slices.ContainsFunc(c.Beside, func(end string) bool { return strings.HasSuffix(name, end) })
	})
}

// phpLink tells the links by which PHP's packages enable their modules: they
// make them anew for each version.
func phpLink(f found) bool {
	return f.kind&fs.ModeSymlink != 0 && strings.HasPrefix(f.path, "/etc/php/") && strings.Contains(f.path, "/conf.d/")
}

// matches reports whether a path of /etc is in a list: as it stands, below a
// folder, or beginning with a name that ends in - or _.
func matches(list []string, file string) bool {
	rel := strings.TrimPrefix(file, "/etc/")
	return slices.ContainsFunc(list, func(entry string) bool {
		return rel == entry || strings.HasPrefix(rel, entry) && strings.ContainsRune("/-_", rune(entry[len(entry)-1]))
	})
}
