package release

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/nearest"
	"svc/backend/sliced"
)

// spoken is how people write a release: letters, numbers, and what tells no release of
// svc apart, as in "Ubuntu 24.04 LTS", "CentOS 9 Stream" and "SLES 15 SP6".
var spoken = lazyregexp.New(`^([a-z][a-z _./-]*?)[ _.-]*([0-9][0-9.]*)(?:[ _.-]*(?:lts|stream|sp[ _.-]*[0-9]+))?$`)

// remark is the code name that systems add to their names: "Debian GNU/Linux 13 (trixie)".
var remark = lazyregexp.New(` *\([^()]*\)$`)

// Named is the release that a person or a model means: by its slug, an alias, or as in
// "Debian 13", "alma9" and "rhel 9.4". A point release is its release: "debian 13.1",
// "ubuntu 24.04.3".
func Named(name string) (Release, bool) {
	name = remark.ReplaceAllString(strings.ToLower(strings.TrimSpace(name)), "")
	if r, ok := Lookup(name); ok {
		return r, true
	}
	distro, version, ok := parts(name)
	if !ok {
		return codeNamed(distro)
	}
	for {
		if r, ok := Lookup(distro + "-" + version); ok {
			return r, true
		}
		i := strings.LastIndexByte(version, '.')
		if i < 0 {
			return Release{}, false
		}
		version = version[:i]
	}
}

// codeNamed is the release of a distribution and its code name: "ubuntu-noble".
func codeNamed(name string) (Release, bool) {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return Release{}, false
	}
	distro := name[:i]
	r, ok := Lookup(name[i+1:])
	return r, ok && r.ID == cmp.Or(calls[distro], distro)
}

// parts are the ID and the version that a name speaks of; without a version, all words
// of the name are the first.
func parts(name string) (distro, version string, ok bool) {
	name = remark.ReplaceAllString(strings.ToLower(strings.TrimSpace(name)), "")
	distro = name
	if m := spoken.FindStringSubmatch(name); m != nil {
		distro, version, ok = m[1], m[2], true
	}
	distro = strings.Join(strings.FieldsFunc(distro, func(r rune) bool { return strings.ContainsRune(" _./-", r) }), "-")
	return cmp.Or(calls[distro], distro), version, ok
}

// Suggest gives up to n slugs of what a name that no release has may mean: those
// of its distribution, the nearest to its version first, and all of them, the newest
// first, where the name has none; those of its version where it names a family; of
// another spelling of a distribution, the nearest; none where it resembles none.
func Suggest(name string, n int) []string {
	distro, version, ok := parts(name)
	if !ok {
		n = len(table)
	}
	if family, ok := families[distro]; ok {
		return slugsOf(func(r Release) bool { return r.Family == family && (version == "" || fold(r.ID+"-"+version) == r.Slug) })
	}
	if slices.Contains(otherLinuxes, distro) || NoLinux(name) {
		return nil
	}
	meant, ok := nearest.Typo(distro, Distributions())
	if first, _, more := strings.Cut(distro, "-"); !ok && more { // "debian-stable"
		meant = cmp.Or(calls[first], first)
		ok = slices.Contains(Distributions(), meant)
	}
	if !ok {
		return nil
	}
	slugs := slugsOf(func(r Release) bool { return r.ID == meant })
	if asked, err := strconv.ParseFloat(version, 64); err == nil {
		away := func(slug string) float64 {
			_, v := Split(slug)
			f, _ := strconv.ParseFloat(v, 64)
			return math.Abs(f - asked)
		}
		slices.SortStableFunc(slugs, func(a, b string) int { return cmp.Compare(away(a), away(b)) })
	}
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

// otherLinuxes are distributions that svc has no packages of, by the ID of their
// os-release and what people call them: none of them is a misspelling of another.
var otherLinuxes = []string{
	"arch", "archlinux", "arch-linux", "gentoo", "nixos", "void", "slackware", "mageia", "manjaro", "linuxmint", "linux-mint", "mint", "kali", "kali-linux",
	"devuan", "raspbian", "proxmox", "photon", "mariner", "azurelinux", "azure-linux", "flatcar", "wolfi", "clear-linux-os", "openwrt", "scientific", "scientific-linux", "opensuse-tumbleweed", "tumbleweed", "eurolinux", "openeuler", "virtuozzo", "cloudlinux",
}

// NoLinux reports whether a name is that of a system that is no Linux.
func NoLinux(name string) bool {
	distro, _, _ := parts(name)
	return slices.ContainsFunc(otherSystems, func(other string) bool {
		return distro == other || strings.HasPrefix(distro, other+"-")
	})
}

// Distributions are the IDs of all that are known, each once, in order.
func Distributions() []string {
	ids := sliced.Map(table, func(r Release) string { return r.ID })
	slices.Sort(ids)
	return slices.Compact(ids)
}
