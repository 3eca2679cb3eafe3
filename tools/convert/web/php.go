package web

import (
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// phpPackage is a package of Debian that carries PHP's version in its name.
var phpPackage = lazyregexp.New(`^(?:libapache2-mod-)?php([0-9]+\.[0-9]+)(?:-|$)`)

// phpOfRPM is a package of PHP in the rpm families and on SUSE.
var phpOfRPM = lazyregexp.New(`^php8?-`)

// PHPVersion is the version of PHP that the target gets, such as 8.4, or empty.
func PHPVersion(in convert.Input) string {
	if !convert.DebianFamily(in.Target) {
		for name := range in.Brought {
			if phpOfRPM.MatchString(name) {
				return convert.VersionOn("php", in.Target)
			}
		}
		return ""
	}
	versions := []string{}
	for name, version := range in.Brought {
		if m := phpPackage.FindStringSubmatch(name); m != nil {
			versions = append(versions, m[1])
		}
		if _, after, ok := strings.Cut(version, ":"); ok && strings.HasPrefix(name, "php") && convert.MajorMinor.MatchString(after) {
			versions = append(versions, convert.MajorMinor.FindString(after))
		}
	}
	if len(versions) == 0 {
		return ""
	}
	return slices.Max(versions)
}

// PHPBack is a text with the rpm families' names of what Debian has of PHP.
func PHPBack(text string) string {
	for _, p := range convert.RewordingsOf("php-from-debian") {
		text = p.Line.ReplaceAllString(text, p.Now)
	}
	return text
}

// FPMPackage is the package of the rpm families or SUSE that has FPM.
func FPMPackage(in convert.Input) string {
	if convert.ToSUSE(in) {
		return "php8-fpm"
	}
	return "php-fpm"
}

// phpHomes are where SUSE keeps what PHP's settings name, and phpFiles the settings
// themselves.
var (
	phpHomes = convert.HomesOf("php")
	phpFiles = convert.HomesOf("php-files")
)

// phpInis are where a file of settings goes that the rpm families have once: SUSE has a
// php.ini for each SAPI.
func phpInis(in convert.Input, file string) (all []string) {
	if !convert.ToSUSE(in) || file != "/etc/php.ini" {
		return []string{phpFiles.Of(in).Move(file)}
	}
	for _, api := range [][2]string{{"php8-fpm", "fpm"}, {"apache2-mod_php8", "apache2"}, {"", "cli"}} {
		if _, brought := in.Brought[api[0]]; brought || api[0] == "" {
			all = append(all, "/etc/php8/"+api[1]+"/php.ini")
		}
	}
	return all
}

// PHPPlaces are where the families keep the sockets of PHP.
func PHPPlaces(in convert.Input) convert.Places {
	to := "/run/php/php" + PHPVersion(in) + "-fpm"
	return convert.Places{
		{"/var/run/php-fpm/php-fpm.pid", to + ".pid"},
		{"/run/php-fpm/php-fpm.pid", to + ".pid"},
		{"/var/run/php-fpm/www.sock", to + ".sock"},
		{"/run/php-fpm/www.sock", to + ".sock"},
		{"/var/run/php-fpm", "/run/php"},
		{"/run/php-fpm", "/run/php"},
	}
}
