package rehearsal

import (
	"path"
	"slices"
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/assess"
	"svc/assess/ask"
	"svc/assess/ask/compile"
	"svc/tools/migration"
	"svc/tools/rehearsal/sites"
	"svc/tools/rehearsal/tap"
)

// shop is a source with a web server and a service of its own, both running.
func shop() Input {
	unit := func(name, pkg string, local bool) assess.Unit {
		return assess.Unit{Name: name, Manager: "systemd", State: "enabled", Package: pkg, Local: local, Path: "/etc/systemd/system/" + name}
	}
	before := &assess.Assessment{
		Services:   []assess.Unit{unit("nginx.service", "nginx", false), unit("shopd.service", "", true)},
		WebServers: []assess.WebServer{{Kind: "nginx", Sites: []assess.Site{{Name: "shop.example.net", Listen: []string{"80"}, Root: "/srv/www"}}}},
		Cron:       []assess.CronJob{{Local: true, User: "root", Command: "test -x /usr/bin/php7.4 && /usr/bin/php7.4 x", Schedule: "@daily", Evidence: assess.Evidence{Path: "/etc/cron.d/shop", Line: 1}}},
	}
	page := sites.Requests(before)[0]
	ran := func() *Observed {
		return &Observed{
			Assessment: &assess.Assessment{Users: []assess.User{{Name: "root"}}, Running: &assess.Running{Sockets: []assess.Socket{{Protocol: "tcp", Address: "0.0.0.0", Port: 80, Program: "nginx"}}}},
			Services:   map[string]ask.Service{"nginx.service": {Active: "active", Loaded: true}, "shopd.service": {Active: "active", Loaded: true}},
			Pages:      map[sites.Request]sites.Page{page: {Status: 200, Title: "The shop"}},
			Greetings:  map[int]Greeting{80: {Open: true}}, Programs: map[string]bool{"/usr/bin/php7.4": true}, Logs: map[string][]string{},
		}
	}
	everywhere := func(string) bool { return true }
	return Input{Plan: &migration.Plan{}, Before: before, Source: ran(), Target: ran(), WithData: true, OnSource: everywhere, OnTarget: everywhere, Same: func(string) bool { return false }, UnitPaths: func(string) []string { return nil }}
}

func named(d *Document, id string) Check {
	for _, c := range d.Checks {
		if c.ID() == id {
			return c
		}
	}
	return Check{}
}

func TestWhatRunsAsItDidRuns(t *testing.T) {
	is := is.New(t)
	d := New(shop())
	is.Equal(d.Sum, Sum{Runs: 5})
}

func TestAnInstanceThatIsNamedByItsVersion(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Source.Services["database@15-main.service"] = ask.Service{Active: "active", Loaded: true}
	in.Source.Assessment.Running.Units = []assess.RunningUnit{{Name: "database@15-main.service", State: "active"}}
	is.Equal(named(New(in), "unit database@15-main.service").Verdict, Fails)
	in.Target.Services["database@17-main.service"] = ask.Service{Active: "active", Loaded: true}
	in.Target.Services["database@17-other.service"] = ask.Service{Active: "failed", Loaded: true}
	is.Equal(named(New(in), "unit database@17-main.service").Verdict, Runs)
	in.Target.Services["database@18-main.service"] = ask.Service{Active: "failed", Loaded: true}
	is.Equal(named(New(in), "unit database@15-main.service").Verdict, Fails) // which of them is not known
}

// TestAPortThatWasDrawn is no promise; the ports are those of rpc.statd on two boots.
func TestAPortThatWasDrawn(t *testing.T) {
	is := is.New(t)
	in := shop()
	at := func(port int, protocol, address string) assess.Socket {
		return assess.Socket{Protocol: protocol, Address: address, Port: port, Program: "rpc.statd"}
	}
	here, there := in.Source.Assessment.Running, in.Target.Assessment.Running
	here.Sockets = append(here.Sockets, at(43657, "tcp", "0.0.0.0"), at(36059, "tcp6", "::"), at(883, "udp", "127.0.0.1"))
	is.Equal(New(in).Sum, Sum{Runs: 5, Fails: 3}) // it does not listen at all
	there.Sockets = append(there.Sockets, at(883, "udp", "127.0.0.1"), at(56321, "tcp", "0.0.0.0"))
	is.Equal(New(in).Sum, Sum{Runs: 6}) // the udp one is there
	there.Sockets[1].Port = 791
	is.Equal(New(in).Sum, Sum{Runs: 5})
	here.Sockets = append(here.Sockets, at(56321, "tcp", "0.0.0.0")) // one that is the same on both was set
	is.Equal(New(in).Sum, Sum{Runs: 6, Fails: 2})
}

