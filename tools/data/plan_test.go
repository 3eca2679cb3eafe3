package data

import (
	"encoding/json"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/assess"
	"svc/backend/release"
)

func planned(t testing.TB, offline bool, places ...Place) *Plan {
	t.Helper()
	target, ok := release.Lookup("debian-13")
	is.New(t).True(ok)
	return NewPlan(PlanInput{Discovery: &Discovery{Release: "centos-7", Places: places}, Target: target, SourceOffline: offline, Rate: 1 << 20})
}

func item(t testing.TB, p *Plan, path string) Item {
	t.Helper()
	i := slices.IndexFunc(p.Items, func(i Item) bool { return i.Path == path })
	if i < 0 {
		t.Fatalf("%s is not planned", path)
	}
	return p.Items[i]
}

func TestPlanSaysHowEachPlaceMoves(t *testing.T) {
	is := is.New(t)
	places := []Place{
		{Path: "/var/lib/pgsql/data", Kind: Database, What: "postgresql", Tally: Tally{Bytes: 10 << 20}},
		{Path: "/srv/a", Kind: Served, Tally: Tally{Bytes: 100 << 20, Files: 2000, Mounts: []string{"/srv/a/mnt"}, Users: []Owner{{ID: 48, Name: "apache"}, {ID: 7}, {ID: 1000, Name: "anna"}}}},
		{Path: "/srv/a/nested", Kind: Web, Within: "/srv/a"},
		{Path: "/mnt/nas", Kind: Remote},
		{Path: "/var/mail", Kind: Mail, Snapshot: Snapshot{Kind: "lvm", Volume: "vg/var"}},
		{Path: "/var/lib/docker", Kind: Containers, What: "docker"},
		{Path: "/var/lib/docker/volumes", Kind: Containers, What: "volumes of docker", Within: "/var/lib/docker"},
		{Path: "/var/lib/odd", Kind: Database, What: "oracle"},
	}
	p := planned(t, false, places...)
	is.Equal(len(p.Items), len(places))
	is.Equal([]Method{
		item(t, p, "/var/lib/pgsql/data").Method, item(t, p, "/srv/a").Method, item(t, p, "/mnt/nas").Method,
		item(t, p, "/var/lib/docker").Method, item(t, p, "/var/lib/docker/volumes").Method, item(t, p, "/var/lib/odd").Method,
	}, []Method{DumpAndLoad, Rsync, LeaveMounted, Leave, Rsync, Rsync})
	srv := item(t, p, "/srv/a")
	is.Equal(srv.Excludes, []string{"mnt", "nested"})
	is.Equal([]int64{srv.CopySeconds, srv.DowntimeSeconds}, []int64{101, 200})
	is.Equal(item(t, p, "/var/mail").Alternatives[0].Method, FromSnapshot)
	is.Equal(item(t, p, "/var/lib/pgsql/data").Alternatives[0].Method, Replication)
	is.Equal(p.Accounts.Users, []Account{
		{7, "", "", "The source has no account of this number: it stays."},
		{48, "apache", "www-data", "The target calls it www-data."},
		{1000, "anna", "anna", "The account of that name, whatever its number."},
	})
	is.Equal(len(p.Inhibitors), 4) // postgresql, mail, volumes, oracle
	is.Equal(len(planned(t, true, places...).Inhibitors), 0)
}

// TestLinksAreMissedWhereFilesAreCounted: what stands on another machine is not counted.
func TestLinksAreMissedWhereFilesAreCounted(t *testing.T) {
	is := is.New(t)
	p := planned(t, true, Place{Path: "/mnt/nas", Kind: Remote}, Place{Path: "/srv/a", Kind: Served, Tally: Tally{Files: 1}}, Place{Path: "/srv/b", Kind: Served, Tally: Tally{Files: 1, Known: Known{Shared: true}}})
	is.Equal(item(t, p, "/mnt/nas").Warnings, []string{})
	is.Equal(len(item(t, p, "/srv/a").Warnings), 1)
	is.Equal(item(t, p, "/srv/b").Warnings, []string{})
}

