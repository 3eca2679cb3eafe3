package build

import (
	"cmp"
	"fmt"
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/index/table"
	"svc/backend/release"
)

// derivativePackage is a row of kin_packages.tsv, or a version of one of kin_versions.tsv.
type derivativePackage struct{ canonical, major, releases string }

// readDerivativePackages reads kin_packages.tsv and kin_versions.tsv; the canonicals of
// versioned names are those that other versions have.
func readDerivativePackages(dir layers, patterns map[string]string) (map[string]derivativePackage, error) {
	found := map[string]derivativePackage{}
	versioned, err := rows(dir, "kin_versions.tsv", 3)
	if err != nil {
		return nil, err
	}
	for _, c := range versioned {
		for pattern := range strings.FieldsSeq(c[0]) {
			canonical := cmp.Or(patterns[pattern], pattern)
			if err := addVersions(found, pattern, canonical, c[1]); err != nil {
				return nil, err
			}
		}
	}
	all, err := rows(dir, "kin_packages.tsv", 5)
	for _, c := range all {
		releases, err := releasesOf(c[3])
		if err != nil {
			return nil, fmt.Errorf("kin_packages.tsv: %w", err)
		}
		found[c[0]] = derivativePackage{cmp.Or(c[1], rpm.Slug(c[0])), c[2], strings.Join(releases, " ")}
	}
	return found, err
}

// addVersions adds a name in each of the versions that releases have side by
// side: release=version,version.
func addVersions(found map[string]derivativePackage, pattern, canonical, releases string) error {
	for text := range strings.FieldsSeq(releases) {
		slug, versions, _ := strings.Cut(text, "=")
		if _, ok := release.Lookup(slug); !ok || versions == "" {
			return fmt.Errorf("kin_versions.tsv: %q says no versions of a release", text)
		}
		for version := range strings.SplitSeq(versions, ",") {
			name := strings.Replace(pattern, "*", version, 1)
			found[name] = derivativePackage{strings.Replace(canonical, "*", version, 1), version, strings.TrimSpace(found[name].releases + " " + slug)}
		}
	}
	return nil
}

// releasesOf are the slugs of a column: releases, a distribution for all of its
// own, or a release with a plus for it and those after it.
func releasesOf(column string) ([]string, error) {
	var slugs []string
	for name := range strings.FieldsSeq(column) {
		first, since := release.Lookup(strings.TrimSuffix(name, "+"))
		n := len(slugs)
		for _, r := range release.All() {
			of := record.Distribution(r.Slug)
			if r.Slug == name || of == name || since && strings.HasSuffix(name, "+") && of == record.Distribution(first.Slug) && !r.Older(first) {
				slugs = append(slugs, r.Slug)
			}
		}
		if len(slugs) == n {
			return nil, fmt.Errorf("release %q is not known", name)
		}
	}
	return slugs, nil
}

// putDerivativePackages makes the rows of the table.
func putDerivativePackages(all map[string]derivativePackage) map[string]string {
	values := map[string]string{}
	for name, p := range all {
		values[name] = strings.Join([]string{p.canonical, p.major, p.releases}, "\t")
		if p.canonical != name {
			values[p.canonical] = name
		}
	}
	return values
}

// derivations reads derived.tsv.
func derivations(dir layers) (map[string]string, error) {
	all, err := rows(dir, "derived.tsv", 5)
	values := map[string]string{}
	for _, c := range all {
		values[c[0]] = strings.Join(c[1:4], "\t")
		for _, slug := range []string{c[0], c[1], c[2]} {
			if err := known(slug); err != nil {
				return nil, err
			}
		}
	}
	return values, err
}

// ownNames reads ubuntu_names.tsv: release/package of Debian → own name.
func ownNames(dir layers) (map[string]string, error) {
	all, err := rows(dir, "ubuntu_names.tsv", 4)
	values := map[string]string{}
	for _, c := range all {
		releases, err := releasesOf(c[1])
		if err != nil {
			return nil, fmt.Errorf("ubuntu_names.tsv: %w", err)
		}
		for _, slug := range releases {
			values[slug+"/"+c[0]] = c[2]
		}
	}
	return values, err
}

// debianRPMs reads debian_rpm.tsv.
func debianRPMs(dir layers) (map[string]string, error) {
	all, err := singles(dir, "debian_rpm.tsv", 5)
	values := map[string]string{}
	for _, c := range all {
		gone := c[2] == "" && c[3] == ""
		suse, _, own := strings.Cut(c[3], ": ")
		if relation := api.Relation(c[1]); !record.IsRelation(c[1]) || gone && relation != api.RelationRemoved || own && !record.IsRelation(suse) {
			return nil, fmt.Errorf("debian_rpm.tsv: the row of %q is %s %v", c[0], c[1], c[2:4])
		}
		values[c[0]] = strings.Join(c[1:4], "\t")
	}
	return values, err
}

// putDebianRows makes the table of debian_rpm.tsv.
func putDebianRows(w *table.Writer, dir layers) error {
	values, err := debianRPMs(dir)
	if err != nil {
		return err
	}
	return putAll(w, map[string]map[string]string{record.DebianRows: values})
}
