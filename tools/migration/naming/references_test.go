package naming

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/api"
)

// renamedRows are the rows of packages whose names have a version in them.
func renamedRows(pairs ...string) (rows []Row) {
	for i := 0; i < len(pairs); i += 2 {
		rows = append(rows, Row{Name: pairs[i], Relation: api.RelationRenamed, Targets: []string{pairs[i+1]}, Sure: true})
	}
	return rows
}

func named(t *testing.T, rows []Row, owners map[string]string) *References {
	t.Helper()
	where := New(rows, nil)
	where.units["apache2.service"] = api.Relocation{To: new("httpd.service"), Action: api.ActionCopy}
	r := NewReferences(rows, where, "debian-13")
	r.Owners = owners
	return r
}

func TestNamesWithAVersionAreCarriedOver(t *testing.T) {
	r := named(t, renamedRows("lang7.4-fpm", "lang8.4-fpm", "vm-17-jre", "vm-21-jre", "one2", "one3", "libx1", "libx2", "other1-a", "else2-a"), map[string]string{
		"/usr/bin/lang7.4": "lang7.4-fpm", "/usr/lib/jvm/java-17-vm/bin/java": "vm-17-jre",
	})
	for was, want := range map[string]string{
		"Requires=lang7.4-fpm.service":                         "Requires=lang8.4-fpm.service",
		`SetHandler "proxy:unix:/run/lang/lang7.4-fpm.sock|x"`: `SetHandler "proxy:unix:/run/lang/lang8.4-fpm.sock|x"`,
		"* * * * * root /usr/bin/lang7.4 /srv/lang7.4/x":       "* * * * * root /usr/bin/lang8.4 /srv/lang7.4/x",
		"exec /usr/lib/jvm/java-17-vm/bin/java -Xmx17m":        "exec /usr/lib/jvm/java-21-vm/bin/java -Xmx17m",
		"systemctl reload apache2 && service apache2 status":   "systemctl reload httpd && service httpd status",
		"lang-fpm7.4 -t && lang-cgi7.4 x":                      "lang-fpm8.4 -t && lang-cgi7.4 x",
		"lang7.4":                                              "lang8.4",
		"lang7.41":                                             "lang7.41",
		"lang7.4.1":                                            "lang7.4.1",
		"mylang7.4":                                            "mylang7.4",
		"# lang7.4":                                            "# lang7.4",
		"libx1":                                                "libx1",
		"other1":                                               "other1",
	} {
		now, renamed, lost := r.Text(was)
		if now != want || len(lost) != 0 || (now != was) != (len(renamed) > 0) {
			t.Errorf("%q became %q, not %q; %v %v", was, now, want, renamed, lost)
		}
	}
}

func TestUnitsRunAsTheTargetsAccounts(t *testing.T) {
	where := New(nil, nil)
	where.accounts["apache"] = api.Relocation{To: new("www-data")}
	where.Groups["wheel"] = api.Relocation{To: new("sudo")}
	r := NewReferences(nil, where, "debian-13")
	for was, want := range map[string]string{
		"User=apache":                          "User=www-data",
		"Group = apache":                       "Group = www-data",
		"SupplementaryGroups=wheel apache web": "SupplementaryGroups=sudo www-data web",
		"SocketUser=apache":                    "SocketUser=www-data",
		"user=apache":                          "user=apache",
		"DBUser=apache":                        "DBUser=apache",
		"User=wheel":                           "User=wheel",
		"User=apachectl":                       "User=apachectl",
		"User=":                                "User=",
		"Description=User=apache":              "Description=User=apache",
		"Environment=GROUP=wheel User=apache":  "Environment=GROUP=wheel User=apache",
	} {
		now, renamed, lost := r.Text(was)
		if now != want || len(lost) != 0 || (now != was) != (len(renamed) > 0) {
			t.Errorf("%q became %q, not %q; %v %v", was, now, want, renamed, lost)
		}
	}
}

