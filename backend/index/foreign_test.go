package index

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/release"
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
		{"centos-7", "rh-php73-php-fpm", "debian-13", api.RelationRenamed, "php-fpm", 0.9},
		{"centos-7", "dhclient", "debian-14", api.RelationReplaced, "dhcpcd-base", 0.8},
		{"centos-7", "ntp", "debian-11", api.RelationSame, "ntp", 0.9}, // from Debian 12 on it only leads to ntpsec
		{"centos-7", "ntp", "debian-12", api.RelationReplaced, "ntpsec", 0.9},
		{"centos-7", "ntp", "ubuntu-22.04", api.RelationSame, "ntp", 0.9},
		{"almalinux-9", "hyperv-daemons", "debian-13", api.RelationSame, "hyperv-daemons", 0.9},
		{"almalinux-9", "hyperv-daemons", "ubuntu-24.04", api.RelationRenamed, "linux-cloud-tools-virtual", 0.9},
		{"centos-7", "ntp", "ubuntu-24.04", api.RelationReplaced, "ntpsec", 0.9},
		{"centos-7", "MySQL-python", "debian-13", api.RelationReplaced, "python3-mysqldb", 0.9},
		{"debian-11", "mysql-server", "debian-12", api.RelationReplaced, "mariadb-server", 0.9}, // of Oracle's repository
		{"debian-12", "apache2", "almalinux-9", api.RelationRenamed, "httpd", 0.9},
		{"ubuntu-22.04", "network-manager", "rocky-9", api.RelationRenamed, "NetworkManager", 0.9},
		{"centos-7", "cronie-anacron", "almalinux-8", api.RelationSame, "cronie-anacron", 0.9},
		{"centos-7", "bash", "sles-15", api.RelationSame, "bash", 0.8},
		{"rhel-8", "krb5-workstation", "sles-15", api.RelationRenamed, "krb5-client", 0.8},

		// parts of older compilers are no choice
		{"rhel-9", "gcc-plugin-devel", "debian-13", api.RelationRenamed, "gcc-14-plugin-dev", 0.9},

		// modules that are part of the language
		{"rhel-9", "perl-Carp", "debian-13", api.RelationIncluded, "perl-base", 0.9},
		{"rhel-9", "perl-POSIX", "debian-12", api.RelationIncluded, "perl-base", 0.9},
		{"rhel-8", "python3-requests+security", "debian-13", api.RelationRenamed, "python3-requests", 0.9},
		// versions beside the first, and what they are called without one
		{"rhel-8", "python2-numpy-doc", "debian-13", api.RelationRenamed, "python-numpy-doc", 0.9},
		{"rhel-8", "python39-mod_wsgi", "debian-13", api.RelationRenamed, "libapache2-mod-wsgi-py3", 0.9},
		{"rhel-10", "mariadb11.8-server", "debian-13", api.RelationRenamed, "mariadb-server", 0.9},
		// the server of what has a client
		{"centos-7", "rusers-server", "debian-13", api.RelationRenamed, "rusersd", 0.9},
		{"centos-7", "talk-server", "debian-12", api.RelationRenamed, "talkd", 0.9},
		// programs are not in libraries, headers not in what runs
		{"rhel-8", "ldns-utils", "debian-13", api.RelationRenamed, "ldnsutils", 0.9},
		{"rhel-8", "libsndfile-utils", "debian-13", api.RelationRenamed, "sndfile-programs", 0.9},
		{"rhel-9", "libblockdev-crypto-devel", "debian-13", api.RelationRenamed, "libblockdev-crypto-dev", 0.9},
		{"rhel-9", "kernel-rt-devel", "debian-13", api.RelationRenamed, "linux-headers-rt-amd64", 0.9},
		{"rhel-7", "mesa-private-llvm-devel", "debian-13", api.RelationReplaced, "llvm-dev", 0.9},
		{"rhel-8", "texlive-amsmath", "debian-13", api.RelationMerged, "texlive-latex-base", 0.9},
		// the same name for other software
		{"rhel-9", "rig", "debian-13", api.RelationRemoved, "", 0.9},
		{"rhel-9", "python3-hidapi", "debian-13", api.RelationRenamed, "python3-hid", 0.9},
		// the program of a module is with it
		{"rhel-8", "python3-virtualenv", "debian-13", api.RelationSplit, "python3-virtualenv virtualenv", 0.9},
		{"rhel-8", "qt5-qtwebsockets", "debian-13", api.RelationSplit, "libqt5websockets5 qml-module-qtwebsockets", 0.9},
		{"rhel-8", "gom", "debian-13", api.RelationIncluded, "libgom-1.0-0t64", 0.8},
		// repositories of vendors are not the distribution's identity
		{"rhel-8", "remi-release", "debian-13", api.RelationRemoved, "", 0.9},
		{"rhel-9", "rocky-release", "debian-13", api.RelationReplaced, "base-files", 0.9},
		// SUSE's names that EL has for something else
		{"sles-15", "mariadb", "debian-13", api.RelationRenamed, "mariadb-server", 0.9},
		{"rhel-8", "mariadb", "debian-13", api.RelationRenamed, "mariadb-client", 0.9},
		{"rhel-9", "mariadb-server", "sles-15", api.RelationRenamed, "mariadb", 0.8},
		{"sles-15", "mariadb", "almalinux-9", api.RelationRenamed, "mariadb-server", 0.8},
		{"sles-15", "postgresql16-server", "debian-13", api.RelationRenamed, "postgresql", 0.9},
		// what belongs to one distribution of EL
		{"rhel-9", "redhat-release", "rocky-9", api.RelationReplaced, "rocky-release", 0.9},
		{"almalinux-9", "almalinux-release", "rhel-9", api.RelationReplaced, "redhat-release", 0.9},
		{"rhel-9", "insights-client", "almalinux-9", api.RelationRemoved, "", 0.9},
		// Amazon's own names
		{"almalinux-9", "mariadb-server", "amzn-2023", api.RelationReplaced, "mariadb105-server", 0.8},
		{"amzn-2023", "java-17-amazon-corretto-headless", "rhel-9", api.RelationReplaced, "java-17-openjdk-headless", 0.9},
		{"debian-12", "redis-server", "amzn-2023", api.RelationReplaced, "redis6", 0.8},
		// the whole before its parts, libraries as dependencies
		{"debian-12", "libssh-4", "almalinux-9", api.RelationIncluded, "libssh", 0.8},
		{"debian-12", "libncurses6", "almalinux-9", api.RelationIncluded, "ncurses-libs", 0.8},
		{"debian-12", "zlib1g", "almalinux-9", api.RelationIncluded, "zlib", 0.9},
		{"ubuntu-24.04", "linux-cloud-tools-6.8.0-1065-azure", "almalinux-9", api.RelationRenamed, "hyperv-daemons", 0.9},
		// repositories beside the distribution
		{"debian-12", "fail2ban", "almalinux-9", api.RelationSame, "fail2ban", 0.8},
		{"centos-7", "java-11-amazon-corretto-devel", "debian-13", api.RelationReplaced, "default-jdk", 0.9},
		{"centos-7", "slack", "debian-13", api.RelationRemoved, "", 0.9},
		// what a distribution has in the place of one thing is another thing elsewhere
		{"rhel-9", "chrony", "rhel-10", api.RelationSame, "chrony", 0.95},
		{"amzn-2023", "chrony", "almalinux-9", api.RelationSame, "chrony", 0.95},
		{"rhel-8", "docker", "sles-15", api.RelationSame, "docker", 0.8},
		// what newer releases call or do otherwise
		{"rhel-8", "network-scripts", "rhel-9", api.RelationRemoved, "", 0.9},
		{"rhel-9", "mysql-server", "rhel-10", api.RelationRenamed, "mysql8.4-server", 0.9},
		{"rhel-9", "python3.12", "rocky-10", api.RelationReplaced, "python3", 0.9},
		{"sles-15", "wicked", "sles-16", api.RelationReplaced, "NetworkManager", 0.9},
		{"sles-12", "SuSEfirewall2", "sles-15", api.RelationReplaced, "firewalld", 0.9},
		// SUSE's names, not EL's
		{"rhel-9", "shadow-utils", "sles-15", api.RelationRenamed, "shadow", 0.8},
		{"rhel-9", "dnf", "opensuse-leap-15.6", api.RelationReplaced, "zypper", 0.8},
		{"rhel-9", "redhat-release", "sles-15", api.RelationRemoved, "", 0.9},
		{"debian-12", "libfreetype-dev", "sles-15", api.RelationRenamed, "freetype2-devel", 0.8},
		{"sles-15", "shadow", "rhel-9", api.RelationRenamed, "shadow-utils", 0.9},
		{"sles-15", "pam-config", "almalinux-9", api.RelationReplaced, "authselect", 0.9},
		// spelt otherwise by the target's lists: capitals, dashes, the lib of headers
		{"debian-13", "libspdlog-dev", "fedora-42", api.RelationRenamed, "spdlog-devel", 0.9},
		{"debian-13", "python3-pygments", "sles-15", api.RelationRenamed, "python3-Pygments", 0.9},
		{"ubuntu-24.04", "python3-pil", "sles-15", api.RelationRenamed, "python3-Pillow", 0.9},
		{"sles-15", "python3-PyHamcrest", "fedora-42", api.RelationRenamed, "python3-hamcrest", 0.9},
		{"rhel-9", "exiv2-devel", "sles-15", api.RelationRenamed, "libexiv2-devel", 0.9},
		// its own name before a part of it
		{"debian-13", "devscripts", "fedora-42", api.RelationSame, "devscripts", 0.9},
		// SUSE calls modules of Python with their version from 16 on, and had them before
		{"debian-13", "python3-fonttools", "sles-15", api.RelationRenamed, "python3-FontTools", 0.7},
		// what EL does with its package is nothing of Fedora's, which calls it otherwise
		{"rhel-9", "gtkmm30-devel", "fedora-42", api.RelationRenamed, "gtkmm3.0-devel", 0.9},
		{"debian-13", "libgtkmm-3.0-dev", "fedora-42", api.RelationRenamed, "gtkmm3.0-devel", 0.9},
		// the alternative that EPEL has
		{"debian-13", "lsb-release", "rhel-9", api.RelationSame, "lsb-release", 0.8},
		// an rpm is a module of its source, or the program of it, by that name alone
		{"fedora-42", "orocos-kdl", "debian-13", api.RelationIncluded, "liborocos-kdl1.5", 0.8},
		{"fedora-42", "python3-pykdl", "debian-13", api.RelationSame, "python3-pykdl", 0.9},
		{"fedora-42", "taskflow-devel", "debian-13", api.RelationRenamed, "libtaskflow-cpp-dev", 0.9},
		// a fork has another name
		{"debian-13", "python3-pycryptodome", "fedora-42", api.RelationRenamed, "python3-pycryptodomex", 0.9},
		{"rhel-9", "SDL2_mixer-devel", "fedora-42", api.RelationSame, "SDL2_mixer-devel", 0.9},
		// SUSE's libraries bear their sonames, and come as dependencies
		{"ubuntu-24.04", "libcurl4t64", "sles-15", api.RelationIncluded, "", 0.8},
		// what EL 9 had until 8, never had, or has in the place of what Debian has
		{"sles-15", "yp-tools", "almalinux-9", api.RelationRemoved, "", 0.3},
		{"sles-15", "kernel-firmware-nfp", "almalinux-9", api.RelationRemoved, "", 0.02},
		{"sles-15", "docker", "almalinux-9", api.RelationReplaced, "podman", 0.9},
		{"debian-12", "ssh", "almalinux-9", api.RelationSplit, "openssh-clients openssh-server", 0.9},
		{"debian-12", "libsoup-3.0-0", "almalinux-9", api.RelationIncluded, "", 0.8}, // it is of EL 10
		{"sles-15", "dnf", "sles-16", api.RelationSame, "dnf", 0.8},
		// MySQL is Ubuntu's and EL's, MariaDB Debian's and SUSE's
		{"ubuntu-22.04", "mysql-server", "debian-12", api.RelationReplaced, "mariadb-server", 0.9},
		{"ubuntu-22.04", "mysql-server-8.0", "rhel-9", api.RelationSame, "mysql-server", 0.9},
		{"ubuntu-24.04", "mysql-server", "sles-15", api.RelationReplaced, "mariadb", 0.8},
		{"rhel-9", "mysql-server", "ubuntu-24.04", api.RelationSame, "mysql-server", 0.9},
		{"rhel-9", "mysql-server", "debian-13", api.RelationReplaced, "mariadb-server", 0.9},
		{"rhel-9", "mysql-server", "sles-15", api.RelationReplaced, "mariadb", 0.8},
		{"debian-12", "default-mysql-server", "ubuntu-24.04", api.RelationRenamed, "mariadb-server", 0.9},
		{"debian-12", "default-mysql-server", "almalinux-9", api.RelationRenamed, "mariadb-server", 0.9},
		// the name that Debian has, before another that it had
		{"debian-12", "libpcre2-8-0", "almalinux-9", api.RelationIncluded, "pcre2", 0.9},
		// versions in names, and headers of what is gone
		{"rhel-8", "vte291-devel", "debian-13", api.RelationRenamed, "libvte-2.91-dev", 0.9},
		{"rhel-8", "libvncserver-devel", "rhel-9", api.RelationRemoved, "", 0.8},
		// Debian has what it is often said to lack
		{"rhel-8", "usermode", "debian-12", api.RelationSame, "usermode", 0.9},
		{"rhel-9", "libxcrypt-compat", "debian-13", api.RelationIncluded, "libcrypt1", 0.9},
		// EPEL has what EL dropped
		{"debian-12", "screen", "almalinux-9", api.RelationSame, "screen", 0.8},
		// what EL 10 dropped
		{"debian-12", "isc-dhcp-server", "almalinux-10", api.RelationReplaced, "kea", 0.8},
		{"debian-12", "redis-server", "rhel-10", api.RelationReplaced, "valkey", 0.8},
		{"debian-12", "sendmail", "rocky-10", api.RelationRemoved, "", 0.15}, // a question: EPEL may have what EL drops
		{"rhel-9", "zlib", "almalinux-10", api.RelationReplaced, "zlib-ng-compat", 0.9},
		{"rhel-8", "genisoimage", "rhel-9", api.RelationReplaced, "xorriso", 0.9},
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
// The canonical is of the software, whatever a family calls it, and a role is one
// of the contract's.
func TestCanonicalsAreNeutral(t *testing.T) {
	is := is.New(t)
	for _, c := range []struct{ release, name, canonical string }{
		{"centos-7", "httpd", "apache-httpd"},
		{"fedora-42", "httpd", "apache-httpd"},
		{"sles-15", "apache2", "apache-httpd"},
		{"debian-12", "apache2", "apache-httpd"},
		{"centos-7", "httpd-tools", "apache-httpd--client"},
		{"rhel-9", "bind-utils", "bind--client"},
	} {
		got, err := embeddedIndex(t).Resolve(c.release, []string{c.name})
		is.NoErr(err)
		is.Equal(*got[0].Canonical, c.canonical)
	}
	got, err := embeddedIndex(t).Resolve("rhel-9", []string{"postgresql-libs", "dbus-common", "vim-filesystem", "openssh-clients", "perl-libs"})
	is.NoErr(err)
	for _, r := range got {
		is.True(slices.Contains(api.Roles, *r.Role)) // of an rpm whose canonical another has, too
	}
}

