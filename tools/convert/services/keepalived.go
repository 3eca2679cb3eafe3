package services

import (
	"strings"

	"svc/tools/convert"
)

// keepalivedPlaces are where the families keep what scripts and checks call.
var keepalivedPlaces = convert.HomesOf("keepalived").Debian()

// keepalivedUnits are what scripts of checks call the programs of services, in the rpm
// families, on Debian and on SUSE, whose Apache is named by its MPM.
var keepalivedUnits = []struct{ rpm, debian, suse string }{
	{"httpd.service", "apache2.service", "apache2.service"},
	{"crond.service", "cron.service", "cron.service"},
	{"killall -0 httpd", "killall -0 apache2", "killall -0 httpd-prefork"},
	{"pidof httpd", "pidof apache2", "pidof httpd-prefork"},
	{"pgrep httpd", "pgrep apache2", "pgrep httpd-prefork"},
	{"is-active httpd", "is-active apache2", "is-active apache2"},
	{"killall -0 mysqld", "killall -0 mariadbd", "killall -0 mysqld"},
	{"pidof mysqld", "pidof mariadbd", "pidof mysqld"},
	{"is-active redis", "is-active redis-server", "is-active redis"},
	{"status httpd", "status apache2", "status apache2"},
}

// keepalivedCalls is a line with the target's names of programs and units.
func keepalivedCalls(line string, in convert.Input) string {
	for _, u := range keepalivedUnits {
		was, now := u.rpm, u.debian
		switch {
		case convert.FromDebian(in) && convert.ToSUSE(in):
			was, now = u.debian, u.suse
		case convert.FromDebian(in):
			was, now = u.debian, u.rpm
		case convert.ToSUSE(in):
			now = u.suse
		case convert.WithinRPM(in):
			now = u.rpm
		}
		line = strings.ReplaceAll(line, was, now)
	}
	return line
}

// Keepalived keeps the file where it is: scripts of checks call programs and
// units by the target's names, and blocks that keepalived does not know are refused.
func Keepalived(in convert.Input) (r convert.Result) {
	for _, f := range in.Files {
		p, depth, opens := convert.Open(f, "#"), 0, false
		for i := range p.Lines {
			line := keepalivedCode(p.Lines[i])
			words := strings.Fields(line)
			if len(words) == 0 {
				continue
			}
			if depth == 0 && !opens {
				keepalivedBlock(p, i, words[0])
			}
			keepalivedLine(&r, p, i, words[0], in)
			opens = depth == 0 && !strings.Contains(line, "{") && words[0] != "}" && keepalivedOpens(p.Lines[i+1:])
			depth += strings.Count(line, "{") - strings.Count(line, "}")
			if depth < 0 {
				p.Refuse(i, "It ends a block that no line began.")
				depth = 0
			}
		}
		if depth > 0 {
			p.Refuse(len(p.Lines)-1, "A block has no end.")
		}
		r.Close(p, f.Path)
	}
	return r
}

// keepalivedCode is a line without its comment and strings.
func keepalivedCode(line string) string {
	quoted := false
	for i, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case !quoted && (c == '#' || c == '!'):
			return line[:i]
		}
	}
	return line
}

// keepalivedOpens reports whether the next line that says something opens a
// block.
func keepalivedOpens(lines []string) bool {
	for _, line := range lines {
		if line = strings.TrimSpace(keepalivedCode(line)); line != "" {
			return strings.HasPrefix(line, "{")
		}
	}
	return false
}

func keepalivedBlock(p *convert.Page, i int, word string) {
	known := convert.Lists("keepalived-blocks", word) || word == "include" || strings.ContainsAny(word[:1], "{}@$")
	if !known {
		p.Refuse(i, "keepalived 2.3 has no such block.")
	}
}

func keepalivedLine(r *convert.Result, p *convert.Page, i int, word string, in convert.Input) {
	if gone, ok := convert.WordsOf("keepalived-gone")[word]; ok && (convert.DebianFamily(in.Target) || !strings.HasPrefix(word, "vrrp_ip")) {
		keepalivedReplace(p, i, word, gone)
		return
	}
	line := keepalivedCalls(strings.TrimSpace(p.Lines[i]), in)
	p.Replace(i, keepalivedPlaces.Between(in).Move(line), "Programs and units have other names and places.")
	if strings.Contains(line, "killall ") || strings.Contains(line, "/killall") {
		r.Packages = append(r.Packages, "psmisc")
	}
}

func keepalivedReplace(p *convert.Page, i int, word string, gone convert.Word) {
	switch line := strings.TrimSpace(p.Lines[i]); {
	case strings.ContainsAny(keepalivedCode(line), "{}"), gone == convert.Word{}:
		p.Refuse(i, "keepalived 2.3 has this no more, and nothing in its place that would surely do the same.")
	case word == "vrrp_iptables":
		p.Replace(i, gone.Now, gone.Why) // names of chains mean nothing to it
	case gone.Now != "":
		p.Replace(i, gone.Now+strings.TrimPrefix(line, word), gone.Why)
	default:
		p.Drop(i, gone.Why)
	}
}
