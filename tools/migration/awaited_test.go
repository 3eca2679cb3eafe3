package migration

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/api"
)

// TestWhatConfigurationWritesTo: logs and folders that carried configuration names are
// made where the source has them, but for folders as every system's are.
func TestWhatConfigurationWritesTo(t *testing.T) {
	is := is.New(t)
	in := server(t, "debian-11", "debian-13", "p", "1")
	in.Assessment.Configuration = []assess.ConfigFile{{Path: "/etc/p/p.conf", State: assess.ConfigUnowned, Mode: "0644", Owner: "root", Group: "root"}}
	in.Assessment.Folders = []assess.Folder{{Path: "/var/spool/known", Mode: "0700", Owner: "p", Group: "p", UID: 7}}
	in.Read = func(string) ([]byte, error) {
		return []byte("log = /var/log/p/p.log\nspool = /var/spool/print\n# old = /var/spool/old\nroot = /var/lib/plain\nname = /var/spool/known\nfile = /var/lib/p.db\nweb = /var/www/p\ngone = /var/spool/gone\n"), nil
	}
	folder := func(mode string, uid int) assess.Folder {
		return assess.Folder{Mode: mode, UID: uid, Owner: "root", Group: "lp"}
	}
	in.Described = func(name string) (assess.Folder, bool, bool) {
		switch name {
		case "/var/log/p/p.log", "/var/lib/p.db":
			return folder("0640", 0), false, true
		case "/var/spool/print", "/var/spool/old", "/var/www/p":
			return folder("1777", 0), true, true
		case "/var/spool/known":
			return folder("0700", 7), true, true
		case "/var/lib/plain":
			return folder("0755", 0), true, true
		}
		return assess.Folder{}, false, false
	}
	p := New(in)
	is.Equal(p.Logs, []Folder{{Path: "/var/log/p/p.log", Mode: "0640", Owner: "root", Group: "lp"}})
	is.Equal(p.Folders, []Folder{{Path: "/var/spool/known", Mode: "0700", Owner: "p", Group: "p"}, {Path: "/var/spool/print", Mode: "1777", Owner: "root", Group: "lp"}})
}

// TestConfigurationThatComesWithADump is in no other step, and what its dump writes for the
// target is mended.
func TestConfigurationThatComesWithADump(t *testing.T) {
	is := is.New(t)
	const file = "/etc/openldap/slapd.d/cn=config/olcDatabase={2}hdb.ldif"
	in := server(t, "centos-7", "debian-13", "openldap-servers", "2.4")
	in.Relocations = map[string][]api.Relocation{"c": {{From: "/etc/openldap/slapd.d", To: ptr("/etc/ldap/slapd.d"), Kind: api.RelocateDir, Action: api.ActionManual, Note: "By slapadd."}}}
	in.Assessment.Configuration = []assess.ConfigFile{{Path: file, State: assess.ConfigUnowned, Mode: "0600", Owner: "ldap", Group: "ldap", Secret: true}}
	mended := func() (c Config, f assess.Finding) {
		p := New(in)
		return p.Configuration[0], told(p, []assess.Finding{{Severity: assess.High, Evidence: []assess.Evidence{{Path: file}}, Remediations: []assess.Remediation{{Type: "command", BeforeData: true}}}})[0]
	}
	c, f := mended() // of no database is a dump
	is.Equal([]any{c.Action, c.Reason, f.Severity}, []any{Manual, "By slapadd.", assess.High})
	in.Assessment.Databases = []assess.Database{{Engine: "slapd", Directory: "/var/lib/ldap"}}
	c, f = mended()
	is.Equal([]any{c.Action, c.Reason, c.Place, f.Severity, len(f.Remediations)}, []any{LeftOut, ComesWithDump, "", assess.Info, 0})
	in.IncludeSecrets = true
	c, _ = mended()
	is.Equal([]any{c.Action, c.To}, []any{LeftOut, ""})
}

