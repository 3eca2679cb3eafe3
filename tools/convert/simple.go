package convert

import (
	"path"
	"strings"

	"svc/backend/lazyregexp"
)

// same carries files to a place with settings of one line each.
func same(s settings, place func(Input, string) string) func(Input) Result {
	return func(in Input) (r Result) {
		for _, f := range in.Files {
			r.close(s.towards(in).convert(f), place(in, f.Path))
		}
		return r
	}
}

// there is a place that stays.
func there(_ Input, file string) string { return file }

// place is where a file of a program stands in a release of the other family.
func place(table places) func(Input, string) string {
	return func(in Input, file string) string { return table.between(in).move(file) }
}

// sysctl drops settings that the kernel has no more. systemd-sysctl of Debian 13
// reads /etc/sysctl.d alone.
var sysctl = same(settings{program: "sysctl", comment: "#", equals: true, own: func(_ *page, _ int, name, _ string) bool {
	return strings.HasPrefix(name, ";")
}}, func(in Input, file string) string {
	if file == "/etc/sysctl.conf" && debianFamily(in.Target) {
		return "/etc/sysctl.d/99-local.conf"
	}
	return file
})

// chrony has its configuration in a folder on Debian.
var chrony = same(settings{program: "chrony", comment: "#", places: chronyPlaces, own: func(_ *page, _ int, name, _ string) bool { return strings.ContainsAny(name[:1], "!;%") }}, place(chronyPlaces))

var chronyPlaces = places{
	{"/etc/chrony.keys", "/etc/chrony/chrony.keys"},
	{"/etc/chrony.conf", "/etc/chrony/chrony.conf"},
	{"/etc/chrony.d", "/etc/chrony/conf.d"},
	{"/var/lib/chrony/drift", "/var/lib/chrony/chrony.drift"},
}

// haproxy stays where it is; keywords of old versions have others in their
// place.
var haproxy = same(settings{program: "haproxy", comment: "#", places: places{
	{"/usr/share/haproxy", "/etc/haproxy/errors"},
	{"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/certs/ca-certificates.crt"},
	{"/etc/pki/tls/certs", "/etc/ssl/certs"},
	{"/etc/pki/tls/private", "/etc/ssl/private"},
	{"/var/lib/haproxy/stats", "/run/haproxy/admin.sock"},
}, own: func(p *page, i int, name, value string) bool {
	if name == "option" && strings.HasPrefix(value, "forceclose") {
		p.replace(i, "option httpclose", "HAProxy 2.0 has another name for it.")
		return true
	}
	return false
}}, there)

// postgresVersioned is a place of Debian with PostgreSQL's version in it.
var postgresVersioned = lazyregexp.New(`(/postgresql/|/postgresql-|/run/postgresql/|^cluster_name = ')([0-9]+(?:\.[0-9]+)?)([/-])`)

// postgresql carries the files of a cluster over to the target's version.
func postgresql(in Input) (r Result) {
	version := ""
	for name := range in.Brought {
		if m := postgresPackage.FindStringSubmatch(name); m != nil {
			version = max(version, m[1])
		}
	}
	s := settings{program: "postgresql", comment: "#", equals: true}
	for _, f := range in.Files {
		p := open(f, "#")
		if version == "" {
			p.refuse(0, "The plan brings no server of PostgreSQL.")
		}
		for i := range p.active() {
			switch name := path.Base(f.Path); {
			case name == "postgresql.conf", path.Base(path.Dir(f.Path)) == "conf.d":
				s.line(p, i)
			case name == "pg_hba.conf":
				hbaLine(p, i)
			}
		}
		p.moveAll(func(line string) string { return postgresVersioned.ReplaceAllString(line, "${1}"+version+"${3}") }, "The version is part of the name.")
		r.close(p, postgresVersioned.ReplaceAllString(f.Path, "${1}"+version+"${3}"))
	}
	return r
}

var postgresPackage = lazyregexp.New(`^postgresql-([0-9]+)$`)

// rewording is what a line of another family's says on the target.
type rewording struct {
	line     *lazyregexp.Regexp
	now, why string
}

