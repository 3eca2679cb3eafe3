// Package catalog makes the model of the index from an archive's metadata: what
// software each package of a release is, and what it becomes in the next.
package catalog

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"svc/backend/index/deb"
	"svc/backend/index/record"
	"svc/backend/lazyregexp"
	"svc/backend/release"
)

// Package is a binary package of a release.
type Package struct {
	deb.Package
	Canonical string
	Major     string   // empty where it does not matter
	Files     []string // configuration, units and sysusers, sorted
	Module    string   // of Perl, as Perl writes it, where the package is named for it
}

// Release is the packages of one release by their names.
type Release struct {
	Slug     string
	Packages map[string]*Package
	Names    []string          // sorted
	defaults map[string]string // software → the version that is the default
}

// Load reads every listing in a folder; the releases come in the order of
// distribution and version. Progress is told to log, which may be nil.
func Load(ctx context.Context, root fs.FS, log func(string)) ([]*Release, error) {
	listings, err := deb.Listings(root)
	if err != nil {
		return nil, err
	}
	releases := map[string]*Release{}
	for _, contents := range []bool{false, true} {
		for _, l := range listings {
			if l.Contents != contents {
				continue
			}
			if log != nil {
				log("reading " + l.Path)
			}
			if releases[l.Release] == nil {
				releases[l.Release] = &Release{Slug: l.Release, Packages: map[string]*Package{}}
			}
			if err := releases[l.Release].read(ctx, root, l); err != nil {
				return nil, fmt.Errorf("reading %s: %w", l.Path, err)
			}
		}
	}
	return inOrder(releases)
}

// inOrder finishes the releases and refuses those without packages.
func inOrder(bySlug map[string]*Release) ([]*Release, error) {
	var ordered []*Release
	for _, known := range release.All() {
		r, ok := bySlug[known.Slug]
		if !ok {
			continue
		}
		if len(r.Packages) == 0 {
			return nil, fmt.Errorf("release %s has no Packages file", r.Slug)
		}
		r.Names = slices.Sorted(maps.Keys(r.Packages))
		for _, p := range r.Packages {
			slices.Sort(p.Files)
			p.Files = slices.Compact(p.Files)
		}
		ordered = append(ordered, r)
	}
	if len(ordered) == 0 {
		return nil, fmt.Errorf("the folder has no Packages file of a known release")
	}
	return ordered, nil
}

func (r *Release) read(ctx context.Context, root fs.FS, l deb.Listing) error {
	f, err := deb.Open(ctx, root, l.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	if l.Contents {
		for file, err := range deb.Contents(f) {
			if err != nil {
				return err
			}
			if p, ok := r.Packages[file.Package]; ok {
				p.add(file)
			}
		}
		return nil
	}
	for p, err := range deb.Packages(f) {
		if err != nil {
			return err
		}
		if _, twice := r.Packages[p.Name]; !twice {
			p.Component = l.Component
			r.Packages[p.Name] = &Package{Package: p}
		}
	}
	return nil
}

// add takes a file that the package ships.
func (p *Package) add(f deb.File) {
	module, ok := f.PerlModule()
	switch {
	case !ok:
		p.Files = append(p.Files, f.Path)
	case strings.EqualFold("lib"+module+"-perl", p.Name):
		p.Module = module
	}
}

// targetsOf are the packages of the release that a transitional package leads
// to, the first of each group of alternatives that is there.
func (r *Release) targetsOf(p *Package) []string {
	var targets []string
	for group := range deb.Groups(p.Depends) {
		for _, name := range group {
			if _, ok := r.Packages[name]; ok && name != p.Name {
				targets = record.AppendNew(targets, name)
				break
			}
		}
	}
	return targets
}

// versions are the parts of a name that change from one version to the next.
// In amd64, lib32 and the like the number says for which machines a package is.
var versions = lazyregexp.New(`(amd|arm|lib|mips|riscv|x)(32|64)([^0-9.]|$)|[0-9]+(?:\.[0-9]+)*`)

var dashes = lazyregexp.New(`--+`)

// stem is a name without its versions, so that the names of one thing in
// several versions have one stem: libssl of libssl1.1 and libssl3t64.
func stem(name string) string {
	s := versions.ReplaceAllString(strings.ReplaceAll(name, "t64", ""), "$1$2$3")
	return strings.Trim(dashes.ReplaceAllString(s, "-"), "-")
}
