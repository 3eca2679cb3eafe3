package index

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/index/build"
	"svc/backend/release"
)

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
		ix, err := Embedded()
		is := is.New(t)
		is.NoErr(err)
		got, err := ix.ConfigPaths(c.source, c.target, []string{c.canonical})
		is.NoErr(err)
		of := slices.DeleteFunc(slices.Clone(got[0].Relocations), func(r api.Relocation) bool { return string(r.Kind) != c.kind || r.From != c.from })
		if (c.kind == "service" || c.from == c.to) && len(of) > 1 {
			of = of[:1] // of several the first counts
		}
		if !slices.ContainsFunc(of, func(r api.Relocation) bool { return deref(r.To) == c.to }) {
			t.Errorf("%s: %s is not at %s", c.canonical, c.from, c.to)
		}
	}
}

// TestNoAnswerNamesWhatTheTargetGaveUp: where a row says that a family has another
// unit from a release on, no row of another family leads there to the old one.
func TestNoAnswerNamesWhatTheTargetGaveUp(t *testing.T) {
	all, gone := families(), 0
	for software := range all.text {
		for _, target := range release.All() {
			for line := range strings.Lines(all.text[software]) {
				ends, others := readEnds(line)
				r := ends.read(others)
				if !ends.sinceThen(target) || r.Kind != api.RelocateService || r.to == "" {
					continue
				}
				gone++
				for _, slug := range []string{"debian-12", "centos-7", "sles-12"} {
					source, _ := release.Lookup(slug)
					told, _ := all.between(software, source, target)
					for _, told := range told {
						if deref(told.To) == r.From && told.Kind == r.Kind && told.From != r.From {
							t.Errorf("%s to %s: %s is led to %s, which is %s there", source.Slug, target.Slug, told.From, r.From, r.to)
						}
					}
				}
			}
		}
	}
	if gone == 0 {
		t.Error("no family has renamed a unit")
	}
}

// TestNoFolderOfAllMoves: what stands in /etc itself has no row for the whole of
// it, in whichever direction.
func TestNoFolderOfAllMoves(t *testing.T) {
	all := families()
	for _, way := range [][2]string{{"centos-7", "debian-13"}, {"sles-15", "debian-13"}, {"debian-13", "almalinux-9"}, {"debian-13", "sles-15"}, {"centos-7", "almalinux-9"}} {
		source, _ := release.Lookup(way[0])
		target, _ := release.Lookup(way[1])
		for software := range all.text {
			told, _ := all.between(software, source, target)
			for _, r := range told {
				if slices.Contains([]string{"/", "/etc", "/etc/pam.d", "/etc/ssh", "/etc/systemd/system", "/etc/cron.d", "/etc/logrotate.d", "/etc/security"}, r.From) {
					t.Errorf("%s: %s as a whole becomes %s", software, r.From, deref(r.To))
				}
			}
		}
	}
}

var (
	kinds   = []api.RelocationKind{api.RelocateFile, api.RelocateDir, api.RelocateService, api.RelocateUser, api.RelocateGroup, relocateAccount}
	actions = []api.RelocationAction{api.ActionCopy, api.ActionConvert, api.ActionManual, api.ActionDrop}
)

// TestEveryRowCanBeRead: a row has sides that are there, a place or a reason to
// drop it, and something to say.
func TestEveryRowCanBeRead(t *testing.T) {
	is := is.New(t)
	all := families()
	read, err := build.Rows("families.tsv", 9) // sorted, and all columns there
	is.NoErr(err)
	n := 0
	for software := range all.text {
		for line := range strings.Lines(all.text[software]) {
			ends, others := readEnds(line)
			r := ends.read(others)
			n++
			is.True(slices.Contains(kinds, r.Kind))
			is.True(slices.Contains(actions, r.Action))
			used := slices.ContainsFunc(release.All(), r.target.has) && slices.ContainsFunc(release.All(), r.source.has)
			if !used || r.From == "" || r.Note == "" || (r.to == "") != (r.Action == api.ActionDrop) {
				t.Errorf("%s: the row of %s can't be used: %+v", software, r.From, r)
			}
		}
	}
	is.Equal(n, len(read))
	for name, software := range all.names {
		if all.text[software] == "" || all.text[name] != "" && name != software {
			t.Errorf("the name %s leads to no rows, or hides its own", name)
		}
	}
}

