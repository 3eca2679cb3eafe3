package migration

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/release"
)

// between is a move of a machine with units and files, of which the index knows nginx.
func between(t *testing.T, from, to string, units []assess.Unit, files ...string) *Plan {
	role := api.RoleMain
	nginx, ofOpenRC := "nginx.service", "nginx"
	if release.FamilyOf(strings.Split(from, "-")[0]) == release.Alpine {
		nginx, ofOpenRC = ofOpenRC, nginx
	}
	in := Input{
		Assessment: &assess.Assessment{
			Release: from, Packages: []assess.Package{{Name: "nginx", Manual: true}, {Name: "other", Manual: true}}, Services: units,
			Users: []assess.User{{Name: "anna", UID: 1000, GID: 1000, Shell: "/bin/bash", Home: "/home/anna"}, {Name: "app", UID: 990, GID: 990, System: true, Shell: "/usr/sbin/nologin"}},
		},
		Target:       target(t, to),
		Resolutions:  []api.Resolution{{Package: "nginx", Canonical: ptr("nginx"), Role: &role, Confidence: 1, Match: api.MatchExact}, {Package: "other", Match: api.MatchNone}},
		Translations: map[string]api.Translation{"nginx": {Relation: api.RelationSame, Packages: []api.TargetPackage{{Name: "nginx"}}, Confidence: 0.96}},
		Relocations:  map[string][]api.Relocation{"nginx": {{From: nginx, To: &ofOpenRC, Kind: api.RelocateService, Action: api.ActionConvert}}},
	}
	for _, f := range files {
		in.Assessment.Configuration = append(in.Assessment.Configuration, assess.ConfigFile{Path: f, Owner: "root", Group: "root", Mode: "0644", State: assess.ConfigUnowned})
	}
	return New(in)
}

func serviceOf(t *testing.T, p *Plan, unit string) Service {
	i := slices.IndexFunc(p.Services, func(s Service) bool { return s.Unit == unit })
	if i < 0 {
		t.Fatal("no row of", unit)
	}
	return p.Services[i]
}

func TestServicesTowardsOpenRC(t *testing.T) {
	is := is.New(t)
	p := between(t, "debian-12", "alpine-3.22", []assess.Unit{
		{Name: "nginx.service", Manager: "systemd", State: "enabled", Package: "nginx"},
		{Name: "mine.service", Manager: "systemd", State: "enabled", Local: true, Path: "/etc/systemd/system/mine.service"},
		{Name: "mine.timer", Manager: "systemd", State: "enabled", Local: true, Path: "/etc/systemd/system/mine.timer"},
		{Name: "logrotate.timer", Manager: "systemd", State: "enabled", Preset: true, Package: "nginx"},
		{Name: "other.service", Manager: "systemd", State: "enabled", Package: "nginx"},
	}, "/etc/systemd/system/mine.service", "/etc/cron.d/mine", "/etc/crontab", "/etc/default/mine", "/etc/sysctl.d/mine.conf", "/etc/mine.conf")
	nginx := serviceOf(t, p, "nginx.service")
	is.Equal(nginx.To, "nginx")
	is.True(nginx.Apply)
	for _, unit := range []string{"mine.service", "mine.timer", "logrotate.timer", "other.service"} {
		s := serviceOf(t, p, unit)
		is.Equal(s.To, "")
		is.True(!s.Apply && s.Reason != "")
	}
	i := slices.IndexFunc(p.Findings, func(f assess.Finding) bool { return f.Key == "services.no-counterpart" })
	is.True(i >= 0)
	for _, unit := range []string{"mine.service", "mine.timer", "logrotate.timer", "other.service"} {
		is.True(strings.Contains(p.Findings[i].Summary, unit)) // none is lost without a word
	}
	for _, c := range p.Configuration {
		goes := c.From == "/etc/sysctl.d/mine.conf" || c.From == "/etc/mine.conf"
		is.Equal(c.Action == Copy, goes)
		is.Equal(c.Action == Manual, !goes)
	}
	is.True(slices.Contains(p.Install, "bash")) // anna's shell
	is.Equal(p.Accounts.Users[0].Shell, "/bin/bash")
	is.Equal(p.Accounts.Users[1].Shell, "/sbin/nologin")
}

func TestServicesFromOpenRC(t *testing.T) {
	is := is.New(t)
	units := []assess.Unit{
		{Name: "nginx", Manager: "openrc", State: "enabled", Package: "nginx"},
		{Name: "proxyd", Manager: "openrc", State: "enabled", Local: true, Path: "/etc/init.d/proxyd"},
	}
	p := between(t, "alpine-3.18", "debian-13", units, "/etc/init.d/proxyd", "/etc/conf.d/nginx", "/etc/mine.conf")
	is.Equal(serviceOf(t, p, "nginx").To, "nginx.service")
	is.True(!serviceOf(t, p, "proxyd").Apply)
	for _, c := range p.Configuration {
		is.Equal(c.Action == Manual, c.From != "/etc/mine.conf")
	}
	within := between(t, "alpine-3.18", "alpine-3.22", units, "/etc/init.d/proxyd", "/etc/conf.d/nginx")
	is.True(serviceOf(t, within, "proxyd").Apply)
	is.Equal(serviceOf(t, within, "nginx").To, "nginx")
	for _, c := range within.Configuration {
		is.Equal(c.Action, Copy)
	}
	is.True(!slices.ContainsFunc(within.Findings, func(f assess.Finding) bool { return f.Key == "services.no-counterpart" }))
}
