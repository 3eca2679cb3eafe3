package web

import (
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/tools/convert"
)

// phpAPIs are the SAPIs of PHP with the package of Debian that brings each.
var phpAPIs = []struct{ name, prefix, suffix string }{
	{"apache2", "libapache2-mod-php", ""}, {"cli", "php", "-cli"}, {"fpm", "php", "-fpm"},
}

// phpBrought are the SAPIs that the target gets; the command line's comes with
// each of them.
func phpBrought(in convert.Input, version string) []string {
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

// PHP carries php.ini and the files beside it over to the version and the
// SAPIs of the target: settings that PHP has no more become comments.
func PHP(in convert.Input) (r convert.Result) {
	version := PHPVersion(in)
	s := convert.Settings{Program: "php", Comment: ";", Equals: true, Places: SettingPlaces(in), Target: in.Target}
	s.Own = func(p *convert.Page, i int, name, _ string) bool {
		switch {
		case strings.HasPrefix(name, "["), strings.HasPrefix(name, "#"):
			return true
		case name == "extension", name == "zend_extension", name == "extension_dir":
			p.Drop(i, phpEnabled(in))
			return true
		}
		return false
	}
	if convert.ToRPM(in) {
		return phpIniRPM(in, s)
	}
	for _, f := range in.Files {
		p := s.Convert(f)
		if phpVersioned.MatchString(f.Path) {
			r.Close(p, phpVersioned.ReplaceAllString(f.Path, "/etc/php/"+version+"/"))
			continue
		}
		file := "/php.ini"
		if path.Dir(f.Path) != "/etc" {
			file = "/conf.d/90-" + path.Base(f.Path)
		}
		to := sliced.Map(phpBrought(in, version), func(api string) string { return "/etc/php/" + version + "/" + api + file })
		r.Close(p, to...)
	}
	return r
}

func phpEnabled(in convert.Input) string {
	if convert.DebianFamily(in.Target) {
		return "Debian's packages enable their extensions themselves."
	}
	return convert.Whose(in.Target) + " packages enable their extensions themselves."
}

// phpIniRPM carries settings over to the one php.ini that the rpm families have.
func phpIniRPM(in convert.Input, s convert.Settings) (r convert.Result) {
	s.Places = nil
	whose := slices.IndexFunc(phpOrder, func(api string) bool {
		return slices.ContainsFunc(in.Files, func(f convert.File) bool { return path.Base(path.Dir(f.Path)) == api })
	})
	for _, f := range in.Files {
		p := s.Convert(f)
		if !phpVersioned.MatchString(f.Path) {
			p.MoveAll(phpHomes.Of(in).Move, convert.Elsewhere(in))
			r.Close(p, phpInis(in, f.Path)...)
			continue
		}
		if path.Base(path.Dir(f.Path)) != phpOrder[max(whose, 0)] {
			p.Refuse(0, "The target has one php.ini for all: that of "+phpOrder[max(whose, 0)]+" goes there.")
		}
		p.MoveAll(func(line string) string { return phpHomes.Of(in).Move(PHPBack(line)) }, convert.Elsewhere(in))
		r.Close(p, phpInis(in, "/etc/php.ini")...)
	}
	return r
}

// phpOrder are the SAPIs of Debian whose php.ini the rpm families' becomes, the
// first that a person wrote in.
var phpOrder = []string{"fpm", "apache2", "cgi", "cli"}

// SettingPlaces are where the families keep what PHP's settings name.
func SettingPlaces(in convert.Input) convert.Places {
	version := PHPVersion(in)
	return slices.Concat(PHPPlaces(in), convert.Places{
		{"/etc/php-fpm.d", "/etc/php/" + version + "/fpm/pool.d"},
		{"/etc/php.d", "/etc/php/" + version + "/fpm/conf.d"},
		{"/var/lib/php/session", "/var/lib/php/sessions"},
		{"/var/lib/php/wsdlcache", "/tmp"},
		{"/var/log/php-fpm/error.log", "/var/log/php" + version + "-fpm.log"},
		{"/usr/sbin/sendmail", "/usr/sbin/sendmail"},
		{"/usr/share/pear", "/usr/share/php"},
		{"/var/lib/mysql/mysql.sock", "/run/mysqld/mysqld.sock"},
		{"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt"},
	})
}

// phpAccount are the settings of a pool that name an account.
var phpAccount = lazyregexp.New(`^(user|group|listen\.(owner|group|acl_users|acl_groups))$`)

// PHPPool carries pools of FPM over: account, socket and logs have other names.
func PHPPool(in convert.Input) (r convert.Result) {
	version := PHPVersion(in)
	s := convert.Settings{Comment: ";", Equals: true, Places: SettingPlaces(in)}
	s.Own = func(p *convert.Page, i int, name, value string) bool {
		if strings.HasPrefix(name, "[") || strings.HasPrefix(name, "#") {
			return true
		}
		now := phpAccounts(in, name, value)
		if _, why := in.WebAccount(); phpAccount.MatchString(name) && now != value {
			p.Replace(i, name+" = "+now, why)
			return true
		}
		return false
	}
	if convert.ToRPM(in) {
		return phpPoolRPM(in, s)
	}
	old := lazyregexp.New(`([/-]|php)[0-9]+\.[0-9]+(/|-fpm)`)
	for _, f := range in.Files {
		p := s.Convert(f)
		to := phpVersioned.ReplaceAllString(f.Path, "/etc/php/"+version+"/")
		switch {
		case to != f.Path:
			p.MoveAll(func(line string) string {
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
		r.Close(p, to)
	}
	return r
}

// phpAccounts are the accounts of a list as the target has them.
func phpAccounts(in convert.Input, name, value string) string {
	web := in.Target.Family.Conventions().Web
	now := web.Account
	if strings.Contains(name, "group") {
		now = web.Group
	}
	var target string
	switch {
	case convert.FromDebian(in):
		target = strings.ReplaceAll(value, "www-data", now)
	case convert.WithinRPM(in):
		target = rpmWebAccount.ReplaceAllString(value, now)
	default:
		target = webAccount.ReplaceAllString(value, "www-data")
	}
	if target == value {
		return value
	}
	return once(target)
}

// once is a list of accounts in which each stands once: FPM does not start where its
// socket is to be opened to one twice ("failed to write the ACL of the socket").
func once(list string) string {
	var names []string
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// phpPoolRPM carries pools to the rpm families.
func phpPoolRPM(in convert.Input, s convert.Settings) (r convert.Result) {
	s.Places = nil
	for _, f := range in.Files {
		p := s.Convert(f)
		to := f.Path
		switch {
		case path.Base(f.Path) == "php-fpm.conf":
			to = "/etc/php-fpm.conf"
		case convert.FromDebian(in):
			to = "/etc/php-fpm.d/" + path.Base(f.Path)
		}
		move := phpHomes.Of(in).Move
		if convert.FromDebian(in) {
			move = func(line string) string { return phpHomes.Of(in).Move(PHPBack(line)) }
		}
		p.MoveAll(move, convert.Elsewhere(in))
		r.Close(p, phpFiles.Of(in).Move(to))
	}
	return r
}

// rpmWebAccount is what the rpm families call the account of web servers, and webAccount
// the accounts that Debian has that one for.
var (
	rpmWebAccount = lazyregexp.New(`\bapache\b`)
	webAccount    = lazyregexp.New(`\b(apache|nginx|nobody)\b`)
)
