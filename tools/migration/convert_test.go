package migration

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/api"
	"svc/tools/convert"
	"svc/tools/migration/naming"
	"svc/tools/migration/valid"
)

// elServer is a web server of CentOS 7 with the given files.
func elServer(t *testing.T, texts map[string]string) Input {
	t.Helper()
	in := one(t, assess.Package{Name: "httpd", Manual: true}, api.Translation{Relation: api.RelationRenamed, Packages: to("apache2"), Confidence: 1})
	in.Assessment.Release = "centos-7"
	in.Relocations = map[string][]api.Relocation{"c": {
		{From: "apache", To: ptr("www-data"), Kind: api.RelocateUser, Action: api.ActionConvert},
		{From: "/etc/httpd", To: ptr("/etc/apache2"), Kind: api.RelocateDir, Action: api.ActionCopy},
	}}
	for path := range texts {
		in.Assessment.Configuration = append(in.Assessment.Configuration, assess.ConfigFile{Path: path, State: assess.ConfigUnowned, Mode: "0640", Owner: "root", Group: "apache"})
	}
	in.Read = func(path string) ([]byte, error) {
		text, ok := texts[path]
		if !ok {
			return nil, errors.New("not there")
		}
		return []byte(text), nil
	}
	return in
}

func TestAConvertedFile(t *testing.T) {
	is := is.New(t)
	p := New(elServer(t, map[string]string{"/etc/httpd/conf.d/a.conf": "<VirtualHost *:80>\nNoSuchDirective On\n</VirtualHost>\n", "/etc/httpd/conf.d/b.conf": "RewriteEngine on\nErrorLog logs/b\n", "/etc/httpd/users": "a:b\n"}))
	rows := map[string]Config{}
	for _, c := range p.Configuration {
		rows[c.To+c.Link] = c
	}
	b := rows["/etc/apache2/conf-available/b.conf"]
	is.Equal(b.Action, Convert)
	is.Equal(*b.Text, "RewriteEngine on\nErrorLog /var/log/apache2/b\n")
	is.Equal(b.Changes[0].Line, 2)
	is.Equal(b.Group, "www-data")
	is.Equal(b.Mode, "0640")
	is.Equal(rows["/etc/apache2/mods-enabled/rewrite.load../mods-available/rewrite.load"].Action, Convert)
	is.Equal(rows["/etc/apache2/sites-enabled/000-default.conf"].Action, Remove)
	is.Equal(rows["/etc/apache2/users"].Action, Copy)
	a := rows["/etc/apache2/conf-available/a.conf"]
	is.Equal(a.Action, Action("")) // refused: its To is that of the index
	for _, c := range p.Configuration {
		if c.From == "/etc/httpd/conf.d/a.conf" {
			is.Equal(c.Action, Manual)
			is.Equal(c.Refusals[0].Line, 2)
		}
	}
}

// A secret that stays behind is not brought as it is where the target reads it otherwise.
func TestASecretOfTheOldRelease(t *testing.T) {
	is := is.New(t)
	in := elServer(t, map[string]string{"/etc/httpd/conf.d/old.conf": "ErrorLog logs/b\n", "/etc/httpd/conf.d/same.conf": "Timeout 20\n"})
	for i := range in.Assessment.Configuration {
		in.Assessment.Configuration[i].Secret = true
	}
	for _, c := range New(in).Configuration {
		is.Equal(c.Action, LeftOut)
		is.Equal(c.Old, c.From == "/etc/httpd/conf.d/old.conf")
	}
	in.IncludeSecrets = true
	for _, c := range New(in).Configuration {
		is.True(!c.Old)
	}
}

func TestWithoutTheProgramNothingIsConverted(t *testing.T) {
	is := is.New(t)
	in := elServer(t, map[string]string{"/etc/httpd/conf.d/b.conf": "Order allow,deny\n"})
	in.Translations["c"] = api.Translation{Relation: api.RelationUnknown}
	for _, c := range New(in).Configuration {
		is.Equal(c.Converter, "")
	}
}

// TestAccountsOfOtherFamilies: what the source's packages made is not a
// person's, and groups of the system have the target's names.
func TestAccountsOfOtherFamilies(t *testing.T) {
	is := is.New(t)
	where := naming.Places{Groups: map[string]api.Relocation{"wheel": {From: "wheel", To: ptr("sudo")}}}
	got := accounts(&assess.Assessment{
		Users:  []assess.User{{Name: "apache", UID: 48, GID: 48, System: true}, {Name: "anna", UID: 1000, GID: 1000, Home: "/home/anna", Groups: []string{"wheel"}}},
		Groups: []assess.Group{{Name: "apache", GID: 48, System: true}, {Name: "wheel", GID: 10, System: true}, {Name: "anna", GID: 1000}},
	}, where, &valid.Refused{})
	is.Equal(len(got.Users), 1)
	is.Equal(got.Users[0].Groups, []string{"sudo"})
	is.Equal(len(got.Groups), 1)
}

