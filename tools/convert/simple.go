package convert

import (
	"path"
	"strings"

	"svc/backend/api/lazyregexp"
)

// same carries files to a place with settings of one line each.
func same(s settings, place func(string) string) func(Input) Result {
	return func(in Input) (r Result) {
		for _, f := range in.Files {
			r.close(s.convert(f), place(f.Path))
		}
		return r
	}
}

// there is a place that stays.
func there(file string) string { return file }

// sysctl drops settings that the kernel has no more. systemd-sysctl of Debian 13
// reads /etc/sysctl.d alone.
var sysctl = same(settings{program: "sysctl", comment: "#", equals: true, own: func(_ *page, _ int, name, _ string) bool {
	return strings.HasPrefix(name, ";")
}}, func(file string) string {
	if file == "/etc/sysctl.conf" {
		return "/etc/sysctl.d/99-local.conf"
	}
	return file
})

// chrony has its configuration in a folder on Debian.
var chrony = same(settings{program: "chrony", comment: "#", places: places{
	{"/etc/chrony.keys", "/etc/chrony/chrony.keys"},
	{"/etc/chrony.conf", "/etc/chrony/chrony.conf"},
	{"/etc/chrony.d", "/etc/chrony/conf.d"},
	{"/var/lib/chrony/drift", "/var/lib/chrony/chrony.drift"},
}, own: func(_ *page, _ int, name, _ string) bool { return strings.ContainsAny(name[:1], "!;%") }}, func(file string) string {
	if file == "/etc/chrony.conf" {
		return "/etc/chrony/chrony.conf"
	}
	return "/etc/chrony/conf.d/" + path.Base(file)
})

// haproxy stays where it is; keywords of old versions have others in their
// place.
var haproxy = same(settings{program: "haproxy", comment: "#", places: places{
	{"/usr/share/haproxy", "/etc/haproxy/errors"},
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
var postgresVersioned = lazyregexp.New(`(/postgresql/|/postgresql-|/run/postgresql/)([0-9]+(?:\.[0-9]+)?)([/-])`)

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
		for i := range p.lines {
			if strings.HasSuffix(f.Path, "/postgresql.conf") && !p.idle(i) {
				s.line(p, i)
			}
			if strings.HasSuffix(f.Path, "/pg_hba.conf") && !p.idle(i) {
				hbaLine(p, i)
			}
			if !p.idle(i) {
				p.replace(i, postgresVersioned.ReplaceAllString(strings.TrimSpace(p.lines[i]), "${1}"+version+"${3}"), "The version is part of the name.")
			}
		}
		r.close(p, postgresVersioned.ReplaceAllString(f.Path, "${1}"+version+"${3}"))
	}
	return r
}

var postgresPackage = lazyregexp.New(`^postgresql-([0-9]+)$`)

// rotated are the words of logrotate's files that name what another family
// calls otherwise.
var rotated = []struct {
	line     *lazyregexp.Regexp
	now, why string
}{
	{lazyregexp.New(`\b(create|su)(\s+[0-7]+)?\s+apache\s+(apache|root)\b`), "${1}${2} www-data adm", "Debian's account of web servers is www-data."},
	{lazyregexp.New(`\b(create|su)(\s+[0-7]+)?\s+nginx\s+(nginx|root|adm)\b`), "${1}${2} www-data adm", "Debian's account of web servers is www-data."},
	{lazyregexp.New(`\b(reload|restart|try-restart) httpd(\.service)?\b`), "${1} apache2.service", "The unit has another name."},
	{lazyregexp.New(`\b(reload|restart|try-restart) named(-chroot)?(\.service)?\b`), "${1} named.service", "The unit has another name."},
	{lazyregexp.New(`/var/run/syslogd\.pid`), "/run/rsyslogd.pid", "The file has another name."},
}

// logrotate carries rules over: the places of logs, accounts and units that
// have other names.
func logrotate(in Input) (r Result) {
	for _, f := range in.Files {
		p := open(f, "#")
		for i := range p.lines {
			if p.idle(i) {
				continue
			}
			for _, rule := range rotated {
				p.replace(i, rule.line.ReplaceAllString(strings.TrimSpace(p.lines[i]), rule.now), rule.why)
			}
			p.replace(i, logPlaces.move(strings.TrimSpace(p.lines[i])), "Debian keeps it in another place.")
		}
		to := f.Path
		if f.Path == "/etc/logrotate.d/httpd" {
			to = "/etc/logrotate.d/apache2"
		}
		r.close(p, to)
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

// sudoers carries rules over: Debian's group of administrators is sudo.
func sudoers(in Input) (r Result) {
	for _, f := range in.Files {
		p := open(f, "#")
		for i := range p.lines {
			line := strings.TrimSpace(p.lines[i])
			switch {
			case strings.HasPrefix(line, "%wheel"):
				p.replace(i, "%sudo"+strings.TrimPrefix(line, "%wheel"), "Debian's group of administrators is sudo.")
			case strings.Contains(line, "/usr/bin/yum"), strings.Contains(line, "/usr/bin/dnf"), strings.Contains(line, "/usr/bin/rpm"), strings.Contains(line, "/bin/rpm"):
				if !strings.HasPrefix(line, "#") {
					p.refuse(i, "It names a command that Debian has not: say which of apt's are meant.")
				}
			}
		}
		r.close(p, f.Path)
	}
	return r
}
