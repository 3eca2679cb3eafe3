package index

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/release"
)

// change is what a package of one release is in another.
type change struct {
	from, name, to string
	relation       api.Relation
	want           string // packages, parted by blanks
}

// checkChanges checks that each is said, and with certainty.
func checkChanges(t *testing.T, changes []change) {
	t.Helper()
	for _, c := range changes {
		got := becomes(t, c.from, c.name, c.to)
		if got.Relation != c.relation || packageNames(got) != c.want || got.Confidence < course.SureConfidence {
			t.Errorf("%s of %s in %s: %s %q, %.2f", c.name, c.from, c.to, got.Relation, packageNames(got), got.Confidence)
		}
	}
}

// What a later release of SUSE, EL or Amazon drops, renames and keeps is said with
// certainty, and what the other line has instead.
func TestWhatLaterReleasesChange(t *testing.T) {
	checkChanges(t, []change{
		{"sles-12", "python-Jinja2", "sles-15", api.RelationReplaced, "python3-Jinja2"},
		{"sles-12", "php5-mysql", "sles-15", api.RelationReplaced, "php7-mysql"},
		{"sles-12", "php5-mysql", "sles-16", api.RelationReplaced, "php8-mysql"},
		{"sles-12", "SuSEfirewall2", "sles-16", api.RelationReplaced, "firewalld"},
		{"sles-15", "wicked", "sles-16", api.RelationReplaced, "NetworkManager"},
		{"sles-15", "yast2-nfs-client", "sles-16", api.RelationRemoved, ""},
		{"sles-15", "python3-PyYAML", "sles-16", api.RelationRenamed, "python313-PyYAML"},
		{"sles-15", "python3-service_identity", "opensuse-leap-16.0", api.RelationRenamed, "python313-service_identity"},
		{"sles-15", "python3-ldb", "sles-16", api.RelationSame, "python3-ldb"},
		{"sles-15", "glibc-32bit", "sles-16", api.RelationRemoved, ""},
		{"sles-15", "sles-release", "sles-16", api.RelationReplaced, "SLES-release"},
		{"sles-15", "sles-release", "opensuse-leap-15.6", api.RelationReplaced, "openSUSE-release"},
		{"opensuse-leap-15.6", "openSUSE-release", "opensuse-leap-16.0", api.RelationReplaced, "Leap-release"},
		{"opensuse-leap-15.6", "grub2-branding-openSUSE", "sles-15", api.RelationReplaced, "grub2-branding-SLE"},
		{"sles-16", "python313-requests", "opensuse-leap-16.0", api.RelationSame, "python313-requests"},
		{"sles-15", "curl", "almalinux-9", api.RelationSame, "curl"},
		{"sles-15", "util-linux", "rhel-10", api.RelationSame, "util-linux"},
		{"sles-15", "libcap2", "almalinux-9", api.RelationIncluded, ""},
		{"sles-15", "nfs-kernel-server", "almalinux-9", api.RelationRenamed, "nfs-utils"},
		{"sles-15", "wicked", "almalinux-9", api.RelationReplaced, "NetworkManager"},
		{"sles-15", "kernel-firmware-media", "almalinux-10", api.RelationReplaced, "linux-firmware"},
		{"rhel-6", "upstart", "ol-7", api.RelationReplaced, "systemd"},
		{"rhel-6", "mysql-server", "centos-7", api.RelationReplaced, "mariadb-server"},
		{"rhel-8", "python39-cryptography", "rhel-9", api.RelationReplaced, "python3-cryptography"},
		{"rhel-8", "bind9.16-utils", "rhel-9", api.RelationRenamed, "bind-utils"},
		{"rhel-9", "libreoffice-langpack-de", "almalinux-10", api.RelationRemoved, ""},
		{"amzn-2", "amazon-linux-extras", "amzn-2023", api.RelationRemoved, ""},
		{"almalinux-9", "python3-requests", "sles-16", api.RelationRenamed, "python313-requests"},
		{"centos-7", "tomcat", "almalinux-9", api.RelationSame, "tomcat"}, // away in EL 8.0
		{"centos-7", "python", "almalinux-9", api.RelationReplaced, "python3"},
		{"centos-7", "net-snmp-python", "almalinux-9", api.RelationReplaced, "python3-net-snmp"},
		{"centos-7", "audit-libs-python", "almalinux-9", api.RelationReplaced, "python3-audit"},
		{"centos-7", "audit-libs-python", "almalinux-8", api.RelationRemoved, ""},
		{"almalinux-8", "yp-tools", "almalinux-9", api.RelationRemoved, ""},
		{"almalinux-9", "iotop", "almalinux-10", api.RelationReplaced, "iotop-c"},
		{"almalinux-8", "maven-resolver-util", "almalinux-9", api.RelationMerged, "maven-resolver"},
		{"almalinux-8", "dbxtool", "almalinux-9", api.RelationMerged, "fwupd"},
		{"almalinux-8", "libvirt-lock-sanlock", "almalinux-10", api.RelationRenamed, "libvirt-daemon-plugin-sanlock"},
		{"almalinux-8", "httpd", "almalinux-9", api.RelationSplit, "httpd httpd-core"},
		{"almalinux-8", "google-crosextra-caladea-fonts", "almalinux-10", api.RelationSame, "google-crosextra-caladea-fonts"},
		{"almalinux-9", "emacs-nox", "almalinux-10", api.RelationRenamed, "emacs-nw"},
		{"almalinux-9", "kexec-tools", "almalinux-10", api.RelationSplit, "kexec-tools kdump-utils makedumpfile"},
		{"almalinux-9", "gtkmm30-devel", "almalinux-10", api.RelationReplaced, "gtkmm4.0-devel"},
		{"debian-12", "tomcat10", "almalinux-10", api.RelationRenamed, "tomcat"},
		{"debian-12", "tomcat10", "almalinux-9", api.RelationReplaced, "tomcat"}, // an older one
		{"debian-13", "tomcat11", "almalinux-10", api.RelationReplaced, "tomcat"},
		{"centos-7", "php-fpm", "sles-15", api.RelationRenamed, "php8-fpm"},
		{"centos-7", "mod_php", "sles-15", api.RelationRenamed, "apache2-mod_php8"},
		{"centos-7", "gcc", "sles-15", api.RelationSame, "gcc"},
		{"centos-7", "ruby", "sles-15", api.RelationSame, "ruby"},
		{"debian-12", "python3-requests", "sles-16", api.RelationRenamed, "python313-requests"},
	})
}

