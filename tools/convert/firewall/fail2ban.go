package firewall

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/tools/convert"
)

// home is how a family has fail2ban: what its package sets, and what its jails name.
type home struct {
	paths    string                  // the file of fail2ban that has the family's logs
	logs     convert.Places          // where the system's logs are
	units    *strings.Replacer       // services by their names in the journal
	journal  bool                    // the system has one
	sshd     bool                    // its package has the jail of sshd on
	filters  map[string]string       // filters that its own jails have in the place of others
	firewall map[string]convert.Word // ban actions by those that take their place
	packages []string
}

// byNftables are the ban actions of families with firewalld's nftables beneath.
var byNftables = convert.WordsOf("fail2ban-nftables")

// homes are those of the families. Origin: fail2ban's paths-*.conf, and the files that
// Debian, EPEL, openSUSE and Alpine (aports: main/fail2ban) have in jail.d and filter.d.
var homes = map[release.Line]home{
	release.LineDebian: {
		paths: "paths-debian.conf", logs: convert.LogPlaces, journal: true, sshd: true, packages: []string{"python3-systemd", "nftables"},
		units:   strings.NewReplacer("=sshd.service", "=ssh.service", "=httpd.service", "=apache2.service", "=crond.service", "=cron.service", "=radiusd.service", "=freeradius.service"),
		filters: map[string]string{"alpine-sshd": "sshd", "alpine-sshd-ddos": "sshd[mode=ddos]"},
	},
	release.LineEL: {
		paths: "paths-fedora.conf", logs: convert.LogPlaces.Back(), journal: true, firewall: byNftables, packages: []string{"nftables"},
		units: strings.NewReplacer("=ssh.service", "=sshd.service", "=apache2.service", "=httpd.service", "=cron.service", "=crond.service", "=freeradius.service", "=radiusd.service"),
	},
	release.LineSUSE: {
		paths: "paths-opensuse.conf", journal: true, firewall: byNftables, packages: []string{"nftables"},
		units: strings.NewReplacer("=ssh.service", "=sshd.service", "=httpd.service", "=apache2.service", "=crond.service", "=cron.service", "=freeradius.service", "=radiusd.service"),
	},
	release.LineAlpine: {
		paths: "paths-debian.conf", sshd: true, filters: map[string]string{"sshd": "alpine-sshd"}, units: strings.NewReplacer(),
	},
}

// Fail2ban carries jails, filters and actions over: logs, ban actions and
// backends have other names, and what a jail names must be there, or fail2ban
// does not start.
func Fail2ban(in convert.Input) (r convert.Result) {
	line := in.Target.Family.Conventions().Line
	j := &jails{in: in, home: homes[line], packages: slices.Clone(homes[line].packages)}
	if own := convert.HomesOf("fail2ban")[line]; own != nil {
		j.home.logs = own
	}
	_, j.rsyslog = in.Brought["rsyslog"]
	var pages []*convert.Page
	for _, f := range in.Files {
		p := convert.Open(f, "#")
		switch dir := path.Base(path.Dir(f.Path)); {
		case dir == "filter.d" || dir == "action.d":
			if kind := "fail2ban-" + strings.TrimSuffix(dir, ".d"); strings.HasSuffix(f.Path, ".conf") && convert.Known()[kind][convert.Fold(strings.TrimSuffix(path.Base(f.Path), ".conf"))] {
				p.Refuse(0, "The target's package has its own of this name, which is newer: put what was changed into a file of the same name that ends in .local.")
			}
		case strings.HasPrefix(path.Base(f.Path), "fail2ban."):
			fail2banItself(p)
		default:
			j.file(p)
			pages = append(pages, p)
			continue
		}
		r.Close(p, f.Path)
	}
	j.defaults(pages)
	for _, p := range pages {
		r.Close(p, p.From)
	}
	r.Packages = j.packages
	return r
}

