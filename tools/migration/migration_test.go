package migration

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/index"
	"svc/backend/release"
	"svc/tools/convert"
	"svc/tools/migration/naming"
	"svc/tools/migration/valid"
)

func ptr[T any](v T) *T { return &v }

// target is the release that the tests move to.
func target(t interface{ Fatal(...any) }, slug string) release.Release {
	r, ok := release.Lookup(slug)
	if !ok {
		t.Fatal("no release", slug)
	}
	return r
}

// one is an input with one package.
func one(t *testing.T, p assess.Package, tr api.Translation) Input {
	t.Helper()
	role := api.RoleMain
	return Input{
		Assessment: &assess.Assessment{Release: "debian-11", Packages: []assess.Package{p}}, Target: target(t, "debian-13"),
		Resolutions:  []api.Resolution{{Package: p.Name, Canonical: ptr("c"), Role: &role, Confidence: 1, Match: api.MatchExact}},
		Translations: map[string]api.Translation{"c": tr},
	}
}

func to(names ...string) (all []api.TargetPackage) {
	for _, n := range names {
		all = append(all, api.TargetPackage{Name: n, Version: "2"})
	}
	return all
}

func TestWhatIsInstalled(t *testing.T) {
	chosen := assess.Package{Name: "p", Manual: true}
	with := func(change func(*assess.Package)) assess.Package { p := chosen; change(&p); return p }
	for name, c := range map[string]struct {
		p    assess.Package
		tr   api.Translation
		want []string
	}{
		"same":           {chosen, api.Translation{Relation: api.RelationSame, Packages: to("p"), Confidence: 0.99}, []string{"p"}},
		"split":          {chosen, api.Translation{Relation: api.RelationSplit, Packages: to("a", "b"), Confidence: 0.98}, []string{"a", "b"}},
		"a dependency":   {with(func(p *assess.Package) { p.Manual = false }), api.Translation{Relation: api.RelationSame, Packages: to("p"), Confidence: 0.99}, nil},
		"not sure":       {chosen, api.Translation{Relation: api.RelationRenamed, Packages: to("p"), Confidence: 0.79}, nil},
		"just sure":      {chosen, api.Translation{Relation: api.RelationRenamed, Packages: to("p"), Confidence: 0.8}, []string{"p"}},
		"included":       {chosen, api.Translation{Relation: api.RelationIncluded, Packages: to("p"), Confidence: 0.9}, nil},
		"removed":        {chosen, api.Translation{Relation: api.RelationRemoved, Confidence: 0.95}, nil},
		"unknown":        {chosen, api.Translation{Relation: api.RelationUnknown, Packages: to("p"), Confidence: 0.9}, nil},
		"a new relation": {chosen, api.Translation{Relation: "moved", Packages: to("p"), Confidence: 0.9}, nil},
		"essential":      {with(func(p *assess.Package) { p.Essential = true }), api.Translation{Relation: api.RelationSame, Packages: to("p"), Confidence: 0.99}, nil},
		"a library":      {with(func(p *assess.Package) { p.Section, p.Needed = "libs", true }), api.Translation{Relation: api.RelationSame, Packages: to("p"), Confidence: 0.99}, nil},
		"for itself":     {with(func(p *assess.Package) { p.Section = "libs" }), api.Translation{Relation: api.RelationSame, Packages: to("p"), Confidence: 0.99}, []string{"p"}},
		"a kernel":       {with(func(p *assess.Package) { p.Name = "linux-image-5.10.0-9-amd64" }), api.Translation{Relation: api.RelationSame, Packages: to("p"), Confidence: 0.99}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := New(one(t, c.p, c.tr))
			is.Equal(len(p.Install), len(c.want))
			is.True(slices.Equal(p.Install, c.want) || c.want == nil)
			is.True(p.Packages[0].Why != "") // every row has a reason
			is.Equal(p.Packages[0].Install, c.want != nil)
		})
	}
}

// TestWhatHasAServiceIsInstalledByName: what needed it on the source may bring another
// package in the target's release.
func TestWhatHasAServiceIsInstalledByName(t *testing.T) {
	is := is.New(t)
	same := api.Translation{Relation: api.RelationSame, Packages: to("p"), Confidence: 0.99}
	in := one(t, assess.Package{Name: "p"}, same)
	is.Equal(New(in).Install, []string{})
	in.Assessment.Services = []assess.Unit{{Name: "p.service", Manager: "systemd", State: "disabled", Package: "p"}}
	is.Equal(New(in).Install, []string{})
	in.Assessment.Services[0].State = "enabled"
	is.Equal(New(in).Install, []string{"p"})
	in.Assessment.Packages[0].Base = true
	is.Equal(New(in).Install, []string{})
}

