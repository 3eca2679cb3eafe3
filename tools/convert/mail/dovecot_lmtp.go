package mail

import (
	"path"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

var (
	// lmtpUsers says in protocol lmtp how it calls the accounts; usersEverywhere for all.
	lmtpUsers       = lazyregexp.New(`(?m)^[ \t]*protocol[ \t]+lmtp[ \t]*\{[^}]*auth_username_format[ \t]*=`)
	usersEverywhere = lazyregexp.New(`(?m)^auth_username_format[ \t]*=[ \t]*(.*\S)`)
)

// dovecotRecipients keeps the domain of addresses that mail is handed over for by LMTP.
// Debian's own 20-lmtp.conf takes it away from 2.4 on, since it expects accounts of the system:
// mail for accounts with a domain is bounced there. 2.3 asked for them as all else does.
func dovecotRecipients(in convert.Input, r *convert.Result) {
	if in.VersionOf("dovecot-lmtpd", "dovecot") == "" || len(r.Files) == 0 {
		return
	}
	format := "%{user | lower}" // the default of both
	for _, f := range in.Files {
		if path.Base(f.Path) == "20-lmtp.conf" || lmtpUsers.MatchString(f.Text) { // it takes the place of Debian's
			return
		}
		if m := usersEverywhere.FindStringSubmatch(f.Text); m != nil {
			format = dovecotVariables.Replace(strings.Trim(m[1], `"`))
		}
	}
	r.Files = append(r.Files, convert.File{Path: "/etc/dovecot/conf.d/99-lmtp.conf", From: r.Files[0].From, Text: "# Debian's own 20-lmtp.conf takes the domain away from addresses; the source did not.\nprotocol lmtp {\n  auth_username_format = " + format + "\n}\n"})
}
