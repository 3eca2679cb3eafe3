// Package convert carries what people wrote into /etc over to another release:
// the same settings in the target's places, names and versions. It is pure:
// texts in, texts out.
//
// A converter is a row of the registry: which files of a source it takes, for
// which pairs of releases, and the function that converts them, all files of
// one service at once. That function
//
//   - keeps every line, comment and the order: a setting that the target lacks
//     becomes a comment, one that has another name or value is rewritten in its
//     line, so that a line of the result is a line of the source;
//   - says of each line that it touched what stands there now, and why;
//   - refuses what it does not understand, with the line, instead of guessing.
//     A file with a refusal is not written: a person carries it over.
//
// To add one: a file with its function and a line in the registry; a folder of
// testdata with what comes in and what is expected (go test -update writes it);
// where the program is at hand, a check of .ci/e2e that it takes the result.
package convert

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"svc/backend/release"
)

// Bounds of what is converted; what is larger is a person's job.
const (
	maxText  = 1 << 20
	maxLine  = 16 << 10
	maxFiles = 1000
)

// Input is what people wrote for one service, with what converters may ask.
type Input struct {
	Source, Target release.Release
	Files          []File
	// Links are the links among the files, with the files that they lead to.
	Links map[string]string
	// Installed are the versions of packages on the source, by name; Brought
	// are those that the target gets. A version may be empty.
	Installed, Brought map[string]string
}

// File is a file with its whole text. On the source it is where it stands; in a
// result it is for the target.
type File struct {
	Path string
	Text string
	// From is the file of the source that a result follows.
	From string
	// Mode is octal, where it is not that of the source.
	Mode string
}

// Change is a line that is not as it was.
type Change struct {
	Line int    `json:"line"` // from 1; 0 is the file as a whole
	Was  string `json:"was"`
	Now  string `json:"now"`
	Why  string `json:"why"`
}

// Refusal is a line that is not understood.
type Refusal struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	Why  string `json:"why"`
}

// Link is a symbolic link that a converted file needs: what a2ensite would make.
type Link struct {
	Path, Target string
	From, Why    string
}

// Result is what becomes of the files of one service.
type Result struct {
	Files    []File
	Changes  map[string][]Change  // by path on the source
	Refusals map[string][]Refusal // by path on the source
	Links    []Link
	Removed  []Link   // what must not be there, such as a default site; Target is empty
	Packages []string // what the settings need beside what the plan installs
}

// converter is a row of the registry.
type converter struct {
	name    string
	takes   []string // patterns of path.Match
	needs   []string // packages of the target, of which one must come; none for what is always there
	applies func(Input) bool
	convert func(Input) Result
}