func TestConditionsAreEvaluatedHere(t *testing.T) {
	is := is.New(t)
	tr := api.Translation{Relation: api.RelationSame, Packages: to("p"), Confidence: 0.99, Conditionals: []api.Conditional{
		{When: api.Condition{CanonicalInstalled: "c"}, Packages: []string{"with-c"}},
		{When: api.Condition{CanonicalInstalled: "d"}, Packages: []string{"with-d"}},
		{When: api.Condition{ServiceEnabled: "cron"}, Packages: []string{"with-cron"}},
		{When: api.Condition{PathExists: "/x"}, Packages: []string{"with-x"}},
	}}
	in := one(t, assess.Package{Name: "p", Manual: true}, tr)
	in.Assessment.Services = []assess.Unit{{Name: "cron.service", State: "enabled"}}
	in.PathExists = func(path string) bool { return path == "/x" }
	is.Equal(New(in).Install, []string{"p", "with-c", "with-cron", "with-x"})
}

// TestEveryConditionOfTheIndexIsEvaluated: each row brings its packages to a machine
// that meets it, says so, and brings them to no other.
func TestEveryConditionOfTheIndexIsEvaluated(t *testing.T) {
	rows := 0
	for canonical, told := range conditionals(t) {
		for _, c := range told {
			rows++
			tr := api.Translation{Canonical: canonical, Relation: api.RelationSame, Packages: to("p"), Confidence: 0.99, Conditionals: []api.Conditional{c}}
			in := one(t, assess.Package{Name: "p"}, tr) // nobody chose it: the condition speaks for itself
			if p := New(in); len(p.Install) != 0 || len(p.Packages[0].Caveats) != 0 {
				t.Errorf("%s: %v installs %v where it does not hold", canonical, c.When, p.Install)
			}
			p := New(meeting(in, c.When))
			if !slices.Equal(p.Install, slices.Sorted(slices.Values(c.Packages))) || len(p.Packages[0].Caveats) != 1 || !strings.HasPrefix(p.Packages[0].Caveats[0].Text, c.Text) {
				t.Errorf("%s: %v installs %v, and says %v", canonical, c.When, p.Install, p.Packages[0].Caveats)
			}
		}
	}
	if rows < 60 {
		t.Errorf("the index has %d conditions", rows)
	}
}

// meeting is an input whose machine meets a condition.
func meeting(in Input, when api.Condition) Input {
	a := *in.Assessment
	in.Assessment = &a
	switch {
	case when.ServiceEnabled != "":
		a.Services = []assess.Unit{{Name: when.ServiceEnabled, State: "enabled"}}
	case when.PathExists != "":
		in.PathExists = func(path string) bool { return path == when.PathExists }
	default:
		a.Packages = append(slices.Clone(a.Packages), assess.Package{Name: "other"})
		in.Resolutions = append(slices.Clone(in.Resolutions), api.Resolution{Package: "other", Canonical: &when.CanonicalInstalled, Confidence: 1})
	}
	return in
}

// conditionals are all that the index tells of any move, by canonical.
func conditionals(t *testing.T) map[string][]api.Conditional {
	t.Helper()
	ix, err := index.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := os.ReadFile("../../backend/index/data/conditions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for line := range strings.Lines(string(rows)) {
		if name, _, ok := strings.Cut(line, "\t"); ok && !strings.HasPrefix(line, "#") {
			names = append(names, name)
		}
	}
	names = slices.Compact(names)
	all := map[string][]api.Conditional{}
	for _, source := range release.All() {
		for _, target := range release.All() {
			told, err := ix.Translate(source.Slug, target.Slug, names)
			if err != nil {
				t.Fatal(err)
			}
			for _, tr := range told {
				for _, c := range tr.Conditionals {
					if !slices.ContainsFunc(all[tr.Canonical], func(o api.Conditional) bool { return reflect.DeepEqual(o, c) }) {
						all[tr.Canonical] = append(all[tr.Canonical], c)
					}
				}
			}
		}
	}
	return all
}

