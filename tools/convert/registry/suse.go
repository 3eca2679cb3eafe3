package registry

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
	"svc/tools/convert/web/apache"
)

// layout is how SUSE's way differs from that of the rpm families, for the files
// of one converter: what is made for those is put in its places.
type layout struct {
	files, texts convert.Places // where files stand, and what their lines name besides
	lines        []convert.Rewording
}

// suseCertificates are where SUSE keeps what has one place for all services.
var suseCertificates = convert.Places{
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
var suseRotated = []convert.Rewording{
	{Line: lazyregexp.New(`\b(create|su)(\s+[0-7]+)?\s+apache\s+(apache|root)\b`), Now: "${1}${2} wwwrun www", Why: suseWeb},
	{Line: lazyregexp.New(`\b(reload|restart|try-restart) httpd(\.service)?\b`), Now: "${1} apache2.service", Why: suseUnit},
	{Line: lazyregexp.New(`\b(reload|restart|try-restart) crond(\.service)?\b`), Now: "${1} cron.service", Why: suseUnit},
}

// suse has the layout of every converter whose files differ.
var suse = map[string]layout{
	"httpd": {files: convert.Places{{"/etc/httpd/conf/httpd.conf", "/etc/apache2/conf.d/httpd.conf"}, {"/etc/httpd/conf.modules.d", "/etc/apache2/conf.d"}, {"/etc/httpd", "/etc/apache2"}}, texts: apache.SUSEPlaces},
	"php":   {files: convert.Places{{"/etc/php.d", "/etc/php8/conf.d"}}, texts: susePHP},
	"php-fpm": {files: convert.Places{{"/etc/php-fpm.conf", "/etc/php8/fpm/php-fpm.conf"}, {"/etc/php-fpm.d", "/etc/php8/fpm/php-fpm.d"}}, texts: susePHP, lines: []convert.Rewording{
		{Line: lazyregexp.New(`^((?:user|listen\.owner|listen\.acl_users)\s*=.*)\bapache\b`), Now: "${1}wwwrun", Why: suseWeb},
		{Line: lazyregexp.New(`^((?:group|listen\.group|listen\.acl_groups)\s*=.*)\bapache\b`), Now: "${1}www", Why: suseWeb},
	}},
	"mariadb": {texts: convert.Places{
		{"/var/lib/mysql/mysql.sock", "/run/mysql/mysql.sock"},
		{"/var/log/mariadb/mariadb.log", "/var/log/mysql/mysqld.log"},
		{"/var/log/mariadb", "/var/log/mysql"},
		{"/var/run/mariadb", "/run/mysql"},
		{"/run/mariadb", "/run/mysql"},
	}},
	"named": {files: convert.Places{{"/etc/named", "/etc/named.d"}}, texts: convert.Places{
		{"/etc/named", "/etc/named.d"},
		{"/var/named/named.ca", "/var/lib/named/root.hint"},
		{"/var/named/chroot/var/named", "/var/lib/named"},
		{"/var/named/slaves", "/var/lib/named/slave"},
		{"/var/named/dynamic", "/var/lib/named/dyn"},
		{"/var/named/data", "/var/lib/named/log"},
		{"/var/named", "/var/lib/named"},
	}, lines: []convert.Rewording{
		{Line: lazyregexp.New(`^include\s+"(/etc/named\.(rfc1912\.zones|root\.key)|/etc/crypto-policies/.*)"\s*;`), Now: "", Why: "It is a file of the rpm families' package."},
		{Line: lazyregexp.New(`^dnssec-validation\s+yes\s*;`), Now: "dnssec-validation auto;", Why: "BIND has the keys of the root built in."},
		{Line: lazyregexp.New(`\bfile\s+"named\.ca"`), Now: `file "root.hint"`, Why: "SUSE's package has it by another name."},
		{Line: lazyregexp.New(`\bfile\s+"slaves/`), Now: `file "slave/`, Why: "SUSE's package has the folder by another name."},
		{Line: lazyregexp.New(`\bfile\s+"dynamic/`), Now: `file "dyn/`, Why: "SUSE's package has the folder by another name."},
		{Line: lazyregexp.New(`"data/`), Now: `"log/`, Why: "SUSE's package has the folder by another name."},
	}},
	"keepalived": {lines: []convert.Rewording{
		{Line: lazyregexp.New(`\b(is-active|status) httpd\b`), Now: "${1} apache2", Why: suseUnit},
		{Line: lazyregexp.New(`\b(killall -0|pidof|pgrep) httpd\b`), Now: "${1} httpd-prefork", Why: "SUSE's program is named by its MPM."},
	}},
	"haproxy":        {lines: []convert.Rewording{{Line: lazyregexp.New(`^errorfile\s+\d+\s+/usr/share/haproxy/`), Now: "", Why: "HAProxy has these pages built in, and SUSE's package has no files of them."}}},
	"postfix":        {lines: suseTables},
	"postfix-master": {texts: convert.Places{{"/usr/libexec/dovecot/deliver", "/usr/lib/dovecot/dovecot-lda"}, {"/usr/libexec/dovecot", "/usr/lib/dovecot"}, {"/usr/libexec/postfix", "/usr/lib/postfix/bin"}}},
	"sshd": {texts: convert.Places{{"/usr/libexec/openssh/sftp-server", "/usr/lib/ssh/sftp-server"}}, lines: []convert.Rewording{
		{Line: lazyregexp.New(`(?i)^include\s+.*crypto-policies.*`), Now: "", Why: "SUSE's sshd has its own defaults."},
	}},
	"logrotate": {files: convert.Places{{"/etc/logrotate.d/httpd", "/etc/logrotate.d/apache2"}}, texts: suseLogs, lines: suseRotated},
	"cron":      {files: convert.Places{{"/var/spool/cron/apache", "/var/spool/cron/tabs/wwwrun"}, {"/var/spool/cron", "/var/spool/cron/tabs"}}, texts: suseLogs, lines: append([]convert.Rewording{{Line: lazyregexp.New(`^apache$`), Now: "wwwrun", Why: suseWeb}, {Line: lazyregexp.New(`^((?:@\S+|\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+)apache(\s)`), Now: "${1}wwwrun${2}", Why: suseWeb}}, suseRotated...)},
}

// suse16 are places that are others again since SLES 16.
var suse16 = map[string]convert.Places{"sshd": {{"/usr/libexec/openssh/sftp-server", "/usr/libexec/ssh/sftp-server"}}}

var suseLogs = convert.Places{
	{"/var/log/httpd", "/var/log/apache2"},
	{"/var/log/mariadb", "/var/log/mysql"},
	{"/var/log/maillog", "/var/log/mail"},
	{"/var/log/secure", "/var/log/messages"},
}

var susePHP = convert.Places{{"/var/log/php-fpm/error.log", "/var/log/php-fpm.log"}, {"/var/log/php-fpm", "/var/log"}, {"/etc/php-fpm.d", "/etc/php8/fpm/php-fpm.d"}, {"/etc/php.d", "/etc/php8/conf.d"}, {"/var/lib/php/session", "/var/lib/php8"}, {"/var/lib/php/wsdlcache", "/var/lib/php8"}, {"/var/lib/mysql/mysql.sock", "/run/mysql/mysql.sock"}}

// suseTables: SUSE's Postfix is made without Berkeley DB.
var suseTables = []convert.Rewording{{Line: lazyregexp.New(`\b(?:hash|btree):`), Now: "lmdb:", Why: "SUSE's Postfix has lmdb in the place of Berkeley DB: postmap and newaliases make the tables anew."}}

// onSUSE puts what a converter made for the rpm families in SUSE's places.
func onSUSE(r convert.Result, name string, in convert.Input) convert.Result {
	l := suse[name]
	if major, _, _ := strings.Cut(in.Target.Version, "."); major != "15" {
		l.texts = slices.Concat(suse16[name], l.texts)
	}
	l.texts = slices.Concat(l.texts, suseCertificates)
	for from := range r.Changes {
		for i, c := range r.Changes[from] {
			r.Changes[from][i].Now, r.Changes[from][i].Why = l.text(c.Now), l.texts.Move(suseWords.Replace(c.Why))
		}
		r.Changes[from] = slices.DeleteFunc(r.Changes[from], func(c convert.Change) bool { return c.Line > 0 && c.Was == c.Now })
	}
	files, told := []convert.File{}, map[string]bool{}
	for _, f := range r.Files {
		before := f.Text
		f.Text = l.text(f.Text)
		if !told[f.From] {
			told[f.From] = true
			relaid(&r, l, f.From, before, in)
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
func relaid(r *convert.Result, l layout, from, before string, in convert.Input) {
	i := slices.IndexFunc(in.Files, func(f convert.File) bool { return f.Path == from })
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
		r.Note(from, convert.Change{Line: at, Was: strings.TrimSpace(line), Now: strings.TrimSpace(now), Why: why})
	}
	slices.SortStableFunc(r.Changes[from], func(a, b convert.Change) int { return a.Line - b.Line })
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
		case !rule.Line.MatchString(now):
		case rule.Now == "":
			return convert.Indent(line) + "# " + text, rule.Why
		default:
			now, why = rule.Line.ReplaceAllString(now, rule.Now), rule.Why
		}
	}
	if moved := l.texts.Move(now); moved != now {
		now, why = moved, "SUSE keeps it in another place."
	}
	if now == text {
		return line, ""
	}
	return convert.Indent(line) + now, why
}

// places are where a file stands on SUSE: php.ini is one for each SAPI.
func (l layout) places(name string, f convert.File, in convert.Input) (all []string) {
	switch {
	case name == "php" && f.Path == "/etc/php.ini":
		for _, api := range [][2]string{{"php8-fpm", "fpm"}, {"apache2-mod_php8", "apache2"}, {"", "cli"}} {
			if _, brought := in.Brought[api[0]]; brought || api[0] == "" {
				all = append(all, "/etc/php8/"+api[1]+"/php.ini")
			}
		}
		return all
	case name == "httpd" && path.Dir(f.Path) == "/etc/httpd/conf.d" && apache.VirtualHost.MatchString(f.Text):
		return []string{"/etc/apache2/vhosts.d/" + path.Base(f.Path)}
	}
	return []string{l.files.Move(f.Path)}
}