// TestAccountsAreThoseOfWhatIsCopied: the owner of logs that stay need not be on
// the target.
func TestAccountsAreThoseOfWhatIsCopied(t *testing.T) {
	is := is.New(t)
	owned := func(id int, name string) Tally { return Tally{Files: 1, Users: []Owner{{ID: id, Name: name}}} }
	p := planned(t, true, Place{Path: "/var/log", Kind: Logs, Tally: owned(101, "ntp")}, Place{Path: "/var/lib/pg", Kind: Database, What: "postgresql", Tally: owned(102, "postgres")}, Place{Path: "/srv/a", Kind: Served, Tally: owned(103, "app")})
	is.Equal(len(p.Accounts.Users), 1)
	is.Equal(p.Accounts.Users[0].Name, "app")
}

// TestWhatASystemMakesAnewIsNoDifference: it is left out of the copy and of what is
// counted before and after, whether it is there yet or not, and the rest of its folder is in.
func TestWhatASystemMakesAnewIsNoDifference(t *testing.T) {
	is := is.New(t)
	p := planned(t, true, Place{Path: "/root", Kind: Home}, Place{Path: "/home/anna", Kind: Home}, Place{Path: "/var/spool/postfix", Kind: Queue}, Place{Path: "/srv/home/anna", Kind: Home})
	is.Equal(item(t, p, "/root").Excludes, []string{".ansible"})
	is.Equal(item(t, p, "/home/anna").Excludes, []string{".ansible"})
	is.Equal(item(t, p, "/srv/home/anna").Excludes, []string{})
	queue := item(t, p, "/var/spool/postfix").Excludes
	for _, name := range []string{"private", "public", "pid", "etc/resolv.conf"} {
		is.True(slices.Contains(queue, name))
	}
	for _, name := range []string{"deferred", "etc", "hold"} {
		is.True(!slices.Contains(queue, name))
	}
}

// TestDataMoveToWhereTheTargetHasThem between the rpm families and Debian's.
func TestDataMoveToWhereTheTargetHasThem(t *testing.T) {
	is := is.New(t)
	at := func(source, target string, places ...Place) string {
		to, ok := release.Lookup(target)
		is.True(ok)
		p := NewPlan(PlanInput{Discovery: &Discovery{Release: source, Places: places}, Target: to, Rate: 1})
		return item(t, p, places[0].Path).Target
	}
	is.Equal(at("centos-7", "debian-13", Place{Path: "/var/named", Kind: Service, What: "bind"}), "/var/cache/bind")
	is.Equal(at("debian-12", "rocky-9", Place{Path: "/var/cache/bind", Kind: Service, What: "bind"}), "/var/named")
	is.Equal(at("debian-11", "debian-13", Place{Path: "/var/cache/bind", Kind: Service, What: "bind"}), "")
	is.Equal(at("centos-7", "debian-13", Place{Path: "/var/lib/samba", Kind: Service, What: "samba"}), "")
	is.Equal(at("centos-7", "rocky-9", Place{Path: "/var/named", Kind: Service, What: "bind"}), "")
	is.Equal(at("centos-7", "debian-13", Place{Path: "/var/named", Kind: Service, What: "bind"}, Place{Path: "/var/cache/bind", Kind: Service, What: "bind"}), "") // taken
	is.Equal(at("rocky-9", "debian-13", Place{Path: "/var/lib/dhcpd", Kind: Service, What: "leases of dhcpd"}), "/var/lib/dhcp")
	is.Equal(at("debian-12", "rocky-9", Place{Path: "/var/lib/snmp", Kind: Service, What: "snmp"}), "/var/lib/net-snmp")
	is.Equal(at("debian-11", "debian-13", Place{Path: "/var/lib/dhcp", Kind: Service, What: "leases of dhcpd"}), "")
}

// TestExcludesOfAnyBytesAreInThePlan as they are: JSON has no other way.
func TestExcludesOfAnyBytesAreInThePlan(t *testing.T) {
	is := is.New(t)
	p := planned(t, true, Place{Path: "/srv/a", Kind: Served}, Place{Path: "/srv/a/\xff", Kind: Web, Within: "/srv/a", RawPath: []byte("/srv/a/\xff")}, Place{Path: "/srv/a/b", Kind: Web, Within: "/srv/a"})
	b, err := json.Marshal(p)
	is.NoErr(err)
	var read Plan
	is.NoErr(json.Unmarshal(b, &read))
	is.Equal(item(t, &read, "/srv/a").RawExcludes, [][]byte{[]byte("b"), []byte("\xff")})
	is.Equal(item(t, planned(t, true, Place{Path: "/srv/b", Kind: Served}), "/srv/b").RawExcludes, nil)
}

