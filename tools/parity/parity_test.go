package parity

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/assess"
	"svc/assess/baseline"
	"svc/assess/host"
	"svc/assess/inspect"
	"svc/backend/api"
	"svc/tools/convert"
	"svc/tools/migration"
)

// fixture assesses the Debian 11 web server of the fixtures.
func fixture(t testing.TB) *assess.Assessment {
	is := is.New(t)
	h, err := host.OpenRoot("../../fixtures/hosts/debian-11-web")
	is.NoErr(err)
	defer h.Close()
	a, err := inspect.Assess(t.Context(), h, assess.Options{Now: time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)})
	is.NoErr(err)
	return a
}

// clone is a copy that can be changed.
func clone(t testing.TB, a *assess.Assessment) *assess.Assessment {
	is := is.New(t)
	b, err := json.Marshal(a)
	is.NoErr(err)
	c := &assess.Assessment{}
	is.NoErr(json.Unmarshal(b, c))
	return c
}

func subjects(checks []Check) (all []string) {
	for _, c := range checks {
		all = append(all, c.Dimension+" "+c.Subject)
	}
	return all
}

func TestNothingDrifts(t *testing.T) {
	is := is.New(t)
	a := fixture(t)
	r := Drift(a, clone(t, a), nil, nil)
	is.True(r.Parity)
	is.Equal(len(r.Checks), 0)
	is.True(r.Sum.Total > 100) // what is the same is counted
	is.Equal(r.Sum.Match, r.Sum.Total)
}