// TestTheSumIsClosed: whatever the index answers, every package is counted
// once, and nothing unsure is installed.
func TestTheSumIsClosed(t *testing.T) {
	relations := append([]api.Relation{"", "odd"}, api.Relations...)
	rapid.Check(t, func(t *rapid.T) {
		in := Input{Assessment: &assess.Assessment{Release: "debian-11"}, Target: target(t, "debian-13"), Translations: map[string]api.Translation{}}
		for i := range rapid.IntRange(0, 30).Draw(t, "packages") {
			name := string(rune('a' + i))
			in.Assessment.Packages = append(in.Assessment.Packages, assess.Package{Name: name, Manual: rapid.Bool().Draw(t, "manual")})
			r := api.Resolution{Package: name, Confidence: rapid.Float64Range(0, 1).Draw(t, "resolved")}
			if rapid.Bool().Draw(t, "known") {
				r.Canonical = &name
			}
			in.Resolutions = append(in.Resolutions, r)
			if rapid.Bool().Draw(t, "answered") {
				in.Translations[name] = api.Translation{Relation: rapid.SampledFrom(relations).Draw(t, "relation"), Confidence: rapid.Float64Range(0, 1).Draw(t, "c"), Packages: to(name)}
			}
		}
		p := New(in)
		s := p.Sum
		if parts := s.Same + s.Renamed + s.Split + s.Merged + s.Replaced + s.Included + s.Removed + s.Unknown; s.Total != len(in.Assessment.Packages) || parts != s.Total {
			t.Fatalf("%d packages, total %d, parts %d", len(in.Assessment.Packages), s.Total, parts)
		}
		for _, row := range p.Packages {
			if row.Install && row.Confidence < Sure {
				t.Fatalf("%s is installed at %f", row.Name, row.Confidence)
			}
		}
		b, err := json.Marshal(p)
		if err != nil || strings.Contains(string(b), ":null") {
			t.Fatalf("a null in %s (%v)", b, err)
		}
	})
}

// moved is an input with relocations and one configuration file.
func moved(t *testing.T, f assess.ConfigFile) Input {
	t.Helper()
	in := one(t, assess.Package{Name: "php7.4-fpm"}, api.Translation{Relation: api.RelationRenamed, Packages: to("php8.4-fpm"), Confidence: 0.9})
	in.Relocations = map[string][]api.Relocation{"c": {
		{From: "/etc/php/7.4/fpm", To: ptr("/etc/php/8.4/fpm"), Kind: api.RelocateDir, Action: api.ActionConvert, Note: "check"},
		{From: "/etc/apache2/conf-available/php7.4-fpm.conf", To: ptr("/etc/apache2/conf-available/php8.4-fpm.conf"), Kind: api.RelocateFile, Action: api.ActionCopy},
		{From: "/etc/gone.conf", Kind: api.RelocateFile, Action: api.ActionDrop, Note: "not shipped any more"},
		{From: "/etc/yum.conf", To: ptr("/etc/apt/apt.conf.d"), Kind: api.RelocateFile, Action: api.ActionManual},
		{From: "php7.4-fpm.service", To: ptr("php8.4-fpm.service"), Kind: api.RelocateService, Action: api.ActionConvert},
		{From: "old.service", Kind: api.RelocateService, Action: api.ActionDrop},
	}}
	if f.Owner == "" {
		f.Owner, f.Group = "root", "root"
	}
	in.Assessment.Configuration = []assess.ConfigFile{f}
	return in
}