// TestAccountsOfCommandsAreTheTargets: of what names accounts, and of nothing else.
func TestAccountsOfCommandsAreTheTargets(t *testing.T) {
	where := New([]Row{{Name: "cache", Canonical: "c"}, {Name: "web", Canonical: "w"}}, map[string][]api.Relocation{
		"w": {{Kind: api.RelocateUser, From: "apache", To: new("www-data")}, {Kind: api.RelocateGroup, From: "apache", To: new("www-data")}},
		"c": {{Kind: api.RelocateUser, From: "squid", To: new("proxy")}, {Kind: api.RelocateGroup, From: "squid", To: new("proxy")}},
	})
	r := NewReferences(nil, where, "debian-13").Of("cache", "")
	for was, want := range map[string]string{
		"chown -R apache:apache /srv/apache":                            "chown -R www-data:www-data /srv/apache",
		"chown apache /a; chown squid.root b":                           "chown www-data /a; chown proxy.root b",
		"chown :apache a":                                               "chown :www-data a",
		"chgrp -R apache /srv/x":                                        "chgrp -R www-data /srv/x",
		"sudo -u apache php /srv/apache/x":                              "sudo -u www-data php /srv/apache/x",
		"sudo -n -u apache php":                                         "sudo -n -u www-data php",
		"su - apache -s /bin/sh -c x":                                   "su - www-data -s /bin/sh -c x",
		"su -s /bin/sh apache -c x":                                     "su -s /bin/sh www-data -c x",
		"install -d -o apache -g apache -m 755 /srv/x":                  "install -d -o www-data -g www-data -m 755 /srv/x",
		"rsync -a --chown=apache:apache a b":                            "rsync -a --chown=www-data:www-data a b",
		"  WSGIDaemonProcess apache user=apache group=apache threads=3": "  WSGIDaemonProcess apache user=www-data group=www-data threads=3",
		"  SuexecUserGroup apache apache":                               "  SuexecUserGroup www-data www-data",
		"setfacl -m u:apache:rwX /srv/x":                                "setfacl -m u:www-data:rwX /srv/x",
		"d /run/app 0755 apache apache -":                               "d /run/app 0755 www-data www-data -",
		"d /run/app - root apache 10d":                                  "d /run/app - root www-data 10d",
		"cache_effective_user squid":                                    "cache_effective_user proxy",
		"cache_effective_group = squid":                                 "cache_effective_group = proxy",
		"uid = squid":                                                   "uid = proxy",
		"gid = squid":                                                   "gid = proxy",
		"user = apache":                                                 "user = apache", // another package's
		"proxy_user squid 12":                                           "proxy_user squid 12",
		"echo apache":                                                   "echo apache",
		"tar cf apache.tar apache":                                      "tar cf apache.tar apache",
		"chown apachectl:apaches x":                                     "chown apachectl:apaches x",
		"visible_hostname squid":                                        "visible_hostname squid",
	} {
		now, renamed, lost := r.Text(was)
		if now != want || len(lost) != 0 || (now != was) != (len(renamed) > 0) {
			t.Errorf("%q became %q, not %q; %v %v", was, now, want, renamed, lost)
		}
		text := was // what a person is told to write does the same
		for _, m := range renamed {
			text = strings.ReplaceAll(text, m.Name, m.Now)
		}
		if text != want {
			t.Errorf("%q, as it is told, is %q", was, text)
		}
	}
}