func TestEveryPairHasAnAnswer(t *testing.T) {
	ix := embeddedIndex(t)
	for _, from := range release.All() {
		for _, to := range release.All() {
			for _, name := range []string{"bash", "sudo"} {
				got, err := ix.Become(from.Slug, name, to.Slug)
				if err != nil || got.Relation != api.RelationSame || packageNames(got) != name {
					t.Fatalf("%s of %s in %s: %+v %v", name, from.Slug, to.Slug, got, err)
				}
			}
		}
	}
}

// servers are the stacks that people run, as each family of releases names them.
var servers = map[release.Family]string{
	release.Debian: "apache2 nginx haproxy php-fpm mariadb-server postgresql redis-server memcached postfix dovecot-core exim4-daemon-light " +
		"spamassassin clamav-daemon bind9 isc-dhcp-server slapd krb5-kdc sssd samba nfs-kernel-server zabbix-agent nagios-nrpe-server prometheus " +
		"bacula-fd openvpn wireguard-tools libvirt-daemon-system docker.io podman pacemaker keepalived rsyslog default-jre-headless python3 ruby nodejs " +
		"openssh-server cron chrony curl git vim linux-image-amd64 libssl3 libc6 python3-requests libdbi-perl linux-firmware locales gcc libssl-dev",
	release.EL: "httpd nginx haproxy php-fpm mariadb-server postgresql-server redis memcached postfix dovecot exim " +
		"spamassassin clamav bind dhcp-server openldap-servers krb5-server sssd samba nfs-utils zabbix-agent nrpe prometheus " +
		"bacula-client openvpn wireguard-tools libvirt docker-ce podman pacemaker keepalived rsyslog java-11-openjdk-headless python3 ruby nodejs " +
		"openssh-server cronie chrony curl git vim-enhanced kernel openssl-libs glibc python3-requests perl-DBI linux-firmware glibc-langpack-en gcc openssl-devel",
	release.SUSE: "apache2 nginx haproxy php8-fpm mariadb postgresql redis memcached postfix dovecot exim " +
		"spamassassin clamav bind dhcp-server openldap2 krb5-server sssd samba nfs-kernel-server zabbix-agent nrpe " +
		"bacula-client openvpn wireguard-tools libvirt docker podman pacemaker keepalived rsyslog java-11-openjdk-headless python3 ruby nodejs18 " +
		"openssh cron chrony curl git vim kernel-default libopenssl1_1 glibc python3-requests perl-DBI kernel-firmware glibc-locale gcc libopenssl-devel",
	release.Alpine: "apache2 nginx haproxy mariadb memcached postfix dovecot exim spamassassin clamav-daemon bind openldap krb5-server samba nfs-utils zabbix-agent prometheus " +
		"openvpn wireguard-tools docker podman keepalived rsyslog openjdk17-jre-headless python3 ruby nodejs openssh-server busybox chrony curl git vim linux-lts musl gcc",
}

