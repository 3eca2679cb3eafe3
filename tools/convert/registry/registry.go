// Package registry knows every converter: which takes a file in a move, and what
// becomes of the files that it takes.
package registry

import (
	"cmp"
	_ "embed"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/tools/convert"
	"svc/tools/convert/database"
	"svc/tools/convert/firewall"
	"svc/tools/convert/mail"
	"svc/tools/convert/network"
	"svc/tools/convert/services"
	"svc/tools/convert/system"
	"svc/tools/convert/web"
	"svc/tools/convert/web/apache"
)

// Bounds of what is converted; what is larger is a person's job.
const (
	maxText  = 1 << 20
	maxLine  = 16 << 10
	maxFiles = 1000
)

// converter is a row of the registry.
type converter struct {
	name    string
	takes   []string // patterns of path.Match
	needs   []string // packages of the target, of which one must come; none for what is always there
	applies func(convert.Input) bool
	convert func(convert.Input) convert.Result
}

// registry has every converter; the first that takes a file has it.
var registry = []converter{
	{"httpd", []string{"/etc/httpd/*/*.conf", "/etc/httpd/*/*/*.conf", "/etc/apache2/*.conf", "/etc/apache2/*/*"}, []string{"apache2", "httpd"}, convert.OfRPM, apache.HTTPD},
	{"apache2", []string{"/etc/apache2/sites-*/*", "/etc/apache2/conf-*/*", "/etc/apache2/mods-enabled/*"}, []string{"apache2"}, convert.Apart, apache.Apart},
	{"nginx", []string{"/etc/nginx/nginx.conf", "/etc/nginx/*.d/*.conf", "/etc/nginx/*.d/*/*.conf", "/etc/nginx/sites-available/*", "/etc/nginx/sites-enabled/*", "/etc/nginx/snippets/*"}, []string{"nginx", "nginx-core", "nginx-light", "nginx-full", "nginx-extras"}, convert.OfRPM, web.Nginx},
	{"php", []string{"/etc/php.ini", "/etc/php.d/*.ini", "/etc/php/*/*/php.ini", "/etc/php/*/mods-available/*.ini"}, nil, withPHP, web.PHP},
	{"php-fpm", []string{"/etc/php-fpm.d/*.conf", "/etc/php-fpm.conf", "/etc/php/*/fpm/php-fpm.conf", "/etc/php/*/fpm/pool.d/*.conf"}, nil, withPHP, web.PHPPool},
	{"tomcat", []string{"/etc/tomcat*/server.xml", "/etc/tomcat*/context.xml", "/etc/tomcat*/tomcat-users.xml", "/etc/tomcat*/Catalina/*/*.xml"}, []string{"tomcat10", "tomcat11"}, toJakarta, web.Tomcat},
	{"sshd", []string{"/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d/*.conf"}, nil, convert.Moves, system.SSHD},
	{"mariadb", []string{"/etc/my.cnf", "/etc/my.cnf.d/*.cnf", "/etc/mysql/mariadb.conf.d/*.cnf", "/etc/mysql/conf.d/*.cnf", "/etc/mysql/mysql.conf.d/*.cnf", "/etc/mysql/my.cnf", "/etc/mysql/mysql.cnf", "/etc/mysql/mariadb.cnf"}, []string{"mariadb-server", "mariadb"}, convert.Moves, database.MariaDB},
	{"postgresql", []string{"/etc/postgresql/*/*/*.conf", "/etc/postgresql/*/*/conf.d/*.conf"}, nil, convert.ToDebian, database.PostgreSQL},
	{"named", []string{"/etc/named.conf", "/etc/named/*", "/etc/named.*", "/etc/bind/*"}, []string{"bind9", "bind"}, convert.OfRPM, services.Named},
	{"named-keys", []string{"/etc/bind/named.conf*", "/etc/bind/*.conf", "/etc/bind/*/*.conf", "/etc/bind/*.zones"}, []string{"bind9"}, withoutAutoDNSSEC, services.DNSSECPolicy},
	{"postfix", []string{"/etc/postfix/main.cf"}, []string{"postfix"}, convert.Moves, mail.Postfix},
	{"postfix-master", []string{"/etc/postfix/master.cf"}, []string{"postfix"}, convert.Moves, mail.PostfixMaster},
	{"samba", []string{"/etc/samba/*.conf"}, []string{"samba", "samba-common-bin", "smbclient"}, convert.Moves, services.Samba},
	{"sssd", []string{"/etc/sssd/sssd.conf", "/etc/sssd/conf.d/*.conf"}, []string{"sssd", "sssd-common"}, convert.Moves, system.SSSD},
	{"keepalived", []string{"/etc/keepalived/*.conf", "/etc/keepalived/*/*.conf"}, []string{"keepalived"}, convert.Moves, services.Keepalived},
	{"fail2ban", []string{"/etc/fail2ban/jail.*", "/etc/fail2ban/fail2ban.*", "/etc/fail2ban/*.d/*.conf", "/etc/fail2ban/*.d/*.local"}, []string{"fail2ban"}, convert.Moves, firewall.Fail2ban},
	{"nsswitch", []string{"/etc/nsswitch.conf"}, nil, convert.FromRPM, system.NSSwitch},
	{"ntp", []string{"/etc/ntp.conf"}, []string{"ntpsec", "chrony"}, withNTP, system.NTP},
	{"dovecot", []string{"/etc/dovecot/*.conf", "/etc/dovecot/conf.d/*.conf", "/etc/dovecot/conf.d/*.ext", "/etc/dovecot/*.ext"}, []string{"dovecot-core", "dovecot-imapd", "dovecot-pop3d"}, toDovecot24, mail.Dovecot},
	{"dovecot-2.3", []string{"/etc/dovecot/*.conf", "/etc/dovecot/conf.d/*.conf", "/etc/dovecot/conf.d/*.ext"}, []string{"dovecot", "dovecot-core", "dovecot-imapd", "dovecot-pop3d"}, staysDovecot23, convert.Same(convert.Settings{Comment: "#", Equals: true, Places: mail.DovecotPlaces}, convert.There)},
	{"chrony", []string{"/etc/chrony.conf", "/etc/chrony.d/*.conf", "/etc/chrony/chrony.conf", "/etc/chrony/conf.d/*.conf"}, []string{"chrony"}, convert.OfRPM, system.Chrony},
	{"kea", []string{"/etc/kea/kea-dhcp*.conf"}, []string{"kea-dhcp4-server", "kea-dhcp6-server", "kea-dhcp-ddns-server"}, withNewKea, services.Kea},
	{"haproxy", []string{"/etc/haproxy/haproxy.cfg", "/etc/haproxy/conf.d/*.cfg"}, []string{"haproxy"}, convert.Moves, services.HAProxy},
	{"sysctl", []string{"/etc/sysctl.conf", "/etc/sysctl.d/*.conf"}, nil, convert.Moves, system.Sysctl},
	{"logrotate", []string{"/etc/logrotate.d/*"}, []string{"logrotate"}, convert.Across, system.Logrotate},
	{"cron", []string{"/etc/cron.d/*", "/etc/crontab", "/etc/cron.hourly/*.*", "/etc/cron.daily/*.*", "/etc/cron.weekly/*.*", "/etc/cron.monthly/*.*", "/var/spool/cron/*", "/var/spool/cron/crontabs/*"}, []string{"cron", "cronie"}, convert.Across, system.Cron},
	{"crontabs", []string{"/etc/crontabs/*", "/var/spool/cron/crontabs/*"}, nil, convert.Apart, system.Crontabs},
	{"anacron", []string{"/etc/anacrontab"}, []string{"anacron"}, convert.FromRPM, system.Anacron},
	{"limits", []string{"/etc/security/limits.conf", "/etc/security/limits.d/*.conf"}, nil, convert.FromRPM, system.Limits},
	{"pam", []string{"/etc/pam.d/*"}, nil, convert.Across, system.PAM},
	{"exports", []string{"/etc/exports", "/etc/exports.d/*.exports"}, []string{"nfs-kernel-server"}, convert.FromRPM, services.Exports},
	{"nfs", []string{"/etc/sysconfig/nfs", "/etc/default/nfs-kernel-server", "/etc/default/nfs-common", "/etc/nfs.conf", "/etc/nfs.conf.d/*.conf", "/etc/idmapd.conf"}, []string{"nfs-kernel-server", "nfs-common", "nfs-utils"}, func(in convert.Input) bool { return toNfsConf(in) || convert.WithDNF(in) }, services.NFS},
	{"network", []string{
		"/etc/sysconfig/network-scripts/ifcfg-*", "/etc/sysconfig/network-scripts/route-*", "/etc/sysconfig/network-scripts/route6-*", "/etc/sysconfig/network-scripts/rule-*", "/etc/sysconfig/network-scripts/rule6-*", "/etc/sysconfig/network",
		"/etc/NetworkManager/system-connections/*", "/etc/netplan/*.yaml", "/etc/network/interfaces", "/etc/network/interfaces.d/*", "/etc/systemd/network/*",
	}, nil, network.Moves, network.Convert},
	{"iptables", []string{"/etc/sysconfig/iptables", "/etc/sysconfig/ip6tables", "/etc/iptables/rules.v4", "/etc/iptables/rules.v6"}, nil, filters, firewall.Iptables},
	{"nftables", []string{"/etc/sysconfig/nftables.conf", "/etc/nftables/*", "/etc/nftables.conf"}, []string{"nftables"}, filters, firewall.Nftables},
	{"firewalld", []string{"/etc/firewalld/firewalld.conf", "/etc/firewalld/direct.xml", "/etc/firewalld/*/*.xml"}, []string{"firewalld"}, convert.ToDebian, firewall.Firewalld},
	{"ufw", []string{"/etc/ufw/*.rules", "/etc/ufw/*.conf", "/etc/ufw/*.init", "/etc/ufw/applications.d/*", "/etc/default/ufw"}, []string{"ufw"}, convert.WithinDebian, firewall.UFW},
	{"ufw-nftables", []string{"/etc/ufw/*.rules", "/etc/ufw/*.conf", "/etc/ufw/*.init", "/etc/ufw/applications.d/*", "/etc/default/ufw"}, nil, convert.FromDebian, firewall.UFWToNftables},
	{"rsyslog", []string{"/etc/rsyslog.conf", "/etc/rsyslog.d/*.conf"}, []string{"rsyslog"}, withRsyslog, system.Rsyslog},
	{"sudoers", []string{"/etc/sudoers", "/etc/sudoers.d/*"}, nil, convert.Across, system.Sudoers},
	{"anchors", []string{"/etc/pki/ca-trust/source/anchors/*"}, nil, convert.FromRPM, system.Anchors},
	{"supervisor", []string{"/etc/supervisord.d/*.ini"}, []string{"supervisor"}, convert.FromRPM, services.Supervisor},
	{"memcached", []string{"/etc/sysconfig/memcached"}, []string{"memcached"}, convert.FromRPM, services.Memcached},
	{"vsftpd", []string{"/etc/vsftpd/vsftpd.conf"}, []string{"vsftpd"}, convert.FromRPM, services.VSFTPD},
	{"chrony-options", []string{"/etc/sysconfig/chronyd"}, []string{"chrony"}, convert.FromRPM, services.ChronyOptions},
	{"named-options", []string{"/etc/sysconfig/named"}, []string{"bind9"}, convert.FromRPM, services.NamedOptions},
	{"dhcpd", []string{"/etc/sysconfig/dhcpd", "/etc/sysconfig/dhcpd6", "/etc/systemd/system/dhcpd.service.d/*.conf", "/etc/systemd/system/dhcpd6.service.d/*.conf"}, []string{"isc-dhcp-server"}, convert.FromEL, services.DHCPD},
	{"tftp", []string{"/etc/systemd/system/tftp.service.d/*.conf"}, []string{"tftpd-hpa"}, convert.FromRPM, services.TFTP},
	{"radius", []string{"/etc/raddb/radiusd.conf"}, []string{"freeradius"}, withFreeRADIUS3, services.RADIUS},
	{"tuned", []string{"/etc/tuned/*/*"}, []string{"tuned"}, withTunedProfiles, system.Tuned},
	{"polkit", []string{"/etc/polkit-1/localauthority/*/*.pkla", "/etc/polkit-1/localauthority.conf.d/*.conf"}, []string{"polkitd", "policykit-1", "polkit"}, withoutPkla, system.Polkit},
}