// TestAPortOfAMachinesOwnRange was drawn too: its kernel was told to draw from others.
func TestAPortOfAMachinesOwnRange(t *testing.T) {
	for _, own := range []bool{false, true} {
		is := is.New(t)
		in := shop()
		here, there := in.Source.Assessment.Running, in.Target.Assessment.Running
		here.Sockets = append(here.Sockets, assess.Socket{Protocol: "udp", Address: "0.0.0.0", Port: 12345, Program: "named"})
		there.Sockets = append(there.Sockets, assess.Socket{Protocol: "udp", Address: "0.0.0.0", Port: 23456, Program: "named"})
		if own {
			here.Draws, there.Draws = []int{10000, 65000}, []int{10000, 65000}
		}
		is.Equal(slices.ContainsFunc(New(in).Checks, func(c Check) bool { return c.Subject == "udp 12345" && c.Verdict == Fails }), !own)
	}
}

func TestWhatNothingStartedCanNotShow(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Level, in.Source = Chroot, nil
	in.Target = &Observed{
		Assessment: &assess.Assessment{Users: []assess.User{{Name: "root"}}, Running: &assess.Running{}, Services: []assess.Unit{{Name: "nginx.service", State: "enabled"}}},
		Answers:    []ask.Answer{{Name: "nginx", Command: "nginx -t"}, {Name: "Apache", Command: "apache2 -t", Status: 1}},
	}
	d := New(in)
	is.Equal(named(d, "unit nginx.service").Verdict, Untried) // it is there, and was not started
	is.Equal(named(d, "unit shopd.service").Verdict, Fails)   // files tell that it is not
	is.Equal(named(d, "port tcp 80").Verdict, Untried)
	is.Equal(named(d, "site http://shop.example.net:80/").Why, notStarted)
	is.Equal(named(d, "configuration nginx -t").Verdict, Runs)
	is.Equal(named(d, "configuration apache2 -t").Verdict, Fails)
}

func TestSettingsThatNobodyCarried(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Plan.Configuration = []migration.Config{
		{From: "/etc/nginx/conf.d/own.conf", Action: migration.Manual, Reason: "Line 4 is not understood."},
		{From: "/etc/nginx/conf.d/written.conf", Action: migration.Manual},
		{From: "/etc/idle/idle.conf", Action: migration.Manual},
		{From: "/etc/nginx/conf.d/carried.conf", Action: migration.Copy},
	}
	in.Target.Assessment.Configuration = []assess.ConfigFile{{Path: "/etc/nginx/conf.d/written.conf", State: assess.ConfigUnowned}}
	d := New(in)
	is.Equal(named(d, "settings /etc/nginx/conf.d/own.conf").Verdict, Fails)
	is.Equal(named(d, "settings /etc/nginx/conf.d/written.conf").Verdict, Runs)
	is.Equal(d.Sum, Sum{Runs: 6, Fails: 1})
}

func TestWhatFailsHasItsLogAndCause(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Target.Services["shopd.service"] = ask.Service{Active: "failed", Loaded: true}
	in.Target.Logs["shopd.service"] = []string{"open /etc/shop/secret.conf: no such file"}
	in.Plan.Configuration = []migration.Config{{From: "/etc/shop/secret.conf", Action: migration.Manual, Reason: "A person decides."}}
	c := named(New(in), "unit shopd.service")
	is.Equal(c.Verdict, Fails)
	is.Equal(c.Log, in.Target.Logs["shopd.service"])
	is.Equal(*c.Cause, Cause{Kind: "configuration", Name: "/etc/shop/secret.conf", Text: "A person decides."})
}