// Every pair of releases that the index knows accounts for what servers run.
func TestEveryPairAccountsForServers(t *testing.T) {
	servers[release.Ubuntu] = servers[release.Debian]
	servers[release.Amazon], servers[release.Fedora] = servers[release.EL], servers[release.EL]
	ix := embeddedIndex(t)
	pairs := 0
	for _, from := range release.All() {
		for _, to := range release.All() {
			pairs++
			for name := range strings.FieldsSeq(servers[from.Family]) {
				got, err := ix.Become(from.Slug, name, to.Slug)
				if err != nil || got.Relation == "" || got.Relation == api.RelationUnknown {
					t.Errorf("%s of %s in %s: %q %v", name, from.Slug, to.Slug, got.Relation, err)
				}
				if why := unsound(got); why != "" && got.Relation != api.RelationIncluded { // comes unnamed
					t.Errorf("%s of %s in %s: %s", name, from.Slug, to.Slug, why)
				}
			}
		}
	}
	for _, slug := range strings.Fields("debian-10 debian-14 ubuntu-18.04 ubuntu-26.04 rhel-6 rhel-10 centos-6 centos-10 almalinux-8 almalinux-10 rocky-8 rocky-10 ol-6 ol-10 fedora-42 amzn-2 amzn-2023 sles-12 sles-16 opensuse-leap-15.6 opensuse-leap-16.0") {
		if _, err := ix.tables.Release(slug); err != nil {
			t.Errorf("%s: %v", slug, err)
		}
	}
	t.Logf("%d pairs", pairs)
}

