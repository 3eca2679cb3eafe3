package migration

import (
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/hazards"
	"svc/backend/api"
	"svc/tools/migration/naming"
)

// TestOldFormsAreWrittenAnew: in what the role brings at once, in people's own files by a step.
func TestOldFormsAreWrittenAnew(t *testing.T) {
	is := is.New(t)
	site, app := "/etc/apache2/sites-available/a.conf", "/srv/a/list.php"
	texts := map[string]string{
		site: "<VirtualHost *>\n\t<IfModule mod_php7.c>\n\t</IfModule>\n", "/srv/a/.htaccess": "<IfModule mod_php7.c>\n",
		app: "<?php\n# $a{0}\necho \"$a{0}\";\necho $a{0}, $b[1]{$n};\n", "/srv/a/doc.php": "<?php echo <<<END\n$a{0}\nEND;\n",
		"/usr/share/a/list.php": "<?php echo $a{0};\n", "/usr/lib/own/list": "#!/usr/bin/php\n<?php echo $a{0};\n", "/usr/lib/own/b.php": "<?php echo $a{1};\n",
	}
	strays := []hazards.Stray{{Path: "/usr/lib/own/list", Folder: "/usr/lib/own"}}
	in := Input{Assessment: &assess.Assessment{Strays: strays}, Read: func(name string) ([]byte, error) { return []byte(texts[name]), nil }}
	p := &Plan{Configuration: []Config{{From: site, To: site, Action: Copy}}}
	at := func(name string, line int) assess.Evidence { return assess.Evidence{Path: name, Line: line} }
	known := []assess.Finding{
		{Key: "hazard.apache.ifmodule-php", Severity: assess.Medium, Evidence: []assess.Evidence{at(site, 2), at("/srv/a/.htaccess", 1)}},
		{Key: "hazard.php.braces", Severity: assess.High, Evidence: []assess.Evidence{at(app, 4), at("/srv/a/doc.php", 2), at("/usr/share/a/list.php", 1), at("/usr/lib/own/list", 2), at("/usr/lib/own/b.php", 1)}},
	}
	p.reword(in, known)
	is.Equal(p.Configuration[0].Action, Convert)
	is.Equal(*p.Configuration[0].Text, "<VirtualHost *>\n\t<IfModule mod_php.c>\n\t</IfModule>\n")
	is.Equal(p.Configuration[0].Changes[0].Line, 2)
	changed := []naming.Mention{}
	for _, m := range p.Mentions {
		changed = append(changed, naming.Mention{Path: m.Path, Line: m.Line, Name: m.Name, Now: m.Now})
	}
	is.Equal(changed, []naming.Mention{ // no comment, no text, no document, nothing of a package
		{Path: "/srv/a/.htaccess", Line: 1, Name: "<IfModule mod_php7.c>", Now: "<IfModule mod_php.c>"},
		{Path: app, Line: 4, Name: "$a{0}", Now: "$a[0]"},
		{Path: app, Line: 4, Name: "$b[1]{$n}", Now: "$b[1][$n]"},
		{Path: "/usr/lib/own/list", Line: 2, Name: "$a{0}", Now: "$a[0]"}, // a person's, among those of packages
		{Path: "/usr/lib/own/b.php", Line: 1, Name: "$a{1}", Now: "$a[1]"},
	})
	said := told(p, known)
	is.Equal(said[0].Severity, assess.Info)
	is.Equal(said[1].Severity, assess.High) // the document is a person's
}

// TestWhatSetsPagesIsRead as people's programs are: a file of passwords that has another place
// on the target is named by what comes with the data.
func TestWhatSetsPagesIsRead(t *testing.T) {
	is := is.New(t)
	in := server(t, "centos-7", "debian-13", "httpd", "2.4")
	in.Assessment.Apart = []string{"/var/www/a/.htaccess", "/var/www/a/notes"}
	in.Relocations = map[string][]api.Relocation{"c": {{From: "/etc/httpd", To: ptr("/etc/apache2"), Kind: api.RelocateDir, Action: api.ActionCopy, Note: "Debian keeps it in another place."}}}
	in.Read = func(name string) ([]byte, error) { return []byte("AuthUserFile /etc/httpd/users\n"), nil }
	p := New(in)
	is.Equal(len(p.Mentions), 1)
	is.Equal([]string{p.Mentions[0].Path, p.Mentions[0].Name, p.Mentions[0].Now}, []string{"/var/www/a/.htaccess", "/etc/httpd/users", "/etc/apache2/users"})
}

// TestScriptsAmongDataAreRead for the folders of packages whose data move elsewhere, and what
// stands in these.
func TestScriptsAmongDataAreRead(t *testing.T) {
	is := is.New(t)
	in := server(t, "centos-7", "debian-13", "dhcp", "4.2")
	in.Assessment.Apart = []string{"/srv/www/leases.sh", "/srv/www/notes.sh"}
	texts := map[string]string{"/srv/www/leases.sh": "#!/bin/sh\n# /var/lib/dhcpd\ngrep lease /var/lib/dhcpd/dhcpd.leases\n", "/srv/www/notes.sh": "/var/lib/dhcpd is no program's\n"}
	in.Read = func(name string) ([]byte, error) { return []byte(texts[name]), nil }
	p := New(in)
	is.Equal(len(p.Mentions), 1)
	is.Equal(p.Mentions[0].Path, "/srv/www/leases.sh")
	is.Equal(p.Mentions[0].Line, 3)
	is.Equal(p.Mentions[0].Now, "/var/lib/dhcp/dhcpd.leases")
	is.True(slices.ContainsFunc(p.Findings, func(f assess.Finding) bool { return f.Key == "names.of-the-source" && f.Evidence[0].Line == 3 }))
}