// TestAlternativesHaveScripts where there are some, and say so where not.
func TestAlternativesHaveScripts(t *testing.T) {
	is := is.New(t)
	lvm := Snapshot{Kind: "lvm", Volume: "vg/var", Why: "a volume of LVM"}
	p := planned(t, false,
		Place{Path: "/pg", Kind: Database, What: "postgresql", Version: "13.4", Snapshot: lvm, Tally: Tally{Bytes: 100 << 20}},
		Place{Path: "/old", Kind: Database, What: "postgresql", Version: "9.6"},
		Place{Path: "/ldap", Kind: Database, What: "slapd"},
		Place{Path: "/mongo", Kind: Database, What: "mongodb"},
		Place{Path: "/redis", Kind: Database, What: "redis", Snapshot: lvm},
		Place{Path: "/var/mail", Kind: Mail, Snapshot: lvm},
		Place{Path: "/srv/a", Kind: Served, Snapshot: Snapshot{Kind: "none", Why: "nothing is free"}})
	files, err := Render(p)
	is.NoErr(err)
	scripts := func(path string) (all []string) {
		for _, a := range item(t, p, path).Alternatives {
			all = append(all, string(a.Method)+" "+a.Script)
			is.True(a.Script == "" || files[a.Script] != nil)
		}
		return all
	}
	is.Equal(scripts("/pg"), []string{"replication replication/0006-database-pg.sh"}) // a copy of its files fits no other version
	is.Equal(item(t, p, "/pg").Alternatives[0].DowntimeSeconds, int64(switching+100))
	is.Equal(scripts("/old"), nil)
	is.Equal(scripts("/ldap"), nil)
	is.Equal(scripts("/mongo"), []string{"replication "})
	is.Equal(scripts("/redis"), []string{"replication replication/0007-database-redis.sh", "snapshot snapshots/01-var.sh"})
	is.Equal(scripts("/var/mail"), []string{"snapshot snapshots/01-var.sh"})
	is.Equal(scripts("/srv/a"), nil)
	is.Equal(p.Snapshots, []Volume{{"lvm", "vg/var", "snapshots/01-var.sh", []string{item(t, p, "/var/mail").Script, item(t, p, "/redis").Script}}})
	is.True(strings.Contains(p.Inhibitors[0].Remediations[0].Text, "While it runs: snapshot, by snapshots/01-var.sh."))
}

// TestNewerRedisIsReadByRedisAlone: Valkey reads the files of Redis up to 7.2.
func TestNewerRedisIsReadByRedisAlone(t *testing.T) {
	for version, reader := range map[string]string{"6.0.16": "()", "7.2.5": "()", "": "()", "7.4.0": "('redis-server')", "8.0.2": "('redis-server')"} {
		t.Run(version, func(t *testing.T) {
			is := is.New(t)
			p := planned(t, true, Place{Path: "/redis", Kind: Database, What: "redis", Version: version})
			files, err := Render(p)
			is.NoErr(err)
			i := item(t, p, "/redis")
			is.True(strings.Contains(string(files[i.Script]), "\nREADERS="+reader+"\n"))
			is.Equal(len(i.Readers) > 0, strings.Contains(strings.Join(i.Warnings, " "), "redis-server alone"))
		})
	}
}

func TestWhatWasNotReadInhibits(t *testing.T) {
	is := is.New(t)
	p := planned(t, true, Place{Path: "/srv/a", Kind: Served, Tally: Tally{Unread: 1, UnreadPaths: []Note{{What: "/srv/a/closed"}}}})
	is.Equal(p.Inhibitors[0].Key, "data.unread")
	is.Equal(p.Inhibitors[0].Evidence[0].Path, "/srv/a/closed")
}

