package relocation_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/index"
	"svc/backend/index/relocation"
	"svc/backend/release"
)

func program(t *testing.T) *index.Index {
	t.Helper()
	ix, err := index.Embedded()
	is.New(t).NoErr(err)
	return ix
}

// placeOf is where a relocation leads; empty where to none.
func placeOf(r api.Relocation) string {
	if r.To == nil {
		return ""
	}
	return *r.To
}

// TestPathsAcrossFamilies: what people know of the other family.
func TestPathsAcrossFamilies(t *testing.T) {
	for _, c := range []struct{ source, target, canonical, kind, from, to string }{
		{"centos-7", "debian-13", "httpd", "file", "/etc/httpd/conf/httpd.conf", "/etc/apache2/apache2.conf"},
		{"centos-7", "debian-13", "httpd", "user", "apache", "www-data"},
		{"centos-7", "debian-13", "httpd", "service", "httpd.service", "apache2.service"},
		{"centos-7", "debian-13", "php-fpm-defaults", "file", "/etc/php.ini", "/etc/php/8.4/fpm/php.ini"},
		{"centos-7", "debian-12", "php-defaults", "service", "php-fpm.service", "php8.2-fpm.service"},
		{"centos-7", "debian-13", "cronie-rpm", "service", "crond.service", "cron.service"},
		{"centos-7", "ubuntu-24.04", "bind", "user", "named", "bind"},
		{"centos-7", "debian-13", "postgresql-defaults", "dir", "/var/lib/pgsql/data", "/var/lib/postgresql/17/main"},
		{"centos-7", "debian-13", "ntp", "service", "ntpd.service", "ntpsec.service"},
		{"centos-7", "debian-13", "nginx", "dir", "/etc/nginx/conf.d", "/etc/nginx/conf.d"},
		{"centos-7", "debian-11", "ntp", "service", "ntpd.service", "ntp.service"},
		{"almalinux-9", "debian-13", "tomcat", "dir", "/etc/tomcat", "/etc/tomcat11"},
		{"almalinux-9", "debian-12", "tomcat", "service", "tomcat.service", "tomcat10.service"},
		{"almalinux-9", "debian-11", "tomcat", "dir", "/var/lib/tomcat/webapps", "/var/lib/tomcat9/webapps"},
		{"debian-12", "almalinux-9", "tomcat-10", "dir", "/etc/tomcat10", "/etc/tomcat"},
		{"sles-15", "debian-13", "apache2", "user", "wwwrun", "www-data"},
		{"sles-15", "debian-13", "apache2", "dir", "/etc/apache2/vhosts.d", "/etc/apache2/sites-available"},
		{"sles-15", "debian-13", "postfix", "group", "maildrop", "postdrop"},
		{"debian-12", "almalinux-9", "apache2", "service", "apache2.service", "httpd.service"},
		{"debian-12", "almalinux-9", "apache2", "user", "www-data", "apache"},
		{"debian-12", "almalinux-9", "chrony", "file", "/etc/chrony/chrony.conf", "/etc/chrony.conf"},
		{"debian-12", "almalinux-9", "sudo", "group", "sudo", "wheel"},
		{"debian-12", "almalinux-9", "base-passwd", "group", "utmp", "utmp"},
		{"debian-12", "almalinux-9", "clamav", "group", "clamav", "clamscan"},
		{"debian-12", "almalinux-9", "apache2", "dir", "/etc/apache2", "/etc/httpd"},
		{"debian-12", "almalinux-9", "ca-certificates", "dir", "/usr/local/share/ca-certificates", "/etc/pki/ca-trust/source/anchors"},
		{"debian-12", "sles-15", "apache2", "group", "www-data", "www"},
		{"sles-15", "almalinux-9", "apache2", "service", "apache2.service", "httpd.service"},
		{"almalinux-9", "debian-12", "spamassassin", "service", "spamassassin.service", "spamd.service"},
		{"debian-12", "sles-15", "cron", "dir", "/var/spool/cron/crontabs", "/var/spool/cron/tabs"},
		{"centos-7", "almalinux-8", "ntp", "file", "/etc/ntp.conf", "/etc/chrony.conf"},
		{"centos-7", "almalinux-9", "initscripts", "service", "network.service", "NetworkManager.service"},
		{"almalinux-9", "debian-13", "bacula-director", "service", "bacula-dir.service", "bacula-director.service"},
		{"debian-12", "almalinux-9", "redis", "user", "redis", "redis"},
		{"debian-12", "almalinux-9", "bind", "service", "named.service", "named.service"},
		{"debian-12", "almalinux-9", "lldpd", "file", "/etc/default/lldpd", "/etc/sysconfig/lldpd"},
		{"almalinux-9", "sles-15", "httpd", "user", "apache", "wwwrun"},
		{"almalinux-9", "sles-15", "cronie", "service", "crond.service", "cron.service"},
		{"sles-15", "almalinux-9", "apache2", "dir", "/etc/apache2/vhosts.d", "/etc/httpd/conf.d"},
		{"debian-11", "debian-13", "spamassassin", "service", "spamassassin.service", "spamd.service"},
		{"debian-12", "almalinux-9", "unattended-upgrades", "service", "unattended-upgrades.service", "dnf-automatic.timer"},
		{"debian-10", "debian-13", "bind", "file", "/etc/default/bind9", "/etc/default/named"},
		{"debian-11", "debian-13", "php-fpm", "file", "/run/php/php7.4-fpm.sock", "/run/php/php8.4-fpm.sock"},
		{"centos-7", "almalinux-8", "setup", "user", "nobody", "nobody"},
		{"sles-12", "sles-15", "ntp", "service", "ntpd.service", "chronyd.service"},
	} {
		ix, err := index.Embedded()
		is := is.New(t)
		is.NoErr(err)
		got, err := ix.ConfigPaths(c.source, c.target, []string{c.canonical})
		is.NoErr(err)
		of := slices.DeleteFunc(slices.Clone(got[0].Relocations), func(r api.Relocation) bool { return string(r.Kind) != c.kind || r.From != c.from })
		if (c.kind == "service" || c.from == c.to) && len(of) > 1 {
			of = of[:1] // of several the first counts
		}
		if !slices.ContainsFunc(of, func(r api.Relocation) bool { return placeOf(r) == c.to }) {
			t.Errorf("%s: %s is not at %s", c.canonical, c.from, c.to)
		}
	}
}

