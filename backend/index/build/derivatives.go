package build

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
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
func readDerivativePackages(r *reader, patterns map[string]string) map[string]derivativePackage {
	found := map[string]derivativePackage{}
	for _, c := range r.rows("kin_versions.tsv", 3) {
		for pattern := range strings.FieldsSeq(c[0]) {
			r.refuse(addVersions(found, pattern, cmp.Or(patterns[pattern], pattern), c[1]))
		}
	}
	for _, c := range r.rows("kin_packages.tsv", 5) {
		found[c[0]] = derivativePackage{cmp.Or(c[1], rpm.Slug(c[0])), c[2], strings.Join(releasesOf(r, "kin_packages.tsv", c[3]), " ")}
	}
	return found
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
func releasesOf(r *reader, file, column string) (slugs []string) {
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
			r.refuse(fmt.Errorf("%s: release %q is not known", file, name))
		}
	}
	return slugs
}

// putDerivativePackages stores the rows, and by canonicals which package they name: of
// several the first, and what is a package too names itself.
func putDerivativePackages(w *table.Writer, all map[string]derivativePackage) {
	values := map[string]string{}
	for name, p := range all {
		values[name] = strings.Join([]string{p.canonical, p.major, p.releases}, "\t")
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		setNew(values, all[name].canonical, name)
	}
	w.PutAll(record.DerivativePackages, values)
}

func setNew(m map[string]string, key, value string) {
	if _, ok := m[key]; !ok {
		m[key] = value
	}
}

// derivations reads derived.tsv.
func derivations(r *reader) map[string]string {
	values := map[string]string{}
	for _, c := range r.rows("derived.tsv", 5) {
		values[c[0]] = strings.Join(c[1:4], "\t")
		r.refuse(errors.Join(known(c[0]), known(c[1]), known(c[2])))
	}
	return values
}

// ownNames reads ubuntu_names.tsv: release/package of Debian → own name.
func ownNames(r *reader) map[string]string {
	values := map[string]string{}
	for _, c := range r.rows("ubuntu_names.tsv", 4) {
		for _, slug := range releasesOf(r, "ubuntu_names.tsv", c[1]) {
			values[slug+"/"+c[0]] = c[2]
		}
	}
	return values
}

// debianRPMs reads debian_rpm.tsv.
func debianRPMs(r *reader) map[string]string {
	values := map[string]string{}
	for _, c := range r.singles("debian_rpm.tsv", 5) {
		gone := c[2] == "" && c[3] == ""
		suse, _, own := strings.Cut(c[3], ": ")
		if relation := api.Relation(c[1]); !record.IsRelation(c[1]) || gone && relation != api.RelationRemoved || own && !record.IsRelation(suse) {
			r.refuse(fmt.Errorf("debian_rpm.tsv: the row of %q is %s %v", c[0], c[1], c[2:4]))
		}
		values[c[0]] = strings.Join(c[1:4], "\t")
	}
	return values
}
