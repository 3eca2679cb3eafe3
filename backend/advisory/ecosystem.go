package advisory

import (
	"cmp"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/sliced"
)

// distribution is how an ecosystem names packages, versions and releases.
type distribution struct {
	kind pkgversion.Kind
	// source is true where advisories name source packages.
	source bool
	// places are the releases that the rest of an ecosystem's name means: none
	// where it is a product that svc does not scan.
	places func(rest string) []place
}

// place is a release, and a line of updates within it: a service pack of SUSE,
// pro or fips of Ubuntu, or "" for everybody's.
type place struct{ release, line string }

// The lines of Ubuntu.
const (
	linePro  = "pro"
	lineFIPS = "fips"
)

// distributions are the ecosystems of the OSV schema that are systems svc
// knows, and Amazon's by the names that converters give it.
var distributions = map[string]distribution{
	"Debian":       {pkgversion.Deb, true, numbered("debian")},
	"Ubuntu":       {pkgversion.Deb, true, ubuntuPlaces},
	"AlmaLinux":    {pkgversion.RPM, false, numbered("almalinux")},
	"Rocky Linux":  {pkgversion.RPM, false, numbered("rocky")},
	"Red Hat":      {pkgversion.RPM, false, redHatPlaces},
	"SUSE":         {pkgversion.RPM, false, susePlaces},
	"openSUSE":     {pkgversion.RPM, false, openSUSEPlaces},
	"Amazon Linux": {pkgversion.RPM, false, numbered("amzn")},
	"Amazon":       {pkgversion.RPM, false, numbered("amzn")},
	"Alpine":       {pkgversion.Apk, true, numbered("alpine")},
}

// ecosystem takes an ecosystem's name apart: "Debian:12",
// "Ubuntu:Pro:18.04:LTS", "Red Hat:enterprise_linux:8::baseos".
func ecosystem(name string) (d distribution, places []place, known bool) {
	name, rest, _ := strings.Cut(name, ":")
	d, known = distributions[name]
	if known {
		places = d.places(rest)
	}
	return d, places, known
}

// numberOf is how releases are numbered: 12, v3.20, 2023.
var numberOf = lazyregexp.New(`^v?([0-9]{1,4}(?:\.[0-9]{1,4}){0,2})$`)

// numbered is a distribution whose ecosystem ends in a version. Without one it
// is every release.
func numbered(id string) func(string) []place {
	return func(rest string) []place {
		m := numberOf.FindStringSubmatch(rest)
		switch {
		case m != nil:
			return []place{{release: release.Slug(id, m[1])}}
		case rest != "":
			return nil
		}
		return sliced.FilterMap(release.All(), func(r release.Release) (place, bool) { return place{release: r.Slug}, r.ID == id })
	}
}

var ubuntuVersion = lazyregexp.New(`(?:^|:)([0-9]{2}\.[0-9]{2})(?:$|:)`)

func ubuntuPlaces(rest string) []place {
	m := ubuntuVersion.FindStringSubmatch(rest)
	switch {
	case rest == "":
		return numbered("ubuntu")("")
	case m == nil:
		return nil
	case strings.Contains(rest, "FIPS"):
		return []place{{release.Slug("ubuntu", m[1]), lineFIPS}}
	case strings.HasPrefix(rest, "Pro"):
		return []place{{release.Slug("ubuntu", m[1]), linePro}}
	}
	return []place{{release: release.Slug("ubuntu", m[1])}}
}

var redHatVersion = lazyregexp.New(`^enterprise_linux:([0-9]+)(?:\.[0-9]+)?(?:$|:)`)

// redHatPlaces are the mainline releases; extended support and layered products
// are other products. CentOS up to 8 was rebuilt from the same sources.
func redHatPlaces(rest string) []place {
	m := redHatVersion.FindStringSubmatch(rest)
	if m == nil {
		return nil
	}
	places := []place{{release: release.Slug("rhel", m[1])}}
	if len(m[1]) == 1 && m[1] <= "8" {
		places = append(places, place{release: release.Slug("centos", m[1])})
	}
	return places
}

var suseVersion = lazyregexp.New(`^Linux Enterprise .* ([0-9]{2})(?: SP([0-9]{1,2})|\.([0-9]{1,2}))?(?:-|$)`)

// susePlaces are the service packs. Base packages are those of modules, and so
// are products beside the server: what a machine has of them is of its service
// pack. Micro is a system of its own.
func susePlaces(rest string) []place {
	m := suseVersion.FindStringSubmatch(rest)
	if m == nil || strings.HasPrefix(rest, "Linux Enterprise Micro") {
		return nil
	}
	return []place{{release.Slug("sles", m[1]), cmp.Or(m[2], m[3], "0")}}
}

var leapVersion = lazyregexp.New(`^Leap ([0-9]{2}\.[0-9])(?: NonFree)?$`)

func openSUSEPlaces(rest string) []place {
	if m := leapVersion.FindStringSubmatch(rest); m != nil {
		return []place{{release: release.Slug("opensuse-leap", m[1])}}
	}
	if rest == "Tumbleweed" {
		return []place{{release: "opensuse-tumbleweed"}}
	}
	return nil
}

// where is the place of a release as a caller names it: sles-15.5 is service
// pack 5 of sles-15.
func where(name string) place {
	name = strings.ToLower(name)
	id, version := release.Split(name)
	p := place{release: release.Slug(id, version)}
	if r, ok := release.Lookup(name); ok {
		p.release = r.Slug
	}
	if _, minor, ok := strings.Cut(version, "."); ok && id == "sles" {
		p.line = minor
	}
	return p
}

// exported are the ecosystems, as OSV's public exports are called, by the ids of
// the systems that have advisories in them.
var exported = map[string]string{
	"debian": "Debian", "ubuntu": "Ubuntu", "almalinux": "AlmaLinux", "rocky": "Rocky Linux", "rhel": "Red Hat", "centos": "Red Hat",
	"sles": "SUSE", "opensuse-leap": "openSUSE", "opensuse-tumbleweed": "openSUSE", "alpine": "Alpine",
}

// Exports are the ecosystems of OSV's public exports that have advisories of some of
// the releases, each once, and the releases of which none has.
func Exports(releases []string) (ecosystems, without []string) {
	for _, name := range releases {
		id, version := release.Split(where(name).release)
		ecosystem := exported[id]
		rebuilt := len(version) == 1 && version <= "8" // Red Hat's advisories hold for these of CentOS
		if ecosystem == "" || id == "centos" && !rebuilt {
			without = append(without, name)
		} else if !slices.Contains(ecosystems, ecosystem) {
			ecosystems = append(ecosystems, ecosystem)
		}
	}
	return ecosystems, without
}