func TestWhereConfigurationGoes(t *testing.T) {
	for name, c := range map[string]struct {
		f      assess.ConfigFile
		action Action
		to     string
		link   string
	}{
		"stays where it is":    {assess.ConfigFile{Path: "/etc/hosts", State: assess.ConfigUnowned}, Copy, "/etc/hosts", ""},
		"in a moved folder":    {assess.ConfigFile{Path: "/etc/php/7.4/fpm/php.ini", State: assess.ConfigChanged}, Convert, "/etc/php/8.4/fpm/php.ini", ""},
		"of another version":   {assess.ConfigFile{Path: "/etc/postgresql/13/main/pg_hba.conf", State: assess.ConfigUnowned}, Manual, "", ""},
		"not shipped any more": {assess.ConfigFile{Path: "/etc/gone.conf", State: assess.ConfigChanged}, Manual, "", ""},
		"deleted":              {assess.ConfigFile{Path: "/etc/cron.daily/x", State: assess.ConfigMissing}, Remove, "/etc/cron.daily/x", ""},
		"deleted, elsewhere":   {assess.ConfigFile{Path: "/etc/yum.conf", State: assess.ConfigMissing}, Manual, "", ""},
		"deleted, and gone":    {assess.ConfigFile{Path: "/etc/gone.conf", State: assess.ConfigMissing}, LeftOut, "", ""},
		"a secret":             {assess.ConfigFile{Path: "/etc/k.key", State: assess.ConfigUnowned, Secret: true}, LeftOut, "", ""},
		"the machine's own":    {assess.ConfigFile{Path: "/etc/fstab", State: assess.ConfigUnowned, Machine: true}, LeftOut, "", ""},
		"unreadable":           {assess.ConfigFile{Path: "/etc/x", State: assess.ConfigUnreadable}, Manual, "", ""},
		"no UTF-8":             {assess.ConfigFile{Path: "/etc/\xff", State: assess.ConfigUnowned}, Manual, "", ""},
		"apt's":                {assess.ConfigFile{Path: "/etc/apt/sources.list.d/x.list", State: assess.ConfigUnowned}, LeftOut, "", ""},
		"a link":               {assess.ConfigFile{Path: "/etc/apache2/sites-enabled/a.conf", Link: "../sites-available/a.conf", State: assess.ConfigUnowned}, Copy, "/etc/apache2/sites-enabled/a.conf", "../sites-available/a.conf"},
		"a link to what moves": {assess.ConfigFile{Path: "/etc/apache2/conf-enabled/php7.4-fpm.conf", Link: "../conf-available/php7.4-fpm.conf", State: assess.ConfigUnowned}, Copy, "/etc/apache2/conf-enabled/php8.4-fpm.conf", "../conf-available/php8.4-fpm.conf"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got := New(moved(t, c.f)).Configuration[0]
			is.Equal(got.Action, c.action)
			is.Equal(got.To, c.to)
			is.Equal(got.Link, c.link)
			is.True(got.Reason != "")
		})
	}
	in := moved(t, assess.ConfigFile{Path: "/etc/k.key", State: assess.ConfigUnowned, Secret: true})
	in.IncludeSecrets = true
	is.New(t).Equal(New(in).Configuration[0].Action, Copy)
}

// TestAFileThatNamesItsOldPlaceIsNotMoved: postgresql.conf says where its
// cluster's data are, by version.
func TestAFileThatNamesItsOldPlaceIsNotMoved(t *testing.T) {
	is := is.New(t)
	in := moved(t, assess.ConfigFile{Path: "/etc/php/7.4/fpm/php.ini", State: assess.ConfigChanged})
	in.Mentions = func(path, text string) bool { return path == "/etc/php/7.4/fpm/php.ini" && text == "/7.4/" }
	is.Equal(New(in).Configuration[0].Action, Manual)
	is.Equal(naming.OldVersion(api.Relocation{From: "/etc/postgresql/13/main", To: ptr("/etc/postgresql/17/main")}), "/13/")
	is.Equal(naming.OldVersion(api.Relocation{From: "/etc/a/php7.4-fpm.conf", To: ptr("/etc/a/php8.4-fpm.conf")}), "php7.4")
	is.Equal(naming.OldVersion(api.Relocation{From: "/etc/a", To: ptr("/etc/b")}), "")
}

// TestPackagesThatTheSourceIsWithout are not brought where others only recommend them.
func TestPackagesThatTheSourceIsWithout(t *testing.T) {
	is := is.New(t)
	in := moved(t, assess.ConfigFile{Path: "/etc/hosts"})
	in.Assessment.Unmet = []string{"default-mta", "no name", "whois"}
	is.Equal(New(in).System.Unwanted, []string{"default-mta", "whois"})
	in.Assessment.Facts = []assess.Fact{{Area: "packages", Key: "APT::Install-Recommends", Value: "false"}}
	is.Equal(New(in).System.Unwanted, nil) // none is brought
	in.Assessment.Facts = nil
	in.Target, _ = release.Lookup("rocky-9")
	is.Equal(New(in).System.Unwanted, nil)
}

