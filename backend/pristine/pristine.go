// Package pristine gives configuration files as packages ship them: out of
// packages in folders, and out of archives, whose listings say which digest each
// package has. Nothing of a package is run.
package pristine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/sliced"
)

// Options say where packages are, and which are meant.
type Options struct {
	// Places are folders of packages, folders that mirror an archive, and URLs of
	// archives; what an earlier one has counts before what a later one has.
	Places  []string
	Release string // whose packages they are; a slug
	Arch    string // as the release calls it, such as amd64 or x86_64
	// Keyrings are files of the keys that must have signed an apt archive; those
	// that this system has where none is named.
	Keyrings []string
	Cache    string // a folder that keeps what is downloaded
	Progress func(what string, done, total int)
	Log      func(string)
}

// Archives are the packages of some places.
type Archives struct {
	kind   pkgversion.Kind
	arch   string
	builds map[string][]build // by name
	opened map[string]contents
	kept   int64 // bytes of what is opened
}

// contents are files of a package by their path; nil is what it does not have.
type contents map[string][]byte

// size is what keeping the contents takes.
func (c contents) size() (sum int64) {
	for name, text := range c {
		sum += int64(len(name)+len(text)) + perFile
	}
	return sum
}

// build is a package of one version and architecture.
type build struct {
	name, version, arch string
	// path brings the package onto this machine, and checks it.
	path func(ctx context.Context) (string, error)
}

// File is a file as a package has it.
type File struct {
	Package, Version string
	SHA256           string // of the package
	Path             string // in the package: that of a template where it ships one
	Text             []byte
}

// Open reads what the places have.
func Open(ctx context.Context, o Options) (*Archives, error) {
	a := &Archives{kind: kindOf(o.Release), arch: o.Arch, builds: map[string][]build{}, opened: map[string]contents{}}
	for _, place := range o.Places {
		if err := a.add(ctx, o, place); err != nil {
			return nil, fmt.Errorf("reading packages of %s in %s: %w", o.Release, place, err)
		}
	}
	for _, all := range a.builds {
		slices.SortStableFunc(all, func(x, y build) int { return pkgversion.Compare(a.kind, y.version, x.version) })
	}
	return a, nil
}

func kindOf(slug string) pkgversion.Kind {
	r, _ := release.Lookup(slug)
	if r.Family.Conventions().Format == release.Deb {
		return pkgversion.Deb
	}
	return pkgversion.RPM
}

// maxOpened bounds the bytes of all packages that are kept.
const maxOpened = 3 * maxKept

// maxBuilds bounds how many versions of a package are looked into.
const maxBuilds = 20

// Find gives a file of /etc as one of some packages ships it, the newest that
// fits; nil where none does.
func (a *Archives) Find(ctx context.Context, packages []string, file string, fits func(text []byte) bool) (*File, error) {
	for _, at := range a.sources(packages, file) {
		all := a.builds[at.Package]
		for _, b := range all[:min(len(all), maxBuilds)] {
			found, err := a.read(ctx, b, at.Path)
			if err != nil {
				return nil, fmt.Errorf("reading package %s %s: %w", b.name, b.version, err)
			}
			if found != nil && fits(found.Text) {
				return found, nil
			}
		}
	}
	return nil, nil
}

// sources are where a file may come from: a template first.
func (a *Archives) sources(packages []string, file string) (all []Template) {
	if t, ok := TemplateOf(file); ok && a.kind == pkgversion.Deb {
		all = append(all, t)
	}
	return append(all, sliced.Map(packages, func(name string) Template { return Template{Package: name, Path: file} })...)
}

// read gives one file of a package, or nil.
func (a *Archives) read(ctx context.Context, b build, file string) (*File, error) {
	path, err := b.path(ctx)
	if err != nil {
		return nil, err
	}
	files := a.opened[path]
	if files == nil {
		files = contents{}
		a.opened[path] = files
	}
	if _, known := files[file]; !known {
		more, err := unpack(ctx, a.kind, path, file)
		if err != nil {
			return nil, err
		}
		if a.kept += more.size(); a.kept > maxOpened { // all are read again where they are wanted again
			a.kept, files = more.size(), contents{}
			a.opened = map[string]contents{path: files}
		}
		files[file] = nil // it has none, but where it comes now
		maps.Copy(files, more)
	}
	text := files[file]
	if text == nil {
		return nil, nil
	}
	digest, err := digestOf(path)
	return &File{b.name, b.version, digest, file, text}, err
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	digest := sha256.New()
	_, err = io.Copy(digest, f)
	return hex.EncodeToString(digest.Sum(nil)), err
}

// put adds a build, unless it is of another architecture.
func (a *Archives) put(b build) {
	if a.arch == "" || slices.Contains([]string{a.arch, "all", "noarch"}, b.arch) {
		a.builds[b.name] = append(a.builds[b.name], b)
	}
}