// What is the same in both has one canonical, also where a collection has it
// too; so have the libraries of one software.
func TestOneSoftwareHasOneCanonical(t *testing.T) {
	is := is.New(t)
	ix := embeddedIndex(t)
	x := &lookup.Names{Tables: ix.tables}
	apartOnes := 0
	for key, value := range ix.tables.File.Table(record.RPMNames).All() {
		r := lookup.DecodeRPM(key, value)
		apartOnes += record.BoolOrder(strings.HasSuffix(r.Canonical, record.Apart) && r.Line != "suse")
		if r.Trail == "" {
			continue
		}
		trail := record.DecodeTrail(r.Trail)
		if own, there := x.Package(key); there && trail.Relation == api.RelationSame && slices.Equal(trail.Targets, []string{key}) && own != r.Canonical {
			t.Errorf("%s is %s in Debian, %s in rpm releases", key, own, r.Canonical)
		}
	}
	if apartOnes > 215 {
		t.Errorf("%d canonicals are apart from Debian's", apartOnes)
	}
	for rpm, deb := range map[string]string{
		"openssl-libs": "libssl3t64", "krb5-libs": "libkrb5-3", "cups-libs": "libcups2t64", "glib2": "libglib2.0-0t64", "freetype": "libfreetype6",
		"dovecot": "dovecot-core", "cronie": "cronie", "dnf": "dnf", "bind-utils": "bind9-dnsutils", "mariadb-libs": "libmariadb3", "gdb": "gdb",
	} {
		is.NoErr(sameCanonical(ix, rpm, deb))
	}
}