func TestWhatNeedsDataIsNotJudgedWithoutThem(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.WithData = false
	in.OnTarget = func(name string) bool { return name != "/srv/www" && name != "/usr/local/bin/shopd" }
	in.UnitPaths = func(string) []string { return []string{"/usr/local/bin/shopd"} }
	in.Target.Services["shopd.service"] = ask.Service{Active: "failed", Loaded: true}
	for r := range in.Target.Pages {
		in.Target.Pages[r] = sites.Page{Status: 404}
	}
	d := New(in)
	is.Equal(d.Sum.Fails, 0)
	is.Equal(named(d, "unit shopd.service").Verdict, Untried)
	is.Equal(named(d, "site http://shop.example.net:80/").Verdict, Untried)
	in.WithData = true
	is.Equal(New(in).Sum.Fails, 2)
}

func TestWhatCouldNotBeReadIsNotJudged(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Data, in.Unread = []Step{{Name: "files", OK: true}}, []string{"/etc/shopd.conf", "/var/lib/shopd"}
	in.Source.Services["shopd.service"] = ask.Service{Active: "failed", Loaded: true}
	in.Target.Services["shopd.service"] = ask.Service{Active: "failed", Loaded: true}
	d := New(in)
	is.Equal(d.Sum.Fails, 0)
	is.Equal(named(d, "unit shopd.service").Verdict, Untried)
	is.Equal(named(d, "data files").Verdict, Runs)
	is.Equal(named(d, "data files that could not be read").Verdict, Untried)
	is.Equal(named(d, "data files that could not be read").Log, in.Unread)
	in.Target.Services["shopd.service"] = ask.Service{Active: "active", Loaded: true}
	is.Equal(named(New(in), "unit shopd.service").Verdict, Runs)
	in.Unread = nil
	is.Equal(named(New(in), "unit shopd.service").Verdict, Verdict(""))
}

func TestWhatFailedOnTheSourceIsNoFaultOfTheMove(t *testing.T) {
	is := is.New(t)
	in := shop()
	bad := []ask.Answer{{Name: "sudo", Command: "visudo -c", File: "/usr/sbin/visudo", Status: 1, Text: "bad permissions"}}
	in.Source.Answers, in.Target.Answers = bad, bad
	in.Source.Services["shopd.service"] = ask.Service{Active: "failed", Loaded: true}
	in.Target.Services["shopd.service"] = ask.Service{Active: "failed", Loaded: true}
	d := New(in)
	is.Equal(d.Sum.Fails, 0)
	is.Equal(named(d, "configuration visudo -c").Verdict, Untried)
}

func TestALineOfCronThatWasChangedOnItsWay(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Target.Programs = map[string]bool{"/usr/bin/php8.4": true}
	is.Equal(New(in).Sum.Fails, 1)
	in.Target.Assessment.Cron = []assess.CronJob{{Local: true, User: "root", Command: "/usr/bin/php8.4 x", Schedule: "@daily", Evidence: assess.Evidence{Path: "/etc/cron.d/shop", Line: 1}}}
	is.Equal(New(in).Sum.Fails, 0)
}

// TestAScriptOfCronThatWasRenamedOnItsWay runs by its new name.
func TestAScriptOfCronThatWasRenamedOnItsWay(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Target.Programs = map[string]bool{}
	in.Before.Cron[0].Command = "/etc/cron.daily/tidy.sh"
	in.Source.Programs = map[string]bool{"/etc/cron.daily/tidy.sh": true}
	is.Equal(New(in).Sum.Fails, 1)
	in.Plan.Configuration = append(in.Plan.Configuration, migration.Config{From: "/etc/cron.daily/tidy.sh", To: "/etc/cron.daily/tidy_sh"})
	is.Equal(New(in).Sum.Fails, 0)
	in.OnTarget = func(name string) bool { return name != "/etc/cron.daily/tidy_sh" }
	is.Equal(named(New(in), "cron /etc/cron.daily/tidy.sh, for root").Verdict, Fails)
}

// TestALineOfCronWhoseAccountHasAnotherName runs where the target has that account.
func TestALineOfCronWhoseAccountHasAnotherName(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Before.Cron[0].User, in.Target.Programs = "web", map[string]bool{"/usr/bin/php7.4": true}
	in.Target.Assessment.Cron = []assess.CronJob{in.Before.Cron[0]}
	in.Target.Assessment.Cron[0].User = "www-data"
	is.Equal(named(New(in), "cron /usr/bin/php7.4, for web").Verdict, Fails)
	in.Target.Assessment.Users = append(in.Target.Assessment.Users, assess.User{Name: "www-data"})
	is.Equal(named(New(in), "cron /usr/bin/php7.4, for web").Verdict, Runs)
	in.Target.Programs = map[string]bool{}
	is.Equal(named(New(in), "cron /usr/bin/php7.4, for web").Verdict, Fails)
}