func TestEveryKindHasAWay(t *testing.T) {
	is := is.New(t)
	for kind := range order {
		is.True(wayOf(Place{Kind: kind}).method != "")
	}
	for engine := range engineWays {
		w := wayOf(Place{Kind: Database, What: engine})
		is.True(w.method != "")
		if w.method == DumpAndLoad {
			_, err := dumpScript(&Item{What: engine})
			is.NoErr(err)
		}
	}
}

// TestSumsAreThoseOfTheItems holds whatever places there are.
func TestSumsAreThoseOfTheItems(t *testing.T) {
	kinds := []Kind{Database, Web, Mail, Home, Queue, Containers, Remote, Logs, Keys, Other}
	rapid.Check(t, func(r *rapid.T) {
		var places []Place
		for i := range rapid.IntRange(0, 8).Draw(r, "places") {
			places = append(places, Place{Path: "/srv/" + strings.Repeat("x", i+1), Kind: rapid.SampledFrom(kinds).Draw(r, "kind"), Tally: Tally{Bytes: rapid.Int64Range(0, 1<<40).Draw(r, "bytes")}})
		}
		p := planned(t, rapid.Bool().Draw(r, "offline"), places...)
		var bytes, down int64
		moving := 0
		for _, i := range p.Items {
			bytes, down = bytes+i.Bytes*int64(min(i.Order, 1)), down+i.DowntimeSeconds
			if i.Moves() {
				moving++
			}
		}
		is := is.NewRelaxed(r)
		is.Equal([]int64{p.Sum.Bytes, p.Sum.DowntimeSeconds, int64(p.Sum.Items), int64(len(p.Items))}, []int64{bytes, down, int64(moving), int64(len(places))})
	})
}

// TestQuotedWordsReachAProgram has a real shell read what was quoted.
func TestQuotedWordsReachAProgram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 12).Draw(t, "bytes"))
		}), 1, 4).Draw(t, "words")
		out, err := exec.Command("bash", "-c", array("W", words)+`printf '%s\0' "${W[@]}"`).Output()
		is := is.NewRelaxed(t)
		is.NoErr(err)
		is.Equal(strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), words)
	})
}

// TestScriptsPassShellcheck renders a plan that has every engine and its
// replication, a place, and one that a snapshot can be taken of.
func TestScriptsPassShellcheck(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("there is no shellcheck")
	}
	is := is.New(t)
	places := []Place{{Path: "/srv/it's\n-r", Kind: Served, Tally: Tally{Users: []Owner{{ID: 7}}}}, {Path: "/srv/b", Kind: Served, Snapshot: Snapshot{Kind: "lvm", Volume: "vg/it's\n"}}}
	for engine := range engineWays {
		places = append(places, Place{Path: "/var/lib/" + engine, Kind: Database, What: engine})
	}
	files, err := Render(planned(t, true, places...))
	is.NoErr(err)
	dir, names := t.TempDir(), []string{"-x"}
	for name, content := range files {
		write(t, filepath.Join(dir, name), string(content))
		if strings.HasSuffix(name, ".sh") {
			names = append(names, name)
		}
	}
	const exported = 1 // rabbitmq, by hand
	is.Equal(len(names), 1+12+len(places)-exported+len(replicating)+1)
	cmd := exec.Command("shellcheck", names...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	is.Equal(string(out), "")
	is.NoErr(err)
}

func TestRenderQuotesWhatComesFromTheMachine(t *testing.T) {
	is := is.New(t)
	path := "/srv/$(id)\n'; rm -rf /"
	p := planned(t, true, Place{Path: path, Kind: Served}, Place{Path: "/var/lib/pg`id`", Kind: Database, What: "postgresql"})
	files, err := Render(p)
	is.NoErr(err)
	for _, i := range p.Items {
		is.True(files[i.Script] != nil)
		is.NoErr(exec.Command("bash", "-n", "-c", string(files[i.Script])).Run())
	}
	out, err := exec.Command("bash", "-c", string(files[p.Items[0].Script])+`printf %s "$PLACE"`).Output()
	is.NoErr(err)
	is.Equal(string(out), path)
	_, err = json.Marshal(p)
	is.NoErr(err)
	is.True(!strings.Contains(string(files["README.txt"]), "\n'; rm")) // no line of its own
}

