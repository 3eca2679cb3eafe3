package convert

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/release"
)

// layout is how SUSE's way differs from that of the rpm families, for the files
// of one converter: what is made for those is put in its places.
type layout struct {
	files, texts places // where files stand, and what their lines name besides
	lines        []rewording
}

// suseCertificates are where SUSE keeps what has one place for all services.
var suseCertificates = places{
	{"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"},
	{"/etc/pki/tls/certs", "/etc/ssl/certs"},
	{"/etc/pki/tls/private", "/etc/ssl/private"},
	{"/etc/pki/ca-trust/source/anchors", "/etc/pki/trust/anchors"},
}

const (
	suseWeb  = "SUSE's account of web servers is wwwrun, its group www."
	suseUnit = "The unit has another name."
)

// suseRotated are the words of logrotate's files and of jobs that name what SUSE
// calls otherwise.
var suseRotated = []rewording{
	{lazyregexp.New(`\b(create|su)(\s+[0-7]+)?\s+apache\s+(apache|root)\b`), "${1}${2} wwwrun www", suseWeb},
	{lazyregexp.New(`\b(reload|restart|try-restart) httpd(\.service)?\b`), "${1} apache2.service", suseUnit},
	{lazyregexp.New(`\b(reload|restart|try-restart) crond(\.service)?\b`), "${1} cron.service", suseUnit},
}

var suseHTTPD = places{
	{"/etc/pki/tls/certs/localhost.crt", "/etc/apache2/ssl.crt/server.crt"},
	{"/etc/pki/tls/private/localhost.key", "/etc/apache2/ssl.key/server.key"},
	{"/etc/httpd/conf", "/etc/apache2"},
	{"/etc/httpd/logs", "/var/log/apache2"},
	{"/etc/httpd/run", "/run"},
	{"/etc/httpd/modules", "/usr/lib64/apache2"},
	{"/etc/httpd", "/etc/apache2"},
	{"/var/log/httpd", "/var/log/apache2"},
	{"/var/run/httpd", "/run"},
	{"/run/httpd", "/run"},
	{"/usr/lib64/httpd/modules", "/usr/lib64/apache2"},
	{"/usr/share/httpd", "/usr/share/apache2"},
}

// suse has the layout of every converter whose files differ.
var suse = map[string]layout{
	"httpd": {files: places{{"/etc/httpd/conf/httpd.conf", "/etc/apache2/conf.d/httpd.conf"}, {"/etc/httpd/conf.modules.d", "/etc/apache2/conf.d"}, {"/etc/httpd", "/etc/apache2"}}, texts: suseHTTPD},
	"php":   {files: places{{"/etc/php.d", "/etc/php8/conf.d"}}, texts: susePHP},
	"php-fpm": {files: places{{"/etc/php-fpm.conf", "/etc/php8/fpm/php-fpm.conf"}, {"/etc/php-fpm.d", "/etc/php8/fpm/php-fpm.d"}}, texts: susePHP, lines: []rewording{
		{lazyregexp.New(`^((?:user|listen\.owner|listen\.acl_users)\s*=.*)\bapache\b`), "${1}wwwrun", suseWeb},
		{lazyregexp.New(`^((?:group|listen\.group|listen\.acl_groups)\s*=.*)\bapache\b`), "${1}www", suseWeb},
	}},
	"mariadb": {texts: places{
		{"/var/lib/mysql/mysql.sock", "/run/mysql/mysql.sock"},
		{"/var/log/mariadb/mariadb.log", "/var/log/mysql/mysqld.log"},
		{"/var/log/mariadb", "/var/log/mysql"},
		{"/var/run/mariadb", "/run/mysql"},
		{"/run/mariadb", "/run/mysql"},
	}},
	"named": {files: places{{"/etc/named", "/etc/named.d"}}, texts: places{
		{"/etc/named", "/etc/named.d"},
		{"/var/named/named.ca", "/var/lib/named/root.hint"},
		{"/var/named/chroot/var/named", "/var/lib/named"},
		{"/var/named/slaves", "/var/lib/named/slave"},
		{"/var/named/dynamic", "/var/lib/named/dyn"},
		{"/var/named/data", "/var/lib/named/log"},
		{"/var/named", "/var/lib/named"},
	}, lines: []rewording{
		{lazyregexp.New(`^include\s+"(/etc/named\.(rfc1912\.zones|root\.key)|/etc/crypto-policies/.*)"\s*;`), "", "It is a file of the rpm families' package."},
		{lazyregexp.New(`^dnssec-validation\s+yes\s*;`), "dnssec-validation auto;", "BIND has the keys of the root built in."},
		{lazyregexp.New(`\bfile\s+"named\.ca"`), `file "root.hint"`, "SUSE's package has it by another name."},
		{lazyregexp.New(`\bfile\s+"slaves/`), `file "slave/`, "SUSE's package has the folder by another name."},
		{lazyregexp.New(`\bfile\s+"dynamic/`), `file "dyn/`, "SUSE's package has the folder by another name."},
		{lazyregexp.New(`"data/`), `"log/`, "SUSE's package has the folder by another name."},
	}},
	"keepalived": {lines: []rewording{
		{lazyregexp.New(`\b(is-active|status) httpd\b`), "${1} apache2", suseUnit},
		{lazyregexp.New(`\b(killall -0|pidof|pgrep) httpd\b`), "${1} httpd-prefork", "SUSE's program is named by its MPM."},
	}},
	"haproxy":        {lines: []rewording{{lazyregexp.New(`^errorfile\s+\d+\s+/usr/share/haproxy/`), "", "HAProxy has these pages built in, and SUSE's package has no files of them."}}},
	"postfix":        {lines: suseTables},
	"postfix-master": {texts: places{{"/usr/libexec/dovecot/deliver", "/usr/lib/dovecot/dovecot-lda"}, {"/usr/libexec/dovecot", "/usr/lib/dovecot"}, {"/usr/libexec/postfix", "/usr/lib/postfix/bin"}}},
	"sshd": {texts: places{{"/usr/libexec/openssh/sftp-server", "/usr/lib/ssh/sftp-server"}}, lines: []rewording{
		{lazyregexp.New(`(?i)^include\s+.*crypto-policies.*`), "", "SUSE's sshd has its own defaults."},
	}},
	"logrotate": {files: places{{"/etc/logrotate.d/httpd", "/etc/logrotate.d/apache2"}}, texts: suseLogs, lines: suseRotated},
	"cron":      {files: places{{"/var/spool/cron/apache", "/var/spool/cron/tabs/wwwrun"}, {"/var/spool/cron", "/var/spool/cron/tabs"}}, texts: suseLogs, lines: append([]rewording{{lazyregexp.New(`^apache$`), "wwwrun", suseWeb}, {lazyregexp.New(`^((?:@\S+|\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+)apache(\s)`), "${1}wwwrun${2}", suseWeb}}, suseRotated...)},
}