func sameCanonical(ix *Index, rpm, deb string) error {
	there, err := ix.Resolve("rhel-8", []string{rpm})
	if err != nil {
		return err
	}
	here, err := ix.Resolve("debian-13", []string{deb})
	if err == nil && *there[0].Canonical != *here[0].Canonical {
		err = fmt.Errorf("%s is %s, %s is %s", rpm, *there[0].Canonical, deb, *here[0].Canonical)
	}
	return err
}

// Within SUSE no name of a library is made up: that has the soname in it.
func TestLibrariesOfSUSEComeByThemselves(t *testing.T) {
	for _, name := range []string{"libX11-6", "libXau6", "libacl1", "libaudit1", "libcups2", "libexpat1", "libffi7", "libaugeas0"} {
		for _, way := range [][2]string{{"sles-15", "sles-16"}, {"sles-12", "opensuse-leap-15.6"}} {
			got := becomes(t, way[0], name, way[1])
			if names := packageNames(got); got.Relation == api.RelationUnknown || names != "" && names != name {
				t.Errorf("%s of %s in %s: %s %s", name, way[0], way[1], got.Relation, names)
			}
		}
	}
	is.New(t).Equal(packageNames(becomes(t, "sles-15", "augeas", "sles-16")), "augeas")
}

// What leaves EL, gets another name, or is no package, is said with certainty.
func TestWhatReleasesOfELDrop(t *testing.T) {
	checkChanges(t, []change{
		{"centos-7", "gpg-pubkey", "almalinux-9", api.RelationRemoved, ""},
		{"centos-7", "httpd24-httpd", "almalinux-9", api.RelationSplit, "httpd httpd-core"},
		{"centos-7", "mariadb-libs", "almalinux-8", api.RelationReplaced, "mariadb-connector-c"},
		{"centos-7", "MySQL-python", "almalinux-8", api.RelationReplaced, "python2-PyMySQL python3-PyMySQL"},
		{"centos-7", "grub2", "rhel-9", api.RelationMerged, "grub2-pc"},
		{"centos-7", "screen", "rhel-9", api.RelationSame, "screen"},    // of EPEL
		{"centos-7", "screen", "fedora-40", api.RelationSame, "screen"}, // whatever EL did with it
		{"almalinux-8", "php-json", "almalinux-9", api.RelationMerged, "php-common"},
		{"almalinux-8", "cryptsetup-reencrypt", "rhel-9", api.RelationMerged, "cryptsetup"},
		{"rhel-8", "ypbind", "rhel-9", api.RelationRemoved, ""},
		{"rhel-8", "iwl7260-firmware", "rhel-10", api.RelationMerged, "iwlwifi-mvm-firmware"},
		{"rhel-8", "util-linux-user", "rhel-10", api.RelationMerged, "util-linux"},
		{"rhel-9", "slirp4netns", "almalinux-10", api.RelationSame, "slirp4netns"},
		{"rhel-9", "npm", "almalinux-10", api.RelationRenamed, "nodejs-npm"},
		{"rhel-9", "dbus-glib", "rocky-10", api.RelationRemoved, ""},
		{"rhel-9", "langpacks-core-font-de", "rhel-10", api.RelationRenamed, "langpacks-fonts-de"},
	})
}

