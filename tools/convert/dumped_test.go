package convert

import (
	"testing"

	"github.com/matryer/is"

	"svc/backend/release"
)

// TestConfigurationThatComesWithADump: where the target keeps it elsewhere, in either direction.
func TestConfigurationThatComesWithADump(t *testing.T) {
	is := is.New(t)
	const el, debian = "/etc/openldap/slapd.d", "/etc/ldap/slapd.d"
	for _, c := range []struct{ source, target, from, to string }{
		{"centos-7", "debian-13", el, debian},
		{"sles-15", "ubuntu-24.04", el, debian},
		{"alpine-3.18", "debian-13", el, debian},
		{"debian-12", "almalinux-9", debian, el},
		{"debian-11", "debian-13", "", ""},
		{"ubuntu-22.04", "debian-13", "", ""},
		{"centos-7", "almalinux-9", "", ""},
		{"centos-7", "sles-15", "", ""},
	} {
		source, ok := release.Lookup(c.source)
		is.True(ok)
		target, ok := release.Lookup(c.target)
		is.True(ok)
		in := Input{Source: source, Target: target}
		d := Dumped(in, "slapd")
		is.Equal([]string{d.From, d.To}, []string{c.from, c.to})
		is.Equal(WithDump(in, "slapd", c.from+"/cn=config.ldif"), c.from != "")
		is.True(!WithDump(in, "slapd", "/etc/openldap/ldap.conf"))
		is.Equal(Dumped(in, "mariadb").From, "")
	}
	source, _ := release.Lookup("centos-7")
	target, _ := release.Lookup("debian-13")
	names := Dumped(Input{Source: source, Target: target}, "slapd").Names
	is.Equal(names.Move("/usr/lib64/openldap"), "/usr/lib/ldap")
	is.Equal(names.Move("/var/run/openldap/slapd.pid"), "/run/slapd/slapd.pid")
	is.Equal(names.Move("/etc/pki/tls/private/a.key"), "/etc/ssl/private/a.key")
}