// TestEveryUnitBehindAVerbIsNamed, and what else has such a name stays.
func TestEveryUnitBehindAVerbIsNamed(t *testing.T) {
	r := named(t, nil, nil)
	r.where.units["lang.service"] = api.Relocation{To: new("lang8.4.service"), Action: api.ActionConvert}
	for was, want := range map[string]string{
		"systemctl reload lang apache2 other >/srv/apache2":                                              "systemctl reload lang8.4 httpd other >/srv/apache2",
		"systemctl is-active apache2 -q || echo apache2":                                                 "systemctl is-active httpd -q || echo apache2",
		"service apache2 reload; systemctl start lang mine":                                              "service httpd reload; systemctl start lang8.4 mine",
		"for u in apache2 lang other; do systemctl is-active -q $u || echo apache2; done":                "for u in httpd lang8.4 other; do systemctl is-active -q $u || echo apache2; done",
		"for u in apache2\ndo\n  service \"${u}\" status\ndone":                                          "for u in httpd\ndo\n  service \"${u}\" status\ndone",
		"local all=\"lang mine\"\nnames='apache2'\nfor s in $all; do systemctl --quiet restart $s; done": "local all=\"lang8.4 mine\"\nnames='apache2'\nfor s in $all; do systemctl --quiet restart $s; done",
		"A=(apache2 lang)\nfor s in \"${A[@]}\"; do systemctl status $s; done":                           "A=(httpd lang8.4)\nfor s in \"${A[@]}\"; do systemctl status $s; done",
		"for u in apache2 lang; do ls /srv/$u; done":                                                     "for u in apache2 lang; do ls /srv/$u; done",
	} {
		now, renamed, _ := r.Text(was)
		text := was
		for _, m := range renamed {
			text = strings.ReplaceAll(text, m.Name, m.Now)
		}
		if now != want || text != want {
			t.Errorf("%q became %q and %q, not %q", was, now, text, want)
		}
	}
}

// TestFoldersAndSocketsAreTheTargets: a package's own folder, where a program listens, and
// what the plan brings elsewhere.
func TestFoldersAndSocketsAreTheTargets(t *testing.T) {
	where := New([]Row{{Name: "p", Canonical: "p"}}, map[string][]api.Relocation{"p": {
		{Kind: api.RelocateDir, From: "/etc/httpd", To: new("/etc/apache2"), Action: api.ActionCopy},
		{Kind: api.RelocateDir, From: "/etc/other", To: new("/etc/there"), Action: api.ActionManual},
		{Kind: api.RelocateFile, From: "/var/lib/mysql/mysql.sock", To: new("/run/mysqld/mysqld.sock"), Action: api.ActionManual},
		{Kind: api.RelocateFile, From: "/var/lib/x/db", To: new("/var/lib/y/db"), Action: api.ActionManual},
	}})
	r := NewReferences(nil, where, "debian-13")
	r.Placed = map[string]string{"/etc/httpd/conf.d/a.conf": "/etc/apache2/sites-available/a.conf"}
	for was, want := range map[string]string{
		"tar czf x /etc/httpd /etc/other":      "tar czf x /etc/apache2 /etc/other",
		"mysql -S /var/lib/mysql/mysql.sock x": "mysql -S /run/mysqld/mysqld.sock x",
		"cp /var/lib/x/db /var/lib/mysql":      "cp /var/lib/x/db /var/lib/mysql",
		"vi /etc/httpd/conf.d/a.conf":          "vi /etc/apache2/sites-available/a.conf",
	} {
		if now, _, lost := r.Text(was); now != want || len(lost) > 0 {
			t.Errorf("%q became %q, not %q; %v", was, now, want, lost)
		}
	}
}

// TestFoldersOfWhichThereAreSeveralAreTold: what stood in one is in others, which nobody
// can choose by the name.
func TestFoldersOfWhichThereAreSeveralAreTold(t *testing.T) {
	where := New([]Row{{Name: "p", Canonical: "p"}}, map[string][]api.Relocation{"p": {
		{Kind: api.RelocateDir, From: "/etc/parts.d", To: new("/etc/p/conf.d"), Action: api.ActionConvert},
		{Kind: api.RelocateDir, From: "/var/zones", To: new("/var/cache/p"), Action: api.ActionManual},
		{Kind: api.RelocateDir, From: "/var/run/p", To: new("/run/p"), Action: api.ActionManual}, // the same
	}})
	now, renamed, lost := NewReferences(nil, where, "debian-13").Text("tar czf x /etc/parts.d /var/zones /var/run/p\n")
	is := is.New(t)
	is.Equal(now, "tar czf x /etc/parts.d /var/zones /var/run/p\n")
	is.Equal(len(renamed), 0)
	is.Equal(len(lost), 2)
	is.Equal(lost[0].Why, "What stands in this folder is in others in debian-13, such as /etc/p/conf.d.")
	is.Equal(lost[1].Name, "/var/zones")
}