// What one release of EL has and the next ones lack is gone, and with it what is
// called a part of it; what is back in a later release is there.
func TestListsOfELTellWhatGoes(t *testing.T) {
	checkChanges(t, []change{
		{"rhel-8", "google-noto-sans-tagbanwa-fonts", "almalinux-9", api.RelationSame, "google-noto-sans-tagbanwa-fonts"},
		{"rhel-8", "readline-devel", "rocky-9", api.RelationSame, "readline-devel"},
		{"rhel-8", "gtkspell3", "almalinux-9", api.RelationSame, "gtkspell3"},
		{"rhel-8", "libiscsi-devel", "almalinux-9", api.RelationSame, "libiscsi-devel"},
		{"rhel-8", "glusterfs-fuse", "rocky-9", api.RelationSame, "glusterfs-fuse"},
		{"rhel-8", "flex-devel", "rhel-9", api.RelationRenamed, "libfl-static"},
		{"rhel-8", "perl-core", "rhel-9", api.RelationMerged, "perl"},
		{"rhel-8", "pulseaudio-module-bluetooth", "rhel-10", api.RelationReplaced, "pipewire-pulseaudio"},
		{"rhel-8", "hyphen-fo", "rhel-10", api.RelationSame, "hyphen-fo"},
		{"rhel-9", "vala-devel", "almalinux-10", api.RelationRenamed, "libvala-devel"},
		{"rhel-8", "resource-agents-gcp", "rhel-9", api.RelationMerged, "resource-agents-cloud"},
		{"rhel-8", "sendmail-milter-devel", "almalinux-9", api.RelationSame, "sendmail-milter-devel"},
		{"rhel-9", "podman-gvproxy", "rhel-10", api.RelationRenamed, "gvisor-tap-vsock"},
		// what a distribution near EL keeps
		{"ol-8", "kernel-uek", "ol-9", api.RelationSame, "kernel-uek"},
		{"ol-8", "rhn-setup-gnome", "ol-9", api.RelationSame, "rhn-setup-gnome"},
		{"ol-9", "linux-firmware", "ol-10", api.RelationSame, "linux-firmware"},
		{"ol-9", "iwl7260-firmware", "ol-10", api.RelationSame, "iwl7260-firmware"},
		{"rhel-9", "toolbox", "ol-9", api.RelationRemoved, ""},
		{"rhel-9", "bogofilter-unheard-of", "rhel-10", api.RelationRemoved, ""},
		{"rhel-8", "rhn-setup-gnome", "rhel-9", api.RelationRemoved, ""},
	})
	// what a list lacks another repository may have
	for _, c := range []change{
		{"rhel-8", "redhat-lsb-core", "almalinux-9", api.RelationRemoved, ""},
		{"rhel-9", "lohit-tamil-fonts", "rhel-10", api.RelationRemoved, ""},
		{"almalinux-9", "usb_modeswitch", "almalinux-10", api.RelationRemoved, ""},
		{"rhel-8", "tesseract-langpack-chr", "rhel-9", api.RelationSame, "tesseract-langpack-chr"},
		{"rhel-8", "qrencode-libs", "rhel-9", api.RelationRemoved, ""},
		{"rhel-8", "hyphen-fo", "rhel-9", api.RelationRemoved, ""},
	} {
		got := becomes(t, c.from, c.name, c.to)
		if got.Relation != c.relation || packageNames(got) != c.want || got.Confidence >= course.SureConfidence || got.Confidence < course.LeastConfidence {
			t.Errorf("%s of %s in %s: %s %q, %.2f", c.name, c.from, c.to, got.Relation, packageNames(got), got.Confidence)
		}
	}
	for _, name := range []string{"eap7-wildfly", "eap7-FastInfoset"} {
		if got := becomes(t, "rhel-8", name, "rhel-9"); packageNames(got) != name || got.Confidence >= 0.8 || !hasCaveat(got, course.CaveatThirdParty) {
			t.Errorf("what is called as a vendor's packages are: %s %q, %v %v", got.Relation, packageNames(got), got.Confidence, got.Caveats)
		}
	}
	if got := becomes(t, "centos-7", "bash-unheard-of", "rhel-8"); packageNames(got) != "bash-unheard-of" {
		t.Errorf("a part of what stays: %s %q", got.Relation, packageNames(got))
	}
}

// What no list knows is nothing to install by its name where the target's list is
// nearly whole, and that it may come from elsewhere is said; anywhere else its name
// is a candidate.
func TestNothingIsInstalledThatNoListKnows(t *testing.T) {
	for _, name := range []string{"acme-agent", "acme-agent-devel", "php-acme", "perl-Acme-Agent"} {
		for _, way := range [][2]string{{"almalinux-8", "almalinux-9"}, {"rhel-8", "rocky-10"}, {"centos-7", "ol-9"}, {"rhel-9", "rhel-10"}} {
			got := becomes(t, way[0], name, way[1])
			doubted := slices.ContainsFunc(got.Caveats, func(c api.Caveat) bool { return c.Code == course.CaveatExistence })
			if got.Relation != api.RelationRemoved || len(got.Packages) > 0 || !doubted || got.Confidence >= course.DroppedConfidence {
				t.Errorf("%s of %s in %s: %s %q, %.2f %v", name, way[0], way[1], got.Relation, packageNames(got), got.Confidence, got.Caveats)
			}
		}
		for _, way := range [][2]string{{"centos-7", "almalinux-8"}, {"almalinux-9", "almalinux-8"}, {"rhel-8", "amzn-2023"}} {
			if got := becomes(t, way[0], name, way[1]); len(got.Packages) != 1 || got.Confidence >= course.SureConfidence {
				t.Errorf("%s of %s in %s: %s %q, %.2f", name, way[0], way[1], got.Relation, packageNames(got), got.Confidence)
			}
		}
	}
}

// What curated rows name exists in a release of Debian whose list is known.
func TestRowsNamePackagesOfDebian(t *testing.T) {
	ix := embeddedIndex(t)
	x := &lookup.Names{Tables: ix.tables}
	for name, value := range ix.tables.File.Table(record.RPMRows).All() {
		trail := record.DecodeTrail(value)
		for _, target := range trail.Targets {
			if rpm.FirstThere(x, target) == "" {
				t.Errorf("the row of %s names %s, which no release has", name, target)
			}
			if slices.Contains(strings.Split(target, "|"), "") {
				t.Errorf("the row of %s has an empty alternative", name)
			}
		}
	}
}