// TestASecretThatStaysBehind goes where it would with the role, by a person: where its form is
// another one, as with the role, and its lines are told that name what the target calls otherwise.
func TestASecretThatStaysBehind(t *testing.T) {
	is := is.New(t)
	in := server(t, "almalinux-9", "debian-13", "p", "1")
	in.Relocations = map[string][]api.Relocation{"c": {
		{From: "/etc/p", To: ptr("/etc/p/3"), Kind: api.RelocateDir, Action: api.ActionCopy, Note: "It has the version."},
		{From: "/etc/p/main", To: ptr("/etc/p/3/main"), Kind: api.RelocateFile, Action: api.ActionManual, Note: "Its form is another."},
		{From: "p", To: ptr("_p"), Kind: api.RelocateGroup, Action: api.ActionConvert},
	}}
	for _, name := range []string{"/etc/p/clients", "/etc/p/main"} {
		in.Assessment.Configuration = append(in.Assessment.Configuration, assess.ConfigFile{Path: name, State: assess.ConfigChanged, Package: "p", Mode: "0640", Owner: "root", Group: "p", Secret: true})
	}
	in.Read = func(string) ([]byte, error) { return []byte("# /etc/p/old\nsecret = x\nkey = /etc/p/key\n"), nil }
	p := New(in)
	files := map[string]Config{}
	for _, c := range p.Configuration {
		files[c.From] = c
	}
	clients, main := files["/etc/p/clients"], files["/etc/p/main"]
	is.Equal([]any{clients.Action, clients.Place, clients.Owner, clients.Group}, []any{LeftOut, "/etc/p/3/clients", "root", "_p"})
	is.Equal([]any{main.Action, main.Place, main.Reason}, []any{Manual, "", "Its form is another."})
	is.Equal(len(p.Mentions), 1)
	is.Equal([]any{p.Mentions[0].Path, p.Mentions[0].Line, p.Mentions[0].Now}, []any{"/etc/p/3/clients", 3, "/etc/p/3/key"})
	in.IncludeSecrets = true
	in.Assessment.Configuration = append(in.Assessment.Configuration, assess.ConfigFile{Path: "/etc/own", Machine: true, Owner: "root", Group: "root"},
		assess.ConfigFile{Path: "/etc/p/main-own", Link: "/etc/own", State: assess.ConfigUnowned, Owner: "root", Group: "root"}) // which the target lacks
	for _, c := range New(in).Configuration {
		is.Equal(c.Action == Manual, strings.HasPrefix(c.From, "/etc/p/main"))
		is.Equal(c.To == "/etc/p/3/clients", c.From == "/etc/p/clients")
	}
}

// TestWhatStaysIsIncludedWhereItIsThere: a secret that a person brings later, or not at all.
func TestWhatStaysIsIncludedWhereItIsThere(t *testing.T) {
	for secret, want := range map[bool]string{true: "!include_try auth-own.conf.ext\n!include 10-mail.conf\n", false: "!include auth-own.conf.ext\n!include 10-mail.conf\n"} {
		is := is.New(t)
		in := one(t, assess.Package{Name: "p"}, api.Translation{Relation: api.RelationSame, Packages: to("p"), Confidence: 0.99})
		in.Assessment.Release, in.Target = "debian-12", target(t, "debian-12")
		in.Assessment.Configuration = []assess.ConfigFile{
			{Path: "/etc/dovecot/conf.d/99-own.conf", State: assess.ConfigUnowned, Mode: "0644", Owner: "root", Group: "root"},
			{Path: "/etc/dovecot/conf.d/auth-own.conf.ext", State: assess.ConfigUnowned, Mode: "0600", Owner: "root", Group: "root", Secret: secret},
		}
		in.Read = func(string) ([]byte, error) {
			return []byte("!include auth-own.conf.ext\n!include 10-mail.conf\n"), nil
		}
		p := New(in)
		text, ok := p.Configuration[0].carried(in)
		is.True(ok)
		is.Equal(text, want)
		is.Equal(p.Configuration[0].Action == Convert, secret)
		is.Equal(strings.HasSuffix(p.Configuration[0].Reason, "only where it is there."), secret)
	}
}