// filters is a move to a release that has services for packet filters.
func filters(in convert.Input) bool { return convert.FromRPM(in) || convert.WithDNF(in) }

// toJakarta is a move of a Tomcat whose applications are of javax to one of jakarta.
func toJakarta(in convert.Input) bool {
	had := in.VersionOf("tomcat", "tomcat9", "tomcat8", "tomcat7")
	return convert.ToDebian(in) && had != "" && pkgversion.Compare(pkgversion.RPM, had, "10") < 0
}

// withRsyslog is a move from other files of rsyslog's, or to a unit that confines it.
func withRsyslog(in convert.Input) bool {
	gets := pkgversion.Upstream(in.Brought["rsyslog"])
	return convert.FromRPM(in) || convert.WithinDebian(in) && gets != "" && pkgversion.Compare(pkgversion.Deb, gets, "8.2504") >= 0
}

// withTunedProfiles is a move to a tuned that has a folder for people's profiles.
func withTunedProfiles(in convert.Input) bool {
	return convert.ToDebian(in) && convert.HasSince("tuned", "2.23", in.Target) && pkgversion.Compare(pkgversion.RPM, in.VersionOf("tuned"), "2.23") < 0
}

// withoutPkla is a move to a polkit that reads rules alone.
func withoutPkla(in convert.Input) bool {
	_, compatible := in.Brought["polkitd-pkla"]
	return convert.Moves(in) && !compatible && convert.HasSince("polkit", "0.106", in.Target)
}

