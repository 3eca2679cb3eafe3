package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"svc/backend/index/apkindex"
	"svc/backend/index/archive"
	"svc/backend/index/record"
	"svc/backend/release"
)

// x86Folder is where a repository has the list of the architecture that the index is made of.
const x86Folder = "x86_64"

// apks reads the repositories of Alpine.
func (st *staging) apks(ctx context.Context) (all []listImport, err error) {
	if len(st.Lists[release.APK]) > 0 && st.keyring != nil {
		return nil, errors.New("lists of Alpine are signed by RSA keys, which are not checked: build them in a call of their own, without --keyring, from https or a folder that apk has checked")
	}
	for _, from := range st.Lists[release.APK] {
		found, err := st.apkLists(ctx, from)
		if err != nil {
			return nil, err
		}
		for _, l := range found {
			i := slices.IndexFunc(all, func(r listImport) bool { return r.slug == l.slug })
			if i < 0 {
				i, all = len(all), append(all, listImport{l.slug, map[string]record.Record{}})
			}
			if err := all[i].readAPK(l.path, l.repository); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// apkList is the list of a repository, on this machine.
type apkList struct{ path, slug, repository string }

// apkLists are those of a place: a URL is one repository, a folder has any number.
func (st *staging) apkLists(ctx context.Context, from string) ([]apkList, error) {
	given, err := st.only(isAlpine, "the repositories of Alpine")
	if err != nil {
		return nil, err
	}
	if archive.IsURL(from) {
		if given == "" {
			return nil, errors.New("the URL of a repository of Alpine needs --release, one of Alpine")
		}
		o := st.options(from, given, "apk")
		file, err := o.Fetch(ctx, x86Folder+"/"+apkindex.File, "")
		return []apkList{{file, given, path.Base(strings.TrimSuffix(from, "/"))}}, err
	}
	var all []apkList
	err = fs.WalkDir(os.DirFS(from), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.Name() != apkindex.File {
			return err
		}
		folder := path.Dir(name)
		slug := given
		for element := range strings.SplitSeq(folder, "/") { // mirrors call them v3.22
			if r, ok := release.Lookup("alpine-" + strings.TrimPrefix(strings.TrimPrefix(element, "alpine-"), "v")); ok && given == "" {
				slug = r.Slug
			}
		}
		if slug == "" {
			return fmt.Errorf("%s is of no known release: name it with --release", filepath.Join(from, name))
		}
		all = append(all, apkList{filepath.Join(from, filepath.FromSlash(name)), slug, path.Base(path.Dir(folder))})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for %s: %w", apkindex.File, err)
	}
	isX86 := func(l apkList) bool { return filepath.Base(filepath.Dir(l.path)) == x86Folder }
	if slices.ContainsFunc(all, isX86) {
		all = slices.DeleteFunc(all, func(l apkList) bool { return !isX86(l) })
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no %s", from, apkindex.File)
	}
	return all, nil
}

// isAlpine reports whether a release is one of Alpine.
func isAlpine(r release.Release) bool { return r.Family.Conventions().Format == release.APK }

// read adds the packages of a list; the first that has a name counts.
func (l *listImport) readAPK(file, repository string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("reading list: %w", err)
	}
	defer f.Close()
	packages, err := apkindex.Read(f)
	if err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	for _, p := range packages {
		if _, twice := l.packages[p.Name]; !twice {
			l.packages[p.Name] = record.Record{Name: p.Name, Version: p.Version, Component: repository}
		}
	}
	return nil
}
