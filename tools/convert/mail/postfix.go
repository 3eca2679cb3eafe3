// Package mail converts Postfix and Dovecot.
package mail

import (
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/tools/convert"
)

// postfixPlaces are where Debian keeps what main.cf names, and postfixHomes where each
// line of families does.
var (
	postfixHomes  = convert.HomesOf("postfix")
	postfixPlaces = postfixHomes.Debian()
)

// postfixMaps are kinds of tables that families have in packages of their own.
var postfixMaps = lazyregexp.New(`\b(mysql|pgsql|ldap|pcre|sqlite|cdb|lmdb|mongodb):`)

// berkeley are the kinds of tables of Berkeley DB, which SUSE's Postfix is made without.
var berkeley = lazyregexp.New(`\b(?:hash|btree):`)

// mapPackage is the package of the target that has a kind of tables.
func mapPackage(in convert.Input, kind string) string {
	if name := convert.WordsOf("postfix-packages-suse")[kind].Now; name != "" && convert.ToSUSE(in) {
		return name
	}
	return "postfix-" + kind
}

// Postfix carries main.cf over: places that Debian compiles in become comments,
// and kinds of tables bring their packages. Parameters that Postfix does not
// know are those that a person defined for use in others.
func Postfix(in convert.Input) (r convert.Result) {
	own := func(p *convert.Page, i int, name, value string) bool {
		if convert.FromDebian(in) && name == "myorigin" && strings.TrimSpace(value) == "/etc/mailname" {
			p.Refuse(i, "The target has no /etc/mailname: write the name itself.")
			return true
		}
		if line := p.Lines[i]; line[0] == ' ' || line[0] == '\t' {
			p.Replace(i, postfixHomes.Between(in).Move(strings.TrimSpace(line)), convert.Elsewhere(in))
			return true // it continues the parameter above
		}
		return false
	}
	s := convert.Settings{Program: "postfix", Comment: "#", Equals: true, Homes: postfixHomes, Own: own}.Towards(in)
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		for _, line := range p.Active() {
			r.Packages = append(r.Packages, sliced.Map(postfixMaps.FindAllStringSubmatch(line, -1), func(m []string) string { return mapPackage(in, m[1]) })...)
		}
		postfixMain(s, p)
		if convert.ToSUSE(in) {
			p.MoveAll(func(line string) string { return berkeley.ReplaceAllString(line, "lmdb:") }, "SUSE's Postfix has lmdb in the place of Berkeley DB: postmap and newaliases make the tables anew.")
		}
		r.Close(p, f.Path)
	}
	return r
}

// postfixMain carries the parameters over. One that no program has is a person's own, whom other
// parameters, master.cf or a class of restrictions name; Postfix takes it.
func postfixMain(s convert.Settings, p *convert.Page) {
	for i := range p.Active() {
		name, between, _ := s.Setting(p.Lines[i])
		_, isGone := s.Gone(name)
		if continues := strings.ContainsAny(p.Lines[i][:1], " \t"); between != "" && !continues && !isGone && !s.Takes(name) {
			s.Move(p, i)
			continue
		}
		s.Line(p, i)
	}
}

// transportSetting are parameters that are made of a transport's name.
var transportSetting = lazyregexp.New(`_(destination_\w+_limit|destination_rate_delay|time_limit|delivery_slot_\w+|recipient_limit)$`)