// rotated are the words of logrotate's files and of jobs that name what Debian
// calls otherwise, and unrotated those of Debian that others do.
var (
	rotated = []rewording{
		{lazyregexp.New(`\b(create|su)(\s+[0-7]+)?\s+apache\s+(apache|root)\b`), "${1}${2} www-data adm", "Debian's account of web servers is www-data."},
		{lazyregexp.New(`\b(create|su)(\s+[0-7]+)?\s+nginx\s+(nginx|root|adm)\b`), "${1}${2} www-data adm", "Debian's account of web servers is www-data."},
		{lazyregexp.New(`\b(reload|restart|try-restart) httpd(\.service)?\b`), "${1} apache2.service", "The unit has another name."},
		{lazyregexp.New(`\b(reload|restart|try-restart) named(-chroot)?(\.service)?\b`), "${1} named.service", "The unit has another name."},
		{lazyregexp.New(`/var/run/syslogd\.pid`), "/run/rsyslogd.pid", "The file has another name."},
	}
	unrotated = []rewording{
		{lazyregexp.New(`\b(create|su)(\s+[0-7]+)?\s+www-data\s+(www-data|adm|root)\b`), "${1}${2} apache root", "The account of web servers is apache."},
		{lazyregexp.New(`\b(reload|restart|try-restart) apache2(\.service)?\b`), "${1} httpd.service", "The unit has another name."},
		{lazyregexp.New(`\b(reload|restart|try-restart) bind9(\.service)?\b`), "${1} named.service", "The unit has another name."},
		{lazyregexp.New(`\b(reload|restart|try-restart) php[0-9.]+-fpm(\.service)?\b`), "${1} php-fpm.service", "The unit has another name."},
		{lazyregexp.New(`\binvoke-rc\.d (?:--quiet )?apache2 (reload|restart)\b`), "/usr/bin/systemctl ${1} httpd.service", "The unit has another name, and systemctl starts units."},
		{lazyregexp.New(`\binvoke-rc\.d (?:--quiet )?([a-z0-9-]+) (reload|restart)\b`), "/usr/bin/systemctl ${2} ${1}.service", "systemctl starts units."},
		{lazyregexp.New(`/usr/lib/rsyslog/rsyslog-rotate`), "/usr/bin/systemctl -s HUP kill rsyslog.service", "It is a script of Debian's."},
	}
)

// reword says what a job or a rule of logs says on the target.
func reword(p *page, i int, in Input) {
	rules := rotated
	switch {
	case fromDebian(in):
		rules = unrotated
	case withinRPM(in):
		rules = nil
	}
	for _, rule := range rules {
		p.replace(i, rule.line.ReplaceAllString(strings.TrimSpace(p.lines[i]), rule.now), rule.why)
	}
	p.replace(i, logPlaces.between(in).move(strings.TrimSpace(p.lines[i])), elsewhere(in))
}

// logrotate carries rules over: the places of logs, accounts and units that
// have other names.
func logrotate(in Input) (r Result) {
	for _, f := range in.Files {
		p := open(f, "#")
		for i := range p.active() {
			reword(p, i, in)
		}
		r.close(p, places{{"/etc/logrotate.d/httpd", "/etc/logrotate.d/apache2"}}.between(in).move(f.Path))
	}
	return r
}

// logPlaces are where the families keep the logs of services.
var logPlaces = places{
	{"/var/log/httpd", "/var/log/apache2"},
	{"/var/log/mariadb", "/var/log/mysql"},
	{"/var/log/messages", "/var/log/syslog"},
	{"/var/log/secure", "/var/log/auth.log"},
	{"/var/log/maillog", "/var/log/mail.log"},
	{"/var/log/cron", "/var/log/cron.log"},
	{"/var/run/httpd", "/run/apache2"},
	{"/var/log/php-fpm", "/var/log"},
}

// foreignTools are the package managers of the other family, as rules of sudo
// name them.
var (
	rpmTools    = lazyregexp.New(`/(usr/)?s?bin/(yum|dnf|rpm)\b`)
	debianTools = lazyregexp.New(`/(usr/)?s?bin/(apt|apt-get|aptitude|dpkg|a2en\w+|a2dis\w+|service)\b`)
)

// A remark of sudo's begins with a hash, unless a user's number follows. Groups
// stand at the beginning of rules and in lists.
var (
	sudoRemark = lazyregexp.New(`^#([^0-9]|$)`)
	sudoGroup  = lazyregexp.New(`%[\w.-]+`)
)

// sudoers carries rules over: Debian's group of administrators is sudo, that of
// the rpm families wheel.
func sudoers(in Input) (r Result) {
	was, now, why := "wheel", "sudo", "Debian's group of administrators is sudo."
	tools, refusal := rpmTools, "It names a command that Debian has not: say which of apt's are meant."
	if !debianFamily(in.Target) {
		was, now, why = "sudo", "wheel", "The group of administrators is wheel."
		refusal = "It names a command that the target has not: say which of its own is meant."
	}
	if fromDebian(in) {
		tools = debianTools
	}
	for _, f := range in.Files {
		p := open(f, "#")
		for i := range p.lines {
			line := strings.TrimSpace(p.lines[i])
			switch {
			case sudoRemark.MatchString(line):
			case tools.MatchString(line):
				p.refuse(i, refusal)
			default:
				p.replace(i, sudoGroup.ReplaceAllStringFunc(line, func(group string) string {
					if group == "%"+was {
						return "%" + now
					}
					return group
				}), why)
			}
		}
		r.close(p, f.Path)
	}
	return r
}