// TestAccountsOfPackagesKeepTheirGroups: a person's groups of them are carried, by the
// target's names; what is the same on every system of a family is not.
func TestAccountsOfPackagesKeepTheirGroups(t *testing.T) {
	is := is.New(t)
	where := naming.Places{Groups: map[string]api.Relocation{"wheel": {From: "wheel", To: ptr("sudo")}}}
	got := accounts(&assess.Assessment{
		Users: []assess.User{
			{Name: "root", GID: 0, System: true, Groups: []string{"house"}},
			{Name: "bin", UID: 1, GID: 1, System: true, Groups: []string{"adm"}},
			{Name: "www-data", UID: 33, GID: 33, System: true, Groups: []string{"adm", "house", "keys"}},
			{Name: "mosquitto", UID: 109, GID: 120, System: true, Groups: []string{"wheel"}},
		},
		Groups: []assess.Group{{Name: "adm", GID: 4, System: true}, {Name: "house", GID: 480, System: true}, {Name: "keys", GID: 2000}, {Name: "wheel", GID: 10, System: true}},
	}, where, &valid.Refused{})
	is.Equal(got.Members, []Member{{"www-data", []string{"house", "keys"}}, {"mosquitto", []string{"sudo"}}})
	is.Equal(len(got.Users), 0)
	is.Equal(len(got.Groups), 2) // house is a person's too, though its number is of the system
}

// TestTheNetworkWaits: what decides who reaches the machine is laid ready, and
// not put in place.
func TestTheNetworkWaits(t *testing.T) {
	is := is.New(t)
	texts := map[string]string{
		"/etc/sysconfig/network-scripts/ifcfg-eth0": "DEVICE=eth0\nIPADDR=192.0.2.2\nPREFIX=24\nONBOOT=yes\n", "/etc/sysconfig/network-scripts/route-eth0": "10.1.0.0/16 via 192.0.2.9\n", "/etc/machine-id": "0\n",
	}
	in := elServer(t, texts)
	for i := range in.Assessment.Configuration {
		in.Assessment.Configuration[i].Machine = true
	}
	p := New(in)
	rows := map[string][]Config{}
	for _, c := range p.Configuration {
		rows[c.From] = append(rows[c.From], c)
		is.True(c.To == "" || convert.Waits(c.To))
	}
	own := rows["/etc/sysconfig/network-scripts/ifcfg-eth0"]
	is.Equal(len(own), 2)
	is.Equal(own[1].To, "/etc/svc/network/etc/network/interfaces.d/eth0")
	is.Equal(own[1].Mode, "0644")
	is.True(strings.Contains(*own[1].Text, "up ip route add 10.1.0.0/16 via 192.0.2.9 dev eth0"))
	is.Equal(rows["/etc/sysconfig/network-scripts/route-eth0"][0].Action, LeftOut)
	is.Equal(rows["/etc/machine-id"][0].Action, LeftOut)
	is.True(slices.Contains(p.Install, "ifupdown"))
	is.True(slices.ContainsFunc(p.Findings, func(f assess.Finding) bool { return f.Key == "network.take-over" }))
}

// TestALinkInAFolderThatAPersonMoves is left to that person too.
func TestALinkInAFolderThatAPersonMoves(t *testing.T) {
	is := is.New(t)
	in := elServer(t, nil)
	in.Relocations["c"] = []api.Relocation{{From: "/etc/old", To: ptr("/etc/new"), Kind: api.RelocateDir, Action: api.ActionManual, Note: "Another form."}}
	in.Assessment.Configuration = []assess.ConfigFile{{Path: "/etc/old/a", State: assess.ConfigUnowned, Link: "../b", Mode: "0777", Owner: "root", Group: "root"}}
	row := New(in).Configuration[0]
	is.Equal(row.Action, Manual)
	is.Equal(row.Reason, "Another form.")
}

// TestWaysOfAnotherFamily: a file that no converter carries to the family of the
// target is not said to be good there because its path is the same.
func TestWaysOfAnotherFamily(t *testing.T) {
	for _, c := range []struct {
		from, into, file string
		want             Action
	}{
		{"debian-11", "sles-15", "/etc/apache2/sites-available/shop.conf", Manual},
		{"debian-11", "sles-15", "/etc/shop.ini", Copy},
		{"debian-11", "sles-15", "/etc/iptables/rules.v4", Manual},
		{"debian-11", "rocky-9", "/etc/anacrontab", Manual},
		{"centos-7", "rocky-9", "/etc/fail2ban/jail.local", Copy},
		{"debian-11", "debian-12", "/etc/apache2/sites-available/shop.conf", Copy},
	} {
		t.Run(c.into+c.file, func(t *testing.T) {
			is := is.New(t)
			in := elServer(t, map[string]string{c.file: "x\n"})
			in.Assessment.Release, in.Target, in.Relocations = c.from, target(t, c.into), nil
			row := New(in).Configuration[0]
			is.Equal(row.Action, c.want)
			is.True(row.Reason != "")
		})
	}
}