// registry has every converter; the first that takes a file has it.
var registry = []converter{
	{"httpd", []string{"/etc/httpd/*/*.conf", "/etc/httpd/*/*/*.conf", "/etc/apache2/*.conf", "/etc/apache2/*/*"}, []string{"apache2", "httpd"}, ofRPM, httpd},
	{"nginx", []string{"/etc/nginx/nginx.conf", "/etc/nginx/*.d/*.conf", "/etc/nginx/*.d/*/*.conf", "/etc/nginx/sites-available/*", "/etc/nginx/sites-enabled/*", "/etc/nginx/snippets/*"}, []string{"nginx", "nginx-core", "nginx-light", "nginx-full", "nginx-extras"}, ofRPM, nginx},
	{"php", []string{"/etc/php.ini", "/etc/php.d/*.ini", "/etc/php/*/*/php.ini", "/etc/php/*/mods-available/*.ini"}, nil, withPHP, phpIni},
	{"php-fpm", []string{"/etc/php-fpm.d/*.conf", "/etc/php-fpm.conf", "/etc/php/*/fpm/php-fpm.conf", "/etc/php/*/fpm/pool.d/*.conf"}, nil, withPHP, phpPool},
	{"sshd", []string{"/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d/*.conf"}, nil, moves, sshd},
	{"mariadb", []string{"/etc/my.cnf", "/etc/my.cnf.d/*.cnf", "/etc/mysql/mariadb.conf.d/*.cnf", "/etc/mysql/conf.d/*.cnf", "/etc/mysql/my.cnf", "/etc/mysql/mariadb.cnf"}, []string{"mariadb-server", "mariadb"}, moves, mariadb},
	{"postgresql", []string{"/etc/postgresql/*/main/*.conf", "/etc/postgresql/*/main/conf.d/*.conf"}, nil, toDebian13, postgresql},
	{"named", []string{"/etc/named.conf", "/etc/named/*", "/etc/named.*", "/etc/bind/*"}, []string{"bind9", "bind"}, ofRPM, named},
	{"postfix", []string{"/etc/postfix/main.cf"}, []string{"postfix"}, moves, postfix},
	{"postfix-master", []string{"/etc/postfix/master.cf"}, []string{"postfix"}, moves, postfixMaster},
	{"samba", []string{"/etc/samba/*.conf"}, []string{"samba", "samba-common-bin", "smbclient"}, moves, samba},
	{"sssd", []string{"/etc/sssd/sssd.conf", "/etc/sssd/conf.d/*.conf"}, []string{"sssd", "sssd-common"}, moves, sssd},
	{"keepalived", []string{"/etc/keepalived/*.conf", "/etc/keepalived/*/*.conf"}, []string{"keepalived"}, moves, keepalived},
	{"fail2ban", []string{"/etc/fail2ban/jail.*", "/etc/fail2ban/fail2ban.*", "/etc/fail2ban/*.d/*.conf", "/etc/fail2ban/*.d/*.local"}, []string{"fail2ban"}, toDebian13, fail2ban},
	{"nsswitch", []string{"/etc/nsswitch.conf"}, nil, fromRPM, nsswitch},
	{"ntp", []string{"/etc/ntp.conf"}, []string{"ntpsec", "chrony"}, withNTP, ntp},
	{"dovecot", []string{"/etc/dovecot/*.conf", "/etc/dovecot/conf.d/*.conf", "/etc/dovecot/conf.d/*.ext"}, []string{"dovecot-core", "dovecot-imapd", "dovecot-pop3d"}, toDovecot24, dovecot},
	{"dovecot-2.3", []string{"/etc/dovecot/*.conf", "/etc/dovecot/conf.d/*.conf", "/etc/dovecot/conf.d/*.ext"}, []string{"dovecot"}, staysDovecot23, same(settings{comment: "#", equals: true, places: dovecotPlaces}, there)},
	{"chrony", []string{"/etc/chrony.conf", "/etc/chrony.d/*.conf", "/etc/chrony/chrony.conf", "/etc/chrony/conf.d/*.conf"}, []string{"chrony"}, ofRPM, chrony},
	{"haproxy", []string{"/etc/haproxy/haproxy.cfg", "/etc/haproxy/conf.d/*.cfg"}, []string{"haproxy"}, moves, haproxy},
	{"sysctl", []string{"/etc/sysctl.conf", "/etc/sysctl.d/*.conf"}, nil, moves, sysctl},
	{"logrotate", []string{"/etc/logrotate.d/*"}, []string{"logrotate"}, across, logrotate},
	{"cron", []string{"/etc/cron.d/*", "/etc/crontab", "/etc/cron.hourly/*.*", "/etc/cron.daily/*.*", "/etc/cron.weekly/*.*", "/etc/cron.monthly/*.*", "/var/spool/cron/*", "/var/spool/cron/crontabs/*"}, []string{"cron", "cronie"}, across, cron},
	{"anacron", []string{"/etc/anacrontab"}, []string{"anacron"}, fromRPM, anacron},
	{"limits", []string{"/etc/security/limits.conf", "/etc/security/limits.d/*.conf"}, nil, fromRPM, limits},
	{"exports", []string{"/etc/exports", "/etc/exports.d/*.exports"}, []string{"nfs-kernel-server"}, fromRPM, exports},
	{"nfs", []string{"/etc/sysconfig/nfs", "/etc/default/nfs-kernel-server", "/etc/default/nfs-common", "/etc/nfs.conf", "/etc/nfs.conf.d/*.conf", "/etc/idmapd.conf"}, []string{"nfs-kernel-server", "nfs-common", "nfs-utils"}, func(in Input) bool { return toNfsConf(in) || withDNF(in) }, nfs},
	{"network", []string{
		"/etc/sysconfig/network-scripts/ifcfg-*", "/etc/sysconfig/network-scripts/route-*", "/etc/sysconfig/network-scripts/route6-*", "/etc/sysconfig/network-scripts/rule-*", "/etc/sysconfig/network-scripts/rule6-*", "/etc/sysconfig/network",
		"/etc/NetworkManager/system-connections/*", "/etc/netplan/*.yaml", "/etc/network/interfaces", "/etc/network/interfaces.d/*", "/etc/systemd/network/*",
	}, nil, networkMoves, network},
	{"iptables", []string{"/etc/sysconfig/iptables", "/etc/sysconfig/ip6tables", "/etc/iptables/rules.v4", "/etc/iptables/rules.v6"}, nil, filters, iptables},
	{"nftables", []string{"/etc/sysconfig/nftables.conf", "/etc/nftables/*", "/etc/nftables.conf"}, []string{"nftables"}, filters, nftables},
	{"firewalld", []string{"/etc/firewalld/firewalld.conf", "/etc/firewalld/direct.xml", "/etc/firewalld/*/*.xml"}, []string{"firewalld"}, toDebian13, firewalld},
	{"ufw", []string{"/etc/ufw/*.rules", "/etc/ufw/*.conf", "/etc/ufw/*.init", "/etc/ufw/applications.d/*", "/etc/default/ufw"}, []string{"ufw"}, withinDebian, ufw},
	{"ufw-nftables", []string{"/etc/ufw/*.rules", "/etc/ufw/*.conf", "/etc/ufw/*.init", "/etc/ufw/applications.d/*", "/etc/default/ufw"}, nil, func(in Input) bool { return fromDebian(in) && withDNF(in) }, ufwNft},
	{"rsyslog", []string{"/etc/rsyslog.conf", "/etc/rsyslog.d/*.conf"}, []string{"rsyslog"}, fromRPM, rsyslog},
	{"sudoers", []string{"/etc/sudoers", "/etc/sudoers.d/*"}, nil, across, sudoers},
}

