package naming

import (
	"strings"
	"testing"

	"github.com/matryer/is"

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
		"lang7.4":   "lang8.4",
		"lang7.41":  "lang7.41",
		"lang7.4.1": "lang7.4.1",
		"mylang7.4": "mylang7.4",
		"# lang7.4": "# lang7.4",
		"libx1":     "libx1",
		"other1":    "other1",
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