// TestDependenciesThatTheTargetOnlyRecommends are known to a role that installs nothing
// that is only recommended: what came with others on the source, and no more.
func TestDependenciesThatTheTargetOnlyRecommends(t *testing.T) {
	is := is.New(t)
	in := moved(t, assess.ConfigFile{Path: "/etc/hosts"})
	in.Assessment.Facts = []assess.Fact{{Area: "packages", Key: "APT::Install-Recommends", Value: "false"}}
	is.Equal(New(in).System.Dependencies, []string{"php8.4-fpm"})
	is.Equal(New(in).Install, []string{})
	in.Assessment.Packages[0].Manual = true // the role installs it anyway
	is.Equal(len(New(in).System.Dependencies), 0)
	in.Assessment.Packages[0].Manual = false
	unsure := in.Translations["c"]
	unsure.Confidence = 0.5
	in.Translations["c"] = unsure
	is.Equal(len(New(in).System.Dependencies), 0)
	unsure.Confidence = 0.9
	in.Translations["c"] = unsure
	in.Assessment.Packages[0].Name = "linux-image-amd64" // the target has its own
	is.Equal(len(New(in).System.Dependencies), 0)
	in.Assessment.Packages[0].Name = "php7.4-fpm"
	in.Assessment.Facts = nil
	is.Equal(New(in).System.Dependencies, nil) // apt brings them
}

// TestClustersBesideMain go where main goes, and the role makes those that it can name.
func TestClustersBesideMain(t *testing.T) {
	is := is.New(t)
	in := moved(t, assess.ConfigFile{Path: "/etc/postgresql/13/reports/environment", State: assess.ConfigUnowned})
	database := func(name, version, dir string) assess.Database {
		return assess.Database{Engine: "postgresql", Name: name, Version: version, Directory: dir, Port: 5433, Package: "php7.4-fpm", Evidence: assess.Evidence{Path: "/etc/postgresql/" + version + "/" + name + "/postgresql.conf"}}
	}
	bare := database("pgsql", "13", "/opt/pg")
	bare.Evidence.Path = "/opt/pg/PG_VERSION"
	in.Assessment.Databases = []assess.Database{
		database("main", "13", "/var/lib/postgresql/13/main"), database("reports", "13", "/var/lib/postgresql/13/reports"), database("stats", "13", "/srv/13/stats"),
		database("-x; y", "13", "/srv/x"), database("old", "12", "/var/lib/postgresql/12/old"), bare,
	}
	is.Equal(New(in).Clusters, nil) // where they go is not known
	is.Equal(New(in).Configuration[0].Action, Manual)
	canonical := *in.Resolutions[0].Canonical
	in.Relocations[canonical] = append(in.Relocations[canonical], api.Relocation{Kind: api.RelocateDir, From: "/etc/postgresql/13/main", To: ptr("/etc/postgresql/17/main"), Action: api.ActionConvert})
	p := New(in)
	is.Equal(p.Clusters, []Cluster{{"17", "reports", 5433, "/var/lib/postgresql/17/reports"}, {"17", "stats", 5433, "/srv/13/stats"}})
	is.Equal(p.Configuration[0].To, "/etc/postgresql/17/reports/environment")
	in.Assessment.Databases = []assess.Database{database("main", "13", "/data/postgresql/13/main")}
	is.Equal(New(in).Clusters, []Cluster{{"17", "main", 5433, "/data/postgresql/17/main"}}) // its package makes it elsewhere
	in.Target, _ = release.Lookup("rocky-9")
	is.Equal(New(in).Clusters, nil)
}

func TestServices(t *testing.T) {
	is := is.New(t)
	in := moved(t, assess.ConfigFile{Path: "/etc/hosts"})
	in.Assessment.Services = []assess.Unit{
		{Name: "php7.4-fpm.service", State: "disabled", Package: "php7.4-fpm"},
		{Name: "old.service", State: "enabled"},
		{Name: "mine.service", State: "enabled", Local: true},
		{Name: "usual.service", State: "enabled", Preset: true},
		{Name: "helper.service", State: "enabled", Preset: true, Package: "php7.4-fpm"},
	}
	byName := map[string]Service{}
	for _, s := range New(in).Services {
		byName[s.Unit] = s
	}
	is.Equal(byName["php7.4-fpm.service"].To, "php8.4-fpm.service")
	is.True(byName["php7.4-fpm.service"].Apply)
	is.Equal(byName["old.service"].To, "")
	is.True(!byName["old.service"].Apply)
	is.True(byName["mine.service"].Apply)
	is.True(!byName["usual.service"].Apply)
	is.True(byName["helper.service"].Apply) // a later release of its package may not enable it
}