// What went with the first minor release, and what a later one brought back, is
// told apart from what is gone.
func TestWhatALaterMinorReleaseBrings(t *testing.T) {
	for name, want := range map[string]bool{"tomcat": true, "whois": true, "acpid-sysvinit": false, "net-snmp-sysvinit": false} {
		got := becomes(t, "centos-7", name, "almalinux-8")
		again := slices.ContainsFunc(got.Caveats, func(c api.Caveat) bool { return c.Code == course.CaveatExistence })
		if got.Relation != api.RelationRemoved || again != want {
			t.Errorf("%s of EL 7 in EL 8: %s %q, %v", name, got.Relation, packageNames(got), got.Caveats)
		}
	}
}

// A pattern of what goes does not hold for what the next level is known to have,
// and names keep their case: nothing that two levels in a row have is lost.
func TestWhatTwoLevelsHaveStays(t *testing.T) {
	ix := embeddedIndex(t)
	for _, line := range []struct {
		line   string
		slugs  map[int]string
		levels []int
	}{
		{"el", map[int]string{7: "centos-7", 8: "almalinux-8", 9: "almalinux-9", 10: "almalinux-10"}, []int{7, 8, 9, 10}},
		{"suse", map[int]string{12: "sles-12", 15: "sles-15", 16: "sles-16"}, []int{12, 15, 16}},
	} {
		for i, level := range line.levels[1:] {
			before := line.levels[i]
			names := stayingNames(t, ix, line.line, before, level)
			if len(names) < 200 {
				t.Fatalf("%s %d to %d: %d names", line.line, before, level, len(names))
			}
			for _, name := range names {
				got := becomes(t, line.slugs[before], name, line.slugs[level])
				if packageNames(got) != name || got.Confidence < course.SureConfidence {
					t.Errorf("%s of %s in %s: %s %q, %.2f", name, line.slugs[before], line.slugs[level], got.Relation, packageNames(got), got.Confidence)
				}
			}
		}
	}
}

// stayingNames are the names that two levels of a line are known to have, and
// that no row of their own says anything of.
func stayingNames(t *testing.T, ix *Index, line string, before, level int) []string {
	t.Helper()
	own, names := ix.tables.File.Table(record.RPMOwn), []string{}
	for key, value := range ix.tables.File.Table(record.RPMNames).All() {
		r := lookup.DecodeRPM(key, value)
		if !r.AtLevel(line, before) || !r.AtLevel(line, level) || r.Line != "" && r.Line != line || r.Until > 0 || r.Before != "" {
			continue
		}
		row := false
		for n := before; n < level; n++ {
			row = row || ix.tables.File.Table(record.RPMTrails+line+"-"+strconv.Itoa(n)).Has(r.Name)
		}
		for _, distribution := range []string{"centos", "centos-7", "almalinux", "sles"} {
			row = row || own.Has(record.OwnKey(distribution, r.Name)) || own.Has(record.GeneralKey(distribution, r.Name))
		}
		if !row {
			names = append(names, r.Name)
		}
	}
	return names
}

// Modules of Perl are written as Perl writes them, whoever is known to have them.
func TestModulesOfPerlKeepTheirCase(t *testing.T) {
	for _, name := range []string{"perl-HTML-Tagset", "perl-LWP-MediaTypes", "perl-XML-NamespaceSupport", "perl-DateTime-Format-ISO8601", "perl-MooseX-Getopt", "perl-WWW-RobotRules"} {
		for _, way := range [][2]string{{"sles-15", "sles-16"}, {"opensuse-leap-15.6", "sles-15"}, {"rhel-8", "fedora-42"}} {
			if got := packageNames(becomes(t, way[0], name, way[1])); got != name {
				t.Errorf("%s of %s in %s: %q", name, way[0], way[1], got)
			}
		}
	}
	if got := packageNames(becomes(t, "debian-12", "libdatetime-format-iso8601-perl", "fedora-42")); !strings.Contains(got, "perl-DateTime-Format-ISO8601") {
		t.Error(got)
	}
}

// TestLevelsAreBelowTheHighest: trails are found by the level.
func TestLevelsAreBelowTheHighest(t *testing.T) {
	for _, r := range release.All() {
		if _, n, _ := record.Level(r); n >= lookup.MaxLevel {
			t.Errorf("%s is of level %d", r.Slug, n)
		}
	}
}