// TestWithinFamiliesNothingMoves: Debian's own moves are not those of families.
func TestWithinFamiliesNothingMoves(t *testing.T) {
	is := is.New(t)
	ix, err := index.Embedded()
	is.NoErr(err)
	for _, pair := range [][2]string{{"debian-12", "debian-13"}, {"centos-7", "almalinux-8"}} {
		got, err := ix.ConfigPaths(pair[0], pair[1], []string{"httpd", "apache-httpd"})
		is.NoErr(err)
		for _, c := range got {
			for _, r := range c.Relocations {
				is.True(placeOf(r) != "www-data")
			}
		}
	}
}

// TestReviewedPaths measures the answers on pairs that public roles state, where
// these are at hand.
func TestReviewedPaths(t *testing.T) {
	is := is.New(t)
	ix, err := index.Embedded()
	is.NoErr(err)
	ask := func(canonical, from, to string) bool {
		for _, source := range []string{"centos-7", "almalinux-9"} {
			for _, target := range []string{"debian-11", "debian-13", "ubuntu-24.04"} {
				got, err := ix.ConfigPaths(source, target, []string{canonical})
				is.NoErr(err)
				if slices.ContainsFunc(got[0].Relocations, func(r api.Relocation) bool { return arrives(r, from, to) }) {
					return true
				}
			}
		}
		return false
	}
	total, found := 0, 0
	for _, c := range relocation.Truth(t, "config_paths_reviewed.tsv") {
		canonical := c[0]
		if canonical == "" { // of the system itself
			canonical = map[string]string{"/etc/sysconfig": "initscripts", "/var/spool/mail": "filesystem"}[c[1]]
		}
		total++
		if ask(canonical, c[1], c[2]) {
			found++
		} else {
			t.Logf("not known: %s: %s -> %s", canonical, c[1], c[2])
		}
	}
	t.Logf("%d of %d", found, total)
	is.True(found*100 >= total*98)
}

// arrives reports whether a relocation leads from one path to the other: by
// itself or by one of its alternatives, or as a folder above both.
func arrives(r api.Relocation, from, to string) bool {
	rest, below := strings.CutPrefix(from, r.From)
	to = strings.ReplaceAll(regexp.QuoteMeta(to), `\{ver\}`, `[0-9]+(\.[0-9]+)?`)
	form, err := regexp.Compile("^" + to + "$")
	if err != nil || !below || rest != "" && rest[0] != '/' {
		return false
	}
	return form.MatchString(placeOf(r)+rest) || slices.ContainsFunc(r.Alternatives, func(a api.OtherPlace) bool { return form.MatchString(a.To + rest) })
}

// TestDhcpdStaysInItsFolder checks that dhcpd.conf is not carried from Debian to
// where no release of EL that is known reads it.
func TestDhcpdStaysInItsFolder(t *testing.T) {
	is := is.New(t)
	got, err := program(t).ConfigPaths("debian-12", "rhel-9", []string{"isc-dhcp"})
	is.NoErr(err)
	for _, r := range got[0].Relocations {
		is.True(r.From != "/etc/dhcp/dhcpd.conf")
	}
}