func TestADeletedFileHasNoOwner(t *testing.T) {
	is := is.New(t)
	in := moved(t, assess.ConfigFile{Path: "/etc/hosts", State: assess.ConfigMissing})
	in.Assessment.Configuration[0].Owner, in.Assessment.Configuration[0].Group = "", ""
	c := New(in).Configuration[0]
	is.Equal(c.Action, Remove)
	is.Equal(c.To, "/etc/hosts")
}

// TestADeletedFileOfAnotherFamilyStays: a file of CentOS that is gone deletes nothing of Debian.
func TestADeletedFileOfAnotherFamilyStays(t *testing.T) {
	is := is.New(t)
	in := moved(t, assess.ConfigFile{Path: "/etc/login.defs", State: assess.ConfigMissing})
	in.Assessment.Release = "centos-7"
	is.Equal(New(in).Configuration[0].Action, Manual)
}

func TestServicesOfOtherManagers(t *testing.T) {
	is := is.New(t)
	in := moved(t, assess.ConfigFile{Path: "/etc/hosts"})
	in.Assessment.Services = []assess.Unit{
		{Name: "httpd", Manager: "sysv", State: "enabled", Path: "/etc/rc.d/init.d/httpd"},
		{Name: "own", Manager: "sysv", State: "enabled", Local: true, Path: "/etc/rc.d/init.d/own"},
		{Name: "job", Manager: "upstart", State: "enabled", Local: true, Path: "/etc/init/job.conf"},
		{Name: "agent.service", Manager: "systemd", State: "enabled", Local: true, Path: "/opt/agent/agent.service"},
		{Name: "tftp", Manager: "xinetd", State: "enabled", Path: "/etc/xinetd.d/tftp"},
		{Name: "masked.service", Manager: "systemd", State: "masked"},
		{Name: "never.service", Manager: "systemd", State: "masked", Preset: true}, // by its package, in a release of another family
	}
	byName := map[string]Service{}
	for _, s := range New(in).Services {
		byName[s.Unit] = s
	}
	is.Equal(byName["httpd"].To, "httpd.service")
	is.True(byName["httpd"].Apply)
	is.True(byName["own"].Apply)
	is.True(byName["masked.service"].Apply)
	is.True(!byName["never.service"].Apply)
	for _, name := range []string{"job", "agent.service", "tftp"} {
		is.Equal(byName[name].To, "")
		is.True(!byName[name].Apply)
	}
}

// TestCrontabsOfEveryFamily: users' tables stand elsewhere on each.
func TestCrontabsOfEveryFamily(t *testing.T) {
	is := is.New(t)
	in := moved(t, assess.ConfigFile{Path: "/etc/hosts"})
	for _, file := range []string{"/var/spool/cron/anna", "/var/spool/cron/tabs/anna", "/var/spool/cron/crontabs/anna", "/etc/crontabs/anna"} {
		c, ok := crontab(in, naming.Places{}, assess.CronJob{User: "anna", Command: "x", Evidence: assess.Evidence{Path: file, Line: 1}})
		is.True(ok)
		is.Equal(c.To, "/var/spool/cron/crontabs/anna")
		is.Equal(c.Owner, "anna")
	}
	_, ok := crontab(in, naming.Places{}, assess.CronJob{User: "root", Command: "x", Evidence: assess.Evidence{Path: "/etc/cron.d/x", Line: 1}})
	is.True(!ok)
}

// TestAnAccountThatIsEnteredByAKey: whoever made it, what logs in to it needs its shell.
func TestAnAccountThatIsEnteredByAKey(t *testing.T) {
	is := is.New(t)
	in := one(t, assess.Package{Name: "p", Manual: true}, api.Translation{Relation: api.RelationSame, Packages: to("p"), Confidence: 0.99})
	keys := []string{"ssh-ed25519 AAAA x"}
	in.Assessment.Users = []assess.User{
		{Name: "git", UID: 995, GID: 994, System: true, Home: "/srv/git", Shell: "/bin/bash", AuthorizedKeys: keys},
		{Name: "redis", UID: 101, GID: 101, System: true},
		{Name: "root", System: true, AuthorizedKeys: keys},
	}
	in.Assessment.Groups = []assess.Group{{Name: "git", GID: 994, System: true}}
	p := New(in)
	is.Equal(len(p.Accounts.Users), 1)
	is.Equal(p.Accounts.Users[0].Shell, "/bin/bash")
	is.Equal(len(p.Accounts.Groups), 1)
}

