package system

import (
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// unrotated are the words of Debian that others call otherwise, whose owner of a web
// server's logs and whose unit of Apache are given.
func unrotated(owner, whose, apache string) []convert.Rewording {
	return []convert.Rewording{
		{Line: debianOwner, Now: "${1}${2} " + owner, Why: whose},
		{Line: debianApache, Now: "${1} " + apache, Why: "The unit has another name."},
		{Line: debianBIND, Now: "${1} named.service", Why: "The unit has another name."},
		{Line: debianFPM, Now: "${1} php-fpm.service", Why: "The unit has another name."},
		{Line: debianApacheByRC, Now: "/usr/bin/systemctl ${1} " + apache, Why: "The unit has another name, and systemctl starts units."},
		{Line: debianByRC, Now: "/usr/bin/systemctl ${2} ${1}.service", Why: "systemctl starts units."},
		{Line: debianRsyslog, Now: "/usr/bin/systemctl -s HUP kill rsyslog.service", Why: "It is a script of Debian's."},
	}
}

var (
	debianOwner      = lazyregexp.New(`\b(create|su)(\s+[0-7]+)?\s+www-data\s+(www-data|adm|root)\b`)
	debianApache     = lazyregexp.New(`\b(reload|restart|try-restart) apache2(\.service)?\b`)
	debianBIND       = lazyregexp.New(`\b(reload|restart|try-restart) bind9(\.service)?\b`)
	debianFPM        = lazyregexp.New(`\b(reload|restart|try-restart) php[0-9.]+-fpm(\.service)?\b`)
	debianApacheByRC = lazyregexp.New(`\binvoke-rc\.d (?:--quiet )?apache2 (reload|restart)\b`)
	debianByRC       = lazyregexp.New(`\binvoke-rc\.d (?:--quiet )?([a-z0-9-]+) (reload|restart)\b`)
	debianRsyslog    = lazyregexp.New(`/usr/lib/rsyslog/rsyslog-rotate`)
)

// rotations are the rules for a move.
func rotations(in convert.Input) []convert.Rewording {
	account, why := in.WebAccount()
	switch {
	case convert.FromDebian(in) && convert.ToSUSE(in):
		return append(unrotated(account+" "+in.Target.Family.Conventions().Web.Group, why, "apache2.service"), convert.RewordingsOf("rotated-suse")...)
	case convert.FromDebian(in):
		return unrotated(account+" root", why, "httpd.service")
	case convert.ToSUSE(in):
		return convert.RewordingsOf("rotated-suse")
	case convert.WithinRPM(in):
		return nil
	}
	return convert.RewordingsOf("rotated-debian")
}

// reword says what a job or a rule of logs says on the target.
func reword(p *convert.Page, i int, in convert.Input) {
	p.Substitute(i, rotations(in))
	p.Replace(i, convert.Logs.Between(in).Move(strings.TrimSpace(p.Lines[i])), convert.Elsewhere(in))
}

// logrotateHomes are what the lines of families call the file of Apache's own rules.
var logrotateHomes = convert.HomesOf("logrotate")

// Logrotate carries rules over: the places of logs, accounts and units that
// have other names.
func Logrotate(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		for i := range p.Active() {
			reword(p, i, in)
		}
		r.Close(p, logrotateHomes.Between(in).Move(f.Path))
	}
	return r
}
