package migration

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/api"
	"svc/tools/migration/naming"
	"svc/tools/migration/valid"
)

// TestAVendorsUnitGoesAlong where the target lacks its package and all that it runs moves
// with the data.
func TestAVendorsUnitGoesAlong(t *testing.T) {
	const file = "/usr/lib/systemd/system/v.service"
	for text, want := range map[string]bool{
		"[Service]\nUser=v\nExecStart=/opt/v/bin/v -d\n":                        true,
		"[Service]\nExecStartPre=-/opt/v/check\nExecStart=\"/opt/v/v\" -d\n":    true,
		"[Service]\nExecStartPre=/usr/bin/mkdir x\nExecStart=/opt/v/bin/v -d\n": false,
		"[Service]\nExecStart=/usr/sbin/v\n":                                    false,
		"[Service]\nExecStart=/opt/../usr/sbin/v\n":                             false,
		"[Service]\nUser=v\n":                                                   false,
	} {
		is := is.New(t)
		in := one(t, assess.Package{Name: "v", Manual: true}, api.Translation{Relation: api.RelationUnknown})
		in.Assessment.Services = []assess.Unit{{Name: "v.service", Manager: "systemd", State: "enabled", Package: "v", Path: file}}
		in.Read = func(string) ([]byte, error) { return []byte(text), nil }
		p := New(in)
		row := slices.IndexFunc(p.Configuration, func(c Config) bool { return c.From == file })
		is.Equal(row >= 0, want)
		is.Equal(p.Services[0].Apply, want)
		if want {
			is.Equal(p.Configuration[row].To, "/etc/systemd/system/v.service")
			is.Equal(p.Services[0].To, "v.service")
			is.True(slices.ContainsFunc(p.Findings, func(f assess.Finding) bool { return f.Key == "units.wait-for-data" }))
		}
	}
}

// TestAVendorsTimerGoesAlong with what it starts, and with the settings of its package that a
// person changed.
func TestAVendorsTimerGoesAlong(t *testing.T) {
	is := is.New(t)
	const dir = "/usr/lib/systemd/system/"
	files := map[string]string{dir + "v.timer": "[Timer]\nOnCalendar=daily\nUnit=v-run.service\n", dir + "v-run.service": "[Service]\nExecStart=/opt/v/run\n", "/etc/v/v.conf": "a=1\n"}
	plan := func() (*Plan, map[string]Config) {
		in := one(t, assess.Package{Name: "v", Manual: true}, api.Translation{Relation: api.RelationUnknown})
		in.Assessment.Timers = []assess.Unit{{Name: "v.timer", Manager: "systemd", State: "enabled", Package: "v", Path: dir + "v.timer"}}
		in.Assessment.Configuration = []assess.ConfigFile{{Path: "/etc/v/v.conf", Package: "v", State: assess.ConfigChanged, Mode: "0644", Owner: "root", Group: "root"}}
		in.Read = func(file string) ([]byte, error) { return []byte(files[file]), nil }
		p, rows := New(in), map[string]Config{}
		for _, c := range p.Configuration {
			rows[c.From] = c
		}
		return p, rows
	}
	p, rows := plan()
	is.Equal(rows[dir+"v.timer"].To, "/etc/systemd/system/v.timer")
	is.Equal(rows[dir+"v-run.service"].To, "/etc/systemd/system/v-run.service")
	is.Equal(rows["/etc/v/v.conf"].To, "/etc/v/v.conf")
	is.True(p.Services[0].Apply)
	files[dir+"v-run.service"] = "[Service]\nExecStart=/usr/bin/v\n" // of the package that the target lacks
	p, rows = plan()
	is.Equal(len(rows), 1)
	is.Equal(rows["/etc/v/v.conf"].Action, Manual)
	is.True(!p.Services[0].Apply)
}

