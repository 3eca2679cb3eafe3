package firewall

import (
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// Fail2ban carries jails, filters and actions over: logs, ban actions and
// backends have other names, and what a jail names must be there, or fail2ban
// does not start.
func Fail2ban(in convert.Input) (r convert.Result) {
	j := &jails{in: in, packages: []string{"python3-systemd", "nftables"}}
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		switch dir := path.Base(path.Dir(f.Path)); {
		case dir == "filter.d" || dir == "action.d":
			if kind := "fail2ban-" + strings.TrimSuffix(dir, ".d"); strings.HasSuffix(f.Path, ".conf") && convert.Known()[kind][convert.Fold(strings.TrimSuffix(path.Base(f.Path), ".conf"))] {
				p.Refuse(0, "Debian has its own of this name, which is newer: put what was changed into a file of the same name that ends in .local.")
			}
		case strings.HasPrefix(path.Base(f.Path), "fail2ban."):
			fail2banItself(p)
		default:
			j.file(p)
		}
		r.Close(p, f.Path)
	}
	r.Packages = j.packages
	return r
}

// fail2banLevels are the levels of logging by the numbers of fail2ban 0.8.
var fail2banLevels = map[string]string{"1": "ERROR", "2": "WARNING", "3": "INFO", "4": "DEBUG"}

func fail2banItself(p *convert.Page) {
	s := convert.Settings{Equals: true}
	for i := range p.Active() {
		if name, _, value := s.Setting(p.Lines[i]); name == "loglevel" && fail2banLevels[value] != "" {
			p.Replace(i, "loglevel = "+fail2banLevels[value], "fail2ban 0.9 names its levels.")
		}
	}
}

// jails converts files of jails.
type jails struct {
	in       convert.Input
	packages []string
	page     *convert.Page
	names    map[string]bool // of the sections of the page
	lines    map[string]int  // of the section: setting → its line
}

// file goes through the sections of a file.
func (j *jails) file(p *convert.Page) {
	j.page, j.names = p, map[string]bool{}
	for _, line := range p.Lines {
		j.names[strings.Trim(strings.TrimSpace(line), "[]")] = true
	}
	start := 0
	for i := 1; i <= len(p.Lines); i++ {
		if i == len(p.Lines) || strings.HasPrefix(strings.TrimSpace(p.Lines[i]), "[") {
			j.section(start, i)
			start = i
		}
	}
}

// section converts the lines of a section; the line of its name is the first.
func (j *jails) section(start, end int) {
	j.lines = map[string]int{}
	s := convert.Settings{Equals: true}
	for i := start; i < end; i++ {
		if !j.page.Idle(i) && !convert.Continues(j.page.Lines[i]) && strings.Contains(j.page.Lines[i], "=") {
			name, _, _ := s.Setting(j.page.Lines[i])
			j.lines[name] = i
		}
	}
	j.jail(start)
	above := "" // the setting that a line goes on with
	for i := start; i < end; i++ {
		line := j.page.Lines[i]
		if j.page.Idle(i) || strings.HasPrefix(strings.TrimSpace(line), ";") {
			continue
		}
		name, _, value := s.Setting(line)
		if convert.Continues(line) {
			name, value = above, strings.TrimSpace(line)
		} else if strings.Contains(line, "=") {
			above = name
		}
		j.setting(i, name, value)
	}
}

// jailNames are jails of fail2ban 0.8 by their names since 0.9.
var jailNames = map[string]string{
	"ssh": "sshd", "ssh-iptables": "sshd", "ssh-ddos": "sshd", "apache": "apache-auth", "apache-multiport": "apache-auth", "apache-tcpwrapper": "apache-auth", "sasl": "postfix-sasl", "sasl-iptables": "postfix-sasl",
	"couriersmtp": "courier-smtp", "courierauth": "courier-auth", "vsftpd-iptables": "vsftpd", "proftpd-iptables": "proftpd", "mysqld-iptables": "mysqld-auth",
}

// jail checks that a jail has a filter.
func (j *jails) jail(start int) {
	header := strings.TrimSpace(j.page.Lines[start])
	name := strings.Trim(header, "[]")
	if _, own := j.lines["filter"]; own || !strings.HasPrefix(header, "[") || slices.Contains([]string{"DEFAULT", "INCLUDES"}, name) {
		return
	}
	if convert.Known()["fail2ban-jail"][convert.Fold(name)] || j.there("filter", name) {
		return
	}
	if now := jailNames[name]; now != "" && !j.names[now] {
		j.names[now] = true
		j.page.Replace(start, "["+now+"]", "fail2ban 0.9 has another name for the jail.")
		return
	}
	j.page.Refuse(start, "fail2ban 1.1 has no jail of this name, or the file has its new name already, and it names no filter.")
}

// there reports whether a filter or action is Debian's, or one of the source's
// own files.
func (j *jails) there(kind, name string) bool {
	return convert.Known()["fail2ban-"+kind][convert.Fold(name)] || slices.ContainsFunc(j.in.Files, func(f convert.File) bool {
		base := strings.TrimSuffix(strings.TrimSuffix(f.Path, ".conf"), ".local")
		return base == "/etc/fail2ban/"+kind+".d/"+name
	})
}

