package pristine

import "svc/backend/lazyregexp"

// Template is a file of a package that is copied into /etc as it is installed.
type Template struct {
	Package, Path string
	// Filled says that it is filled in on the way, so that no package manager
	// has the digest of what a person found there.
	Filled bool
}

// templates are the files of /etc that Debian's and Ubuntu's packages make of
// others; the first rule that fits counts.
var templates = []struct {
	file      *lazyregexp.Regexp
	pkg, path string
	filled    bool
}{
	{lazyregexp.New(`^/etc/ssh/sshd_config$`), "openssh-server", "/usr/share/openssh/sshd_config", false},
	{lazyregexp.New(`^/etc/php/([0-9.]+)/cli/php\.ini$`), "php${1}-common", "/usr/lib/php/${1}/php.ini-production.cli", false},
	{lazyregexp.New(`^/etc/php/([0-9.]+)/[a-z0-9]+/php\.ini$`), "php${1}-common", "/usr/lib/php/${1}/php.ini-production", false},
	{lazyregexp.New(`^/etc/postgresql/([0-9.]+)/[^/]+/(postgresql|pg_ident)\.conf$`), "postgresql-${1}", "/usr/share/postgresql/${1}/${2}.conf.sample", true},
	{lazyregexp.New(`^/etc/chrony/chrony\.conf$`), "chrony", "/usr/share/chrony/chrony.conf", false},
	{lazyregexp.New(`^/etc/samba/smb\.conf$`), "samba-common", "/usr/share/samba/smb.conf", false},
	{lazyregexp.New(`^/etc/nsswitch\.conf$`), "libc-bin", "/usr/share/libc-bin/nsswitch.conf", false},
}

// TemplateOf is what a file of Debian or Ubuntu is made of.
func TemplateOf(file string) (Template, bool) {
	for _, t := range templates {
		if t.file.MatchString(file) {
			return Template{t.file.ReplaceAllString(file, t.pkg), t.file.ReplaceAllString(file, t.path), t.filled}, true
		}
	}
	return Template{}, false
}