// defaults says what the source's package set, or had by itself, and the target's has
// otherwise: the jail of sshd, which Debian's and Alpine's have on, and bans by firewalld,
// which was not the source's firewall.
func (j *jails) defaults(pages []*convert.Page) {
	was := homes[j.in.Source.Family.Conventions().Line]
	if was.sshd && !j.home.sshd {
		setJail(pages, "sshd", "enabled", "enabled = true", "The source's package has this jail on, the target's does not.")
	}
	if j.home.firewall != nil && j.in.VersionOf("firewalld") == "" {
		setJail(pages, "DEFAULT", "banaction", "banaction = nftables\nbanaction_allports = nftables[type=allports]", convert.Whose(j.in.Target)+" package bans by firewalld, which the source did not have.")
	}
}

// setJail adds a setting to a section, unless one of the files has it there.
func setJail(pages []*convert.Page, section, name, lines, why string) {
	var at *convert.Page
	header := -1
	for _, p := range pages {
		within := false
		for i, line := range p.Lines {
			switch line = strings.TrimSpace(line); {
			case strings.HasPrefix(line, "["):
				if within = line == "["+section+"]"; within && at == nil {
					at, header = p, i
				}
			case within && strings.HasPrefix(line, name) && strings.HasPrefix(strings.TrimLeft(line[len(name):], " \t"), "="):
				return
			}
		}
	}
	switch {
	case at != nil:
		at.Replace(header, "["+section+"]\n"+lines, why)
	case len(pages) > 0:
		p := pages[0]
		p.Changes = append(p.Changes, convert.Change{Line: 0, Was: "", Now: "[" + section + "]\n" + lines, Why: why})
		p.Lines = append(p.Lines, strings.Split("["+section+"]\n"+lines+"\n", "\n")...)
	}
}

func fail2banItself(p *convert.Page) {
	s := convert.Settings{Equals: true}
	for i := range p.Active() {
		if name, _, value := s.Setting(p.Lines[i]); name == "loglevel" && convert.WordsOf("fail2ban-levels")[value].Now != "" {
			p.Replace(i, "loglevel = "+convert.WordsOf("fail2ban-levels")[value].Now, "fail2ban 0.9 names its levels.")
		}
	}
}