// filterModes are filters that became modes of others.
var filterModes = map[string]string{
	"sshd-ddos": "sshd[mode=ddos]", "sshd-aggressive": "sshd[mode=aggressive]", "postfix-sasl": "postfix[mode=auth]", "postfix-rbl": "postfix[mode=rbl]", "sasl": "postfix[mode=auth]", "postfix-auth": "postfix[mode=auth]",
	"couriersmtp": "courier-smtp", "courierlogin": "courier-auth",
}

// jailAction is the action at the beginning of a value, with what it is given.
var jailAction = lazyregexp.New(`^([A-Za-z0-9_-]+)(\[.*)?$`)

// matchUnits are units of journals by their names on Debian.
var matchUnits = strings.NewReplacer("=sshd.service", "=ssh.service", "=httpd.service", "=apache2.service", "=crond.service", "=cron.service", "=radiusd.service", "=freeradius.service")

func (j *jails) setting(i int, name, value string) {
	p := j.page
	switch {
	case name == "before" && strings.HasPrefix(value, "paths-"):
		p.Replace(i, "before = paths-debian.conf", "Debian's logs have other names.")
	case name == "backend" && (value == "gamin" || value == "pyinotify"):
		p.Replace(i, "backend = auto", "fail2ban finds out itself what it has.")
	case name == "filter":
		j.filter(i, value)
	case name == "banaction" || name == "banaction_allports":
		j.banAction(i, name, value)
	case name == "action":
		j.action(i, value)
	case name == "logpath":
		j.log(i, value)
	case name == "journalmatch":
		p.Replace(i, matchUnits.Replace(strings.TrimSpace(p.Lines[i])), "The unit has another name.")
	}
}

func (j *jails) filter(i int, value string) {
	name, given, _ := strings.Cut(value, "[")
	switch now := filterModes[name]; {
	case strings.HasPrefix(value, "%"), strings.Contains(name, "%"), j.there("filter", name):
	case now != "" && given == "":
		j.page.Replace(i, "filter = "+now, "fail2ban 0.10 has modes of filters in its place.")
	default:
		j.page.Refuse(i, "fail2ban 1.1 has no filter "+name+".")
	}
}

// firewallBrought are the packages that the ban actions of a firewall need.
var firewallBrought = []struct{ prefix, name string }{{"iptables", "iptables"}, {"ufw", "ufw"}, {"shorewall", "shorewall"}}

func (j *jails) banAction(i int, name, value string) {
	action, _, _ := strings.Cut(value, "[")
	if _, there := j.in.Brought["firewalld"]; strings.HasPrefix(action, "firewallcmd") && !there {
		now := "nftables"
		if strings.HasSuffix(name, "allports") {
			now = "nftables[type=allports]"
		}
		j.page.Replace(i, name+" = "+now, "The target has no firewalld: Debian's fail2ban bans by nftables.")
		return
	}
	j.needs(i, action)
}

// needs has what an action needs installed, and refuses one that is not there.
func (j *jails) needs(i int, action string) {
	if strings.Contains(action, "%") || action == "" {
		return
	}
	if !j.there("action", action) {
		j.page.Refuse(i, "fail2ban 1.1 has no action "+action+".")
		return
	}
	for _, f := range firewallBrought {
		if strings.HasPrefix(action, f.prefix) {
			j.packages = append(j.packages, f.name)
		}
	}
}

func (j *jails) action(i int, value string) {
	if m := jailAction.FindStringSubmatch(value); m != nil {
		if _, there := j.in.Brought["firewalld"]; strings.HasPrefix(m[1], "firewallcmd") && !there {
			j.page.Refuse(i, "The target has no firewalld: name an action of nftables.")
			return
		}
		j.needs(i, m[1])
	}
}

// systemLogs are the logs of the system that Debian's journal has, unless
// rsyslog writes them.
var systemLogs = map[string]bool{"/var/log/secure": true, "/var/log/messages": true, "/var/log/maillog": true, "/var/log/auth.log": true, "/var/log/syslog": true, "/var/log/mail.log": true}

// apacheLogs are the logs of the server itself by fail2ban's own names for them.
var apacheLogs = map[string]string{
	"/var/log/httpd/*error_log": "%(apache_error_log)s", "/var/log/httpd/error_log": "%(apache_error_log)s", "/var/log/httpd/*access_log": "%(apache_access_log)s", "/var/log/httpd/access_log": "%(apache_access_log)s",
}

func (j *jails) log(i int, value string) {
	_, rsyslog := j.in.Brought["rsyslog"]
	p, continued := j.page, convert.Continues(j.page.Lines[i])
	switch now := apacheLogs[value]; {
	case systemLogs[value] && !rsyslog && continued:
		p.Refuse(i, "The target has no such log: its journal takes the place of all of them, or of none.")
	case systemLogs[value] && !rsyslog:
		j.journal(i)
	case now != "":
		p.Replace(i, strings.Replace(strings.TrimSpace(p.Lines[i]), value, now, 1), "Debian's logs have other names.")
	default:
		p.Replace(i, convert.LogPlaces.Move(strings.TrimSpace(p.Lines[i])), "Debian keeps it in another place.")
	}
}

// journal has a jail read the journal in the place of its log.
func (j *jails) journal(i int) {
	p := j.page
	if backend, ok := j.lines["backend"]; ok {
		p.Drop(i, "The journal has it, unless rsyslog is installed.")
		p.Replace(backend, "backend = systemd", "The journal has it, unless rsyslog is installed.")
		return
	}
	p.Replace(i, "backend = systemd", "The journal has it, unless rsyslog is installed.")
}