func TestALineOfCronWhoseProgramTheSourceHasNotEither(t *testing.T) {
	for _, booted := range []bool{true, false} {
		is := is.New(t)
		in := shop()
		in.Target.Programs = map[string]bool{}
		is.Equal(New(in).Sum.Fails, 1)
		in.Source.Programs = map[string]bool{}
		if !booted {
			in.Source, in.OnSource = nil, func(string) bool { return false }
		}
		for _, c := range New(in).Checks {
			is.True(c.Kind != "cron")
		}
	}
}

func TestAServiceThatFailsOnTheTargetAlone(t *testing.T) {
	is := is.New(t)
	in := shop()
	failed := ask.Service{Active: "failed", Loaded: true}
	in.Target.Services["quadlet.service"], in.Target.Services["systemd-x.service"], in.Target.Services["login.service"] = failed, failed, failed
	in.Target.Assessment.Packages = append(in.Target.Assessment.Packages, assess.Package{Name: "login", Base: true})
	in.Target.Assessment.Services = append(in.Target.Assessment.Services, assess.Unit{Name: "login.service", Package: "login"})
	d := New(in)
	is.Equal(d.Sum.Fails, 1) // not the release's own
	is.Equal(named(d, "unit quadlet.service").Source, "no such unit")
	in.Source.Services["quadlet.service"] = failed
	is.Equal(New(in).Sum.Fails, 0)
}

// TestUnitsThatWait for files are asked about as those are that wait for their time.
func TestUnitsThatWait(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Before.Timers = []assess.Unit{{Name: "nightly.timer", State: "enabled", Local: true, Schedule: "daily"}}
	in.Before.Services = append(in.Before.Services, assess.Unit{Name: "inbox@ann.path", Manager: "systemd", State: "enabled", Local: true})
	waiting := []assess.RunningUnit{{Name: "nightly.timer", State: "active"}, {Name: "inbox@ann.path", State: "active"}}
	in.Source.Assessment.Running.Units, in.Target.Assessment.Running.Units = waiting, waiting[:1]
	d := New(in)
	is.Equal(named(d, "timer nightly.timer").Verdict, Runs)
	is.Equal(named(d, "timer inbox@ann.path").Target, "not active")
	is.Equal(d.Sum.Fails, 1)
}

func TestAFileThatAPackageMadeAnewBrought(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Plan.Configuration = []migration.Config{{From: "/etc/shopd/shopd.yml", Package: "shopd", Action: migration.Manual, Reason: "nobody knows it"}}
	in.Before.Services = append(in.Before.Services, assess.Unit{Name: "shopd.service", State: "enabled", Package: "shopd", Local: true})
	is.Equal(named(New(in), "settings /etc/shopd/shopd.yml").Verdict, Fails)
	in.Same = func(path string) bool { return path == "/etc/shopd/shopd.yml" }
	is.Equal(named(New(in), "settings /etc/shopd/shopd.yml").Verdict, Runs)
}

func TestEachFixMendsWhatItIsAbout(t *testing.T) {
	is := is.New(t)
	before, after := New(shop()), New(shop())
	for n, said := range map[string]string{"one": "asyncore", "two": "cgi", "three": "asynchat"} {
		id := Check{Kind: "unit", Subject: n + ".service", Verdict: Fails, Log: []string{"/usr/local/bin/" + n + ": No module named '" + said + "'"}}
		before.Checks = append(before.Checks, id)
		id.Verdict = Runs
		after.Checks = append(after.Checks, id)
	}
	after.Fixes = []Fix{
		NewFix("file", "1", []string{"/usr/local/lib/python3.13/dist-packages/asyncore.py"}), NewFix("package", "2", []string{"python3-legacy-cgi"}),
		NewFix("command", "3", []string{"#!/bin/sh\ntouch /usr/local/lib/python3.13/dist-packages/asynchat.py\n"}),
	}
	after.Mend(before)
	is.Equal(after.Fixes[0].Mended, []string{"unit one.service"})
	is.Equal(after.Fixes[1].Mended, []string{"unit two.service"})
	is.Equal(after.Fixes[2].Mended, []string{"unit three.service"})
}

