package system

import (
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// rotated are the words of logrotate's files and of jobs that name what Debian
// calls otherwise, and unrotated those of Debian that others do.
var (
	rotated = []convert.Rewording{
		{Line: lazyregexp.New(`\b(create|su)(\s+[0-7]+)?\s+apache\s+(apache|root)\b`), Now: "${1}${2} www-data adm", Why: "Debian's account of web servers is www-data."},
		{Line: lazyregexp.New(`\b(create|su)(\s+[0-7]+)?\s+nginx\s+(nginx|root|adm)\b`), Now: "${1}${2} www-data adm", Why: "Debian's account of web servers is www-data."},
		{Line: lazyregexp.New(`\b(reload|restart|try-restart) httpd(\.service)?\b`), Now: "${1} apache2.service", Why: "The unit has another name."},
		{Line: lazyregexp.New(`\b(reload|restart|try-restart) named(-chroot)?(\.service)?\b`), Now: "${1} named.service", Why: "The unit has another name."},
		{Line: lazyregexp.New(`/var/run/syslogd\.pid`), Now: "/run/rsyslogd.pid", Why: "The file has another name."},
	}
	unrotated = []convert.Rewording{
		{Line: lazyregexp.New(`\b(create|su)(\s+[0-7]+)?\s+www-data\s+(www-data|adm|root)\b`), Now: "${1}${2} apache root", Why: "The account of web servers is apache."},
		{Line: lazyregexp.New(`\b(reload|restart|try-restart) apache2(\.service)?\b`), Now: "${1} httpd.service", Why: "The unit has another name."},
		{Line: lazyregexp.New(`\b(reload|restart|try-restart) bind9(\.service)?\b`), Now: "${1} named.service", Why: "The unit has another name."},
		{Line: lazyregexp.New(`\b(reload|restart|try-restart) php[0-9.]+-fpm(\.service)?\b`), Now: "${1} php-fpm.service", Why: "The unit has another name."},
		{Line: lazyregexp.New(`\binvoke-rc\.d (?:--quiet )?apache2 (reload|restart)\b`), Now: "/usr/bin/systemctl ${1} httpd.service", Why: "The unit has another name, and systemctl starts units."},
		{Line: lazyregexp.New(`\binvoke-rc\.d (?:--quiet )?([a-z0-9-]+) (reload|restart)\b`), Now: "/usr/bin/systemctl ${2} ${1}.service", Why: "systemctl starts units."},
		{Line: lazyregexp.New(`/usr/lib/rsyslog/rsyslog-rotate`), Now: "/usr/bin/systemctl -s HUP kill rsyslog.service", Why: "It is a script of Debian's."},
	}
)

// reword says what a job or a rule of logs says on the target.
func reword(p *convert.Page, i int, in convert.Input) {
	rules := rotated
	switch {
	case convert.FromDebian(in):
		rules = unrotated
	case convert.WithinRPM(in):
		rules = nil
	}
	for _, rule := range rules {
		p.Replace(i, rule.Line.ReplaceAllString(strings.TrimSpace(p.Lines[i]), rule.Now), rule.Why)
	}
	p.Replace(i, convert.LogPlaces.Between(in).Move(strings.TrimSpace(p.Lines[i])), convert.Elsewhere(in))
}

// Logrotate carries rules over: the places of logs, accounts and units that
// have other names.
func Logrotate(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		for i := range p.Active() {
			reword(p, i, in)
		}
		r.Close(p, convert.Places{{"/etc/logrotate.d/httpd", "/etc/logrotate.d/apache2"}}.Between(in).Move(f.Path))
	}
	return r
}
