package release

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"
)

func TestSlugFoldsMinors(t *testing.T) {
	for _, c := range []struct{ id, version, want string }{
		{"debian", "12", "debian-12"},
		{"ubuntu", "22.04", "ubuntu-22.04"},
		{"almalinux", "9.4", "almalinux-9"},
		{"centos", "7", "centos-7"},
		{"rhel", "8.10", "rhel-8"},
		{"sles", "15.5", "sles-15"},
		{"opensuse-leap", "15.6", "opensuse-leap-15.6"},
		{"amzn", "2023", "amzn-2023"},
		{"Fedora", "42", "fedora-42"},
	} {
		is.New(t).Equal(Slug(c.id, c.version), c.want)
	}
}

func TestLookupTakesSlugsAliasesAndMinors(t *testing.T) {
	is := is.New(t)
	for name, want := range map[string]string{
		"bookworm": "debian-12", "jammy": "ubuntu-22.04", "Rocky-9.3": "rocky-9", "debian-13": "debian-13", "al2023": "amzn-2023",
	} {
		r, ok := Lookup(name)
		is.True(ok)
		is.Equal(r.Slug, want)
	}
	_, ok := Lookup("plan9-4")
	is.True(!ok)
}

func TestTableIsSortedAndWellFormed(t *testing.T) {
	is := is.New(t)
	date := regexp.MustCompile(`^(|\d{4}-\d\d-\d\d)$`)
	for _, r := range All() {
		is.Equal(r.Slug, r.ID+"-"+r.Version)    // a slug is its ID and version
		is.Equal(Slug(r.ID, r.Version), r.Slug) // and folds to itself
		is.True(date.MatchString(r.Released))   // YYYY-MM-DD
		is.True(date.MatchString(r.EndOfLife))  // YYYY-MM-DD
		is.True(r.EndOfLife == "" || r.Released < r.EndOfLife)
	}
	is.True(slices.IsSortedFunc(All(), func(a, b Release) int {
		if a.ID != b.ID {
			return slices.Compare([]string{a.ID}, []string{b.ID})
		}
		return compareVersion(a.Version, b.Version)
	}))
}

func TestSupported(t *testing.T) {
	is := is.New(t)
	r, _ := Lookup("debian-10")
	last := time.Date(2024, 6, 30, 23, 59, 0, 0, time.UTC)
	supported, known := r.Supported(last)
	is.True(supported && known) // the last day counts
	supported, _ = r.Supported(last.Add(time.Hour))
	is.True(!supported)
	forky, _ := Lookup("forky")
	_, known = forky.Supported(last)
	is.True(!known)
}

func TestOlder(t *testing.T) {
	is := is.New(t)
	get := func(s string) Release { r, _ := Lookup(s); return r }
	is.True(get("debian-9").Older(get("debian-12")))
	is.True(!get("debian-12").Older(get("debian-12")))
	is.True(get("ubuntu-20.04").Older(get("ubuntu-22.04")))
	is.True(!get("centos-7").Older(get("debian-13"))) // another distribution
}

func TestInstead(t *testing.T) {
	is := is.New(t)
	known := []string{"almalinux-9", "debian-11", "debian-12", "ubuntu-22.04"}
	is.Equal(Instead("debain-12", 2, known), "the nearest are debian-12, debian-11")
	is.Equal(Instead("gentoo-2.15", 9, known), "svc moves machines between releases of almalinux, debian, ubuntu")
}

// TestDebianOf: every release of Debian's line counts as one of Debian, and no other does.
func TestDebianOf(t *testing.T) {
	for _, r := range All() {
		if r.Family == Debian || r.Family == Ubuntu {
			is.New(t).True(r.Debian() != "") // a new release of Ubuntu needs a row
		} else {
			is.New(t).Equal(r.Debian(), "")
		}
	}
	r, _ := Lookup("ubuntu-24.04")
	is.New(t).Equal(r.Debian(), "12")
}
