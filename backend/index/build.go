package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"svc/backend/index/catalog"
	"svc/backend/index/deb"
	"svc/backend/index/pes"
	"svc/backend/index/table"
)

// Sources says what an index is built from.
type Sources struct {
	Apt     string       // a folder of Packages and Contents files, as the package comment shows
	PES     string       // a file of package evolution events; may be empty
	Curated string       // a folder of curated rows; empty for those of the program
	Out     string       // the file to write, replaced as a whole
	Log     func(string) // is told what is being done; may be nil
}

// Stats counts what an index has.
type Stats struct {
	IndexVersion string         `json:"index_version"`
	Bytes        int            `json:"bytes"`
	Packages     map[string]int `json:"packages"` // by release
	Trails       map[string]int `json:"trails"`   // by hop, such as debian-12>debian-13
	Tables       map[string]int `json:"tables"`   // records of each table
}

// Build makes an index file of the sources and writes it atomically. The same
// sources give the same bytes.
func Build(ctx context.Context, s Sources) (*Stats, error) {
	if s.Apt == "" || s.Out == "" {
		return nil, errors.New("building an index needs a folder of apt metadata and a file to write")
	}
	curated, err := s.curated()
	if err != nil {
		return nil, err
	}
	events, err := readEvents(s.PES)
	if err != nil {
		return nil, err
	}
	data, err := build(ctx, os.DirFS(s.Apt), curated, events, s.Log)
	if err != nil {
		return nil, fmt.Errorf("building index: %w", err)
	}
	if err := renameio.WriteFile(s.Out, data, 0o644); err != nil {
		return nil, fmt.Errorf("writing index: %w", err)
	}
	return stats(data)
}

func (s Sources) curated() (fs.FS, error) {
	if s.Curated == "" {
		return embeddedCurated()
	}
	return os.DirFS(s.Curated), nil
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

// build makes the bytes of an index.
func build(ctx context.Context, apt, curated fs.FS, events []pes.Event, log func(string)) ([]byte, error) {
	names, err := naming(curated)
	if err != nil {
		return nil, err
	}
	renamed, err := renames(curated)
	if err != nil {
		return nil, err
	}
	releases, err := catalog.Load(ctx, apt, log)
	if err != nil {
		return nil, err
	}
	names.Apply(releases)
	w := &table.Writer{}
	for _, r := range releases {
		if err := putRelease(w, r); err != nil {
			return nil, err
		}
	}
	for i := 1; i < len(releases); i++ {
		older, newer := releases[i-1], releases[i]
		if distribution(older.Slug) != distribution(newer.Slug) {
			continue
		}
		hop := trailsTable(older.Slug, newer.Slug)
		forward := catalog.Trails(older, newer, names, renamed[hop])
		back := catalog.Reverse(older, newer, forward, names)
		if err := errors.Join(putTrails(w, hop, forward), putTrails(w, trailsTable(newer.Slug, older.Slug), back)); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(putAll(w, map[string]map[string]string{patternsTable: patterns(releases)}), putCurated(w, curated)); err != nil {
		return nil, err
	}
	other, err := newForeign(curated, releases)
	if err != nil {
		return nil, err
	}
	other.addEvents(events)
	if err := other.put(w); err != nil {
		return nil, err
	}
	return w.Bytes()
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

func putTrails(w *table.Writer, name string, trails map[string]catalog.Trail) error {
	for pkg, t := range trails {
		if err := w.Put(name, pkg, encodeTrail(t)); err != nil {
			return err
		}
	}
	return nil
}

// putRelease stores the tables of a release.
func putRelease(w *table.Writer, r *catalog.Release) error {
	owners := map[string]string{}
	for _, name := range r.Names {
		p := r.Packages[name]
		rec := record{Name: name, Canonical: p.Canonical, Major: p.Major, Version: p.Version, Component: p.Component}
		if err := w.Put(r.Slug+namesTable, name, rec.encode()); err != nil {
			return err
		}
		if p.Canonical != name {
			if err := w.Put(r.Slug+canonicalsTable, p.Canonical, name); err != nil {
				return err
			}
		}
		if len(p.Files) == 0 {
			continue
		}
		if err := w.Put(r.Slug+filesTable, name, strings.Join(p.Files, "\t")); err != nil {
			return err
		}
		for _, path := range p.Files {
			owners[path] = strings.TrimSpace(owners[path] + " " + name)
		}
	}
	return putAll(w, map[string]map[string]string{
		r.Slug + ownersTable:   owners,
		r.Slug + providesTable: singleProviders(r),
		r.Slug + sourcesTable:  mainBinaries(r),
	})
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
	for virtual, name := range providers {
		if name == "" {
			delete(providers, virtual)
		}
	}
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
	if path == "" {
		return stats(embedded)
	}
	data, err := readIndex(path)
	if err != nil {
		return nil, err
	}
	return stats(data)
}

func stats(data []byte) (*Stats, error) {
	if err := table.Verify(data); err != nil {
		return nil, fmt.Errorf("checking index: %w", err)
	}
	f, err := table.Open(data)
	if err != nil {
		return nil, fmt.Errorf("opening index: %w", err)
	}
	defer f.Close()
	s := &Stats{IndexVersion: f.Version(), Bytes: len(data), Packages: map[string]int{}, Trails: map[string]int{}, Tables: map[string]int{}}
	for _, name := range slices.Sorted(slices.Values(f.Names())) {
		s.Tables[name] = f.Table(name).Len()
		if slug, ok := strings.CutSuffix(name, namesTable); ok {
			s.Packages[slug] = s.Tables[name]
		}
		if hop, ok := strings.CutSuffix(name, "/trails"); ok {
			s.Trails[hop] = s.Tables[name]
		}
	}
	return s, nil
}