// suse16 are places that are others again since SLES 16.
var suse16 = map[string]places{"sshd": {{"/usr/libexec/openssh/sftp-server", "/usr/libexec/ssh/sftp-server"}}}

var suseLogs = places{
	{"/var/log/httpd", "/var/log/apache2"},
	{"/var/log/mariadb", "/var/log/mysql"},
	{"/var/log/maillog", "/var/log/mail"},
	{"/var/log/secure", "/var/log/messages"},
}

var susePHP = places{{"/var/log/php-fpm/error.log", "/var/log/php-fpm.log"}, {"/var/log/php-fpm", "/var/log"}, {"/etc/php-fpm.d", "/etc/php8/fpm/php-fpm.d"}, {"/etc/php.d", "/etc/php8/conf.d"}, {"/var/lib/php/session", "/var/lib/php8"}, {"/var/lib/php/wsdlcache", "/var/lib/php8"}, {"/var/lib/mysql/mysql.sock", "/run/mysql/mysql.sock"}}

// suseTables: SUSE's Postfix is made without Berkeley DB.
var suseTables = []rewording{{lazyregexp.New(`\b(?:hash|btree):`), "lmdb:", "SUSE's Postfix has lmdb in the place of Berkeley DB: postmap and newaliases make the tables anew."}}

// toSUSE is a move to a release of SUSE from Debian's or the rpm families.
func toSUSE(in Input) bool {
	since, _ := release.Lookup("sles-15")
	return in.Target.Family == release.SUSE && !in.Target.Older(since) && (rpmFamily(in.Source) || debianFamily(in.Source))
}

// onSUSE puts what a converter made for the rpm families in SUSE's places.
func (r Result) onSUSE(name string, in Input) Result {
	l := suse[name]
	if major, _, _ := strings.Cut(in.Target.Version, "."); major != "15" {
		l.texts = slices.Concat(suse16[name], l.texts)
	}
	l.texts = slices.Concat(l.texts, suseCertificates)
	for from := range r.Changes {
		for i, c := range r.Changes[from] {
			r.Changes[from][i].Now, r.Changes[from][i].Why = l.text(c.Now), l.texts.move(suseWords.Replace(c.Why))
		}
		r.Changes[from] = slices.DeleteFunc(r.Changes[from], func(c Change) bool { return c.Line > 0 && c.Was == c.Now })
	}
	files, told := []File{}, map[string]bool{}
	for _, f := range r.Files {
		before := f.Text
		f.Text = l.text(f.Text)
		if !told[f.From] {
			told[f.From] = true
			r.relaid(l, f.From, before, in)
		}
		for _, to := range l.places(name, f, in) {
			f.Path = to
			files = append(files, f)
		}
	}
	r.Files = files
	for i, name := range r.Packages {
		r.Packages[i] = cmp.Or(suseNames[name], name)
	}
	return r
}

// suseWords are what the reasons of changes say of others.
var suseWords = strings.NewReplacer("Debian's postfix", "SUSE's postfix", "Debian's mariadbd", "SUSE's mariadbd", "Debian's unit", "SUSE's unit", "The target's", "SUSE's", "The account of web servers is apache.", suseWeb)

