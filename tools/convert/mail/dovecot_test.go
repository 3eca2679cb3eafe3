package mail

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/tools/convert"
)

// TestDatabasesHaveNamesOfTheirOwn also beside one of Dovecot's own file, which is included
// as the target's package has it.
func TestDatabasesHaveNamesOfTheirOwn(t *testing.T) {
	is := is.New(t)
	local := convert.File{Path: "/etc/dovecot/local.conf", Text: "passdb {\n  driver = passwd-file\n  args = /srv/users\n}\n"}
	auth := convert.File{Path: "/etc/dovecot/conf.d/10-auth.conf", Text: "#!include auth-passwdfile.conf.ext\n"}
	now := func(files ...convert.File) string {
		r := Dovecot(convert.Input{Files: files})
		is.Equal(len(r.Refusals), 0)
		return r.Files[0].Text
	}
	is.True(strings.HasPrefix(now(local, auth), "passdb passwd-file {\n"))
	own := convert.File{Path: "/etc/dovecot/conf.d/auth-passwdfile.conf.ext", Text: "passdb {\n  driver = passwd-file\n  args = /etc/dovecot/users\n}\n"}
	is.True(strings.HasPrefix(now(local, auth, own), "passdb passwd-file {\n"))
}

// TestRecipientsKeepTheirDomain where Debian's own file of LMTP takes it away.
func TestRecipientsKeepTheirDomain(t *testing.T) {
	is := is.New(t)
	added := func(has, file, text string) string {
		r := Dovecot(convert.Input{Installed: map[string]string{has: "1:2.3.13"}, Files: []convert.File{{Path: file, Text: text}}})
		for _, f := range r.Files {
			if f.Path == "/etc/dovecot/conf.d/99-lmtp.conf" {
				is.Equal(f.From, file)
				return f.Text
			}
		}
		return ""
	}
	is.True(strings.HasSuffix(added("dovecot-lmtpd", "/etc/dovecot/local.conf", "mail_debug = yes\n"), "protocol lmtp {\n  auth_username_format = %{user | lower}\n}\n"))
	is.True(strings.Contains(added("dovecot-lmtpd", "/etc/dovecot/conf.d/10-auth.conf", "auth_username_format = %n\n"), "auth_username_format = %{user | username}\n"))
	is.Equal(added("dovecot-imapd", "/etc/dovecot/local.conf", "mail_debug = yes\n"), "")
	is.Equal(added("dovecot-lmtpd", "/etc/dovecot/conf.d/20-lmtp.conf", "protocol lmtp {\n}\n"), "")
	is.Equal(added("dovecot-lmtpd", "/etc/dovecot/local.conf", "protocol lmtp {\n  auth_username_format = %n\n}\n"), "")
}

// TestFieldsOfAccounts that Dovecot 2.4 reads over.
func TestFieldsOfAccounts(t *testing.T) {
	is := is.New(t)
	is.Equal(DovecotAccounts("passdb {\n  args = scheme=CRYPT username_format=%n /srv/mail/users\n}\n  args = /etc/dovecot/%d/users\nargs = uid=5 gid=5\nargs=/etc/dovecot/users \n"), []string{"/srv/mail/users", "/etc/dovecot/users"})
	var got []string
	for _, f := range DovecotFields("# a:b:::::::userdb_mail=maildir:~/M\nanna:{PLAIN}a:5:5::/h/anna::userdb_mail=maildir:/h/anna/M:INDEX=/i/anna nologin\nbob:x:5:5::/h::userdb_mail=mbox:~/m:UTF-8 userdb_quota_rule=*:storage=10M\nkim:x:5:5::/h::userdb_quota_rule=*:bytes=7:messages=4\nshort:userdb_mail=maildir:~/M\n") {
		got = append(got, fmt.Sprintf("%d %s => %s", f.Line, f.Was, f.Now))
	}
	is.Equal(got, []string{
		"2 userdb_mail=maildir:/h/anna/M:INDEX=/i/anna => userdb_mail_driver=maildir userdb_mail_path=/h/anna/M userdb_mail_inbox_path=/h/anna/M userdb_mail_index_path=/i/anna",
		"3 userdb_mail=mbox:~/m:UTF-8 => ",
		"3 userdb_quota_rule=*:storage=10M => userdb_quota_storage_size=10M",
		"4 userdb_quota_rule=*:bytes=7:messages=4 => ",
	})
}

// TestMasters log in to an account that the databases after theirs have.
func TestMasters(t *testing.T) {
	is := is.New(t)
	r := Dovecot(convert.Input{Files: []convert.File{{Path: "/etc/dovecot/conf.d/auth-master.conf.ext", Text: "passdb {\n  driver = passwd-file\n  master = yes\n  args = /etc/dovecot/master-users\n\n  # of people\n  pass = yes\n}\n"}}})
	is.Equal(len(r.Refusals), 0)
	is.Equal(r.Files[0].Text, "passdb passwd-file {\n  # driver = passwd-file\n  master = yes\n  passwd_file_path = /etc/dovecot/master-users\n\n  # of people\n  result_success = continue\n}\n")
}

// TestListenersAndQuotaOfHowtos: the service of Postfix' howtos has a listener without a name.
func TestListenersAndQuotaOfHowtos(t *testing.T) {
	is := is.New(t)
	r := Dovecot(convert.Input{Files: []convert.File{{Path: "/etc/dovecot/conf.d/90-quota.conf", Text: "service quota-status {\n  inet_listener {\n    address = 127.0.0.1\n    port = 12340\n  }\n}\nservice imap-login {\n  service_count = 0\n  vsz_limit = 0\n}\nplugin {\n  quota_vsizes = yes\n  quota_rule2 = Trash:storage=+20%%\n}\n"}}})
	is.Equal(len(r.Refusals), 0)
	is.Equal(r.Files[0].Text, "service quota-status {\n  inet_listener port-12340 {\n    listen = 127.0.0.1\n    port = 12340\n  }\n}\nservice imap-login {\n  restart_request_count = unlimited\n  vsz_limit = unlimited\n}\n# plugin {\n  # quota_vsizes = yes\n  namespace inbox {\n    mailbox Trash {\n      quota_storage_percentage = 120\n    }\n  }\n# }\n")
}