// withoutAutoDNSSEC is a move to a BIND that signs by policies alone.
func withoutAutoDNSSEC(in convert.Input) bool {
	return convert.WithinDebian(in) && convert.HasSince("bind", "9.20", in.Target) && !convert.HasSince("bind", "9.20", in.Source)
}

// withFreeRADIUS3 is a move of a server whose files have the form of version 3.
func withFreeRADIUS3(in convert.Input) bool {
	had := in.VersionOf("freeradius", "freeradius-server")
	return convert.FromRPM(in) && had != "" && pkgversion.Compare(pkgversion.RPM, had, "3") >= 0
}

// withNTP is a move of a machine that had ntpd.
func withNTP(in convert.Input) bool { return convert.Moves(in) && in.VersionOf("ntp", "ntpsec") != "" }

// toDovecot24 is a move from a release with an earlier Dovecot.
func toDovecot24(in convert.Input) bool {
	had := in.VersionOf("dovecot", "dovecot-core")
	earlier := had != "" || convert.RPMFamily(in.Source) || !convert.HasSince("dovecot", "2.4", in.Source)
	return convert.ToDebian(in) && convert.HasSince("dovecot", "2.4", in.Target) && !strings.HasPrefix(had, "2.4") && earlier
}

// staysDovecot23 is a move to another family with a Dovecot before 2.4, which the target
// has too.
func staysDovecot23(in convert.Input) bool {
	across := convert.FromDebian(in) && convert.WithDNF(in) || convert.FromRPM(in) && convert.ToDebian(in) && !convert.HasSince("dovecot", "2.4", in.Target)
	return across && !strings.HasPrefix(in.VersionOf("dovecot", "dovecot-core"), "2.4")
}