// What the target has from another repository alone says so.
func TestAnotherRepositoryIsNamed(t *testing.T) {
	is.New(t).Equal(becomes(t, "centos-7", "htop", "rhel-9").Packages, []api.TargetPackage{{Name: "htop", Repository: api.EPEL}})
	is.New(t).Equal(becomes(t, "centos-7", "tar", "rhel-9").Packages, []api.TargetPackage{{Name: "tar"}})
	for _, c := range []struct{ from, name, to, says string }{
		{"debian-12", "htop", "almalinux-9", "epel-release"},
		{"centos-7", "htop", "rhel-9", "epel-release"},
		{"centos-7", "bridge-utils", "almalinux-10", "epel-release"},
		{"centos-7", "docker-ce", "debian-13", "Docker's own repository"},
		{"rocky-9", "postgresql16-server", "debian-13", "apt.postgresql.org"},
		{"rhel-8", "mongodb-org-server", "ubuntu-24.04", "MongoDB's repository"},
		{"sles-15", "google-chrome-stable", "debian-13", "Google's repository"},
		{"ubuntu-22.04", "kubelet", "debian-13", "keep the minor version"},
		{"ubuntu-20.04", "mongodb-org", "almalinux-9", "MongoDB"},
	} {
		got := becomes(t, c.from, c.name, c.to)
		if !slices.ContainsFunc(got.Caveats, func(v api.Caveat) bool { return v.Code == course.CaveatThirdParty && strings.Contains(v.Text, c.says) }) {
			t.Errorf("%s of %s in %s: %v", c.name, c.from, c.to, got.Caveats)
		}
	}
	for _, name := range []string{"postgresql", "postgresql16", "postgresql17-server"} { // SUSE's own
		for _, c := range becomes(t, "sles-15", name, "debian-13").Caveats {
			if c.Code == course.CaveatThirdParty {
				t.Errorf("%s of SUSE: %s", name, c.Text)
			}
		}
	}
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
		{"a*c", "abd", false},
		{"aa*aa", "aaa", false},
		{"*-doc", "lib-doc", true},
		{"ab*", "ab", true},
		{"Lib*-x", "libfoo-X", true},
		{"libr*", "libfoo", false},
		{"libfoo*", "lib", false},
		{"libfoo*", "LIBFOO2", true},
	} {
		g := &record.Globs{}
		g.Add(c.pattern, "")
		_, ok := g.Match(c.name)
		is.New(t).Equal(ok, c.want)
	}
}

// TestNamesOfOtherSoftwareBefore: a name that EL gave to other software until
// one of its releases is what that release has, both ways.
func TestNamesOfOtherSoftwareBefore(t *testing.T) {
	for _, c := range []struct{ from, name, to, want string }{
		{"centos-7", "ctags", "debian-13", "exuberant-ctags"},
		{"rhel-8", "ctags", "ubuntu-24.04", "exuberant-ctags"},
		{"almalinux-9", "ctags", "debian-13", "universal-ctags"},
		{"fedora-42", "ctags", "debian-12", "universal-ctags"},
		{"centos-7", "lua-devel", "debian-13", "liblua5.1-0-dev"},
		{"amzn-2", "lua", "debian-12", "lua5.1"},
		{"rhel-8", "lua-libs", "debian-13", "liblua5.3-0"},
		{"rhel-10", "lua-devel", "debian-11", "liblua5.4-dev"},
		{"centos-7", "wireshark", "debian-13", "tshark"},
		{"rhel-8", "wireshark", "debian-13", "wireshark"},
		{"debian-12", "exuberant-ctags", "rhel-8", "ctags"},
		{"debian-12", "universal-ctags", "rhel-9", "ctags"},
		{"debian-12", "lua5.3", "rhel-8", "lua"},
		{"debian-12", "tshark", "rhel-8", "wireshark-cli"},
		{"rhel-8", "ctags", "almalinux-9", "ctags"},
	} {
		if got := becomes(t, c.from, c.name, c.to); packageNames(got) != c.want {
			t.Errorf("%s of %s in %s: %s %s", c.name, c.from, c.to, got.Relation, packageNames(got))
		}
	}
}

// TestKeysAreNoNames: keys and patterns of the tables are no packages, whoever has
// a name or a canonical like them.
func TestKeysAreNoNames(t *testing.T) {
	is := is.New(t)
	ix := embeddedIndex(t)
	keys := []string{"8/ctags", "8/ctags.x86_64", "7/lua:all", "suse/mariadb", "centos/httpd", "httpd sles", "*-backgrounds", "pool/../ctags", "python3-\u0130"}
	releases := []string{"rhel-8", "centos-7", "amzn-2", "sles-12", "sles-16", "debian-12", "ubuntu-24.04"}
	for _, from := range releases {
		resolved, err := ix.Resolve(from, keys)
		is.NoErr(err)
		for _, r := range resolved {
			if r.Match != api.MatchNone || r.Canonical != nil {
				t.Errorf("%s of %s is %s", r.Package, from, *r.Canonical)
			}
		}
		for _, to := range releases {
			translated, err := ix.Translate(from, to, keys)
			is.NoErr(err)
			for _, r := range translated {
				if r.Relation != api.RelationUnknown || len(r.Packages) > 0 || r.Confidence > 0 {
					t.Errorf("%s of %s in %s: %s %s", r.Canonical, from, to, r.Relation, packageNames(r))
				}
			}
		}
	}
}

// TestProgramsAreNoLibraries: what EL parts from its libraries, which are in
// another package with -libs, is none of them.
func TestProgramsAreNoLibraries(t *testing.T) {
	file := embeddedIndex(t).tables.File
	for name, text := range file.Table(record.RPMNames).All() {
		if lookup.DecodeRPM(name, text).Levels == "" {
			continue // EL is not known to have it
		}
		value := lookup.DecodeRPM(name, text).Trail
		libraries := lookup.DecodeRPM(name+"-libs", file.Table(record.RPMNames).Value(name+"-libs")).Trail
		if libraries == "" || value == "" {
			continue
		}
		programs, beside := record.DecodeTrail(value), record.DecodeTrail(libraries)
		if programs.Relation == api.RelationIncluded && slices.Equal(programs.Targets, beside.Targets) {
			t.Errorf("%s and %s-libs are both %v", name, name, programs.Targets)
		}
	}
}