func TestAFixIsSaidToHaveMended(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Target.Services["shopd.service"] = ask.Service{Active: "failed", Loaded: true}
	in.Target.Logs["shopd.service"] = []string{"no module named asyncore"}
	before := New(in)
	after := New(shop())
	after.Fixes = []Fix{NewFix("other", "1", []string{"/etc/other"}), NewFix("python", "2", []string{"asyncore"})}
	after.Mend(before)
	is.Equal(named(after, "unit shopd.service").MendedBy, []string{"python"})
	is.Equal(after.Fixes[0].Mended, []string{})
	again := New(shop())
	again.Fixes = []Fix{NewFix("other", "1", nil), NewFix("python", "2", nil)}
	again.Mend(after)
	is.Equal(again.Fixes[1].Mended, []string{"unit shopd.service"}) // it still is what mended it
}

// Whatever a target does, each check has one verdict and the sum is of all.
func TestTheSumIsOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := shop()
		in.WithData = rapid.Bool().Draw(t, "data")
		state := rapid.SampledFrom([]string{"active", "inactive", "failed", "activating", ""})
		for name := range in.Target.Services {
			in.Target.Services[name] = ask.Service{Active: state.Draw(t, name), Loaded: rapid.Bool().Draw(t, "loaded"), Refused: rapid.Bool().Draw(t, "refused")}
		}
		for r := range in.Target.Pages {
			in.Target.Pages[r] = sites.Page{Status: rapid.SampledFrom([]int{0, 200, 404, 500}).Draw(t, "status")}
		}
		if rapid.Bool().Draw(t, "no copy") {
			in.Source = nil
		}
		d := New(in)
		if d.Sum.Runs+d.Sum.Fails+d.Sum.Untried != len(d.Checks) {
			t.Fatalf("%v of %d", d.Sum, len(d.Checks))
		}
		for _, c := range d.Checks {
			if c.Verdict != Runs && c.Why == "" {
				t.Fatalf("%v has no reason", c)
			}
		}
	})
}

// withPrograms is a shop with programs of people, of which interpreters said something.
func withPrograms() Input {
	in := shop()
	said := func() *compile.Answers {
		return &compile.Answers{Asked: map[string]bool{"/opt/a.py": true, "/opt/b.php": true}, Troubles: map[string][]compile.Trouble{}, Uses: map[string]compile.Use{}, Files: map[string]string{"python imp": "/usr/lib/python3.11/imp.py"}}
	}
	in.People = []compile.Program{{Path: "/opt/a.py", Language: "python"}, {Path: "/opt/b.php", Language: "php"}, {Path: "/opt/unasked.lua", Language: "lua"}}
	in.Source.Compiled, in.Target.Compiled = said(), said()
	in.Source.Owners = map[string]string{"/usr/lib/python3.11/imp.py": "libpython3.11-minimal"}
	return in
}

func TestProgramsThatCompileRun(t *testing.T) {
	is := is.New(t)
	is.Equal(New(withPrograms()).Sum, Sum{Runs: 7})
	in := withPrograms() // what the source did not take either says nothing
	for _, o := range []*Observed{in.Source, in.Target} {
		o.Compiled.Troubles["/opt/a.py"] = []compile.Trouble{{Kind: "module", Name: "old", Line: 1}}
	}
	is.Equal(New(in).Sum, Sum{Runs: 7})
	in = withPrograms() // nor what nobody knows
	in.Target.Compiled.Troubles["/opt/a.py"] = []compile.Trouble{{Kind: "name", Name: "a.b", Line: 1, Unsure: true}}
	in.Source.Compiled.Troubles["/opt/a.py"] = []compile.Trouble{{Kind: "name", Name: "a.c", Line: 1, Unsure: true}}
	in.Target.Compiled.Troubles["/opt/a.py"] = append(in.Target.Compiled.Troubles["/opt/a.py"], compile.Trouble{Kind: "name", Name: "a.c", Line: 1})
	is.Equal(New(in).Sum, Sum{Runs: 7})
	in = withPrograms()
	in.Source = nil // there is nothing to hold it against
	is.Equal(named(New(in), "program /opt/a.py"), Check{})
}

