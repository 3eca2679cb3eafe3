// Package release names operating-system releases: one slug for each, the
// aliases people use, and when its vendor's support ends.
package release

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Release is one operating-system release. Dates are YYYY-MM-DD, or empty
// where they are not known.
type Release struct {
	Slug      string
	Name      string
	Family    Family
	ID        string // os-release ID
	Version   string
	Aliases   []string
	Released  string
	EndOfLife string // of the vendor's free support for everybody
}

// All lists every known release in the order of distribution and version.
func All() []Release { return slices.Clone(table) }

// Lookup finds a release by slug or alias; minors of folded distributions count
// as their major.
func Lookup(name string) (Release, bool) {
	r, ok := byName[fold(strings.ToLower(name))]
	return r, ok
}

// Slug makes the slug of an os-release ID and VERSION_ID. It is a slug even
// where the release is not known: the index then says so.
func Slug(id, version string) string {
	return fold(strings.ToLower(id) + "-" + strings.ToLower(version))
}

// fold cuts the minor of the distributions that fold it.
func fold(slug string) string {
	i := strings.LastIndexByte(slug, '-')
	if i < 0 || folded[slug[:i]] == 0 {
		return slug
	}
	numbers := strings.Split(slug[i+1:], ".")
	return slug[:i+1] + strings.Join(numbers[:min(folded[slug[:i]], len(numbers))], ".")
}

// Split is the distribution and the version of a slug: what usage events carry.
func Split(slug string) (distro, version string) {
	i := strings.LastIndexByte(slug, '-')
	if i < 0 {
		return slug, ""
	}
	return slug[:i], slug[i+1:]
}

// Supported reports whether the vendor's free support lasts on the day; known
// is false where no end is on record.
func (r Release) Supported(day time.Time) (supported, known bool) {
	if r.EndOfLife == "" {
		return false, false
	}
	return day.UTC().Format(time.DateOnly) <= r.EndOfLife, true
}

// Older reports whether r is an earlier release of the same distribution than s.
func (r Release) Older(s Release) bool {
	return r.ID == s.ID && compareVersion(r.Version, s.Version) < 0
}

// compareVersion orders dotted numbers.
func compareVersion(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	})
}

// Instead says which of the known slugs a name may mean: up to n of its distribution or
// of the one that it misspells; where it resembles none, whose releases are known.
func Instead(name string, n int, known []string) string {
	near := slices.DeleteFunc(Suggest(name, len(table)), func(slug string) bool { return !slices.Contains(known, slug) })
	if len(near) > 0 {
		return "the nearest are " + strings.Join(near[:min(n, len(near))], ", ")
	}
	var distros []string
	for _, slug := range known {
		distro, _ := Split(slug)
		distros = append(distros, distro)
	}
	slices.Sort(distros)
	return "svc moves machines between releases of " + strings.Join(slices.Compact(distros), ", ")
}

var byName = index(table)

func index(releases []Release) map[string]Release {
	m := map[string]Release{}
	for _, r := range releases {
		for _, name := range append([]string{r.Slug}, r.Aliases...) {
			if _, twice := m[name]; twice {
				panic(fmt.Sprintf("release %q is in the table twice", name))
			}
			m[name] = r
		}
	}
	return m
}

// debians are the releases of Debian by whose packages those of Ubuntu are made: what Debian
// has half a year before each. 20.04 is nearer to Debian 11, which came out after it, than to 10.
var debians = map[string]string{"16.04": "8", "18.04": "9", "20.04": "11", "22.04": "11", "24.04": "12", "26.04": "13"}

// Debian is the version of Debian whose changes a release of Debian's line has had: its own,
// and for Ubuntu that of the last one which is no newer; empty for others.
func (r Release) Debian() string {
	switch r.Family {
	case Debian:
		return r.Version
	case Ubuntu:
		return debians[r.Version]
	}
	return ""
}