// jails converts files of jails.
type jails struct {
	in       convert.Input
	home     home
	rsyslog  bool // the target gets it
	packages []string
	page     *convert.Page
	jailName string          // of the section
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
	j.jailName = strings.Trim(strings.TrimSpace(j.page.Lines[start]), "[]")
	j.jail(start)
	j.logged(start)
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
	if now := convert.WordsOf("fail2ban-jails")[name].Now; now != "" && !j.names[now] {
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

// jailAction is the action at the beginning of a value, with what it is given.
var jailAction = lazyregexp.New(`^([A-Za-z0-9_-]+)(\[.*)?$`)

func (j *jails) setting(i int, name, value string) {
	p := j.page
	switch {
	case name == "before" && strings.HasPrefix(value, "paths-"):
		p.Replace(i, "before = "+j.home.paths, convert.Whose(j.in.Target)+" logs have other names.")
	case name == "backend" && (value == "gamin" || value == "pyinotify"):
		p.Replace(i, "backend = auto", "fail2ban finds out itself what it has.")
	case name == "backend" && value == "systemd" && !j.home.journal:
		p.Replace(i, "backend = auto", "The target has no journal.")
	case name == "filter":
		j.filter(i, value)
	case name == "banaction" || name == "banaction_allports":
		j.banAction(i, name, value)
	case name == "action":
		j.action(i, value)
	case name == "logpath":
		j.log(i, value)
	case name == "journalmatch" && !j.home.journal:
		p.Drop(i, "The target has no journal.")
	case name == "journalmatch":
		p.Replace(i, j.home.units.Replace(strings.TrimSpace(p.Lines[i])), "The unit has another name.")
	}
}

func (j *jails) filter(i int, value string) {
	name, given, _ := strings.Cut(value, "[")
	switch now := cmp.Or(j.home.filters[name], convert.WordsOf("fail2ban-filters")[name].Now); {
	case j.home.filters[name] != "":
		j.page.Replace(i, "filter = "+now, "It reads the log as the target's system writes it.")
	case strings.HasPrefix(value, "%"), strings.Contains(name, "%"), j.there("filter", name):
	case now != "" && given == "":
		j.page.Replace(i, "filter = "+now, "fail2ban 0.10 has modes of filters in its place.")
	default:
		j.page.Refuse(i, "fail2ban 1.1 has no filter "+name+".")
	}
}

// firewallBrought are the packages that the ban actions of a firewall need.
var firewallBrought = []struct{ prefix, name string }{{"iptables", "iptables"}, {"nftables", "nftables"}, {"ufw", "ufw"}, {"shorewall", "shorewall"}}

func (j *jails) banAction(i int, name, value string) {
	action, _, _ := strings.Cut(value, "[")
	now, why := j.home.firewall[action].Now, convert.Whose(j.in.Target)+" packet filter is nftables."
	if _, there := j.in.Brought["firewalld"]; strings.HasPrefix(action, "firewallcmd") && !there {
		now, why = "nftables", "The target has no firewalld: nftables bans in its place."
	}
	if now != "" {
		if strings.HasSuffix(name, "allports") {
			now = "nftables[type=allports]"
		}
		j.page.Replace(i, name+" = "+now, why)
		j.packages = append(j.packages, "nftables")
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
		if now := j.home.firewall[m[1]].Now; now != "" {
			j.page.Replace(i, strings.Replace(strings.TrimSpace(j.page.Lines[i]), m[1], now, 1), convert.Whose(j.in.Target)+" packet filter is nftables.")
			return
		}
		j.needs(i, m[1])
	}
}

// logged refuses a jail whose log the target's system writes in a form that its filter
// does not know: Alpine's syslogd has the facility in each line, and its package a filter
// for sshd alone that reads them.
func (j *jails) logged(start int) {
	value := ""
	if i, ok := j.lines["logpath"]; ok {
		_, _, value = convert.Settings{Equals: true}.Setting(j.page.Lines[i])
	}
	reads := convert.Lists("system-logs", value) || value == "" && convert.Lists("fail2ban-jails-of-logs", j.jailName)
	if off, ok := j.lines["enabled"]; ok && strings.HasSuffix(strings.TrimSpace(j.page.Lines[off]), "false") {
		return
	}
	_, filters := j.lines["filter"]
	if !j.home.journal && value == "" && filters && !convert.Known()["fail2ban-jail"][convert.Fold(j.jailName)] {
		j.page.Refuse(start, "The target has no journal, and the jail names no log: name the one that has its lines.")
		return
	}
	if !j.home.journal && !j.rsyslog && reads && !strings.HasPrefix(j.jailName, "sshd") {
		j.page.Refuse(start, "The target's syslogd writes lines in a form that this jail's filter does not know: have rsyslog write its log, and name that.")
	}
}

func (j *jails) log(i int, value string) {
	p, continued := j.page, convert.Continues(j.page.Lines[i])

	switch now := convert.WordsOf("fail2ban-logs")[value].Now; {
	case convert.Lists("system-logs", value) && !j.rsyslog && j.home.journal && continued:
		p.Refuse(i, "The target has no such log: its journal takes the place of all of them, or of none.")
	case convert.Lists("system-logs", value) && !j.rsyslog && j.home.journal:
		j.journal(i)
	case now != "" && j.home.paths != "paths-opensuse.conf" && j.in.Source.Family.Conventions().Line != j.in.Target.Family.Conventions().Line:
		p.Replace(i, strings.Replace(strings.TrimSpace(p.Lines[i]), value, now, 1), convert.Whose(j.in.Target)+" logs have other names.")
	default:
		p.Replace(i, j.home.logs.Move(strings.TrimSpace(p.Lines[i])), convert.Elsewhere(j.in))
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
