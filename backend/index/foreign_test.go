package index

import (
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/api/release"
)

// becomes resolves a package and translates it.
func becomes(t *testing.T, from, name, to string) api.Translation {
	t.Helper()
	got, err := embeddedIndex(t).Become(from, name, to)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestAcrossFamilies(t *testing.T) {
	for _, c := range []struct {
		from, name, to string
		relation       api.Relation
		packages       string
		least          float64
	}{
		{"centos-7", "httpd", "debian-13", api.RelationRenamed, "apache2", 0.95},
		{"centos-7", "bind-utils", "debian-11", api.RelationRenamed, "bind9-dnsutils", 0.95},
		{"rhel-9", "openssl-devel", "debian-12", api.RelationRenamed, "libssl-dev", 0.95},
		{"rhel-9", "openssl-libs", "debian-13", api.RelationIncluded, "libssl3t64", 0.85},
		{"rhel-8", "perl-File-Temp", "debian-13", api.RelationIncluded, "perl-base", 0.9},
		{"rhel-8", "python3-requests", "debian-13", api.RelationSame, "python3-requests", 0.95},
		{"rhel-8", "perl-XML-LibXML", "debian-13", api.RelationRenamed, "libxml-libxml-perl", 0.9},
		{"amzn-2", "shadow-utils", "debian-13", api.RelationSplit, "passwd login uidmap", 0.9},
		{"sles-15", "libz1", "debian-13", api.RelationIncluded, "zlib1g", 0.9},
		{"opensuse-leap-15.3", "coreutils-lang", "debian-13", api.RelationIncluded, "coreutils", 0.9},
		{"fedora-38", "NetworkManager", "ubuntu-24.04", api.RelationRenamed, "network-manager", 0.9},
		{"rhel-9", "kernel-core", "debian-13", api.RelationRenamed, "linux-image-amd64", 0.9},
		{"rhel-9", "bash-debuginfo", "debian-13", api.RelationRemoved, "", 0.9},
		{"centos-7", "rh-php73-php-fpm", "debian-13", api.RelationSame, "php-fpm", 0.9},
		{"centos-7", "dhclient", "debian-14", api.RelationReplaced, "dhcpcd-base", 0.8},
		{"debian-12", "apache2", "almalinux-9", api.RelationRenamed, "httpd", 0.9},
		{"ubuntu-22.04", "network-manager", "rocky-9", api.RelationRenamed, "NetworkManager", 0.9},
		{"centos-7", "cronie-anacron", "almalinux-8", api.RelationSame, "cronie-anacron", 0.9},
		{"centos-7", "bash", "sles-15", api.RelationSame, "bash", 0.8},
		{"rhel-8", "krb5-workstation", "sles-15", api.RelationRenamed, "krb5-client", 0.8},
	} {
		t.Run(c.from+" "+c.name+" "+c.to, func(t *testing.T) {
			is := is.New(t)
			got := becomes(t, c.from, c.name, c.to)
			is.Equal(got.Relation, c.relation)
			is.Equal(packageNames(got), c.packages)
			is.True(got.Confidence >= c.least)
			is.Equal(unsound(got), "")
		})
	}
}

// Every pair of releases that the index knows has an answer for what every
// system has.
func TestEveryPairHasAnAnswer(t *testing.T) {
	ix := embeddedIndex(t)
	for _, from := range release.All() {
		for _, to := range release.All() {
			if from.Family == release.Alpine || to.Family == release.Alpine {
				continue
			}
			for _, name := range []string{"bash", "sudo"} {
				got, err := ix.Become(from.Slug, name, to.Slug)
				if err != nil || got.Relation != api.RelationSame || packageNames(got) != name {
					t.Fatalf("%s of %s in %s: %+v %v", name, from.Slug, to.Slug, got, err)
				}
			}
		}
	}
}

// What curated rows name exists in a release of Debian whose list is known.
func TestRowsNamePackagesOfDebian(t *testing.T) {
	is := is.New(t)
	ix := embeddedIndex(t)
	x := &lexicon{ix: ix}
	is.NoErr(ix.file.Table(rpmRows).All(func(name, value string) bool {
		trail, err := decodeTrail(value)
		is.NoErr(err)
		for _, target := range trail.Targets {
			if firstThere(x, target) == "" {
				t.Errorf("the row of %s names %s, which no release has", name, target)
			}
			if slices.Contains(strings.Split(target, "|"), "") {
				t.Errorf("the row of %s has an empty alternative", name)
			}
		}
		return true
	}))
	is.NoErr(x.err)
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a*", "abc", true},
		{"*c", "abc", true},
		{"a*c", "abc", true},
		{"a*c", "ac", true},
		{"a*b*c", "a1b2c", true},
		{"a*b*c", "a1c", false},
		{"abc", "abc", true},
		{"a*c", "abd", false},
		{"aa*aa", "aaa", false},
	} {
		is.New(t).Equal(matches(c.pattern, c.name), c.want)
	}
}