// TestDriftNamesEachChangeOnce changes one thing of each kind, with what comes
// with it.
func TestDriftNamesEachChangeOnce(t *testing.T) {
	is := is.New(t)
	a := fixture(t)
	b := clone(t, a)

	// A package goes, and its unit and its files with it.
	gone := b.Packages[slices.IndexFunc(b.Packages, func(p assess.Package) bool { return p.Name == "fail2ban" })]
	is.Equal(gone.Name, "fail2ban")
	b.Packages = slices.DeleteFunc(b.Packages, func(p assess.Package) bool { return p.Name == gone.Name })
	b.Services = slices.DeleteFunc(b.Services, func(u assess.Unit) bool { return u.Package == gone.Name })
	b.Configuration = slices.DeleteFunc(b.Configuration, func(c assess.ConfigFile) bool { return c.Package == gone.Name })
	// A unit is masked.
	i := slices.IndexFunc(b.Services, func(u assess.Unit) bool { return u.State == "enabled" })
	b.Services[i].State = "masked"
	// A file changes.
	f := slices.IndexFunc(b.Configuration, func(c assess.ConfigFile) bool { return c.SHA256 != "" && !c.Machine })
	b.Configuration[f].SHA256 = strings.Repeat("0", 64)
	// A user comes, with a group of the same name and a key.
	b.Users = append(b.Users, assess.User{Name: "eve", UID: 4000, GID: 4000, AuthorizedKeys: []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl eve"}})
	b.Groups = append(b.Groups, assess.Group{Name: "eve", GID: 4000})
	// A port is opened, by a file that changes with it.
	sshd := assess.Evidence{Path: "/etc/ssh/sshd_config.d/port.conf", Line: 1}
	b.SSH = append(b.SSH, assess.Setting{Key: "Port", Value: "2222", Evidence: sshd})
	b.Configuration = append(b.Configuration, assess.ConfigFile{Path: sshd.Path, State: assess.ConfigUnowned, SHA256: strings.Repeat("1", 64)})

	r := Drift(a, b, nil, nil)
	is.Equal(subjects(r.Checks), []string{
		"packages fail2ban", "services " + b.Services[i].Name, "users eve", "configuration " + b.Configuration[f].Path, "ports ssh",
	})
	is.True(!r.Parity)
	is.Equal(r.Sum.Differs, 5)
	for _, c := range r.Checks {
		is.True(c.Why != "" && c.Before != c.After)
	}
	is.True(strings.Contains(r.Checks[2].Why, "groups eve"))
	is.True(strings.Contains(r.Checks[4].Why, sshd.Path))
}

// TestAPackagesGroupHasItsOwnNumber: where a package of the target makes a group of the
// system, it has chosen the number; nobody else's choice is a difference.
func TestAPackagesGroupHasItsOwnNumber(t *testing.T) {
	is := is.New(t)
	results := func(base *baseline.Baseline) (all []Result) {
		made := assess.Group{Name: "keys", GID: 105, System: true}
		own := assess.Group{Name: "team", GID: 1600}
		v := verification{Input: Input{Base: base, Plan: &migration.Plan{Accounts: migration.Accounts{Groups: []assess.Group{made, own}}}}, after: map[[2]string]subject{}}
		for _, g := range []assess.Group{made, own} {
			g.GID++
			v.after[group(g).key()] = subject{item: group(g)}
		}
		for _, c := range v.accounts() {
			all = append(all, c.Result)
		}
		return all
	}
	is.Equal(results(&baseline.Baseline{Groups: map[string]string{"keys": "key-tools", "team": "key-tools"}}), []Result{Planned, Differs})
	is.Equal(results(nil), []Result{Differs, Differs})
}

// TestAPackagesUserHasItsOwnNumbers: the same of users, of which all else has to be as
// it was.
func TestAPackagesUserHasItsOwnNumbers(t *testing.T) {
	is := is.New(t)
	was := assess.User{Name: "portmap", UID: 101, GID: 103, Home: "/run/portmap", Shell: "/usr/sbin/nologin", System: true}
	base := &baseline.Baseline{Named: map[string]string{"portmap": "its script"}}
	result := func(now assess.User, base *baseline.Baseline) Result {
		v := verification{Input: Input{Base: base, After: &assess.Assessment{Users: []assess.User{now}}}}
		v.after = map[[2]string]subject{account(now).key(): {item: account(now)}}
		return v.roleUser(was).Result
	}
	now := was
	is.Equal(result(now, base), Match)
	now.UID, now.GID = 100, 102
	is.Equal(result(now, base), Planned)
	is.Equal(result(now, nil), Differs)
	now.Shell = "/bin/sh"
	is.Equal(result(now, base), Differs)
	now = was
	now.UID = 0
	is.Equal(result(now, base), Differs)
}

// TestAUnitThatIsNotThereCannotStart: a mask of a unit that the target does not have
// keeps nothing from starting there, so it is no difference; one that is missing and
// was enabled is.
func TestAUnitThatIsNotThereCannotStart(t *testing.T) {
	is := is.New(t)
	unit := migration.Service{Unit: "old.timer", To: "old.timer", State: assess.StateMasked, Apply: true}
	v := verification{Input: Input{Before: &assess.Assessment{}}, after: map[[2]string]subject{}}
	is.Equal(v.service(unit).Result, Planned)
	there := item{Timers, unit.To, assess.StateDisabled, "", nil}
	v.after[there.key()] = subject{item: there}
	is.Equal(v.service(unit).Result, Differs)
	delete(v.after, there.key())
	unit.State = assess.StateEnabled
	is.Equal(v.service(unit).Result, Differs)
}

// TestDriftCloses draws what stays, goes and comes: each is counted once.
func TestDriftCloses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		is := is.New(t)
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{3,6}`), 0, 30, rapid.ID[string])
		machine := func(label string) (*assess.Assessment, map[string]string) {
			a, versions := &assess.Assessment{}, map[string]string{}
			for _, n := range names.Draw(t, label) {
				versions[n] = rapid.SampledFrom([]string{"1", "2"}).Draw(t, "version")
				a.Packages = append(a.Packages, assess.Package{Name: n, Version: versions[n]})
			}
			return a, versions
		}
		a, before := machine("before")
		b, after := machine("after")
		differ, all := 0, map[string]bool{}
		for n := range before {
			all[n] = true
			if before[n] != after[n] {
				differ++
			}
		}
		for n := range after {
			if !all[n] {
				differ++
			}
			all[n] = true
		}
		r := Drift(a, b, nil, nil)
		is.Equal(r.Sum.Differs, differ)
		is.Equal(len(r.Checks), differ)
		is.Equal(r.Sum.Total, r.Sum.Match+r.Sum.Planned+r.Sum.Accepted+r.Sum.Manual+r.Sum.Differs+r.Sum.Unknown)
		is.Equal(r.Parity, differ == 0)
	})
}

// planned is a plan of a small machine.
func planned() (Input, *migration.Plan) {
	p := &migration.Plan{
		Source: "debian-11", Target: "debian-13", Fingerprint: "f",
		Packages: []migration.Package{
			{Name: "nginx", Version: "1.18.0-6", Relation: api.RelationSame, Targets: []migration.Target{{Name: "nginx"}}, Install: true, Manual: true},
			{Name: "php7.4-fpm", Version: "7.4.33-1", Relation: api.RelationRenamed, Targets: []migration.Target{{Name: "php8.4-fpm"}}, Install: true, Manual: true},
			{Name: "libssl1.1", Version: "1.1.1", Relation: api.RelationIncluded, Targets: []migration.Target{{Name: "libssl3t64"}}},
			{Name: "odd", Version: "1", Relation: api.RelationUnknown, Manual: true},
		},
		Services: []migration.Service{
			{Unit: "php7.4-fpm.service", To: "php8.4-fpm.service", State: "enabled", Apply: true},
			{Unit: "gone.service", State: "enabled", Reason: "debian-13 does not have this unit."},
		},
		Configuration: []migration.Config{
			{From: "/etc/nginx/nginx.conf", To: "/etc/nginx/nginx.conf", Action: migration.Copy, Mode: "0644", Owner: "root", Group: "root", SHA256: "x"},
			{From: "/etc/passwd-", Action: migration.LeftOut, Reason: "a backup"},
			{From: "/etc/hand.conf", To: "/etc/hand.conf", Action: migration.Manual},
			{From: "/etc/old.conf", To: "/etc/old.conf", Action: migration.Remove},
		},
		Accounts: migration.Accounts{Users: []assess.User{{Name: "anna", UID: 1501, GID: 1501}}},
	}
	after := &assess.Assessment{
		Release: "debian-13", Fingerprint: "f",
		Packages: []assess.Package{{Name: "nginx", Version: "1.26.3-3"}, {Name: "php8.4-fpm", Version: "8.4.1-1"}},
		Services: []assess.Unit{{Name: "php8.4-fpm.service", State: "enabled"}},
		Users:    []assess.User{{Name: "anna", UID: 1501, GID: 1501}},
	}
	return Input{
		Plan: p, PlanDigest: strings.Repeat("0", 64), Before: &assess.Assessment{Release: "debian-11", Fingerprint: "f"}, After: after,
		Files:   map[string]File{"/etc/nginx/nginx.conf": {Exists: true, Content: []byte("a\nb\n"), Mode: "0644", Owner: "root", Group: "root"}},
		Written: map[string][]byte{"/etc/nginx/nginx.conf": []byte("a\nb\n")},
	}, p
}

func results(r *Report) map[string]Result {
	all := map[string]Result{}
	for _, c := range r.Checks {
		all[c.Dimension+" "+c.Subject] = c.Result
	}
	return all
}

func TestVerify(t *testing.T) {
	is := is.New(t)
	in, _ := planned()
	r := Verify(in)
	got := results(r)
	for name, want := range map[string]Result{
		"identity fingerprint": Match, "identity release": Planned, "packages nginx": Match, "packages php7.4-fpm": Planned, "packages libssl1.1": Planned,
		"packages odd": Manual, "services php7.4-fpm.service": Planned, "services gone.service": Planned, "users anna": Match,
		"configuration /etc/nginx/nginx.conf": Match, "configuration /etc/passwd-": Planned, "configuration /etc/hand.conf": Manual, "configuration /etc/old.conf": Match,
	} {
		t.Run(name, func(t *testing.T) { is.New(t).Equal(got[name], want) })
	}
	is.True(r.Parity)
}

// TestVerifyTakesWhatAPersonBrought: a package that was made anew, with its file.
func TestVerifyTakesWhatAPersonBrought(t *testing.T) {
	in, p := planned()
	p.Configuration = append(p.Configuration, migration.Config{From: "/etc/odd.conf", Action: migration.Manual, Package: "odd", SHA256: "o"}, migration.Config{From: "/etc/other.conf", Action: migration.Manual, Package: "nginx", SHA256: "o"})
	odd := assess.Package{Name: "odd", Version: "1", Manual: true}
	in.Before.Packages, in.After.Packages = append(in.Before.Packages, odd), append(in.After.Packages, odd)
	in.Files["/etc/odd.conf"], in.Files["/etc/other.conf"] = File{Exists: true, SHA256: "o"}, File{Exists: true, SHA256: "o"}
	is := is.New(t)
	is.Equal(Looked(p.Configuration[len(p.Configuration)-1]), []string{"/etc/other.conf"})
	got := results(Verify(in))
	is.Equal(got["packages odd"], Match)
	is.Equal(got["configuration /etc/odd.conf"], Match)
	is.Equal(got["configuration /etc/other.conf"], Manual) // what was left for another reason may not fit as it is
	in.Files["/etc/odd.conf"] = File{Exists: true, SHA256: "changed"}
	is.Equal(results(Verify(in))["configuration /etc/odd.conf"], Manual)
}

// TestUpdatesOfLibrariesAreNoDrift: programs of people's own are linked with the new file.
func TestUpdatesOfLibrariesAreNoDrift(t *testing.T) {
	is := is.New(t)
	a := fixture(t)
	with := func(key, value string) *assess.Assessment {
		b := clone(t, a)
		b.Facts = append(b.Facts, assess.Fact{Area: "library", Key: "libcap.so.2", Value: value, Evidence: assess.Evidence{Path: "/opt/a/bin/a"}}, assess.Fact{Area: "linked", Key: key, Value: "libcap2", Evidence: assess.Evidence{Path: "/opt/a/bin/a"}})
		return b
	}
	old := with("/usr/lib/libcap.so.2.44", "libcap2")
	is.True(Drift(old, with("/usr/lib/libcap.so.2.75", "libcap2"), nil, nil).Parity)
	is.True(!Drift(old, a, nil, nil).Parity)
}

// TestVerifyFinds breaks one thing at a time.
func TestVerifyFinds(t *testing.T) {
	for name, c := range map[string]struct {
		breaks  func(*Input)
		subject string
		why     string
	}{
		"another machine":   {func(in *Input) { in.After.Fingerprint = "g" }, "identity fingerprint", "another machine's"},
		"another release":   {func(in *Input) { in.After.Release = "debian-12" }, "identity release", "debian-13"},
		"a missing package": {func(in *Input) { in.After.Packages = in.After.Packages[1:] }, "packages nginx", "not all are installed"},
		"an older package":  {func(in *Input) { in.After.Packages[0].Version = "1.14.2-2" }, "packages nginx", "older"},
		"a disabled unit":   {func(in *Input) { in.After.Services[0].State = "disabled" }, "services php7.4-fpm.service", "enabled"},
		"another id":        {func(in *Input) { in.After.Users[0].UID = 7 }, "users anna", "not as it was"},
		"a changed line": {func(in *Input) {
			in.Files["/etc/nginx/nginx.conf"] = File{Exists: true, Content: []byte("a\nc\n"), Mode: "0644", Owner: "root", Group: "root"}
		}, "configuration /etc/nginx/nginx.conf", `"-b", "+c"`},
		"another mode": {func(in *Input) {
			in.Files["/etc/nginx/nginx.conf"] = File{Exists: true, Content: []byte("a\nb\n"), Mode: "0666", Owner: "root", Group: "root"}
		}, "configuration /etc/nginx/nginx.conf", "mode"},
		"a file that is gone": {func(in *Input) { delete(in.Files, "/etc/nginx/nginx.conf") }, "configuration /etc/nginx/nginx.conf", "not there"},
		"a file that is back": {func(in *Input) { in.Files["/etc/old.conf"] = File{Exists: true} }, "configuration /etc/old.conf", "again"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			in, _ := planned()
			c.breaks(&in)
			differences := Verify(in).Differences()
			is.Equal(subjects(differences), []string{c.subject})
			is.True(strings.Contains(differences[0].Why, c.why))
		})
	}
}

func TestOrderAndCommentsDoNotMatter(t *testing.T) {
	is := is.New(t)
	in, _ := planned()
	in.Files["/etc/nginx/nginx.conf"] = File{Exists: true, Content: []byte("# by hand\n\n  b\na\n"), Mode: "0644", Owner: "root", Group: "root"}
	r := Verify(in)
	is.True(r.Parity)
	is.Equal(results(r)["configuration /etc/nginx/nginx.conf"], Match)
}

// TestSectionsAndBlocksMatter moves lines to where they mean something else.
func TestSectionsAndBlocksMatter(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string
		lines         int
	}{
		"order in a section":      {"[a]\nx=1\ny=2\n[b]\nz=3\n", "[b]\nz=3\n# moved\n[a]\ny=2\n\tx=1\n", 0},
		"another section":         {"[a]\nx=1\n[b]\ny=2\n", "[a]\ny=2\n[b]\nx=1\n", 4},
		"another virtual host":    {"<VirtualHost a>\nSSLEngine on\n</VirtualHost>\n<VirtualHost b>\n</VirtualHost>\n", "<VirtualHost a>\n</VirtualHost>\n<VirtualHost b>\nSSLEngine on\n</VirtualHost>\n", 2},
		"another block of a kind": {"server {\nlisten 80;\ndeny all;\n}\nserver {\nlisten 81;\n}\n", "server {\nlisten 80;\n}\nserver {\nlisten 81;\ndeny all;\n}\n", 2},
		"another backend":         {"backend a\n  server x\nbackend b\n  server y\n", "backend a\n  server y\nbackend b\n  server x\n", 4},
		"a continued line":        {"x = a \\\n  b\n", "x = a b\n", 0},
		"braces that do not fit":  {"}\n}\n</x>\na\n", "a\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, n := changes([]byte(c.before), []byte(c.after))
			is.New(t).Equal(n, c.lines)
		})
	}
}

// TestWhatCouldNotBeReadIsNotGone hides a file of the machine.
func TestWhatCouldNotBeReadIsNotGone(t *testing.T) {
	is := is.New(t)
	a := fixture(t)
	b := clone(t, a)
	b.Facts = slices.DeleteFunc(b.Facts, func(f assess.Fact) bool { return f.Area == "sudo" })
	for i := range b.Sources {
		if b.Sources[i].What == "accounts.sudoers.d" {
			b.Sources[i].State, b.Sources[i].Detail = assess.SourceUnreadable, "open /etc/sudoers.d/deploy: permission denied"
		}
	}
	r := Drift(a, b, nil, nil)
	is.True(r.Parity)
	is.Equal(subjects(r.Checks), []string{"sudoers accounts.sudoers.d of the machine", "sudoers deploy"})
	for _, c := range r.Checks {
		is.Equal(c.Result, Unknown)
	}
}

// TestWhatThePlanSaysOfALine is what becomes of a setting that was read from a
// file, where it is another on the target.
func TestWhatThePlanSaysOfALine(t *testing.T) {
	file := func(action migration.Action, to string, lines ...int) migration.Config {
		c := migration.Config{From: "/etc/sysctl.conf", To: to, Action: action}
		for _, line := range lines {
			c.Changes = append(c.Changes, convert.Change{Line: line, Why: "Renamed."})
		}
		return c
	}
	same := "/etc/sysctl.conf"
	for name, c := range map[string]struct {
		dimension string
		row       migration.Config
		want      Result
	}{
		"a line that is changed":  {Sysctl, file(migration.Convert, same, 2, 3), Planned},
		"another one":             {Sysctl, file(migration.Convert, same, 2), Differs},
		"a file as it was":        {Sysctl, file(migration.Copy, same), Differs},
		"a file for a person":     {Sysctl, file(migration.Manual, ""), Manual},
		"a file left behind":      {Sysctl, file(migration.LeftOut, ""), Planned},
		"one that waits":          {Firewall, file(migration.Convert, "/etc/svc/network/etc/x"), Planned},
		"the file as a whole":     {Jobs, file(migration.Convert, "/etc/cron.d/x", 0), Planned},
		"another place alone":     {Sysctl, file(migration.Convert, "/etc/sysctl.d/x"), Differs},
		"a file that is not done": {Sysctl, file(migration.Convert, "/etc/not-done", 3), Differs},
	} {
		t.Run(name, func(t *testing.T) {
			v := verification{files: map[string]outcome{"/etc/sysctl.conf": {c.row.To == "/etc/not-done", []migration.Config{c.row}}}}
			got := v.planned(Check{Dimension: c.dimension, Result: Differs}, item{evidence: at(assess.Evidence{Path: "/etc/sysctl.conf", Line: 3})})
			is.New(t).Equal(got.Result, c.want)
		})
	}
}

// TestManyRulesAreOneCheck gives a user more rules of sudo than a check shows.
func TestManyRulesAreOneCheck(t *testing.T) {
	is := is.New(t)
	a := fixture(t)
	b := clone(t, a)
	for i := range 10_000 {
		b.Facts = append(b.Facts, assess.Fact{Area: "sudo", Key: "deploy", Value: fmt.Sprint("ALL=/bin/", i), Evidence: assess.Evidence{Path: "/etc/sudoers.d/x", Line: i}})
	}
	r := Drift(a, b, nil, nil)
	is.Equal(subjects(r.Checks), []string{"sudoers deploy"})
	is.True(len(r.Checks[0].After) < 2*maxValue && strings.Contains(r.Checks[0].After, "sha256:"))
	is.Equal(len(r.Checks[0].Evidence), maxEvidence)
}

func TestAcceptances(t *testing.T) {
	is := is.New(t)
	in, _ := planned()
	in.After.Packages = in.After.Packages[1:]
	var err error
	in.Accepted, err = ParseAcceptances("# reviewed\n\npackages ngin* # replaced by caddy\nusers nobody # never\n")
	is.NoErr(err)
	r := Verify(in)
	is.True(r.Parity)
	is.Equal(r.Sum.Accepted, 1)
	is.Equal(r.Unused, []string{"line 4: users nobody"})
	for _, wrong := range []string{"packages nginx", "packages # why", "paquets nginx # why", "packages [ # why", "packages nginx #  "} {
		_, err := ParseAcceptances(wrong)
		is.True(err != nil && strings.HasPrefix(err.Error(), "line 1: "))
	}
}

func FuzzParseAcceptances(f *testing.F) {
	f.Add("packages nginx # why\n")
	f.Add("configuration /etc/* # why")
	f.Fuzz(func(t *testing.T, text string) {
		accepted, err := ParseAcceptances(text)
		if err != nil {
			return
		}
		checks := []Check{{Dimension: Packages, Subject: "nginx", Result: Differs}}
		if n := len(accepted.apply(checks)); n > len(accepted) {
			t.Errorf("%d of %d are unused", n, len(accepted))
		}
	})
}

func TestKeyFingerprintIsThatOfSSH(t *testing.T) {
	is := is.New(t)
	line, err := os.ReadFile("testdata/key.pub")
	is.NoErr(err)
	want, err := os.ReadFile("testdata/key.fingerprint") // of ssh-keygen -lf key.pub
	is.NoErr(err)
	is.Equal(keyFingerprint(string(line)), strings.Fields(string(want))[1])
}

// TestAnEditedFileIsNotMissing edits files that the source has as their packages
// brought them: no row says that they were not there.
func TestAnEditedFileIsNotMissing(t *testing.T) {
	is := is.New(t)
	a := fixture(t)
	b := clone(t, a)
	owner := a.Packages[0].Name
	for _, file := range []string{"/etc/pam.d/sshd", "/etc/some.conf"} {
		b.Configuration = append(b.Configuration, assess.ConfigFile{Path: file, State: assess.ConfigChanged, Package: owner, SHA256: strings.Repeat("1", 64)})
	}
	b.Configuration = append(b.Configuration, assess.ConfigFile{Path: "/etc/other.conf", State: assess.ConfigChanged, Package: "of-no-package-of-the-source", SHA256: strings.Repeat("1", 64)})
	for _, forth := range []bool{true, false} {
		from, to, rows := a, b, map[string][2]string{}
		if !forth {
			from, to = b, a
		}
		for _, c := range Drift(from, to, nil, nil).Checks {
			is.True(!c.Added || c.Subject == "/etc/other.conf")
			rows[c.Subject] = [2]string{c.Before, c.After}
			if !forth {
				rows[c.Subject] = [2]string{c.After, c.Before}
			}
		}
		is.Equal(len(rows), 3)
		is.Equal(rows["/etc/pam.d/sshd"][0], notEdited)
		is.Equal(rows["/etc/some.conf"][0], notEdited)
		is.Equal(rows["/etc/other.conf"][0], "")
		is.True(strings.HasPrefix(rows["/etc/some.conf"][1], "changed "))
	}
}

// TestANewerRedisIsThere: the form of its data is no name, and a second one is another.
func TestANewerRedisIsThere(t *testing.T) {
	is := is.New(t)
	in, _ := planned()
	in.Before.Databases = []assess.Database{{Engine: "redis", Name: "rdb 10", DataVersion: "7.0.15", Port: 6379}, {Engine: "redis", Name: "rdb 10", DataVersion: "7.0.15", Port: 6380}}
	in.After.Databases = []assess.Database{{Engine: "redis", Name: "rdb 12", DataVersion: "8.0.2", Port: 6379}}
	of := results(Verify(in))
	is.Equal(of["databases redis"], Planned)
	is.Equal(of["databases redis on port 6380"], Differs)
}

// TestLinesOfPAMThatACommandMakes are the plan's; others of no profile are nobody's.
func TestLinesOfPAMThatACommandMakes(t *testing.T) {
	is := is.New(t)
	fact := func(key string) assess.Fact {
		return assess.Fact{Key: key, Value: "session optional " + key, Evidence: assess.Evidence{Path: "/etc/pam.d/common-session"}}
	}
	command := assess.Remediation{Type: "command", Text: `sed -i 's/pam_umask\.so/& nousergroups/' /etc/pam.d/common-session`, AfterData: true}
	base := &baseline.Baseline{Modules: []assess.Fact{fact("pam_umask.so nousergroups"), fact("pam_exec.so /opt/x")}}
	a := additions{verification: verification{Input: Input{Base: base, Plan: &migration.Plan{Findings: []assess.Finding{{Remediations: []assess.Remediation{command}}}}}}}
	told := map[string]string{}
	for _, s := range a.unprofiled() {
		told[s.subject] = a.pam(s)
	}
	is.Equal(told, map[string]string{"pam_umask.so nousergroups": "A command of the plan makes it, once the target has the data.", "pam_exec.so /opt/x": ""})
	command.AfterData = false
	a.Plan.Findings[0].Remediations[0] = command
	is.Equal(a.pam(a.unprofiled()[0]), "")
}

// TestCapabilitiesThatWereNotSeen are no word that a program is gone: over ssh they take
// a program of the machine's.
func TestCapabilitiesThatWereNotSeen(t *testing.T) {
	is := is.New(t)
	fping := assess.Program{Path: "/opt/fping", Mode: "0755", Capabilities: true}
	why := func(after ...assess.Program) string {
		v := verification{Input: Input{After: &assess.Assessment{Programs: after}}}
		return v.program(program(fping))[0].Why
	}
	is.True(strings.Contains(why(), "getfattr"))
	is.True(!strings.Contains(why(assess.Program{Path: "/usr/bin/ping", Capabilities: true}), "getfattr")) // they are seen
}
