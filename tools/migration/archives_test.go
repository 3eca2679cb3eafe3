package migration

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/api"
)

// server is an input with one chosen package, which the target has by the same
// name.
func server(t *testing.T, from, into, name, version string) Input {
	t.Helper()
	in := one(t, assess.Package{Name: name, Version: version, Manual: true}, api.Translation{Relation: api.RelationSame, Packages: to(name), Confidence: 0.99})
	in.Assessment.Release, in.Target = from, target(t, into)
	return in
}

func TestWhatHasToBeEnabledFirst(t *testing.T) {
	for _, c := range []struct {
		into, name, version     string
		packages, enable, added []string
		finding                 string
	}{
		{"almalinux-9", "fail2ban", "0.11", []string{"dnf-plugins-core", "epel-release"}, []string{"crb"}, nil, "target.epel"},
		{"rocky-8", "htop", "3", []string{"dnf-plugins-core", "epel-release"}, []string{"powertools"}, nil, "target.epel"},
		{"rhel-9", "htop", "3", []string{"dnf-plugins-core"}, []string{"codeready-builder-for-rhel-9-x86_64-rpms"}, nil, "target.epel"},
		{"almalinux-9", "libxml2-devel", "2", []string{"dnf-plugins-core"}, []string{"crb"}, nil, ""},
		{"almalinux-9", "nodejs", "1:18.2", nil, nil, []string{"nodejs:18"}, ""},
		{"almalinux-9", "php-common", "8.0.27", nil, nil, nil, ""},
		{"almalinux-9", "php-common", "5.4.16", nil, nil, nil, "target.stream.php"},
		{"almalinux-9", "postgresql-server", "16.1", nil, nil, []string{"postgresql:16"}, ""},
		{"almalinux-10", "postgresql-server", "15.1", nil, nil, nil, ""},
	} {
		t.Run(c.into+" "+c.name, func(t *testing.T) {
			is := is.New(t)
			in := server(t, "centos-7", c.into, c.name, c.version)
			if c.finding == "target.epel" {
				in.Translations["c"].Packages[0].Repository = api.EPEL
			}
			p := New(in)
			is.True(slices.Equal(p.Archives.Packages, c.packages))
			is.True(slices.Equal(p.Archives.Enable, c.enable))
			is.True(slices.Equal(p.Archives.Streams, c.added))
			about := slices.ContainsFunc(p.Findings, func(f assess.Finding) bool { return f.Key == c.finding })
			is.True(about || c.finding == "")
			any := slices.ContainsFunc(p.Findings, func(f assess.Finding) bool {
				return strings.HasPrefix(f.Key, "target.epel") || strings.HasPrefix(f.Key, "target.stream")
			})
			is.Equal(any, c.finding != "")
		})
	}
	is.New(t).True(New(server(t, "debian-11", "debian-13", "htop", "3")).Archives == nil)
}

func TestTheLocaleHasAPackage(t *testing.T) {
	is := is.New(t)
	for into, want := range map[string]string{"rocky-9": "glibc-langpack-de", "fedora-42": "glibc-langpack-de", "sles-15": "glibc-locale", "debian-13": ""} {
		in := server(t, "centos-7", into, "p", "1")
		in.Assessment.System.Locale = "de_AT.UTF-8"
		p := New(in)
		is.Equal(slices.Contains(p.Install, want), want != "")
	}
}

// TestOtherFamiliesHaveOtherPresets: what Debian starts by itself, others start
// only where they are told.
func TestOtherFamiliesHaveOtherPresets(t *testing.T) {
	is := is.New(t)
	for into, want := range map[string]bool{"debian-13": false, "ubuntu-24.04": false, "rocky-9": true, "sles-15": true} {
		in := server(t, "debian-11", into, "p", "1")
		in.Assessment.Services = []assess.Unit{{Name: "p.service", State: "enabled", Preset: true}}
		is.Equal(New(in).Services[0].Apply, want)
	}
}

func TestWhatSELinuxKeepsServicesFrom(t *testing.T) {
	is := is.New(t)
	text := "Listen 8081\nListen 443 https\nDocumentRoot \"/srv/shop.example\"\nProxyPass / http://127.0.0.1:8080/\nDocumentRoot /srv/$(reboot)\n"
	in := server(t, "centos-7", "rocky-9", "p", "1")
	in.Assessment.Configuration = []assess.ConfigFile{{Path: "/etc/httpd/conf.d/shop.conf", State: assess.ConfigUnowned, Mode: "0644", Owner: "root", Group: "root"}}
	in.Read = func(string) ([]byte, error) { return []byte(text), nil }
	p := New(in)
	i := slices.IndexFunc(p.Findings, func(f assess.Finding) bool { return f.Key == "target.selinux" })
	is.True(i >= 0)
	commands := []string{}
	for _, r := range p.Findings[i].Remediations {
		commands = append(commands, r.Text)
	}
	is.Equal(commands, []string{
		`semanage fcontext -a -t httpd_sys_content_t '/srv/shop\.example(/.*)?' && restorecon -R /srv/shop.example`,
		"semanage port -a -t http_port_t -p tcp 8081",
		"setsebool -P httpd_can_network_connect on",
	})
}

func TestOlderPrograms(t *testing.T) {
	is := is.New(t)
	about := func(p *Plan) bool {
		return slices.ContainsFunc(p.Findings, func(f assess.Finding) bool { return f.Key == "target.older-programs" })
	}
	is.True(about(New(server(t, "debian-13", "rocky-9", "mariadb-server", "1:11.4.6-0+deb13u1"))))
	is.True(!about(New(server(t, "debian-13", "rocky-9", "mariadb-server", "1:11.8.6-0+deb13u1")))) // a stream has it
	is.True(!about(New(server(t, "debian-11", "rocky-9", "mariadb-server", "1:10.5.23-0+deb11u1"))))
	is.True(!about(New(server(t, "debian-13", "debian-12", "mariadb-server", "1:11.4.6-0+deb13u1"))))
}

// TestUnitsOfWhatAnotherProgramReplaces are not asked of another family under their
// name, but for what a person set, and within a family.
func TestUnitsOfWhatAnotherProgramReplaces(t *testing.T) {
	for _, c := range []struct {
		into   string
		preset bool
		want   string
	}{{"sles-16", true, ""}, {"sles-16", false, "p.service"}, {"debian-13", true, "p.service"}} {
		is := is.New(t)
		in := one(t, assess.Package{Name: "p", Manual: true}, api.Translation{Relation: api.RelationReplaced, Packages: to("q"), Confidence: 1})
		in.Assessment.Release, in.Target = "debian-12", target(t, c.into)
		in.Assessment.Services = []assess.Unit{{Name: "p.service", State: "enabled", Preset: c.preset, Package: "p"}}
		s := New(in).Services[0]
		is.Equal(s.To, c.want)
		is.True(s.Reason != "")
	}
}
