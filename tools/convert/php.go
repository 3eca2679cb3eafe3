package convert

import (
	"slices"
	"strings"

	"svc/backend/api/lazyregexp"
)

// phpPackage is a package of Debian that carries PHP's version in its name.
var phpPackage = lazyregexp.New(`^(?:libapache2-mod-)?php([0-9]+\.[0-9]+)(?:-|$)`)

// phpVersion is the version of PHP that the target gets, such as 8.4, or empty.
func phpVersion(in Input) string {
	versions := []string{}
	for name, version := range in.Brought {
		if m := phpPackage.FindStringSubmatch(name); m != nil {
			versions = append(versions, m[1])
		}
		if _, after, ok := strings.Cut(version, ":"); ok && strings.HasPrefix(name, "php") && majorMinor.MatchString(after) {
			versions = append(versions, majorMinor.FindString(after))
		}
	}
	if len(versions) == 0 {
		return ""
	}
	return slices.Max(versions)
}

var majorMinor = lazyregexp.New(`^[0-9]+\.[0-9]+`)

// phpPlaces are where the families keep the sockets of PHP.
func phpPlaces(in Input) places {
	to := "/run/php/php" + phpVersion(in) + "-fpm"
	return places{
		{"/var/run/php-fpm/php-fpm.pid", to + ".pid"},
		{"/run/php-fpm/php-fpm.pid", to + ".pid"},
		{"/var/run/php-fpm/www.sock", to + ".sock"},
		{"/run/php-fpm/www.sock", to + ".sock"},
		{"/var/run/php-fpm", "/run/php"},
		{"/run/php-fpm", "/run/php"},
	}
}
