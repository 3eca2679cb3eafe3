package release

import (
	"cmp"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/nearest"
)

// spoken is how people write a release: letters, and then numbers.
var spoken = lazyregexp.New(`^([a-z][a-z _.-]*?)[ _.-]*([0-9][0-9.]*)(?: lts)?$`)

// calls are what people call distributions, beside the IDs of their os-release.
var calls = map[string]string{
	"alma": "almalinux", "alma-linux": "almalinux", "rocky-linux": "rocky", "rockylinux": "rocky",
	"oracle": "ol", "oracle-linux": "ol", "oraclelinux": "ol", "redhat": "rhel", "red-hat": "rhel", "red-hat-enterprise-linux": "rhel",
	"centos-stream": "centos", "suse": "sles", "sle": "sles", "amazon": "amzn", "amazon-linux": "amzn", "amazonlinux": "amzn",
	"opensuse": "opensuse-leap", "leap": "opensuse-leap", "fedora-linux": "fedora", "debian-gnu-linux": "debian", "ubuntu-server": "ubuntu",
}

// Named is the release that a person or a model means: by its slug, an alias, or
// as in "Debian 13", "alma9" and "rhel 9.4".
func Named(name string) (Release, bool) {
	if r, ok := Lookup(name); ok {
		return r, true
	}
	distro, version, ok := parts(name)
	if !ok {
		return Release{}, false
	}
	return Lookup(distro + "-" + version)
}

// parts are the ID and the version that a name speaks of.
func parts(name string) (distro, version string, ok bool) {
	m := spoken.FindStringSubmatch(strings.ToLower(strings.TrimSpace(name)))
	if m == nil {
		return "", "", false
	}
	distro = strings.Join(strings.FieldsFunc(m[1], func(r rune) bool { return strings.ContainsRune(" _.-/", r) }), "-")
	return cmp.Or(calls[distro], distro), m[2], true
}

// Suggest gives up to n slugs of what a name that no release has may mean: those
// of its distribution, the newest first, and all of them where the name has no
// version; those of its version where it names a family; of another spelling of a
// distribution, the nearest; none where it resembles none.
func Suggest(name string, n int) []string {
	distro, version, ok := parts(name)
	if !ok {
		distro = strings.ToLower(strings.TrimSpace(name))
		distro, n = cmp.Or(calls[distro], distro), len(table)
	}
	if family, ok := families[distro]; ok {
		return slugsOf(func(r Release) bool { return r.Family == family && (version == "" || fold(r.ID+"-"+version) == r.Slug) })
	}
	meant, ok := nearest.Typo(distro, Distributions())
	if !ok {
		return nil
	}
	slugs := slugsOf(func(r Release) bool { return r.ID == meant })
	return slugs[:min(n, len(slugs))]
}

// families are what people call the distributions that rebuild one another's packages.
var families = map[string]Family{"el": EL, "enterprise-linux": EL, "epel": EL}

// slugsOf are the slugs of releases, the newest version first.
func slugsOf(wanted func(Release) bool) (slugs []string) {
	for _, r := range slices.Backward(table) {
		if wanted(r) {
			slugs = append(slugs, r.Slug)
		}
	}
	slices.SortStableFunc(slugs, func(a, b string) int {
		_, x := Split(a)
		_, y := Split(b)
		return compareVersion(y, x)
	})
	return slugs
}

// otherSystems are systems that people have machines of and that are no Linux.
var otherSystems = []string{"windows", "win", "macos", "mac-os", "darwin", "freebsd", "openbsd", "netbsd", "solaris", "illumos", "aix", "hp-ux", "hpux", "esxi"}

// NoLinux reports whether a name is that of a system that is no Linux.
func NoLinux(name string) bool {
	distro, _, ok := parts(name)
	if !ok {
		distro = strings.ToLower(strings.TrimSpace(name))
	}
	return slices.ContainsFunc(otherSystems, func(other string) bool {
		return distro == other || strings.HasPrefix(distro, other+"-")
	})
}

// Distributions are the IDs of all that are known, each once, in order.
func Distributions() []string {
	var ids []string
	for _, r := range table {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
