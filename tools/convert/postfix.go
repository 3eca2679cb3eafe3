package convert

import (
	"strings"

	"svc/backend/lazyregexp"
)

var postfixPlaces = places{
	{"/usr/libexec/postfix", "/usr/lib/postfix/sbin"},
	{"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt"},
	{"/etc/pki/tls/certs", "/etc/ssl/certs"},
	{"/etc/pki/tls/private", "/etc/ssl/private"},
	{"/var/run/dovecot", "/run/dovecot"},
}

// postfixMaps are kinds of tables that Debian has in packages of their own.
var postfixMaps = lazyregexp.New(`\b(mysql|pgsql|ldap|pcre|sqlite|cdb|lmdb|mongodb):`)

// postfix carries main.cf over: places that Debian compiles in become comments,
// and kinds of tables bring their packages. Parameters that Postfix does not
// know are those that a person defined for use in others.
func postfix(in Input) (r Result) {
	own := func(p *page, i int, name, value string) bool {
		if fromDebian(in) && name == "myorigin" && strings.TrimSpace(value) == "/etc/mailname" {
			p.refuse(i, "The target has no /etc/mailname: write the name itself.")
			return true
		}
		for _, m := range postfixMaps.FindAllStringSubmatch(value, -1) {
			r.Packages = append(r.Packages, "postfix-"+m[1])
		}
		if line := p.lines[i]; line[0] == ' ' || line[0] == '\t' {
			p.replace(i, postfixPlaces.between(in).move(strings.TrimSpace(line)), elsewhere(in))
			return true // it continues the parameter above
		}
		return false
	}
	s := settings{program: "postfix", comment: "#", equals: true, places: postfixPlaces, own: own}.towards(in)
	for _, f := range in.Files {
		p := open(f, "#")
		postfixMain(s, p)
		r.close(p, f.Path)
	}
	return r
}

func postfixMain(s settings, p *page) {
	used := map[string]bool{}
	for _, m := range postfixUse.FindAllStringSubmatch(p.text(), -1) {
		used[m[1]] = true
	}
	for i := range p.active() {
		name, _, _ := s.setting(p.lines[i])
		_, isGone := s.gone(name)
		inUse := used[name] || transportSetting.MatchString(name)
		if inUse && !s.takes(name) && !isGone {
			s.move(p, i)
			continue
		}
		s.line(p, i)
	}
}

// postfixUse is a parameter in the value of another.
var postfixUse = lazyregexp.New(`\$[{(]?([A-Za-z0-9_]+)`)

// transportSetting are parameters that are made of a transport's name.
var transportSetting = lazyregexp.New(`_(destination_\w+_limit|destination_rate_delay|time_limit|delivery_slot_\w+|recipient_limit)$`)
