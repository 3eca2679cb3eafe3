package rehearsal

import (
	"testing"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/assess"
	"svc/assess/ask"
	"svc/tools/migration"
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
	page := Requests(before)[0]
	ran := func() *Observed {
		return &Observed{
			Assessment: &assess.Assessment{Users: []assess.User{{Name: "root"}}, Running: &assess.Running{Sockets: []assess.Socket{{Protocol: "tcp", Address: "0.0.0.0", Port: 80, Program: "nginx"}}}},
			Services:   map[string]ask.Service{"nginx.service": {Active: "active", Loaded: true}, "shopd.service": {Active: "active", Loaded: true}},
			Pages:      map[Request]Page{page: {Status: 200, Title: "The shop"}},
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
		in.Target.Pages[r] = Page{Status: 404}
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

func TestTAP(t *testing.T) {
	is := is.New(t)
	is.Equal(TAP("shop", 1, "1..3\nok 1 - opens\nnot ok 2 - sells\nnot ok 3 - ships # TODO later\n"), []Own{
		{"shop: opens", true, "ok 1 - opens"}, {"shop: sells", false, "not ok 2 - sells"}, {"shop: ships", true, "not ok 3 - ships # TODO later"},
	})
	is.Equal(TAP("shop", 1, "not ok 1 - sells\n# no till\nok 2 - opens\n# unasked\n"), []Own{{"shop: sells", false, "not ok 1 - sells no till"}, {"shop: opens", true, "ok 2 - opens"}})
	is.Equal(TAP("shop", 3, "it is closed\n"), []Own{{"shop", false, "it is closed"}})
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
			in.Target.Pages[r] = Page{Status: rapid.SampledFrom([]int{0, 200, 404, 500}).Draw(t, "status")}
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