// toNfsConf is a move to a release whose NFS reads nfs.conf alone, from one whose
// does not, or reads another.
func toNfsConf(in convert.Input) bool {
	return convert.ToDebian(in) && (convert.RPMFamily(in.Source) || slices.ContainsFunc([]string{"debian-12", "ubuntu-22.04"}, func(slug string) bool {
		since, _ := release.Lookup(slug)
		return in.Source.Older(since)
	}))
}

// withNewKea is a move to a Kea that refuses files outside its own folders.
func withNewKea(in convert.Input) bool {
	return convert.WithinDebian(in) && slices.ContainsFunc([]string{"kea-dhcp4-server", "kea-dhcp6-server", "kea-dhcp-ddns-server"}, func(name string) bool {
		had, gets := in.VersionOf(name), pkgversion.Upstream(in.Brought[name])
		return had != "" && gets != "" && pkgversion.Compare(pkgversion.Deb, had, "2.6.3") < 0 && pkgversion.Compare(pkgversion.Deb, gets, "2.6.3") >= 0
	})
}

// withPHP is a move in which the version of PHP is known.
func withPHP(in convert.Input) bool {
	return web.PHPVersion(in) != "" && (convert.DebianFamily(in.Target) || convert.ToRPM(in))
}

// Takes is the name of the converter that takes a file in a move, or empty.
func Takes(in convert.Input, name string) string {
	return sliced.First(registry, func(c converter) bool { return c.takesFile(name) && c.comes(in) && c.goes(in) }).name
}