func TestAScriptsFirstLineIsNoRemark(t *testing.T) {
	is := is.New(t)
	r := named(t, renamedRows("lang3.9", "lang3.13"), map[string]string{"/usr/bin/lang3.9": "lang3.9"})
	now, renamed, _ := r.Text("#!/usr/bin/lang3.9\n# lang3.9\nrun lang3.9\n")
	is.Equal(now, "#!/usr/bin/lang3.13\n# lang3.9\nrun lang3.13\n")
	is.Equal(len(renamed), 2)
	is.Equal(renamed[1].Line, 3)
}

func TestWhatHasNoCounterpartIsSaidByLine(t *testing.T) {
	is := is.New(t)
	rows := []Row{{Name: "gone", Relation: api.RelationRemoved, Sure: true}}
	r := named(t, rows, map[string]string{"/usr/sbin/gone": "gone"})
	now, _, lost := r.Text("a\nExecStart=/usr/sbin/gone -d\n")
	is.True(strings.Contains(now, "/usr/sbin/gone")) // it stays
	is.Equal(len(lost), 1)
	is.Equal(lost[0].Line, 2)
	is.Equal(lost[0].Name, "/usr/sbin/gone")
}

// TestWhatHasNoCounterpartStays as it is, where a package of a like name has one.
func TestWhatHasNoCounterpartStays(t *testing.T) {
	is := is.New(t)
	rows := append(renamedRows("lang2.7-doc", "lang3.13-doc"), Row{Name: "lang2.7-minimal", Relation: api.RelationRemoved, Sure: true})
	r := named(t, rows, map[string]string{"/usr/bin/lang2.7": "lang2.7-minimal"})
	now, renamed, lost := r.Text("#!/usr/bin/lang2.7\nsee lang2.7\n")
	is.Equal(now, "#!/usr/bin/lang2.7\nsee lang3.13\n")
	is.Equal(len(renamed), 1)
	is.Equal(lost[0].Line, 1)
}

func TestPackagesThatDisagreeNameNothing(t *testing.T) {
	is := is.New(t)
	r := named(t, renamedRows("x1-a", "x2-a", "x1-b", "x3-b"), nil)
	now, _, _ := r.Text("x1")
	is.Equal(now, "x1")
}

func TestDropInsFollowTheirUnit(t *testing.T) {
	is := is.New(t)
	r := named(t, renamedRows("lang7.4-fpm", "lang8.4-fpm"), nil)
	is.Equal(r.OfUnit("/etc/systemd/system/lang7.4-fpm.service.d/a.conf"), "/etc/systemd/system/lang8.4-fpm.service.d/a.conf")
	is.Equal(r.OfUnit("/etc/systemd/system/mine.service.d/lang7.4.conf"), "/etc/systemd/system/mine.service.d/lang7.4.conf")
}

// TestProgramsApartAreRead: scripts apart from /usr/local are people's own as those in it.
func TestProgramsApartAreRead(t *testing.T) {
	got := Programs(&assess.Assessment{Apart: []string{"/opt/a/bin/b"}}, 1<<20, nil)
	if len(got) != 1 || got[0] != "/opt/a/bin/b" {
		t.Errorf("%q", got)
	}
}

// TestAPersonsFileBelowAPackagesFolderNamesItsAccount: and the group of an account that the
// target calls otherwise.
func TestAPersonsFileBelowAPackagesFolderNamesItsAccount(t *testing.T) {
	where := New([]Row{{Name: "tunnel", Canonical: "t"}}, map[string][]api.Relocation{"t": {
		{Kind: api.RelocateUser, From: "tunnel", To: new("nobody")}, {Kind: api.RelocateGroup, From: "nobody", To: new("nogroup")},
	}})
	r := NewReferences(nil, where, "debian-13")
	for file, want := range map[string]string{
		"/etc/tunnel/server/office.conf": "user nobody\ngroup nogroup",
		"/etc/other/office.conf":         "user tunnel\ngroup tunnel",
		"/srv/tunnel/office.conf":        "user tunnel\ngroup tunnel",
	} {
		if now, _, _ := r.Of("", file).Text("user tunnel\ngroup tunnel"); now != want {
			t.Errorf("%s: %q", file, now)
		}
	}
}