// TestOneAnswerForEachPlace: of every software, between every two families, a
// canonical, kind and source has one answer, and root stays root.
func TestOneAnswerForEachPlace(t *testing.T) {
	is := is.New(t)
	ix, err := index.Embedded()
	is.NoErr(err)
	all := []string{"base-passwd", "setup"}
	all = append(all, relocation.Software()...)
	slices.Sort(all)
	sides := []string{"centos-7", "almalinux-9", "debian-12", "ubuntu-24.04", "sles-15", "amzn-2023", "fedora-42"}
	answers, alternatives := 0, 0
	for _, source := range sides {
		for _, target := range sides {
			for batch := range slices.Chunk(all, 500) {
				got, err := ix.ConfigPaths(source, target, batch)
				is.NoErr(err)
				for _, c := range got {
					seen := map[string]bool{}
					for _, r := range c.Relocations {
						key := string(r.Kind) + " " + r.From
						if to := placeOf(r); seen[key] || (r.Kind == api.RelocateUser || r.Kind == api.RelocateGroup) && r.From == "root" {
							t.Errorf("%s to %s, %s: %s to %q", source, target, c.Canonical, key, to)
						}
						seen[key] = true
						answers, alternatives = answers+1, alternatives+len(r.Alternatives)
					}
				}
			}
		}
	}
	t.Logf("%d answers, %d alternatives", answers, alternatives)
	is.True(answers > 1000 && alternatives > 0)
}

// moves are directions between families, with releases in which names differ.
func moves() (all [][2]release.Release) {
	slugs := []string{"debian-12", "ubuntu-24.04", "centos-7", "almalinux-9", "rhel-10", "fedora-42", "amzn-2023", "sles-12", "sles-15"}
	for _, a := range slugs {
		for _, b := range slugs {
			source, _ := release.Lookup(a)
			target, _ := release.Lookup(b)
			if source.Family != target.Family {
				all = append(all, [2]release.Release{source, target})
			}
		}
	}
	return all
}

// relocations are what the index says of software, by kind and place.
func relocations(t *testing.T, software string, source, target release.Release) map[string]api.Relocation {
	t.Helper()
	is := is.New(t)
	ix, err := index.Embedded()
	is.NoErr(err)
	all, err := ix.ConfigPaths(source.Slug, target.Slug, []string{software})
	is.NoErr(err)
	told := map[string]api.Relocation{}
	for _, r := range all[0].Relocations {
		told[string(r.Kind)+" "+r.From] = r
	}
	return told
}

// TestANameOfBothStays: what keeps its name on the way there does not come back under
// another, but where a row of the way back says so.
func TestANameOfBothStays(t *testing.T) {
	n := 0
	for _, move := range moves() {
		for _, software := range relocation.Software() {
			back := relocations(t, software, move[1], move[0])
			for place, r := range relocations(t, software, move[0], move[1]) {
				b, ok := back[place]
				if !ok || placeOf(r) != r.From || strings.HasPrefix(r.From, "/") {
					continue
				}
				if n++; placeOf(b) != b.From && !relocation.SaysOfIt(software, move[1], move[0], b) {
					t.Errorf("%s to %s, %s: %s is %s there too, and comes back as %s", move[0].Slug, move[1].Slug, software, place, r.From, placeOf(b))
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d names are of both sides", n)
	}
}

// TestAFolderBeforeOneInIt: a folder leads to its counterpart before it leads to one
// in that, unless that bears its name.
func TestAFolderBeforeOneInIt(t *testing.T) {
	n := 0
	for _, move := range moves() {
		for _, software := range relocation.Software() {
			for _, r := range relocations(t, software, move[0], move[1]) {
				to := placeOf(r)
				if r.Kind != api.RelocateDir || path.Base(to) == path.Base(r.From) {
					continue
				}
				for _, other := range r.Alternatives {
					n++
					if strings.HasPrefix(to, other.To+"/") && strings.Count(other.To, "/") == strings.Count(r.From, "/") && !relocation.SaysOfIt(software, move[0], move[1], r) {
						t.Errorf("%s to %s, %s: %s leads to %s, which is in %s", move[0].Slug, move[1].Slug, software, r.From, to, other.To)
					}
				}
			}
		}
	}
	if n == 0 {
		t.Error("no folder leads to several")
	}
}

// TestACertificateGoesWithItsKey: the key is a secret, and is brought to its place; nothing
// is to be decided of its certificate.
func TestACertificateGoesWithItsKey(t *testing.T) {
	source, _ := release.Lookup("rocky-9")
	target, _ := release.Lookup("debian-13")
	r := relocations(t, "dovecot", source, target)["file /etc/pki/dovecot/certs/dovecot.pem"]
	if placeOf(r) != "/etc/dovecot/private/dovecot.pem" || r.Action != api.ActionCopy {
		t.Errorf("%+v", r)
	}
}
