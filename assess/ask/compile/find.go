package compile

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess/host"
	"svc/backend/sliced"
)

// Places are where people keep programs of their own.
var Places = []string{
	"/usr/local/bin", "/usr/local/sbin", "/usr/local/lib", "/usr/local/libexec", "/usr/local/share", "/opt", "/srv", "/var/www", "/root", "/home", "/usr/lib/cgi-bin",
}

// Bounds of the search: entries that are met, how deep, programs that are found, the bytes
// of the largest, and how many files without an ending a folder may have for these to be
// looked at, for data have many.
const (
	maxMet      = 60_000
	maxDepth    = 10
	maxPrograms = 2000
	maxProgram  = 2 << 20
	maxUnnamed  = 200
)

// others are folders of what other people wrote, which is brought anew for each version,
// and of what no program is.
var others = []string{"node_modules", "bower_components", "vendor", "site-packages", "dist-packages", "__pycache__", "objects", "gems"}

// search is a search on its way.
type search struct {
	fsys host.FS
	met  int
	seen map[string]bool
	all  []Program
	left string // the first that was not looked at
}

// Find are people's programs: those that are named, and those below folders. It says
// what it did not look at.
func Find(ctx context.Context, fsys host.FS, named, folders []string) (all []Program, left string) {
	s := &search{fsys: fsys, seen: map[string]bool{}}
	for _, name := range named {
		s.file(name)
	}
	for _, top := range folders {
		s.folder(ctx, path.Clean(top), 0)
	}
	if s.left != "" {
		s.left = fmt.Sprintf("%s and what comes after it: a rehearsal looks through %d files for %d programs", s.left, maxMet, maxPrograms)
	}
	return s.all, s.left
}

func (s *search) folder(ctx context.Context, dir string, depth int) {
	if ctx.Err() != nil || s.seen[dir] {
		return
	}
	s.seen[dir] = true
	entries, err := s.fsys.ReadDir(strings.TrimPrefix(dir, "/"))
	if err != nil {
		return
	}
	bare := sliced.Count(entries, func(e fs.DirEntry) bool { return path.Ext(e.Name()) == "" && e.Type().IsRegular() })
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		if s.met++; s.met > maxMet || len(s.all) >= maxPrograms {
			if s.left == "" {
				s.left = at
			}
			return
		}
		switch {
		case e.IsDir() && depth < maxDepth && s.entered(at):
			s.folder(ctx, at, depth+1)
		case e.Type().IsRegular() && (path.Ext(at) != "" || bare <= maxUnnamed) && mayBe(at):
			s.file(at)
		}
	}
}

// entered reports whether a folder may be one of people's own programs: hidden ones are
// those of programs, and an environment of Python has copies of other people's.
func (s *search) entered(dir string) bool {
	name := path.Base(dir)
	if name[0] == '.' || slices.Contains(others, name) {
		return false
	}
	_, err := s.fsys.Stat(strings.TrimPrefix(dir, "/") + "/pyvenv.cfg")
	return err != nil
}

// mayBe reports whether a file is worth a look by its name.
func mayBe(name string) bool {
	ending := path.Ext(name)
	return ending == "" || ending == ".cgi" || ending == ".fcgi" || slices.ContainsFunc(languages(), func(l language) bool { return slices.Contains(l.endings, ending) })
}

// file takes a file that is a program.
func (s *search) file(name string) {
	if s.seen[name] || len(s.all) >= maxPrograms {
		return
	}
	s.seen[name] = true
	text, ok := beginning(s.fsys, name)
	if !ok || strings.HasSuffix(name, ".min.js") {
		return
	}
	p, ok := Of(name, text)
	if ok && p.Language == "node" && p.Interpreter == "" && !servers(text) {
		return // it is for browsers, as most are
	}
	if ok && p.Language == "python" && p.Interpreter == "" {
		p.Interpreter = s.environment(name)
	}
	if ok {
		s.all = append(s.all, p)
	}
}

// servers reports whether a program of JavaScript is one of Node.js.
func servers(text string) bool {
	return strings.Contains(text, "require(") || strings.Contains(text, "module.exports") || strings.Contains(text, "\nimport ") || strings.HasPrefix(text, "import ")
}

// beginning is the first part of a file that is no larger than a program is.
func beginning(fsys host.FS, name string) (string, bool) {
	f, err := fsys.Open(strings.TrimPrefix(name, "/"))
	if err != nil {
		return "", false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxProgram || info.Size() == 0 {
		return "", false
	}
	b := make([]byte, 4<<10)
	n, _ := f.Read(b) // of one that can't be read, nothing is known
	return string(b[:n]), n > 0
}

// environments are what people call an environment of Python beside its program.
var environments = []string{"venv", ".venv", "env", "virtualenv"}

// environment is the interpreter of the environment of Python that stands beside a
// program or above it.
func (s *search) environment(name string) string {
	for dir := path.Dir(name); strings.Count(dir, "/") > 0 && dir != "/"; dir = path.Dir(dir) {
		for _, e := range append([]string{""}, environments...) {
			at := path.Join(dir, e)
			if info, err := s.fsys.Stat(strings.TrimPrefix(at, "/") + "/pyvenv.cfg"); err == nil && info.Mode()&fs.ModeType == 0 {
				return at + "/bin/python3"
			}
		}
	}
	return ""
}