func TestProgramsThatTheTargetDoesNotTake(t *testing.T) {
	is := is.New(t)
	in := withPrograms()
	in.Target.Compiled.Troubles["/opt/a.py"] = []compile.Trouble{{Kind: "module", Name: "imp", Line: 3, Text: "No module named 'imp'"}}
	in.Source.Compiled.Uses["function imap_open"] = compile.Use{Of: "extension imap", Places: []compile.Place{{Path: "/opt/b.php", Line: 9}}}
	d := New(in)
	is.Equal(d.Sum, Sum{Runs: 5, Fails: 2})
	c := named(d, "program /opt/a.py")
	is.Equal(c.Log, []string{"line 3: No module named 'imp'"})
	is.Equal(*c.Cause, Cause{Kind: "program", Name: "/opt/a.py", Line: 3, Text: "On the source, package libpython3.11-minimal brings imp, and what the target has in its place does not: install what does, or change the program."})
	c = named(d, "program /opt/b.php")
	is.Equal(c.Log, []string{"line 9: no function imap_open; on the source, extension imap has it"})
	in.Target.Compiled.Uses["function imap_open"] = compile.Use{}
	is.Equal(named(New(in), "program /opt/b.php").Verdict, Runs) // another part has it there
	in.Target.Compiled.Troubles["/opt/b.php"] = []compile.Trouble{{Kind: "interpreter", Name: "/usr/bin/php5", Line: 1}}
	is.Equal(named(New(in), "program /opt/b.php").Cause.Line, 1)
	in.Target.Compiled.Asked = map[string]bool{}
	in.Target.Compiled.Troubles = map[string][]compile.Trouble{}
	is.Equal(named(New(in), "program /opt/a.py").Verdict, Untried)
}

func TestAProgramThatIsNotThere(t *testing.T) {
	is := is.New(t)
	in := withPrograms()
	in.OnTarget = func(name string) bool { return name != "/opt/a.py" }
	is.Equal(named(New(in), "program /opt/a.py").Verdict, Fails)
	in.WithData = false
	is.Equal(named(New(in), "program /opt/a.py").Verdict, Untried) // it comes with the data
	in.WithData = true
	in.Plan.Configuration = []migration.Config{{From: "/opt/a.py", Action: migration.LeftOut}}
	is.Equal(named(New(in), "program /opt/a.py"), Check{}) // which the plan tells
	in.Plan.Configuration = nil
	in.Target.Owners = map[string]string{"/opt/a.py": "vendor"}
	is.Equal(named(New(in), "program /opt/a.py"), Check{}) // as packages go
	in.Target.Owners, in.Source.Owners["/opt/a.py"] = nil, "vendor"
	is.Equal(named(New(in), "program /opt/a.py"), Check{})
}

func TestPagesBesideTheFirst(t *testing.T) {
	is := is.New(t)
	in := shop()
	first := sites.Requests(in.Before)[0]
	further := first
	further.Path = "/list"
	set := func(o *Observed, status int, links ...string) {
		o.Pages[first] = sites.Page{Status: 200, Title: "The shop", Links: links}
		o.Pages[further] = sites.Page{Status: status}
	}
	set(in.Source, 200, "/list")
	set(in.Target, 302, "/list")
	is.Equal(New(in).Sum, Sum{Runs: 6})
	set(in.Target, 500, "/list")
	is.Equal(named(New(in), "site http://shop.example.net:80/list").Verdict, Fails)
	set(in.Target, 404) // a newer version of the first page has another
	is.Equal(named(New(in), "site http://shop.example.net:80/list").Verdict, Untried)
	set(in.Source, 404, "/list")
	is.Equal(New(in).Sum, Sum{Runs: 5}) // which the source had not either
	set(in.Source, 401)                 // the configuration names it
	is.Equal(named(New(in), "site http://shop.example.net:80/list").Verdict, Fails)
	delete(in.Target.Pages, further) // there was no time
	is.Equal(New(in).Sum, Sum{Runs: 5})
}

