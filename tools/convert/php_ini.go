package convert

import (
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
)

// phpAPIs are the SAPIs of PHP with the package of Debian that brings each.
var phpAPIs = []struct{ name, prefix, suffix string }{
	{"apache2", "libapache2-mod-php", ""}, {"cli", "php", "-cli"}, {"fpm", "php", "-fpm"},
}

// phpBrought are the SAPIs that the target gets; the command line's comes with
// each of them.
func phpBrought(in Input, version string) []string {
	found := []string{}
	for _, api := range phpAPIs {
		_, versioned := in.Brought[api.prefix+version+api.suffix]
		_, general := in.Brought[api.prefix+api.suffix]
		if versioned || general || api.name == "cli" {
			found = append(found, api.name)
		}
	}
	return found
}

// phpVersioned is a path of Debian with PHP's version in it.
var phpVersioned = lazyregexp.New(`^/etc/php/[0-9.]+/`)

// phpIni carries php.ini and the files beside it over to the version and the
// SAPIs of the target: settings that PHP has no more become comments.
func phpIni(in Input) (r Result) {
	version := phpVersion(in)
	s := settings{program: "php", comment: ";", equals: true, places: phpSettingPlaces(in, version), target: in.Target}
	s.own = func(p *page, i int, name, _ string) bool {
		switch {
		case strings.HasPrefix(name, "["), strings.HasPrefix(name, "#"):
			return true
		case name == "extension", name == "zend_extension", name == "extension_dir":
			p.drop(i, phpEnabled(in))
			return true
		}
		return false
	}
	if toRPM(in) {
		return phpIniRPM(in, s)
	}
	for _, f := range in.Files {
		p := s.convert(f)
		if phpVersioned.MatchString(f.Path) {
			r.close(p, phpVersioned.ReplaceAllString(f.Path, "/etc/php/"+version+"/"))
			continue
		}
		for _, api := range phpBrought(in, version) {
			to := "/etc/php/" + version + "/" + api + "/php.ini"
			if path.Dir(f.Path) != "/etc" {
				to = "/etc/php/" + version + "/" + api + "/conf.d/90-" + path.Base(f.Path)
			}
			r.close(p, to)
			p.changes, p.refused = nil, nil // they are told once
		}
	}
	return r
}

func phpEnabled(in Input) string {
	if debianFamily(in.Target) {
		return "Debian's packages enable their extensions themselves."
	}
	return "The target's packages enable their extensions themselves."
}

// phpIniRPM carries settings over to the one php.ini that the rpm families have.
func phpIniRPM(in Input, s settings) (r Result) {
	s.places = nil
	whose := slices.IndexFunc(phpOrder, func(api string) bool {
		return slices.ContainsFunc(in.Files, func(f File) bool { return path.Base(path.Dir(f.Path)) == api })
	})
	for _, f := range in.Files {
		p := s.convert(f)
		if !phpVersioned.MatchString(f.Path) {
			r.close(p, f.Path)
			continue
		}
		if path.Base(path.Dir(f.Path)) != phpOrder[max(whose, 0)] {
			p.refuse(0, "The target has one php.ini for all: that of "+phpOrder[max(whose, 0)]+" goes there.")
		}
		p.moveAll(phpBack, elsewhere(in))
		r.close(p, "/etc/php.ini")
	}
	return r
}

// phpOrder are the SAPIs of Debian whose php.ini the rpm families' becomes, the
// first that a person wrote in.
var phpOrder = []string{"fpm", "apache2", "cgi", "cli"}

// moveAll rewrites every line that says something.
func (p *page) moveAll(move func(string) string, why string) {
	for i, line := range p.active() {
		p.replace(i, move(line), why)
	}
}

// phpSettingPlaces are where the families keep what PHP's settings name.
func phpSettingPlaces(in Input, version string) places {
	return slices.Concat(phpPlaces(in), places{
		{"/etc/php-fpm.d", "/etc/php/" + version + "/fpm/pool.d"},
		{"/etc/php.d", "/etc/php/" + version + "/fpm/conf.d"},
		{"/var/lib/php/session", "/var/lib/php/sessions"},
		{"/var/lib/php/wsdlcache", "/tmp"},
		{"/var/log/php-fpm/error.log", "/var/log/php" + version + "-fpm.log"},
		{"/var/log/php-fpm", "/var/log"},
		{"/usr/sbin/sendmail", "/usr/sbin/sendmail"},
		{"/usr/share/pear", "/usr/share/php"},
		{"/var/lib/mysql/mysql.sock", "/run/mysqld/mysqld.sock"},
		{"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt"},
	})
}

// phpAccount are the settings of a pool that name an account.
var phpAccount = lazyregexp.New(`^(user|group|listen\.(owner|group|acl_users|acl_groups))$`)

// phpPool carries pools of FPM over: account, socket and logs have other names.
func phpPool(in Input) (r Result) {
	version := phpVersion(in)
	s := settings{comment: ";", equals: true, places: phpSettingPlaces(in, version)}
	s.own = func(p *page, i int, name, value string) bool {
		if strings.HasPrefix(name, "[") || strings.HasPrefix(name, "#") {
			return true
		}
		now := phpAccounts(in, value)
		if _, why := in.account(); phpAccount.MatchString(name) && now != value {
			p.replace(i, name+" = "+now, why)
			return true
		}
		return false
	}
	if toRPM(in) {
		return phpPoolRPM(in, s)
	}
	old := lazyregexp.New(`([/-]|php)[0-9]+\.[0-9]+(/|-fpm)`)
	for _, f := range in.Files {
		p := s.convert(f)
		to := phpVersioned.ReplaceAllString(f.Path, "/etc/php/"+version+"/")
		switch {
		case to != f.Path:
			p.moveAll(func(line string) string {
				if !strings.Contains(line, "php") {
					return line
				}
				return old.ReplaceAllString(line, "${1}"+version+"${2}")
			}, "The version is part of the name.")
		case f.Path == "/etc/php-fpm.conf":
			to = "/etc/php/" + version + "/fpm/php-fpm.conf"
		default:
			to = "/etc/php/" + version + "/fpm/pool.d/" + path.Base(f.Path)
		}
		r.close(p, to)
	}
	return r
}

// phpAccounts are the accounts of a list as the target has them.
func phpAccounts(in Input, value string) string {
	switch {
	case fromDebian(in):
		return strings.ReplaceAll(value, "www-data", "apache")
	case withinRPM(in):
		return value
	}
	return webAccount.ReplaceAllString(value, "www-data")
}

// phpPoolRPM carries pools to the rpm families.
func phpPoolRPM(in Input, s settings) (r Result) {
	s.places = nil
	for _, f := range in.Files {
		p := s.convert(f)
		to := f.Path
		switch {
		case path.Base(f.Path) == "php-fpm.conf":
			to = "/etc/php-fpm.conf"
		case fromDebian(in):
			to = "/etc/php-fpm.d/" + path.Base(f.Path)
		}
		if fromDebian(in) {
			p.moveAll(phpBack, elsewhere(in))
		}
		r.close(p, to)
	}
	return r
}

// webAccount is what the rpm families call the account of web servers.
var webAccount = lazyregexp.New(`\b(apache|nginx|nobody)\b`)
