// Package programs finds what can be run on a machine without a path, what
// people put below /usr/local, and files that run with more rights than those
// of who runs them. Nothing of it is run, and no symlink is followed.
package programs

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"svc/assess/host"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// File is a program, or a file that belongs to programs.
type File struct {
	Path         string // with a leading slash
	Mode         fs.FileMode
	UID, GID     int
	Size         int64 // bytes
	Privileged   bool  // it has setuid, setgid or capabilities
	Capabilities bool
}

// Link reports whether the file is a symlink.
func (f File) Link() bool { return f.Mode&fs.ModeSymlink != 0 }

// Searched are the folders of PATH, where a name alone runs a program.
var Searched = []string{"usr/bin", "usr/sbin", "bin", "sbin"}

// Local is where people put programs beside those of packages.
const Local = "usr/local"

// privileged are the other folders that are searched for files with more rights:
// where packages keep helpers, where vendors put their software, and where
// everybody may write.
var privileged = []string{"usr/lib", "usr/lib32", "usr/lib64", "usr/libexec", "lib", "lib64", "opt", "tmp", "var/tmp", "dev/shm"}

// helpers are those where packages keep programs that others call.
var helpers = []string{"usr/lib", "usr/lib32", "usr/lib64", "usr/libexec", "lib", "lib64"}

// modules are folders of what other people wrote in a language, with programs among it.
var modules = []string{"node_modules", "site-packages", "dist-packages", "gems"}

// passing are those that may hold any amount of what nobody keeps: only their
// uppermost folders are looked into.
var passing = []string{"tmp", "var/tmp", "dev/shm"}

// maxPassing is how many folders deep these are looked into, themselves counted.
const maxPassing = 2

// data are folders of /usr/local that hold no programs.
var data = []string{"usr/local/share", "usr/local/src", "usr/local/include", "usr/local/man", "usr/local/etc", "usr/local/doc"}

// Bounds of a search: files that are met, and files that are kept.
const (
	maxMet  = 1_000_000
	maxKept = 20_000
)

// Places are the folders that Find looks into, as people write them.
func Places() []string {
	return sliced.Map(slices.Concat(Searched, []string{Local}, privileged), func(p string) string { return "/" + p })
}

// Found is what a search met.
type Found struct {
	Files   []File   // by path
	Helpers []string // programs that no bare name calls, where packages keep theirs, by path
	Unread  []string // what could not be read or is too much, as text for people
}

// Find looks for the files.
func Find(ctx context.Context, h host.Host) Found {
	s := &search{}
	for _, top := range slices.Concat(Searched, []string{Local}, privileged) {
		info, err := h.FS().Lstat(top)
		if err == nil && info.IsDir() { // where it is a link, the files stand elsewhere
			s.tops = append(s.tops, top)
		}
	}
	if err := host.Walk(ctx, h, s.tops, s); err != nil {
		s.unread = append(s.unread, err.Error())
	}
	slices.SortFunc(s.files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(s.helpers)
	slices.Sort(s.unread)
	return Found{s.files, s.helpers, s.unread}
}

// search is a walk on its way.
type search struct {
	tops []string

	mu      sync.Mutex
	met     int
	files   []File
	helpers []string
	unread  []string
}

// Visit keeps what is looked for.
func (s *search) Visit(_ int, n *host.Node) bool {
	name := n.Path()
	if n.Mode.IsDir() {
		top := s.tops[n.Top]
		deep := strings.Count(strings.TrimPrefix(name, top), "/")
		return !n.Boundary && !slices.Contains(data, name) && (deep < maxPassing || !slices.Contains(passing, top))
	}
	f := File{
		Path: "/" + name, Mode: n.Mode, UID: n.UID, GID: n.GID, Size: n.Size,
		Capabilities: n.Mode.IsRegular() && n.Attributes&host.Capabilities != 0,
	}
	f.Privileged = f.Capabilities || n.Mode.IsRegular() && n.Mode&(fs.ModeSetuid|fs.ModeSetgid) != 0
	s.mu.Lock()
	defer s.mu.Unlock()
	s.met++
	switch {
	case s.met > maxMet || len(s.files) == maxKept || len(s.helpers) == maxKept:
		s.tooMuch()
	case f.Privileged, f.isProgram(s.tops[n.Top]):
		s.files = append(s.files, f)
	}
	if f.isHelper(s.tops[n.Top]) && len(s.helpers) < maxKept {
		s.helpers = append(s.helpers, f.Path)
	}
	return false
}

// tooMuch says once that not all was looked at.
func (s *search) tooMuch() {
	text := fmt.Sprintf("more than %d files or %d programs: the rest was not looked at", maxMet, maxKept)
	if !slices.Contains(s.unread, text) {
		s.unread = append(s.unread, text)
	}
}

// isProgram reports whether a file is a program of PATH, or anything that runs
// or is loaded below /usr/local.
func (f File) isProgram(top string) bool {
	switch {
	case top == Local && f.Mode.IsRegular() && sharedObject.MatchString(f.Path):
		return true
	case top == Local, slices.Contains(Searched, top):
		return f.Link() || f.Mode.IsRegular() && f.Mode.Perm()&0o111 != 0
	}
	return false
}

// isHelper reports whether a file is a program where packages keep those that others call.
func (f File) isHelper(top string) bool {
	return slices.Contains(helpers, top) && f.Mode.IsRegular() && f.Mode.Perm()&0o111 != 0 && !sharedObject.MatchString(f.Path) &&
		!slices.ContainsFunc(strings.Split(f.Path, "/"), func(part string) bool { return slices.Contains(modules, part) })
}

// sharedObject tells libraries and modules of programs, which are loaded
// whatever their mode is.
var sharedObject = lazyregexp.New(`\.so(\.[0-9.]+)?$`)

// maxUnread bounds what is told of places that could not be read.
const maxUnread = 20

// Unread notes what could not be listed or described.
func (s *search) Unread(_, _ int, name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.unread) < maxUnread {
		s.unread = append(s.unread, fmt.Sprintf("%s: %v", path.Join("/", name), err))
	}
}