// TestWithinFamiliesNothingMoves: Debian's own moves are not those of families.
func TestWithinFamiliesNothingMoves(t *testing.T) {
	is := is.New(t)
	ix, err := Embedded()
	is.NoErr(err)
	for _, pair := range [][2]string{{"debian-12", "debian-13"}, {"centos-7", "almalinux-8"}} {
		got, err := ix.ConfigPaths(pair[0], pair[1], []string{"httpd", "apache-httpd"})
		is.NoErr(err)
		for _, c := range got {
			for _, r := range c.Relocations {
				is.True(deref(r.To) != "www-data")
			}
		}
	}
}

// TestReviewedPaths measures the answers on pairs that public roles state, where
// these are at hand.
func TestReviewedPaths(t *testing.T) {
	is := is.New(t)
	ix, err := Embedded()
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
	for _, c := range truth(t, "config_paths_reviewed.tsv") {
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
	return form.MatchString(deref(r.To)+rest) || slices.ContainsFunc(r.Alternatives, func(a api.OtherPlace) bool { return form.MatchString(a.To + rest) })
}

// noise are pairs of the list that say no such thing: a role's settings put one
// beside the other for another reason.
var noise = map[[2]string]string{
	{"crond", "unbound"}:                      "the role of unbound restarts whatever is there",
	{"iscsid", "tgt"}:                         "one is of initiators, the other of targets",
	{"sshd-keygen.service", "auditd.service"}: "two lists of what must not run",
	{"sshd-keygen.target", "auditd.service"}:  "two lists of what must not run",
}

// TestReviewedNames measures units and accounts on pairs that public roles
// state, where these are at hand: what has another name must be known by it,
// what keeps its name must not be led elsewhere.
func TestReviewedNames(t *testing.T) {
	families := families()
	releases := map[string]string{"el": "almalinux-9", "amzn": "amzn-2", "fedora": "fedora-42", "suse": "sles-15", "debian": "debian-13", "ubuntu": "ubuntu-24.04"}
	for file, kind := range map[string]api.RelocationKind{"cross_services.tsv": api.RelocateService, "cross_users.tsv": api.RelocateUser} {
		t.Run(file, func(t *testing.T) {
			is := is.New(t)
			total, found := 0, 0
			for _, c := range truth(t, file) {
				if noise[[2]string{c[1], c[3]}] != "" || c[1] == "root" || c[3] == "root" {
					continue // who serves as root is led to no other account
				}
				total++
				source, _ := release.Lookup(releases[c[0]])
				target, _ := release.Lookup(releases[c[2]])
				if leads := families.leads(kind, c[1], source, target); slices.Contains(leads, strings.TrimSuffix(c[3], ".service")) || len(leads) == 0 && c[1] == c[3] {
					found++
				} else {
					t.Logf("not known: %s -> %s (%s, %s)", c[1], c[3], c[0], c[2])
				}
			}
			t.Logf("%d of %d", found, total)
			is.True(found*100 >= total*98)
		})
	}
}

// leads are the names to which any software's rows lead from a name.
func (f familyRows) leads(kind api.RelocationKind, name string, source, target release.Release) []string {
	name = strings.TrimSuffix(name, ".service")
	found := []string{}
	for software := range f.text {
		told, _ := f.between(software, source, target)
		for _, r := range told {
			if (r.Kind == kind || kind == api.RelocateUser && r.Kind == api.RelocateGroup) && strings.TrimSuffix(r.From, ".service") == name && r.To != nil {
				found = append(found, strings.TrimSuffix(*r.To, ".service"))
			}
		}
	}
	return found
}

// truth are the rows of a list of pairs; without it the test is skipped.
func truth(t *testing.T, name string) [][]string {
	t.Helper()
	text, err := os.ReadFile("../../../shared/data/truth/" + name)
	if err != nil {
		t.Skip("no reviewed pairs are here")
	}
	all := [][]string{}
	for line := range strings.Lines(string(text)) {
		if c := strings.Split(line, "\t"); len(c) > 4 && !strings.HasPrefix(line, "#") {
			all = append(all, c)
		}
	}
	return all
}

// TestDhcpdStaysInItsFolder checks that dhcpd.conf is not carried from Debian to
// where no release of EL that is known reads it.
func TestDhcpdStaysInItsFolder(t *testing.T) {
	is := is.New(t)
	got, err := embeddedIndex(t).ConfigPaths("debian-12", "rhel-9", []string{"isc-dhcp"})
	is.NoErr(err)
	for _, r := range got[0].Relocations {
		is.True(r.From != "/etc/dhcp/dhcpd.conf")
	}
}

// TestOneAnswerForEachPlace: of every software, between every two families, a
// canonical, kind and source has one answer, and root stays root.
func TestOneAnswerForEachPlace(t *testing.T) {
	is := is.New(t)
	ix, err := Embedded()
	is.NoErr(err)
	all := []string{"base-passwd", "setup"}
	for software := range families().text {
		all = append(all, software)
	}
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
						if to := deref(r.To); seen[key] || (r.Kind == api.RelocateUser || r.Kind == api.RelocateGroup) && (r.From == "root" || to == "root") {
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
	ix, err := Embedded()
	is.NoErr(err)
	all, err := ix.ConfigPaths(source.Slug, target.Slug, []string{software})
	is.NoErr(err)
	told := map[string]api.Relocation{}
	for _, r := range all[0].Relocations {
		told[string(r.Kind)+" "+r.From] = r
	}
	return told
}

// saysOfIt reports whether a row of the move's own direction leads from a place to
// another, or one of what the target's family changed.
func (f familyRows) saysOfIt(software string, source, target release.Release, r api.Relocation) bool {
	all, n := f.between(software, source, target)
	for line := range strings.Lines(f.text[software]) {
		if ends, others := readEnds(line); ends.sinceThen(target) {
			all, n = ends.read(others).appendTo(all[:n]), n+1
		}
	}
	return slices.ContainsFunc(all[:n], func(own api.Relocation) bool {
		return own.Kind == r.Kind && own.From == r.From && deref(own.To) == deref(r.To)
	})
}

// TestANameOfBothStays: what keeps its name on the way there does not come back under
// another, but where a row of the way back says so.
func TestANameOfBothStays(t *testing.T) {
	f, n := families(), 0
	for _, move := range moves() {
		for software := range f.text {
			back := relocations(t, software, move[1], move[0])
			for place, r := range relocations(t, software, move[0], move[1]) {
				b, ok := back[place]
				if !ok || deref(r.To) != r.From || strings.HasPrefix(r.From, "/") {
					continue
				}
				if n++; deref(b.To) != b.From && !f.saysOfIt(software, move[1], move[0], b) {
					t.Errorf("%s to %s, %s: %s is %s there too, and comes back as %s", move[0].Slug, move[1].Slug, software, place, r.From, deref(b.To))
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
	f, n := families(), 0
	for _, move := range moves() {
		for software := range f.text {
			for _, r := range relocations(t, software, move[0], move[1]) {
				to := deref(r.To)
				if r.Kind != api.RelocateDir || path.Base(to) == path.Base(r.From) {
					continue
				}
				for _, other := range r.Alternatives {
					n++
					if strings.HasPrefix(to, other.To+"/") && strings.Count(other.To, "/") == strings.Count(r.From, "/") && !f.saysOfIt(software, move[0], move[1], r) {
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
