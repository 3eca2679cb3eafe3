package build

import (
	"fmt"
	"slices"
	"strings"

	"svc/backend/index/catalog"
	"svc/backend/index/data"
	"svc/backend/index/record"
	"svc/backend/index/table"
	"svc/backend/release"
)

// base is an index that another is built on: its suites, their trails and the
// lists of rpm releases stay; what is made of curated rows is made anew.
type base struct{ file *table.File }

// readBase opens an index file; without a path that of the program.
func readBase(path string) (*base, error) {
	file, err := readOr(path, data.OpenFacts)
	if err != nil {
		return nil, fmt.Errorf("opening the index to build on: %w", err)
	}
	return &base{file}, nil
}

// readOr reads an index file; without a path it opens that of the program.
func readOr(path string, own func() (*table.File, error)) (*table.File, error) {
	if path == "" {
		return own()
	}
	return table.ReadFile(path)
}

// copyTo copies the tables that stay. A release that is imported again must not
// be one that trails lead to.
func (b *base) copyTo(w *table.Writer, in *inputs) error {
	for _, r := range in.releases {
		if b.file.Table(r.Slug+record.NamesTable).Len() > 0 {
			return fmt.Errorf("the index to build on has %s already: give all suites of its distribution at once, without a base", r.Slug)
		}
	}
	for _, name := range b.file.Names() {
		again := slices.ContainsFunc(in.imports, func(r rpmImport) bool { return strings.HasPrefix(name, r.slug+"/") }) ||
			slices.ContainsFunc(in.lists, func(r listImport) bool { return strings.HasPrefix(name, r.slug+"/") })
		if again || !record.IsFact(name) {
			continue
		}
		w.Copy(name, b.file.Table(name))
		if slug, ok := strings.CutSuffix(name, record.FilesTable); ok {
			b.putUnits(w, slug)
		}
	}
	return nil
}

// putUnits makes anew which packages of a release ship units.
func (b *base) putUnits(w *table.Writer, slug string) {
	var names []string
	shipped := map[string][]string{}
	for name, files := range b.file.Table(slug + record.FilesTable).All() {
		names, shipped[name] = append(names, name), strings.Split(files, "\t")
	}
	putUnits(w, slug, names, shipped)
}

// suites are the releases of Debian in the base, with as much of their packages
// as names rpms.
func (b *base) suites() []*catalog.Release {
	var all []*catalog.Release
	for _, known := range release.All() {
		if known.Family != release.Debian || b.file.Table(known.Slug+record.NamesTable).Len() == 0 {
			continue
		}
		r := &catalog.Release{Slug: known.Slug, Packages: map[string]*catalog.Package{}}
		for name, value := range b.file.Table(known.Slug + record.NamesTable).All() {
			rec := record.DecodeRecord(name, value)
			p := &catalog.Package{Canonical: rec.Canonical, Major: rec.Major}
			p.Name, p.Version, p.Component = name, rec.Version, rec.Component
			r.Packages[name], r.Names = p, append(r.Names, name)
		}
		for virtual, name := range b.file.Table(known.Slug + record.ProvidesTable).All() {
			if p := r.Packages[name]; p != nil {
				p.Provides += virtual + ", "
			}
		}
		all = append(all, r)
	}
	return all
}

// imports are the rpm releases whose lists the base has.
func (b *base) imports() []rpmNamesOf {
	var all []rpmNamesOf
	for _, name := range b.file.Names() {
		slug, ok := strings.CutSuffix(name, record.RPMsTable)
		if !ok {
			continue
		}
		names := rpmNamesOf{slug: slug}
		for key := range b.file.Table(name).All() {
			names.names = append(names.names, key)
		}
		all = append(all, names)
	}
	return all
}

// rpmNamesOf are the names of a release's rpms.
type rpmNamesOf struct {
	slug  string
	names []string
}

// debianSuites are those of the releases that rpms are compared with.
func debianSuites(releases []*catalog.Release) []*catalog.Release {
	return slices.DeleteFunc(slices.Clone(releases), func(r *catalog.Release) bool { return record.Distribution(r.Slug) != "debian" })
}

// has reports whether a release of Debian or its derivatives in the base has a package.
func (b *base) has(name string) bool {
	return b != nil && slices.ContainsFunc(b.file.Names(), func(table string) bool {
		return strings.HasSuffix(table, record.NamesTable) && b.file.Table(table).Has(name)
	})
}

// canonicals are those that packages of other releases have already: by their
// names in the newest suite that has them, or by those of other versions.
func (b *base) canonicals(suites, others []*catalog.Release) map[string]string {
	found := map[string]string{}
	for _, r := range slices.Backward(suites) {
		for _, name := range r.Names {
			setNew(found, name, r.Packages[name].Canonical)
		}
	}
	for _, r := range others {
		for _, name := range r.Names {
			if found[name] != "" {
				continue
			}
			if canonical, _, ok := record.OtherVersion(b.file.Table(record.PatternsTable), name); ok {
				found[name] = canonical
			}
		}
	}
	return found
}
