package pristine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"svc/backend/deb822"
	"svc/backend/index/archive"
	"svc/backend/index/deb"
	"svc/backend/index/repomd"
	"svc/backend/pkgversion"
)

// maxPackages bounds the packages of one place.
const maxPackages = 500_000

// errTooMany says that a place has more packages than any archive.
var errTooMany = fmt.Errorf("it has more than %d packages", maxPackages)

// add reads what one place has.
func (a *Archives) add(ctx context.Context, o Options, place string) error {
	_, err := os.Stat(filepath.Join(place, "dists"))
	switch {
	case !archive.IsURL(place) && (err != nil || a.kind != pkgversion.Deb):
		return a.folder(place)
	case a.kind == pkgversion.Deb:
		return a.apt(ctx, o, place)
	}
	return a.repository(ctx, o, place)
}

// folder takes the packages in a folder and below, by their names.
func (a *Archives) folder(dir string) error {
	found := 0
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, ok := named(a.kind, d.Name())
		if !ok {
			return nil
		}
		if found++; found > maxPackages {
			return errTooMany
		}
		b.path = func(context.Context) (string, error) { return file, nil }
		a.put(b)
		return nil
	})
	if err == nil && found == 0 {
		err = fmt.Errorf("the folder has no %s packages", a.kind)
	}
	return err
}

// named reads name, version and architecture off a file's name, as archives
// write it: name_version_arch.deb, name-version-release.arch.rpm.
func named(kind pkgversion.Kind, file string) (b build, ok bool) {
	stem, ok := strings.CutSuffix(file, "."+string(kind))
	if !ok {
		return b, false
	}
	if kind == pkgversion.Deb {
		f := strings.Split(stem, "_")
		if len(f) != 3 {
			return b, false
		}
		version, err := url.PathUnescape(f[1]) // apt writes an epoch's colon as %3a
		return build{name: f[0], version: version, arch: f[2]}, err == nil && f[0] != ""
	}
	dot := strings.LastIndexByte(stem, '.')
	if dot < 0 {
		return b, false
	}
	stem, b.arch = stem[:dot], stem[dot+1:]
	release := strings.LastIndexByte(stem, '-')
	if release < 0 {
		return b, false
	}
	version := strings.LastIndexByte(stem[:release], '-')
	if version <= 0 {
		return b, false
	}
	b.name, b.version = stem[:version], stem[version+1:]
	return b, true
}

// staged has listings brought into a folder for as long as they are read.
func staged(o Options, place string, read func(archive.Options) error) error {
	if err := os.MkdirAll(o.Cache, 0o755); err != nil {
		return err
	}
	into, err := os.MkdirTemp(o.Cache, ".listings-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(into)
	return read(archive.Options{From: place, Release: o.Release, Cache: o.Cache, Into: into, Progress: o.Progress, Log: o.Log, Name: "repository"})
}

// apt takes the packages that a signed suite lists.
func (a *Archives) apt(ctx context.Context, o Options, place string) error {
	return staged(o, place, func(from archive.Options) (err error) {
		if from.Keyring, err = keys(o, place); err != nil {
			return err
		}
		from.Listings = []string{"binary-" + a.arch + "/Packages"}
		if err := archive.Apt(ctx, from); err != nil {
			return err
		}
		root := os.DirFS(from.Into)
		listings, err := deb.Listings(root)
		for _, l := range listings {
			err = errors.Join(err, a.listing(ctx, root, l.Path, from))
		}
		return err
	})
}

// keys are those that must have signed an apt archive; a folder needs none.
func keys(o Options, place string) (archive.Keyring, error) {
	if len(o.Keyrings) == 0 && archive.IsURL(place) {
		return archive.SystemKeyring(o.Release)
	}
	return archive.ReadKeyrings(o.Keyrings)
}

// listing takes the packages of a Packages file.
func (a *Archives) listing(ctx context.Context, root fs.FS, name string, from archive.Options) error {
	f, err := deb.Open(ctx, root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := deb822.NewReader(f)
	for range maxPackages {
		p, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		a.listed(p.Get("Package"), p.Get("Version"), p.Get("Architecture"), p.Get("Filename"), p.Get("SHA256"), from)
	}
	return errTooMany
}

// listed takes a package of a listing; one without a digest, or outside of the
// archive, is passed over.
func (a *Archives) listed(name, version, arch, file, digest string, from archive.Options) {
	if digest == "" || !fs.ValidPath(file) {
		return
	}
	a.put(build{name, version, arch, func(ctx context.Context) (string, error) { return from.Fetch(ctx, file, digest) }})
}

// repository takes the packages of an rpm repository.
func (a *Archives) repository(ctx context.Context, o Options, place string) error {
	return staged(o, place, func(from archive.Options) error {
		from.Listings = []string{"primary"}
		if err := archive.RPM(ctx, from); err != nil {
			return err
		}
		root := os.DirFS(filepath.Join(from.Into, from.Release, from.Name))
		names, _ := fs.Glob(root, "repodata/*primary.xml*") // the pattern is right
		if len(names) == 0 {
			return errors.New("it has no primary.xml")
		}
		return a.primary(ctx, root, names[0], from)
	})
}

// primary takes the packages of a primary.xml.
func (a *Archives) primary(ctx context.Context, root fs.FS, name string, from archive.Options) error {
	f, err := deb.Open(ctx, root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	count := 0
	for p, err := range repomd.Packages(f) {
		if err != nil {
			return fmt.Errorf("reading %s: %w", path.Base(name), err)
		}
		if count++; count > maxPackages {
			return errTooMany
		}
		a.listed(p.Name, p.Version, p.Arch, p.Path, p.SHA256, from)
	}
	return nil
}
