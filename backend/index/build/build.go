package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc/backend/index/catalog"
	"svc/backend/index/data"
	"svc/backend/index/deb"
	"svc/backend/index/pes"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/index/table"
	"svc/backend/osfile"
	"svc/backend/release"
)

// Stats counts what an index has.
type Stats struct {
	IndexVersion string         `json:"index_version"`
	Bytes        int            `json:"bytes"`
	Packages     map[string]int `json:"packages"` // by release
	Trails       map[string]int `json:"trails"`   // by step, such as debian-12>debian-13
	Tables       map[string]int `json:"tables"`   // records of each table
}

// Build makes an index file of the sources and writes it atomically, once it
// was read back whole: an error leaves the file that was there before. The same
// sources give the same bytes.
func Build(ctx context.Context, s Sources) (*Stats, error) {
	if s.Out == "" || s.Apt == "" && len(s.RPM) == 0 && s.places() == 0 && s.PES == "" && s.Curated == "" {
		return nil, errors.New("building an index needs something to build it from, and a file to write")
	}
	b, err := s.builder()
	if err != nil {
		return nil, err
	}
	in, err := s.bring(ctx)
	if err != nil {
		return nil, fmt.Errorf("building index: %w", err)
	}
	if s.Base != "" || len(debianSuites(in.releases)) == 0 {
		if b.base, err = readBase(s.Base); err != nil {
			return nil, err
		}
	}
	w, err := b.build(in)
	if err != nil {
		return nil, fmt.Errorf("building index: %w", err)
	}
	if s.FactsAlone {
		w = w.Only(record.IsFact)
	}
	data, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("building index: %w", err)
	}
	if err := table.Verify(string(data)); err != nil {
		return nil, fmt.Errorf("building index: %w", err)
	}
	file, err := table.Open(string(data))
	if err != nil {
		return nil, fmt.Errorf("building index: %w", err)
	}
	if err := osfile.Write(s.Out, data, 0o644); err != nil {
		return nil, fmt.Errorf("writing index: %w", err)
	}
	return stats(file), nil
}

// builder makes the bytes of an index.
type builder struct {
	curated layers
	events  []pes.Event
	base    *base // nil where all is made anew
	log     func(string)
}

