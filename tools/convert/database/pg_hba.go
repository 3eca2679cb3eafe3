package database

import (
	"slices"
	"strings"

	"svc/assess/conf"
	"svc/tools/convert"
)

// hbaLine converts a line of pg_hba.conf: methods and options that are gone.
func hbaLine(p *convert.Page, i int) {
	words, n := conf.HBA(p.Lines[i])
	switch {
	case len(words) == 0 || strings.HasPrefix(words[0], "include"):
		return
	case n < 0:
		p.Refuse(i, "PostgreSQL does not know a line of this form.")
		return
	}
	hbaMethod(p, i, words[0], words[n], words[n+1:])
}

func hbaMethod(p *convert.Page, i int, kind, method string, options []string) {
	replaced := func(now, why string) { p.Replace(i, replaceLast(strings.TrimSpace(p.Lines[i]), method, now), why) }
	switch bare := strings.ToLower(method); {
	case bare == "ident" && kind == "local":
		replaced("peer", "By a socket of the machine itself ident means peer.")
	case bare == "krb5":
		p.Refuse(i, "PostgreSQL 9.4 has gss in its place, which needs another keytab.")
	case bare == "crypt":
		p.Refuse(i, "PostgreSQL 8.4 has it no more: scram-sha-256 needs passwords that are set anew.")
	case !convert.Lists("pg_hba-methods", bare):
		p.Refuse(i, "PostgreSQL has no method "+method+".")
	case slices.ContainsFunc(options, func(o string) bool { return !strings.Contains(o, "=") }):
		p.Refuse(i, "Options are a name and a value since PostgreSQL 8.4.")
	default:
		hbaOptions(p, i, bare, options)
	}
}

// hbaOptions converts the options of clients' certificates.
func hbaOptions(p *convert.Page, i int, method string, options []string) {
	n := slices.IndexFunc(options, func(option string) bool { return strings.HasPrefix(strings.ToLower(option), "clientcert=") })
	if n < 0 {
		return
	}
	switch line := strings.TrimSpace(p.Lines[i]); strings.ToLower(options[n]) {
	case "clientcert=1":
		now := "clientcert=verify-ca"
		if method == "cert" {
			now = "clientcert=verify-full"
		}
		p.Replace(i, replaceLast(line, options[n], now), "PostgreSQL 14 says what is verified.")
	case "clientcert=0", "clientcert=no-verify":
		p.Replace(i, strings.TrimSpace(replaceLast(line, options[n], "")), "PostgreSQL 14 verifies nothing unless told.")
	}
}

// replaceLast puts another word in the place of the last of its kind before a
// comment.
func replaceLast(line, was, now string) string {
	before, comment, commented := strings.Cut(line, "#")
	if n := strings.LastIndex(" "+strings.ReplaceAll(before, "\t", " ")+" ", " "+was+" "); n >= 0 {
		before = before[:n] + now + before[n+len(was):]
	}
	if commented {
		return before + "#" + comment
	}
	return before
}