// TestLinksThatEnable: on the way from Debian what a link enables is enabled, and
// the link is told of.
func TestLinksThatEnable(t *testing.T) {
	is := is.New(t)
	in := elServer(t, map[string]string{"/etc/apache2/sites-available/shop.conf": "<VirtualHost *:80>\nSSLEngine on\n</VirtualHost>\n"})
	in.Assessment.Release, in.Target, in.Relocations = "debian-11", target(t, "rocky-9"), nil
	in.Translations["c"] = api.Translation{Relation: api.RelationRenamed, Packages: to("httpd"), Confidence: 1}
	in.Assessment.Configuration = append(in.Assessment.Configuration, assess.ConfigFile{Path: "/etc/apache2/sites-enabled/1-shop.conf", Link: "../sites-available/shop.conf", State: assess.ConfigUnowned, Mode: "0777", Owner: "root", Group: "root"})
	p := New(in)
	is.Equal(len(p.Configuration), 2)
	is.Equal(p.Configuration[0].To, "/etc/httpd/conf.d/1-shop.conf")
	is.Equal(p.Configuration[1].Action, LeftOut)
	is.Equal(p.Configuration[1].Link, "")
	is.Equal(len(p.Configuration[1].Changes), 1)
	is.True(slices.Contains(p.Install, "mod_ssl"))
}

// TestALinkIsReadThrough: where links enable nothing, what one leads to is
// converted in its place.
func TestALinkIsReadThrough(t *testing.T) {
	is := is.New(t)
	in := elServer(t, map[string]string{"/etc/httpd/conf.d/shop.conf": "RewriteEngine on\n"})
	in.Relocations["c"] = []api.Relocation{{From: "/etc/httpd", To: ptr("/etc/apache2"), Kind: api.RelocateDir, Action: api.ActionManual}}
	in.Assessment.Configuration[0].Link = "/srv/shop/httpd.conf"
	row := New(in).Configuration[0]
	is.Equal(row.To, "/etc/apache2/conf-available/shop.conf")
	text, err := in.Read(row.From)
	is.NoErr(err)
	is.True(row.Text == nil || *row.Text == string(text))
}

// TestOneSourceForEachFile: of two files that become one, that of the service in
// use is written; a person hears of the other.
func TestOneSourceForEachFile(t *testing.T) {
	for _, c := range []struct{ enabled, wins string }{{"ntp", "/etc/ntp.conf"}, {"chrony", "/etc/chrony.conf"}, {"", "/etc/chrony.conf"}} {
		t.Run(c.enabled, func(t *testing.T) {
			is := is.New(t)
			in := elServer(t, map[string]string{"/etc/chrony.conf": "server a\n", "/etc/ntp.conf": "server b\n"})
			in.Translations["c"] = api.Translation{Relation: api.RelationRenamed, Packages: to("chrony"), Confidence: 1}
			in.Assessment.Packages[0].Name, in.Assessment.Packages[0].Version, in.Target = "ntp", "4.2.6", target(t, "debian-13")
			for i, f := range in.Assessment.Configuration {
				in.Assessment.Configuration[i].Package = strings.TrimSuffix(strings.TrimPrefix(f.Path, "/etc/"), ".conf")
			}
			in.Assessment.Services = []assess.Unit{{Name: c.enabled + "d.service", Package: c.enabled, State: "enabled"}}
			for _, row := range New(in).Configuration {
				if row.From == c.wins {
					is.Equal(row.To, "/etc/chrony/chrony.conf")
					continue
				}
				is.Equal(row.Action, Manual)
				is.Equal(row.To, "")
				is.True(strings.HasPrefix(row.Reason, c.wins+" becomes"))
			}
		})
	}
}

// TestAnotherPlaceMendsNoCertificate: a file that is read no more where it stands is mended by
// another place, a certificate that is refused is not.
func TestAnotherPlaceMendsNoCertificate(t *testing.T) {
	is := is.New(t)
	p := &Plan{Configuration: []Config{{From: "/etc/pki/ca-trust/source/anchors/own.crt", To: "/usr/local/share/ca-certificates/own.crt", Action: Convert}}}
	f := assess.Finding{Key: "hazard.some.place", Evidence: []assess.Evidence{{Path: "/etc/pki/ca-trust/source/anchors/own.crt"}}}
	is.True(p.mended(f))
	f.Key = "hazard.tls.cert-lax"
	is.True(!p.mended(f))
}