// toDebian13 is a move to the release whose programs were asked what they take,
// or a later one.
func toDebian13(in Input) bool {
	since, _ := release.Lookup("debian-13")
	if in.Target.Family == release.Ubuntu {
		since, _ = release.Lookup("ubuntu-26.04")
	}
	return debianFamily(in.Target) && !in.Target.Older(since) && in.Source.Slug != in.Target.Slug
}

// withinDebian is a move from one release of Debian or Ubuntu to another, or to
// the same.
func withinDebian(in Input) bool { return debianFamily(in.Source) && debianFamily(in.Target) }

// filters is a move to a release that has services for packet filters.
func filters(in Input) bool { return fromRPM(in) || withDNF(in) }

// withNTP is a move of a machine that had ntpd.
func withNTP(in Input) bool { return moves(in) && in.installed("ntp", "ntpsec") != "" }

// toDovecot24 is a move from a release with an earlier Dovecot.
func toDovecot24(in Input) bool {
	return toDebian13(in) && !strings.HasPrefix(in.installed("dovecot", "dovecot-core"), "2.4") && (rpmFamily(in.Source) || in.Source.Family == in.Target.Family && in.Source.Older(in.Target))
}

// staysDovecot23 is a move from Debian's family with Dovecot 2.3, which the rpm
// families have too.
func staysDovecot23(in Input) bool {
	return fromDebian(in) && withDNF(in) && !strings.HasPrefix(in.installed("dovecot-core"), "2.4")
}

// toNfsConf is a move to a release whose NFS reads nfs.conf alone, from one whose
// does not, or reads another.
func toNfsConf(in Input) bool {
	return toDebian13(in) && (rpmFamily(in.Source) || slices.ContainsFunc([]string{"debian-12", "ubuntu-22.04"}, func(slug string) bool {
		since, _ := release.Lookup(slug)
		return in.Source.Older(since)
	}))
}

// installed is the version, without its epoch, of the first of some packages
// that the source has, or empty.
func (in Input) installed(names ...string) string {
	for _, name := range names {
		if version, ok := in.Installed[name]; ok {
			if _, upstream, epoch := strings.Cut(version, ":"); epoch {
				return upstream
			}
			return version
		}
	}
	return ""
}

// withPHP is a move in which the version of PHP is known.
func withPHP(in Input) bool { return phpVersion(in) != "" && (debianFamily(in.Target) || toRPM(in)) }

// Takes is the name of the converter that takes a file in a move, or empty.
func Takes(in Input, name string) string {
	for _, c := range registry {
		if c.takesFile(name) && c.comes(in) && c.applies(in) {
			return c.name
		}
	}
	return ""
}

func (c converter) takesFile(name string) bool {
	return slices.ContainsFunc(c.takes, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok })
}

// comes reports whether the target gets the program.
func (c converter) comes(in Input) bool {
	return len(c.needs) == 0 || slices.ContainsFunc(c.needs, func(name string) bool { _, ok := in.Brought[name]; return ok })
}

// TakesLinks reports whether a converter takes links too: those by which
// Debian's packages enable sites, modules and the like.
func TakesLinks(in Input, name string) bool {
	return fromDebian(in) && slices.Contains([]string{"httpd", "nginx"}, name)
}

// Run converts the files of one converter. Files that are not text are refused
// before it sees them.
func Run(name string, in Input) Result {
	i := slices.IndexFunc(registry, func(c converter) bool { return c.name == name })
	if i < 0 {
		return Result{}
	}
	refused := map[string][]Refusal{}
	files := []File{}
	for n, f := range in.Files {
		if why := unfit(n, f.Text); why != "" {
			refused[f.Path] = []Refusal{{0, "", why}}
			continue
		}
		files = append(files, f)
	}
	in.Files = files
	slices.SortFunc(in.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	r := registry[i].convert(in)
	for path, all := range refused {
		r.refuse(path, all...)
	}
	if toSUSE(in) {
		r = r.onSUSE(name, in)
	}
	return r.withoutRefused()
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

func (r *Result) refuse(path string, all ...Refusal) {
	if r.Refusals == nil {
		r.Refusals = map[string][]Refusal{}
	}
	r.Refusals[path] = append(r.Refusals[path], all...)
}

// withoutRefused leaves out what would follow a file with a refusal; packages are
// named once.
func (r Result) withoutRefused() Result {
	r.Files = slices.DeleteFunc(r.Files, func(f File) bool { return len(r.Refusals[f.From]) > 0 })
	gone := func(l Link) bool { return len(r.Refusals[l.From]) > 0 }
	r.Links, r.Removed = slices.DeleteFunc(r.Links, gone), slices.DeleteFunc(r.Removed, gone)
	if len(r.Files) == 0 {
		r.Packages = nil // there is nothing to need them
	}
	slices.Sort(r.Packages)
	r.Packages = slices.Compact(r.Packages)
	return r
}