// TestAUnitThatNoPackageOfTheTargetHas comes along where the target has what it runs, with what
// it starts; else it is told.
func TestAUnitThatNoPackageOfTheTargetHas(t *testing.T) {
	const dir = "/usr/lib/systemd/system/"
	for name, c := range map[string]struct {
		runs       string
		ships      []string
		preset     bool
		goes, told bool
	}{
		"what it runs is there":            {"-/usr/libexec/d/daemon --inetd", []string{}, false, true, false},
		"what it runs may not be there":    {"/usr/sbin/daemon --inetd", []string{}, false, false, true},
		"a package has it":                 {"-/usr/libexec/d/daemon --inetd", []string{"d.socket", "d@.service"}, false, false, false},
		"what packages have is not known":  {"-/usr/libexec/d/daemon --inetd", nil, false, false, false},
		"the package enables it by itself": {"/usr/sbin/daemon --inetd", []string{"other.service"}, true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			in := one(t, assess.Package{Name: "p", Manual: true}, api.Translation{Relation: api.RelationMerged, Packages: to("q"), Confidence: 0.95})
			in.Assessment.Release, in.Units = "almalinux-8", map[string][]string{"c": c.ships}
			in.Relocations = map[string][]api.Relocation{"c": {{From: "/usr/libexec/d", To: ptr("/usr/lib/d"), Kind: api.RelocateDir, Action: api.ActionManual}}}
			in.Assessment.Services = []assess.Unit{{Name: "d.socket", Manager: "systemd", State: "enabled", Preset: c.preset, Package: "p", Path: dir + "d.socket"}}
			texts := map[string]string{dir + "d.socket": "[Socket]\nListenStream=9418\nAccept=true\n", dir + "d@.service": "[Service]\nUser=nobody\nExecStart=" + c.runs + "\n"}
			in.Read = func(file string) ([]byte, error) { return []byte(texts[file]), nil }
			p, goes := New(in), map[string]string{}
			for _, row := range p.Configuration {
				text, _ := row.carried(in)
				goes[row.To] = text
			}
			is.Equal(goes["/etc/systemd/system/d.socket"] != "", c.goes)
			is.Equal(strings.Contains(goes["/etc/systemd/system/d@.service"], "ExecStart=-/usr/lib/d/daemon"), c.goes)
			is.Equal(p.Services[0].Local, c.goes)
			is.Equal(slices.ContainsFunc(p.Findings, func(f assess.Finding) bool { return f.Key == "services.not-shipped" }), c.told)
		})
	}
}

// TestADropinThatStartsAPackagesUnit is written for the source's: a person carries it to another
// family, but for a vendor's unit, which both have.
func TestADropinThatStartsAPackagesUnit(t *testing.T) {
	for name, c := range map[string]struct {
		source, unit, text string
		stays              bool
	}{
		"renamed":        {"almalinux-8", "d.service", "[Service]\nExecStart=\nExecStart=/usr/sbin/d -s /srv/d\n", true},
		"of one name":    {"almalinux-8", "same.service", "[Service]\nExecStart=/usr/sbin/d\n", true},
		"of a vendor":    {"almalinux-8", "other.service", "[Service]\nExecStart=\nExecStart=/usr/bin/other -H tcp://::1\n", false},
		"other settings": {"almalinux-8", "d.service", "[Service]\nExecStartPre=/srv/d/ready\nLimitNOFILE=9\n", false},
		"one family":     {"debian-12", "d.service", "[Service]\nExecStart=\nExecStart=/usr/sbin/d -s /srv/d\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			in := one(t, assess.Package{Name: "p", Manual: true}, api.Translation{Relation: api.RelationSame, Packages: to("p"), Confidence: 0.95})
			in.Assessment.Release, in.Units = c.source, map[string][]string{"c": {"same.service"}}
			in.Relocations = map[string][]api.Relocation{"c": {{From: "d.service", To: ptr("e.service"), Kind: api.RelocateService, Action: api.ActionConvert}}}
			in.Assessment.Configuration = []assess.ConfigFile{{Path: "/etc/systemd/system/" + c.unit + ".d/own.conf", State: assess.ConfigUnowned, Mode: "0644", Owner: "root", Group: "root"}}
			in.Read = func(string) ([]byte, error) { return []byte(c.text), nil }
			p := New(in)
			is.Equal(p.Configuration[0].Action == Manual, c.stays)
			is.Equal(slices.ContainsFunc(p.Findings, func(f assess.Finding) bool { return f.Key == "configuration.by-hand" }), c.stays)
		})
	}
}

// TestWhatAPackageOfTheTargetMakesIsNotMade: an account that the target calls otherwise is its
// package's, as its group is: without that the role could not make it.
func TestWhatAPackageOfTheTargetMakesIsNotMade(t *testing.T) {
	is := is.New(t)
	where := naming.New([]naming.Row{{Name: "p", Canonical: "p"}}, map[string][]api.Relocation{"p": {
		{Kind: api.RelocateUser, From: "served", To: ptr("serve")}, {Kind: api.RelocateGroup, From: "served", To: ptr("serve")},
	}})
	a := &assess.Assessment{
		Users:  []assess.User{{Name: "served", UID: 985, GID: 985, System: true}, {Name: "own", UID: 986, GID: 986, System: true}},
		Groups: []assess.Group{{Name: "served", GID: 985, System: true}, {Name: "own", GID: 986, System: true}},
	}
	got := accounts(a, where, &valid.Refused{})
	is.Equal(len(got.Users), 1)
	is.Equal(got.Users[0].Name, "own")
	is.Equal(len(got.Groups), 1)
}
