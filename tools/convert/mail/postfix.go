// Package mail converts Postfix and Dovecot.
package mail

import (
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

var postfixPlaces = convert.Places{
	{"/usr/libexec/postfix", "/usr/lib/postfix/sbin"},
	{"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt"},
	{"/etc/pki/tls/certs", "/etc/ssl/certs"},
	{"/etc/pki/tls/private", "/etc/ssl/private"},
	{"/var/run/dovecot", "/run/dovecot"},
}

// postfixMaps are kinds of tables that Debian has in packages of their own.
var postfixMaps = lazyregexp.New(`\b(mysql|pgsql|ldap|pcre|sqlite|cdb|lmdb|mongodb):`)

// Postfix carries main.cf over: places that Debian compiles in become comments,
// and kinds of tables bring their packages. Parameters that Postfix does not
// know are those that a person defined for use in others.
func Postfix(in convert.Input) (r convert.Result) {
	own := func(p *convert.Page, i int, name, value string) bool {
		if convert.FromDebian(in) && name == "myorigin" && strings.TrimSpace(value) == "/etc/mailname" {
			p.Refuse(i, "The target has no /etc/mailname: write the name itself.")
			return true
		}
		for _, m := range postfixMaps.FindAllStringSubmatch(value, -1) {
			r.Packages = append(r.Packages, "postfix-"+m[1])
		}
		if line := p.Lines[i]; line[0] == ' ' || line[0] == '\t' {
			p.Replace(i, postfixPlaces.Between(in).Move(strings.TrimSpace(line)), convert.Elsewhere(in))
			return true // it continues the parameter above
		}
		return false
	}
	s := convert.Settings{Program: "postfix", Comment: "#", Equals: true, Places: postfixPlaces, Own: own}.Towards(in)
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		postfixMain(s, p)
		r.Close(p, f.Path)
	}
	return r
}

func postfixMain(s convert.Settings, p *convert.Page) {
	used := map[string]bool{}
	for _, m := range postfixUse.FindAllStringSubmatch(p.Text(), -1) {
		used[m[1]] = true
	}
	for i := range p.Active() {
		name, _, _ := s.Setting(p.Lines[i])
		_, isGone := s.Gone(name)
		inUse := used[name] || transportSetting.MatchString(name)
		if inUse && !s.Takes(name) && !isGone {
			s.Move(p, i)
			continue
		}
		s.Line(p, i)
	}
}

// postfixUse is a parameter in the value of another.
var postfixUse = lazyregexp.New(`\$[{(]?([A-Za-z0-9_]+)`)

// transportSetting are parameters that are made of a transport's name.
var transportSetting = lazyregexp.New(`_(destination_\w+_limit|destination_rate_delay|time_limit|delivery_slot_\w+|recipient_limit)$`)