// goes reports whether a converter knows the way of a move.
func (c converter) goes(in convert.Input) bool {
	if convert.Apart(in) {
		return convert.KnowsApart(in, c.name)
	}
	return c.applies(in)
}

func (c converter) takesFile(name string) bool {
	return slices.ContainsFunc(c.takes, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok })
}

// comes reports whether the target gets the program.
func (c converter) comes(in convert.Input) bool {
	return len(c.needs) == 0 || slices.ContainsFunc(c.needs, func(name string) bool { _, ok := in.Brought[name]; return ok })
}

// TakesLinks reports whether a converter takes links too: those by which
// Debian's packages enable sites, modules and the like.
func TakesLinks(in convert.Input, name string) bool {
	return (convert.FromDebian(in) || convert.ToApart(in)) && slices.Contains([]string{"httpd", "nginx", "apache2"}, name)
}

// Run converts the files of one converter. Files that are not text are refused
// before it sees them.
func Run(name string, in convert.Input) convert.Result {
	i := slices.IndexFunc(registry, func(c converter) bool { return c.name == name })
	if i < 0 {
		return convert.Result{}
	}
	refused := map[string][]convert.Refusal{}
	files := []convert.File{}
	for n, f := range in.Files {
		if why := unfit(n, f.Text); why != "" {
			refused[f.Path] = []convert.Refusal{{Line: 0, Text: "", Why: why}}
			continue
		}
		files = append(files, f)
	}
	in.Files = files
	slices.SortFunc(in.Files, func(a, b convert.File) int { return cmp.Compare(a.Path, b.Path) })
	r := registry[i].convert(in)
	r.Packages = append(r.Packages, convert.Beside(in, name)...)
	for path, all := range refused {
		r.Refuse(path, all...)
	}
	return withoutRefused(r)
}

// unfit says why a text can't be converted.
func unfit(n int, text string) string {
	switch {
	case n >= maxFiles:
		return "There are too many files of this service."
	case len(text) > maxText:
		return "It is too large for a configuration file."
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "It is not text in UTF-8."
	}
	for line := range strings.Lines(text) {
		if len(line) > maxLine {
			return "It has a line that is too long for a configuration file."
		}
	}
	return ""
}

// withoutRefused leaves out what would follow a file with a refusal; packages are
// named once.
func withoutRefused(r convert.Result) convert.Result {
	r.Files = slices.DeleteFunc(r.Files, func(f convert.File) bool { return len(r.Refusals[f.From]) > 0 })
	gone := func(l convert.Link) bool { return len(r.Refusals[l.From]) > 0 }
	r.Links, r.Removed = slices.DeleteFunc(r.Links, gone), slices.DeleteFunc(r.Removed, gone)
	if len(r.Files) == 0 {
		r.Packages = nil // there is nothing to need them
	}
	slices.Sort(r.Packages)
	r.Packages = slices.Compact(r.Packages)
	return r
}

// ByHand says why a file has to be carried over by a person though its path is
// the same: no converter knows the way to the target's family. It is empty where
// one does, and where the file holds as it is.
func ByHand(in convert.Input, file string) string {
	if convert.Apart(in) && Takes(in, file) != "" {
		return ""
	}
	if in.Source.Family.Conventions().Line == in.Target.Family.Conventions().Line {
		return newerDovecot(in, file)
	}
	for _, c := range registry {
		if convert.OwnWay(in, c.name) && c.takesFile(file) && !c.goes(in) {
			return "It is written in the way of " + in.Source.Name + ", and no converter knows that of " + in.Target.Name + ": carry its settings over by hand."
		}
	}
	return newerDovecot(in, file)
}

// newerDovecot says that a file has the form of Dovecot 2.4, which the rpm
// families' does not take.
func newerDovecot(in convert.Input, file string) string {
	if convert.RPMFamily(in.Target) && strings.HasPrefix(file, "/etc/dovecot/") && strings.HasPrefix(in.VersionOf("dovecot", "dovecot-core"), "2.4") {
		return "Dovecot 2.4 has another form of its settings than 2.3, which the target has."
	}
	return ""
}