func TestAccountsOfPeople(t *testing.T) {
	is := is.New(t)
	got := accounts(&assess.Assessment{
		Users: []assess.User{{Name: "root", UID: 0, System: true}, {Name: "mysql", UID: 101, System: true}, {Name: "worker", UID: 998, GID: 998, System: true}, {Name: "anna", UID: 1000, GID: 1000, Groups: []string{"sudo", "docker"}}},
		Groups: []assess.Group{
			{Name: "root", System: true},
			{Name: "sudo", GID: 27, System: true},
			{Name: "docker", GID: 998, System: true},
			{Name: "worker", GID: 998, System: true},
			{Name: "unused", GID: 997, System: true},
			{Name: "anna", GID: 1000},
			{Name: "team", GID: 1600},
		},
	}, naming.Places{}, &valid.Refused{})
	is.Equal([]string{got.Users[0].Name, got.Users[1].Name}, []string{"worker", "anna"})
	is.Equal(len(got.Users), 2)
	is.Equal(len(got.Groups), 4) // docker, worker, anna, team
}

func TestInhibitors(t *testing.T) {
	is := is.New(t)
	in := one(t, assess.Package{Name: "p", Manual: true}, api.Translation{Relation: api.RelationUnknown})
	in.Assessment.Findings = []assess.Finding{{Key: "machine.stop", Inhibitor: true}, {Key: "machine.note"}}
	in.Target = target(t, "debian-10")
	keys := []string{}
	for _, f := range New(in).Inhibitors {
		keys = append(keys, f.Key)
	}
	is.Equal(keys, []string{"machine.stop", "target.older", "packages.unknown"})
}

func TestDatabases(t *testing.T) {
	is := is.New(t)
	db := assess.Database{Engine: "mysql", Version: "8.0", Directory: "/var/lib/mysql", Package: "p"}
	in := one(t, assess.Package{Name: "p", Manual: true}, api.Translation{Relation: api.RelationRemoved, Confidence: 0.95})
	in.Assessment.Databases = []assess.Database{db}
	is.Equal(New(in).Inhibitors[0].Key, "target.database.mysql") // no server for the data
	in = one(t, assess.Package{Name: "p", Manual: true}, api.Translation{Relation: api.RelationSame, Packages: to("p"), Confidence: 0.99})
	in.Assessment.Databases = []assess.Database{db}
	is.Equal(len(New(in).Inhibitors), 0)
	is.Equal(New(in).Findings[0].Severity, assess.High)
}

func TestWhatARoleBringsElsewhereIsMended(t *testing.T) {
	is := is.New(t)
	p := &Plan{Configuration: []Config{{From: "/etc/a.conf", To: "/etc/a.d/local.conf", Action: Convert}, {From: "/etc/b.conf", To: "/etc/b.conf", Action: Convert, Changes: []convert.Change{{Line: 2}}}}}
	says := func(all ...assess.Evidence) bool { return p.mended(assess.Finding{Evidence: all}) }
	is.True(says(assess.Evidence{Path: "/etc/a.conf"}, assess.Evidence{Path: "/etc/a.conf", Line: 7})) // it is the place that was wrong
	is.True(!says(assess.Evidence{Path: "/etc/a.conf", Line: 7}))                                      // the line came along as it was
	is.True(!says(assess.Evidence{Path: "/etc/b.conf"}, assess.Evidence{Path: "/etc/b.conf", Line: 3}))
	is.True(says(assess.Evidence{Path: "/etc/b.conf", Line: 2}))
	is.True(!says())
}

func TestOtherLocalesAreMade(t *testing.T) {
	is := is.New(t)
	in := Input{Assessment: &assess.Assessment{System: assess.System{Locale: "de_DE.UTF-8"}}, Target: target(t, "debian-13"), Read: func(string) ([]byte, error) {
		return []byte("# en_GB.UTF-8 UTF-8\nde_DE.UTF-8 UTF-8\n en_US.UTF-8 UTF-8\nde_DE@euro ISO-8859-15\n$(reboot) UTF-8\n\nen_US.UTF-8 UTF-8\n"), nil
	}}
	is.Equal(otherLocales(in), []string{"en_US.UTF-8", "de_DE@euro"})
	in.Target = target(t, "almalinux-9")
	is.Equal(len(otherLocales(in)), 0) // they come with packages there
}