// TestWhatIsStoppedIsNamedAsItIsCalled: by its units, where some are called after whose data
// a place has.
func TestWhatIsStoppedIsNamedAsItIsCalled(t *testing.T) {
	is := is.New(t)
	unit := func(name, state string) assess.Unit { return assess.Unit{Name: name, Manager: "systemd", State: state} }
	all := []assess.Unit{unit("php7.4-fpm.service", "enabled"), unit("phpbb.service", "enabled"), unit("redis-server@queue.service", "enabled"), unit("redis.service", "disabled"), unit("redis.timer", "enabled")}
	is.Equal(calledAfter(all, "php"), []string{"php7.4-fpm.service"})
	is.Equal(calledAfter(all, "redis"), []string{"redis-server@queue.service"})
	is.Equal(calledAfter(all, ""), nil)
	p := planned(t, true, Place{Path: "/var/lib/php", Kind: Service, What: "php", Services: calledAfter(all, "php")}, Place{Path: "/var/mail", Kind: Mail, What: "mailboxes"})
	is.Equal(p.Quiesce, []string{"mailboxes", "php7.4-fpm.service"})
	is.True(strings.Contains(readme(p), "    ssh \"$SOURCE_SSH\" systemctl stop 'php7.4-fpm.service'\n    what writes to 'mailboxes'\n"))
}

// TestWhatStaysHasNoWarnings of its move.
func TestWhatStaysHasNoWarnings(t *testing.T) {
	is := is.New(t)
	p := planned(t, true, Place{Path: "/var/log", Kind: Logs, Tally: Tally{ACLs: 1}}, Place{Path: "/srv/a", Kind: Served, Tally: Tally{ACLs: 1}})
	is.Equal(len(item(t, p, "/var/log").Warnings), 0)
	is.Equal(len(item(t, p, "/srv/a").Warnings), 1)
}

// TestConfigurationComesWithADump where the target keeps it elsewhere: its script has the hooks.
func TestConfigurationComesWithADump(t *testing.T) {
	is := is.New(t)
	script := func(source string) (script, readme string) {
		to, _ := release.Lookup("debian-13")
		p := NewPlan(PlanInput{Discovery: &Discovery{Release: source, Places: []Place{{Path: "/var/lib/ldap", Name: "dc=a", Kind: Database, What: "slapd"}}}, Target: to, Rate: 1})
		files, err := Render(p)
		is.NoErr(err)
		return string(files[item(t, p, "/var/lib/ldap").Script]), string(files["README.txt"])
	}
	of, said := script("centos-7")
	for _, words := range []string{"CONFIG_FROM='/etc/openldap/slapd.d' CONFIG_TO='/etc/ldap/slapd.d' PLACES=(", "SETTINGS=(DIRECTORY DATABASE CONFIG_FROM)", "\nconfigure() {"} {
		is.True(strings.Contains(of, words))
	}
	is.True(strings.Contains(said, "its configuration in \"/etc/openldap/slapd.d\" comes with it"))
	of, said = script("debian-12")
	is.True(!strings.Contains(of, "CONFIG_FROM"))
	is.True(!strings.Contains(of, "\nconfigure() {"))
	is.True(!strings.Contains(said, "comes with it"))
}

// TestHooksOfEngines: what dump.sh asks an engine's script for, by these names, comes in pairs.
func TestHooksOfEngines(t *testing.T) {
	is := is.New(t)
	names, err := fs.Glob(scripts, "scripts/engines/*.sh")
	is.NoErr(err)
	takes := map[string]bool{}
	for _, name := range names {
		b, err := scripts.ReadFile(name)
		is.NoErr(err)
		takes[name] = strings.Contains(string(b), "\nsettings() ")
		if settles := strings.Contains(string(b), "\nsettle() ") || strings.Contains(string(b), "\nconfigure() "); takes[name] != settles {
			t.Errorf("%s takes settings: %v, and settles them: %v", name, takes[name], settles)
		}
	}
	is.True(takes["scripts/engines/postgresql.sh"])
	is.True(!takes["scripts/engines/slapd.sh"])
	is.True(takes["scripts/engines/slapd-config.sh"])
}
