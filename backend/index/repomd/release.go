package repomd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/backend/index/deb"
	"svc/backend/index/record"
	"svc/backend/pkgversion"
)

// Listed is a package of a release: of its versions the one that is installed
// unless something else is asked for.
type Listed struct {
	Package
	Repository string
	Streams    []string // module streams that have it, the default one first
	Hidden     bool     // only streams that are no default have it
	Shipped    []string // configuration, units and sysusers, sorted
	rank       int
}

// Release is the packages of a release's repositories by their names.
type Release map[string]*Listed

// Repositories finds the folders of a tree that have repodata/repomd.xml,
// sorted.
func Repositories(root fs.FS) ([]string, error) {
	var found []string
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() == "repomd.xml" && path.Base(path.Dir(p)) == "repodata" {
			found = append(found, path.Dir(path.Dir(p)))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("looking for repomd.xml: %w", err)
	}
	return found, nil
}

// Add reads the repository in a folder of root into the release, under a name.
func (r Release) Add(ctx context.Context, root fs.FS, dir, name string, log func(string)) error {
	parts, err := readParts(root, dir)
	if err != nil {
		return err
	}
	in := &repository{ctx: ctx, root: root, dir: dir, name: name, log: log, modules: &Modules{}, release: r}
	for _, step := range []struct {
		kind string
		read func(io.Reader) error
	}{{"modules", in.readModules}, {"primary", in.readPrimary}, {"filelists", in.readFilelists}} {
		for _, p := range parts {
			if p.Type != step.kind {
				continue
			}
			if err := in.part(p, step.read); err != nil {
				return fmt.Errorf("reading %s: %w", path.Join(dir, p.Path), err)
			}
		}
	}
	return nil
}

func readParts(root fs.FS, dir string) ([]Part, error) {
	f, err := root.Open(path.Join(dir, "repodata/repomd.xml"))
	if err != nil {
		return nil, fmt.Errorf("opening repository: %w", err)
	}
	defer f.Close()
	return Parts(f)
}

// repository is one that is being read.
type repository struct {
	ctx       context.Context
	root      fs.FS
	dir, name string
	log       func(string)
	modules   *Modules
	release   Release
}

// part reads a part whose digest must be that of repomd.xml, where it tells one.
func (in *repository) part(p Part, read func(io.Reader) error) error {
	name := path.Join(in.dir, p.Path)
	if in.log != nil {
		in.log("reading " + name)
	}
	if err := deb.CheckDigest(in.root, name, p.SHA256); err != nil {
		return err
	}
	f, err := deb.Open(in.ctx, in.root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f)
}

func (in *repository) readModules(r io.Reader) (err error) {
	in.modules, err = ReadModules(r)
	return err
}

func (in *repository) readPrimary(r io.Reader) error {
	for p, err := range Packages(r) {
		if err != nil {
			return err
		}
		if p.Arch == "i686" || p.Arch == "i586" || p.Arch == "i386" {
			continue // what runs 32-bit programs beside the system's own
		}
		in.add(p)
	}
	return nil
}

// The ranks of a package's versions: a default stream hides what is in none,
// and what is in none comes before streams that must be enabled.
const (
	otherStream = iota
	noStream
	defaultStream
)

func (in *repository) add(p Package) {
	l := &Listed{Package: p, Repository: in.name, Streams: in.modules.Of(p), rank: noStream}
	if len(l.Streams) > 0 {
		l.rank = otherStream
		if in.modules.Default(l.Streams[0]) {
			l.rank = defaultStream
		}
	}
	l.Hidden = l.rank == otherStream
	for _, file := range p.Files {
		l.ship(file)
	}
	l.Files = nil
	old := in.release[p.Name]
	if old == nil {
		in.release[p.Name] = l
		return
	}
	if cmp.Or(cmp.Compare(l.rank, old.rank), pkgversion.Compare(pkgversion.RPM, l.Version, old.Version)) > 0 {
		old, l = l, old
		in.release[p.Name] = old
	}
	old.Streams = record.AppendNew(slices.Clip(old.Streams), l.Streams...)
}

func (in *repository) readFilelists(r io.Reader) error {
	for s, err := range Filelists(r) {
		if err != nil {
			return err
		}
		l := in.release[s.Name]
		if l == nil || l.Arch != s.Arch {
			continue
		}
		for _, file := range s.Files {
			if file.Type == "" {
				l.ship(file.Path)
			}
		}
	}
	return nil
}

// ship keeps a path that configures a system.
func (l *Listed) ship(file string) {
	file, ok := deb.KeptPath(strings.TrimPrefix(file, "/"))
	if !ok || strings.ContainsAny(file, "\t\n") {
		return
	}
	if at, there := slices.BinarySearch(l.Shipped, file); !there {
		l.Shipped = slices.Insert(l.Shipped, at, file)
	}
}

// Names are the names of the packages, sorted.
func (r Release) Names() []string { return slices.Sorted(maps.Keys(r)) }