// suseNames are packages that converters ask for by the rpm families' names.
var suseNames = map[string]string{"php-fpm": "php8-fpm", "postfix-pgsql": "postfix-postgresql", "postfix-pcre": "postfix", "postfix-sqlite": "postfix", "postfix-cdb": "postfix", "postfix-lmdb": "postfix"}

// relaid tells of the lines that only SUSE's layout changed.
func (r *Result) relaid(l layout, from, before string, in Input) {
	i := slices.IndexFunc(in.Files, func(f File) bool { return f.Path == from })
	if i < 0 {
		return
	}
	source, at := strings.Split(strings.ReplaceAll(in.Files[i].Text, "\r\n", "\n"), "\n"), 0
	for line := range strings.SplitSeq(before, "\n") {
		now, why := l.line(line)
		n := slices.Index(source[at:], line)
		if now == line || n < 0 {
			continue
		}
		at += n + 1
		r.note(from, Change{at, strings.TrimSpace(line), strings.TrimSpace(now), why})
	}
	slices.SortStableFunc(r.Changes[from], func(a, b Change) int { return a.Line - b.Line })
}

// text is a text in SUSE's way.
func (l layout) text(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i], _ = l.line(line)
	}
	return strings.Join(lines, "\n")
}

// line is a line in SUSE's way, and why it is another.
func (l layout) line(line string) (now, why string) {
	text := strings.TrimSpace(line)
	if text == "" || text[0] == '#' || text[0] == ';' || strings.HasPrefix(text, "//") {
		return line, ""
	}
	now = text
	for _, rule := range l.lines {
		switch {
		case !rule.line.MatchString(now):
		case rule.now == "":
			return indent(line) + "# " + text, rule.why
		default:
			now, why = rule.line.ReplaceAllString(now, rule.now), rule.why
		}
	}
	if moved := l.texts.move(now); moved != now {
		now, why = moved, "SUSE keeps it in another place."
	}
	if now == text {
		return line, ""
	}
	return indent(line) + now, why
}

// places are where a file stands on SUSE: php.ini is one for each SAPI.
func (l layout) places(name string, f File, in Input) (all []string) {
	switch {
	case name == "php" && f.Path == "/etc/php.ini":
		for _, api := range [][2]string{{"php8-fpm", "fpm"}, {"apache2-mod_php8", "apache2"}, {"", "cli"}} {
			if _, brought := in.Brought[api[0]]; brought || api[0] == "" {
				all = append(all, "/etc/php8/"+api[1]+"/php.ini")
			}
		}
		return all
	case name == "httpd" && path.Dir(f.Path) == "/etc/httpd/conf.d" && virtualHost.MatchString(f.Text):
		return []string{"/etc/apache2/vhosts.d/" + path.Base(f.Path)}
	}
	return []string{l.files.move(f.Path)}
}

// suseModules are those that SUSE's apache2 loads by itself, and those that are
// built in.
var suseModules = strings.Fields("actions alias auth_basic authn_core authn_file authz_host authz_groupfile authz_core authz_user autoindex cgi dir env expires include log_config mime negotiation setenvif ssl socache_shmcb userdir reqtimeout " +
	"core http so unixd logio systemd version mpm_prefork")

// susePackages are packages of SUSE with modules that apache2 itself has not.
var susePackages = map[string]string{
	"dav_svn": "subversion-server", "authz_svn": "subversion-server", "wsgi": "apache2-mod_wsgi-python3", "security2": "apache2-mod_security2", "perl": "apache2-mod_perl", "fcgid": "apache2-mod_fcgid",
	"auth_openidc": "apache2-mod_auth_openidc", "auth_mellon": "apache2-mod_auth_mellon", "evasive": "apache2-mod_evasive", "jk": "apache2-mod_jk",
}

// loadModules loads the modules that are needed beside those of SUSE's
// APACHE_MODULES, each with those that it needs first.
func (h *httpdRun) loadModules() {
	text, from := "# Modules that the files beside and those of vhosts.d need; APACHE_MODULES of /etc/sysconfig/apache2 has the others.\n", ""
	var load func(module, file string)
	load = func(module, file string) {
		if slices.Contains(suseModules, module) || strings.HasPrefix(module, "mpm_") || strings.Contains(text, " "+module+"_module ") {
			return
		}
		for _, first := range httpdModules()[module] {
			load(first, file)
		}
		if from == "" {
			from = file
		}
		text += "<IfModule !" + module + "_module>\n    LoadModule " + module + "_module /etc/httpd/modules/mod_" + module + ".so\n</IfModule>\n"
	}
	for _, module := range slices.Sorted(maps.Keys(h.modules)) {
		files := h.modules[module]
		if i := slices.IndexFunc(files, func(f string) bool { return len(h.Refusals[f]) == 0 }); i >= 0 {
			if name := susePackages[module]; name != "" {
				h.Packages = append(h.Packages, name)
			}
			load(module, files[i])
		}
	}
	if from != "" {
		h.Files = append(h.Files, File{Path: "/etc/httpd/conf.d/00-modules.conf", Text: text, From: from, Mode: "0644"})
	}
}