// readEvents reads a file of events, which may be packed.
func readEvents(path string) ([]pes.Event, error) {
	if path == "" {
		return nil, nil
	}
	f, err := deb.Open(context.Background(), os.DirFS(filepath.Dir(path)), filepath.Base(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return pes.Read(f)
}

// build makes the tables of what was read.
func (b *builder) build(in *inputs) (*table.Writer, error) {
	w, r := &table.Writer{}, &reader{layers: b.curated}
	suites, err := b.suites(w, r, in)
	if err != nil {
		return nil, err
	}
	for _, imported := range in.imports {
		if err := imported.put(w); err != nil {
			return nil, err
		}
	}
	for _, list := range in.lists {
		list.put(w)
	}
	putCurated(w, r)
	other := newForeign(r, suites)
	other.addEvents(b.events)
	b.addLists(other, in)
	if r.err != nil {
		return nil, r.err
	}
	if err := b.warn(allLists{other, in.releases, b.base}); err != nil {
		return nil, err
	}
	other.put(w)
	w.PutAll(record.DebianRows, debianRPMs(r))
	return w, errors.Join(r.err, w.Err())
}

// warn tells of the overlay's rows that lead to what no list has.
func (b *builder) warn(lists allLists) error {
	if len(b.curated) < 2 || b.log == nil {
		return nil
	}
	warnings, err := lists.unlisted(b.curated[1])
	for _, text := range warnings {
		b.log(text)
	}
	return err
}

// suites stores the releases of Debian and its derivatives, and gives those of Debian.
func (b *builder) suites(w *table.Writer, r *reader, in *inputs) ([]*catalog.Release, error) {
	if b.base == nil {
		names := naming(r, nil)
		w.PutAll(record.PatternsTable, patterns(names.Apply(in.releases)))
		w.PutAll(record.ModulesTable, modules(in.releases))
		putReleases(w, r, in.releases, names)
		return debianSuites(in.releases), nil
	}
	suites := b.base.suites()
	names := naming(r, b.base.canonicals(suites, in.releases))
	putReleases(w, r, names.Apply(in.releases), names)
	return suites, b.base.copyTo(w, in)
}

// addLists tells what the imported rpm releases have, and those of the base.
func (b *builder) addLists(f *foreign, in *inputs) {
	for _, r := range in.imports {
		f.addList(rpmNamesOf{r.slug, r.packages.Names()})
	}
	if b.base == nil {
		return
	}
	for _, l := range b.base.imports() {
		f.addList(l)
	}
}

// putReleases stores the releases, and the trails between neighbours.
func putReleases(w *table.Writer, r *reader, releases []*catalog.Release, names *catalog.Naming) {
	renamed := renames(r)
	for _, r := range releases {
		putRelease(w, r)
	}
	for i := 1; i < len(releases); i++ {
		older, newer := releases[i-1], releases[i]
		if record.Distribution(older.Slug) != record.Distribution(newer.Slug) {
			continue
		}
		step := record.TrailsTable(older.Slug, newer.Slug)
		forward := catalog.Trails(older, newer, names, renamed[step])
		putTrails(w, step, forward)
		putTrails(w, record.TrailsTable(newer.Slug, older.Slug), catalog.Reverse(older, newer, forward, names))
	}
}

// patterns are the names of versioned software with an asterisk for the
// version, and their canonicals: what a vendor's postgresql-16 is can so be
// told where the distribution has another version. Ambiguous ones are left out.
func patterns(releases []*catalog.Release) map[string]string {
	found, ambiguous := map[string]string{}, map[string]bool{}
	for _, r := range releases {
		for _, name := range r.Names {
			p := r.Packages[name]
			if p.Major == "" || !strings.Contains(name, p.Major) {
				continue
			}
			key := strings.Replace(name, p.Major, "*", 1)
			value := strings.Replace(p.Canonical, p.Major, "*", 1)
			if old, ok := found[key]; ok && old != value {
				ambiguous[key] = ambiguous[key] || strings.Contains(old, "*") == strings.Contains(value, "*")
				if strings.Contains(value, "*") {
					value = old // a canonical that survives upgrades comes first
				}
			}
			found[key] = value
		}
	}
	maps.DeleteFunc(found, func(key, _ string) bool { return ambiguous[key] })
	return found
}

func putTrails(w *table.Writer, name string, trails map[string]record.Trail) {
	for pkg, t := range trails {
		w.Put(name, pkg, record.EncodeTrail(t))
	}
}

// putRelease stores the tables of a release.
func putRelease(w *table.Writer, r *catalog.Release) {
	shipped := map[string][]string{}
	for _, name := range r.Names {
		p := r.Packages[name]
		w.Put(r.Slug+record.NamesTable, name, record.Record{Name: name, Canonical: p.Canonical, Major: p.Major, Version: p.Version, Component: p.Component}.Encode())
		if p.Canonical != name {
			w.Put(r.Slug+record.CanonicalsTable, p.Canonical, name)
		}
		shipped[name] = p.Files
	}
	putFiles(w, r.Slug, r.Names, shipped)
	w.PutAll(r.Slug+record.ProvidesTable, singleProviders(r))
	w.PutAll(r.Slug+record.SourcesTable, mainBinaries(r))
}

// putFiles stores what packages of a release ship, and by path which of them do.
func putFiles(w *table.Writer, slug string, names []string, shipped map[string][]string) {
	owners := map[string]string{}
	for _, name := range names {
		for _, file := range shipped[name] {
			owners[file] = strings.TrimSpace(owners[file] + " " + name)
		}
		if len(shipped[name]) > 0 {
			w.Put(slug+record.FilesTable, name, strings.Join(shipped[name], "\t"))
		}
	}
	w.PutAll(slug+record.OwnersTable, owners)
	putUnits(w, slug, names, shipped)
}

// putUnits stores which packages of a release ship units, by the first words of their names.
func putUnits(w *table.Writer, slug string, names []string, shipped map[string][]string) {
	owners := map[string]string{}
	isUnit := func(file string) bool { _, ok := record.UnitOf(file); return ok }
	for _, name := range names {
		if slices.ContainsFunc(shipped[name], isUnit) {
			word := record.FirstWord(name)
			owners[word] = strings.TrimSpace(owners[word] + " " + name)
		}
	}
	w.PutAll(record.UnitsTable+slug, owners)
}

// modules are the rpm names of the packages of Perl modules, where they are not
// written as rule makes them.
func modules(releases []*catalog.Release) map[string]string {
	found := map[string]string{}
	for _, r := range releases {
		for name, p := range r.Packages {
			if usual, _ := rpm.Module(name); p.Module != "" && usual != "perl-"+p.Module {
				found[name] = "perl-" + p.Module
			}
		}
	}
	return found
}

// singleProviders are the virtual packages that one package provides. Those of
// Rust crates, one for each version and feature, are installed by nobody.
func singleProviders(r *catalog.Release) map[string]string {
	providers := map[string]string{}
	for _, name := range r.Names {
		for virtual := range deb.Names(r.Packages[name].Provides) {
			switch owner, taken := providers[virtual]; {
			case r.Packages[virtual] != nil || strings.HasPrefix(virtual, "librust-"):
			case taken && owner != name:
				providers[virtual] = ""
			case !taken:
				providers[virtual] = name
			}
		}
	}
	maps.DeleteFunc(providers, func(_, name string) bool { return name == "" })
	return providers
}

// mainBinaries are the nearest binaries of the sources that have none of their
// own name: the one whose canonical is the shortest.
func mainBinaries(r *catalog.Release) map[string]string {
	binaries := map[string]string{}
	for _, name := range r.Names {
		p := r.Packages[name]
		if r.Packages[p.Source] != nil {
			continue
		}
		best, ok := binaries[p.Source]
		if !ok || len(p.Canonical) < len(r.Packages[best].Canonical) {
			binaries[p.Source] = name
		}
	}
	return binaries
}

// ReadStats checks a whole index file and counts what it has; without a path,
// that which is part of the program.
func ReadStats(path string) (*Stats, error) {
	file, err := readOr(path, data.Open)
	if err != nil {
		return nil, err
	}
	return stats(file), nil
}

func stats(f *table.File) *Stats {
	s := &Stats{IndexVersion: f.Version(), Bytes: f.Size(), Packages: map[string]int{}, Trails: map[string]int{}, Tables: map[string]int{}}
	for _, name := range f.Names() {
		s.Tables[name] = f.Table(name).Len()
		slug, names := strings.CutSuffix(name, record.NamesTable)
		if _, known := release.Lookup(slug); names && known {
			s.Packages[slug] = s.Tables[name]
		}
		if step, ok := strings.CutSuffix(name, "/trails"); ok {
			s.Trails[step] = s.Tables[name]
		}
	}
	return s
}