// TestSoftwareIsMoreThanItsLibrary: an rpm that has the name of software may have its programs
// too, which Debian has apart from the library; one that is called a library is that.
func TestSoftwareIsMoreThanItsLibrary(t *testing.T) {
	for name, sure := range map[string]bool{"urdfdom": false, "libraw1394": true} {
		got := becomes(t, "fedora-42", name, "debian-13")
		if got.Relation != api.RelationIncluded || (got.Confidence >= course.SureConfidence) != sure {
			t.Errorf("%s: %s %.2f", name, got.Relation, got.Confidence)
		}
	}
}

// TestOneOfSeveralIsAQuestion: where the target has several packages that are
// called like the rpm, a row's preference is not sure; a fallback is none of them.
func TestOneOfSeveralIsAQuestion(t *testing.T) {
	for _, c := range []struct {
		from, name, to string
		sure           bool
	}{
		{"rhel-9", "lua", "debian-13", false},
		{"rhel-9", "pkgconf", "debian-13", true},         // its own name
		{"rhel-9", "java-21-openjdk", "debian-13", true}, // default-jre is the fallback
		{"rhel-8", "mysql-server", "ubuntu-24.04", true}, // mariadb-server is
		{"centos-7", "bind-utils", "debian-13", true},    // dnsutils is of Debian 11
		{"centos-7", "ntp", "debian-12", true},           // replaced: the row's decision
		{"rhel-9", "openssl-libs", "ubuntu-24.04", true}, // libraries come by themselves
		{"rhel-9", "libjpeg-turbo-devel", "debian-13", false},
	} {
		got := becomes(t, c.from, c.name, c.to)
		said := slices.ContainsFunc(got.Caveats, func(c api.Caveat) bool { return c.Code == course.CaveatCandidates })
		if got.Relation == api.RelationUnknown || (got.Confidence >= course.SureConfidence) != c.sure || said == c.sure {
			t.Errorf("%s of %s in %s: %s %.2f %+v", c.name, c.from, c.to, got.Relation, got.Confidence, got.Caveats)
		}
	}
}

// TestPartsOfAPackage: what is a package of Debian comes before newer packages that
// have a part of it, and one of several parts that no row prefers is not sure.
func TestPartsOfAPackage(t *testing.T) {
	is := is.New(t)
	whole := becomes(t, "debian-13", "python3-tk", "almalinux-9")
	is.Equal(packageNames(whole), "python3-tkinter")
	is.Equal(whole.Relation, api.RelationRenamed)
	part := becomes(t, "debian-13", "qemu-system-gui", "almalinux-9")
	is.Equal(part.Relation, api.RelationMerged)
	is.True(part.Confidence < course.SureConfidence)
}

// TestCaveatsOfArrival checks that a caveat holds where its software arrives,
// from whichever distribution, and nowhere else.
func TestCaveatsOfArrival(t *testing.T) {
	for _, c := range []struct {
		from, name, to, code string
		want                 bool
	}{
		{"debian-12", "dovecot-core", "debian-13", "CONFIG_FORMAT", true},
		{"centos-7", "dovecot", "debian-13", "CONFIG_FORMAT", true},
		{"sles-15", "dovecot23", "debian-13", "CONFIG_FORMAT", true}, // by the name that it has in Debian
		{"ubuntu-22.04", "dovecot-core", "debian-13", "CONFIG_FORMAT", true},
		{"ubuntu-22.04", "tomcat9", "debian-13", "CODE_CHECK", true},
		{"centos-7", "dovecot", "debian-12", "CONFIG_FORMAT", false},
		{"debian-12", "dovecot-core", "rhel-9", "CONFIG_FORMAT", false}, // EL has 2.3
		{"debian-12", "isc-dhcp-server", "rhel-9", "CONFIG_FORMAT", false},
		{"debian-12", "procps", "rhel-9", "CONFIG_PATH", false},
		{"centos-7", "mariadb-server", "debian-13", "DATA_MIGRATION", true}, // of which major is not known
		{"rhel-8", "mariadb-server", "rhel-10", "DATA_MIGRATION", true},
		{"debian-12", "postgresql-15", "rhel-9", "DATA_MIGRATION", true},
		{"rhel-8", "mariadb-server", "almalinux-8", "DATA_MIGRATION", false},
		{"debian-12", "mariadb-server", "debian-12", "DATA_MIGRATION", false},
		{"ubuntu-26.04", "openssh-server", "debian-13", "WEAK_KEYS", false}, // the newer one
	} {
		t.Run(c.from+" "+c.name+" "+c.to, func(t *testing.T) {
			got, err := embeddedIndex(t).Become(c.from, c.name, c.to)
			is := is.New(t)
			is.NoErr(err)
			is.Equal(slices.ContainsFunc(got.Caveats, func(v api.Caveat) bool { return v.Code == c.code }), c.want)
		})
	}
}

// TestModulesAreNoLibraries checks that a digit at the end of a module's name is
// not taken for a soname: what is "included" would not be installed.
func TestModulesAreNoLibraries(t *testing.T) {
	for name, want := range map[string]string{
		"libapache2-mod-security2": "mod_security", "libapache2-mod-wsgi-py3": "python3-mod_wsgi", "libapache2-mod-perl2": "mod_perl",
	} {
		got, err := embeddedIndex(t).Become("debian-12", name, "rhel-9")
		is := is.New(t)
		is.NoErr(err)
		is.Equal(got.Relation, api.RelationRenamed)
		is.Equal(len(got.Packages), 1)
		is.Equal(got.Packages[0].Name, want)
	}
}
