package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"svc/backend/index/archive"
	"svc/backend/index/catalog"
	"svc/backend/index/record"
	"svc/backend/index/repomd"
	"svc/backend/release"
)

func (s Sources) builder() (*builder, error) {
	curated, err := curatedLayers(s.Curated)
	if err != nil {
		return nil, err
	}
	events, err := readEvents(s.PES)
	return &builder{curated: curated, events: events, log: s.Log}, err
}

// Sources says what an index is built from.
type Sources struct {
	// Apt is a folder as the package comment shows, one that mirrors an archive
	// with its dists, or the URL of an archive; empty where the packages of
	// Debian are those of Base.
	Apt string
	// RPM are folders and URLs of rpm repositories.
	RPM []string
	// Lists are folders and URLs of repositories of other families, by their format.
	Lists map[release.Format][]string
	// Releases are the slugs of what the URLs have: suites of an apt archive, and
	// for the rpm repositories, and for those of other families, one release.
	Releases []string
	// Keyrings are files of the keys that the archives are signed by. Without one
	// archives of Debian and Ubuntu must be signed by the key that this machine's
	// apt trusts, and rpm repositories are trusted as far as https is.
	Keyrings []string
	PES      string // a file of package evolution events; may be empty
	Curated  string // a folder of curated rows that go before those of the program; may be empty
	Base     string // an index to build on; empty for that of the program
	// FactsAlone leaves out what the rows decide, as the facts of the program do.
	FactsAlone bool
	Out        string // the file to write, replaced as a whole
	Log        func(string)
	Progress   func(what string, done, total int) // of downloads; may be nil
}

// cacheFolder, beside the index, keeps downloads for the next time.
const cacheFolder = ".archives"

// inputs are the sources, brought here and read.
type inputs struct {
	releases []*catalog.Release
	imports  []rpmImport
	lists    []listImport
}

// staging is the folder into which archives are brought.
type staging struct {
	Sources
	dir     string
	keyring archive.Keyring
}

// bring brings and reads the archives.
func (s Sources) bring(ctx context.Context) (*inputs, error) {
	dir, err := os.MkdirTemp(filepath.Dir(s.Out), ".index-*")
	if err != nil {
		return nil, fmt.Errorf("making a folder for metadata: %w", err)
	}
	defer os.RemoveAll(dir)
	st := &staging{Sources: s, dir: dir}
	if st.keyring, err = archive.ReadKeyrings(s.Keyrings); err != nil {
		return nil, err
	}
	in := &inputs{}
	if in.releases, err = st.apt(ctx); err != nil {
		return nil, err
	}
	if in.lists, err = st.lists(ctx); err != nil {
		return nil, err
	}
	in.imports, err = st.rpms(ctx)
	return in, err
}

// options are those of bringing one archive.
func (st *staging) options(from, slug, into string) archive.Options {
	return archive.Options{
		From: from, Release: slug, Keyring: st.keyring, Cache: filepath.Join(filepath.Dir(st.Out), cacheFolder),
		Into: filepath.Join(st.dir, into), Log: st.Log, Progress: st.Progress,
	}
}

// apt reads the suites of the apt archive.
func (st *staging) apt(ctx context.Context) ([]*catalog.Release, error) {
	if st.Apt == "" {
		return nil, nil
	}
	suites, mirrored, err := st.suites()
	if err != nil {
		return nil, err
	}
	if !mirrored {
		if st.keyring != nil {
			return nil, fmt.Errorf("%s has no dists: without its Release file there is no signature to check", st.Apt)
		}
		if _, err := os.Stat(st.Apt); err != nil {
			return nil, fmt.Errorf("looking for Packages and Contents: %w", err)
		}
		return catalog.Load(ctx, os.DirFS(st.Apt), st.Log)
	}
	for _, slug := range suites {
		o := st.options(st.Apt, slug, "apt")
		if o.Keyring, err = st.archiveKeys(slug); err != nil {
			return nil, err
		}
		if err := archive.Apt(ctx, o); err != nil {
			return nil, err
		}
	}
	return catalog.Load(ctx, os.DirFS(filepath.Join(st.dir, "apt")), st.Log)
}

// suites are the releases to bring; mirrored is false for a folder that has no
// Release files.
func (st *staging) suites() (slugs []string, mirrored bool, err error) {
	if archive.IsURL(st.Apt) {
		if len(st.Releases) == 0 {
			return nil, false, errors.New("an archive's URL needs --release: the suites to take, parted by commas")
		}
		return st.Releases, true, nil
	}
	entries, err := os.ReadDir(filepath.Join(st.Apt, "dists"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading archive: %w", err)
	}
	for _, e := range entries {
		r, ok := release.Lookup(e.Name())
		if ok && (len(st.Releases) == 0 || slices.Contains(st.Releases, r.Slug)) && !slices.Contains(slugs, r.Slug) {
			slugs = append(slugs, r.Slug)
		}
	}
	if len(slugs) == 0 {
		return nil, false, fmt.Errorf("%s has no suite of a known release below dists", st.Apt)
	}
	return slugs, true, nil
}

// archiveKeys are the keys that must have signed a suite. A folder needs no
// signature unless keys were named.
func (st *staging) archiveKeys(slug string) (archive.Keyring, error) {
	if st.keyring != nil || !archive.IsURL(st.Apt) {
		return st.keyring, nil
	}
	return archive.SystemKeyring(slug)
}

// rpms reads the rpm repositories.
func (st *staging) rpms(ctx context.Context) ([]rpmImport, error) {
	if len(st.RPM) == 0 {
		return nil, nil
	}
	for _, place := range st.RPM {
		repositories, err := st.repositories(place)
		if err != nil {
			return nil, err
		}
		for _, o := range repositories {
			if err := archive.RPM(ctx, o); err != nil {
				return nil, err
			}
		}
	}
	return importRPMs(ctx, os.DirFS(filepath.Join(st.dir, "rpm")), st.Log)
}

// repositories are those of a place: a URL is one, a folder has any number.
func (st *staging) repositories(place string) ([]archive.Options, error) {
	given, err := st.only(record.IsRPM, "the rpm repositories")
	if err != nil {
		return nil, err
	}
	if archive.IsURL(place) {
		if given == "" {
			return nil, errors.New("the URL of an rpm repository needs --release, one of rpm packages")
		}
		return []archive.Options{st.options(place, given, "rpm")}, nil
	}
	dirs, err := repomd.Repositories(os.DirFS(place))
	if err != nil {
		return nil, err
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("%s has no repodata/repomd.xml", place)
	}
	var all []archive.Options
	for _, dir := range dirs {
		slug := given
		if first, _, _ := strings.Cut(dir, "/"); slug == "" {
			r, ok := release.Lookup(first)
			if !ok || !record.IsRPM(r) {
				return nil, fmt.Errorf("the repository in %s is of no known release: name it with --release", filepath.Join(place, dir))
			}
			slug = r.Slug
		}
		o := st.options(filepath.Join(place, filepath.FromSlash(dir)), slug, "rpm")
		o.Name = repositoryName(dir, filepath.Base(place), slug)
		all = append(all, o)
	}
	return all, nil
}

// only is the one release of a kind of repositories among those that were named, or "".
func (st *staging) only(has func(release.Release) bool, repositories string) (found string, err error) {
	for _, name := range st.Releases {
		r, ok := release.Lookup(name)
		switch {
		case !ok:
			return "", fmt.Errorf("release %q is not known", name)
		case has(r) && found != "":
			return "", fmt.Errorf("%s of one call are of one release: call once for each, with --base", repositories)
		case has(r):
			found = r.Slug
		}
	}
	return found, nil
}