func TestWhatServersCanLoad(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Source.Catalogues = map[string]Catalogue{"Apache's modules": {Answers: true, Lines: []string{"dav", "php"}}, "Samba's shares": {Answers: true}, "jobs of at": {Answers: true, Lines: []string{"x"}}}
	in.Target.Catalogues = map[string]Catalogue{"Apache's modules": {Answers: true, Lines: []string{"php", "more"}}, "jobs of at": {Answers: true}}
	in.WithData = false
	d := New(in)
	is.Equal(named(d, "listing Apache's modules").Log, []string{"dav"})
	is.Equal(named(d, "listing Apache's modules").Verdict, Fails)
	is.Equal(named(d, "listing jobs of at").Verdict, Untried) // they come with the data
	is.Equal(named(d, "listing Samba's shares"), Check{})     // the source has none
}

func TestTheQuestionsOfTheTable(t *testing.T) {
	is := is.New(t)
	names := map[string]bool{}
	for _, q := range CatalogueQuestions() {
		is.True(q.Kind == "database" || q.Kind == "listing")
		is.True(!names[q.Name] && len(q.Programs) > 0)
		for _, pattern := range slices.Concat(q.Programs, q.Places) {
			_, err := path.Match(pattern, "")
			is.True(err == nil && pattern[0] == '/')
		}
		names[q.Name] = true
	}
	is.True(len(names) > 20)
}

// TestACommandOfAKnownTroubleThatFails is a finding with what it said; where nothing was
// booted, one that needs that could not be tried.
func TestACommandOfAKnownTroubleThatFails(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Mends = []Step{{Name: "A is old", OK: true}, {Name: "B is old", Output: []string{"b: not found"}}}
	of := func(d *Document) (all []Check) {
		return slices.DeleteFunc(d.Checks, func(c Check) bool { return c.Kind != "mend" })
	}
	all := of(New(in))
	is.Equal(len(all), 2)
	is.Equal(all[0].ID(), "mend B is old")
	is.Equal(all[0].Verdict, Fails)
	is.Equal(all[0].Log, []string{"b: not found"})
	is.Equal(all[1].Verdict, Runs)
	in.Level = Chroot
	is.Equal(of(New(in))[0].Verdict, Untried)
}

// TestConsequencesOfAStepThatFailedAreToldAsSuch, and other troubles are not.
func TestConsequencesOfAStepThatFailedAreToldAsSuch(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Data = []Step{{Name: "0001-database-shop: load", About: []string{"shopd"}}, {Name: "files", OK: true, About: []string{"nginx"}}}
	for _, name := range []string{"nginx.service", "shopd.service"} {
		in.Target.Services[name] = ask.Service{Active: "failed", Loaded: true}
	}
	d := New(in)
	is.Equal(*named(d, "unit shopd.service").Cause, Cause{Kind: "step", Name: "0001-database-shop: load", Text: "It follows from this step of the data's move, which failed."})
	is.True(named(d, "data 0001-database-shop: load").Cause == nil) // the cause itself
	is.True(named(d, "unit nginx.service").Cause == nil)
}

// TestChecksThatTheTargetNeverCameTo are told, and none where no check was made there.
func TestChecksThatTheTargetNeverCameTo(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.OwnSource = map[string]tap.Result{"shop: it sells": {OK: true}, "shop: it buys": {OK: true}, "shop: it never did": {}}
	is.Equal(named(New(in), "own shop: it sells"), Check{})
	in.OwnTarget = []tap.Result{{Name: "shop: it buys", OK: true}}
	is.Equal(named(New(in), "own shop: it sells").Verdict, Untried)
	is.Equal(named(New(in), "own shop: it buys").Verdict, Runs)
	is.Equal(named(New(in), "own shop: it never did"), Check{})
	in.OwnTarget = append(in.OwnTarget, tap.Result{Name: "shop: it sells: no stock"}) // it says why behind its name
	is.Equal(named(New(in), "own shop: it sells").Verdict, Fails)
	is.Equal(named(New(in), "own shop: it sells").Source, "passes")
}

// TestWhatSetsTheClockCannotBeTried where the clock is the host's.
func TestWhatSetsTheClockCannotBeTried(t *testing.T) {
	is := is.New(t)
	in := shop()
	in.Target.Services["chrony.service"] = ask.Service{Active: "failed", Loaded: true}
	is.Equal(named(New(in), "unit chrony.service").Verdict, Fails)
	in.Target.Logs = map[string][]string{"chrony.service": {"Fatal error : adjtimex(0x8001) failed : Operation not permitted"}}
	is.Equal(named(New(in), "unit chrony.service").Verdict, Untried)
}
