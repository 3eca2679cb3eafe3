package migration

import (
	"io/fs"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/release"
)

// TestFilesOfAccounts are read wherever Dovecot's configuration names them: what the role
// brings is changed, and of the others lines are named.
func TestFilesOfAccounts(t *testing.T) {
	is := is.New(t)
	target, _ := release.Lookup("debian-13")
	const account = "anna:{CRYPT}x:5:5::/h::userdb_mail=maildir:/h/M\n"
	files := map[string]string{
		"/etc/dovecot/conf.d/99-local.conf": "passdb {\n  driver = passwd-file\n  args = scheme=CRYPT /srv/users\n}\nuserdb {\n  driver = passwd-file\n  args = /etc/dovecot/users\n}\n",
		"/srv/users":                        account,
		"/etc/dovecot/users":                account,
	}
	in := Input{Target: target, Assessment: &assess.Assessment{Release: "debian-12", Packages: []assess.Package{{Name: "dovecot-core", Version: "1:2.3.19.1+dfsg1-2.1"}}}, Read: func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}}
	p := &Plan{
		Packages:      []Package{{Name: "dovecot-core", Version: "1:2.3.19.1+dfsg1-2.1", Install: true, Confidence: 1, Targets: []Target{{Name: "dovecot-core", Version: "1:2.4.1"}}}},
		Install:       []string{"dovecot-core"},
		Configuration: []Config{{From: "/etc/dovecot/conf.d/99-local.conf", To: "/etc/dovecot/conf.d/99-local.conf", Action: Copy}, {From: "/etc/dovecot/users", To: "/etc/dovecot/users", Action: Copy}},
	}
	texts := map[int]string{0: files["/etc/dovecot/conf.d/99-local.conf"], 1: account}
	mentions := p.mailAccounts(in, texts)
	const now = "userdb_mail_driver=maildir userdb_mail_path=/h/M userdb_mail_inbox_path=/h/M"
	is.Equal(len(mentions), 1)
	is.Equal(mentions[0].Path, "/srv/users")
	is.Equal(mentions[0].Line, 1)
	is.Equal(mentions[0].Name, "userdb_mail=maildir:/h/M")
	is.Equal(mentions[0].Now, now)
	is.Equal(*p.Configuration[1].Text, "anna:{CRYPT}x:5:5::/h::"+now+"\n")
	is.Equal(p.Configuration[1].Action, Convert)
	in.Target, _ = release.Lookup("debian-12") // which has 2.3
	is.Equal(len(p.mailAccounts(in, texts)), 0)
}
