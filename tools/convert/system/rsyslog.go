package system

import (
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/convert"
)

// rsyslogPlaces are where the families keep logs, states and certificates.
var rsyslogPlaces = slices.Concat(convert.HomesOf("rsyslog").Debian(), convert.LogPlaces)

// Rsyslog carries rules of logs over: the files have Debian's names, which its
// logrotate and others look for; modules bring their packages; words that
// rsyslog 8 gives up have those that it takes in their place.
func Rsyslog(in convert.Input) convert.Result {
	if convert.WithinDebian(in) {
		return convert.EachLine(in, convert.Stays, func(_ *convert.Result, p *convert.Page, i int) { keepsRoot(p, i) })
	}
	return convert.EachLine(in, convert.Stays, func(r *convert.Result, p *convert.Page, i int) {
		if !keepsRoot(p, i) {
			rsyslogLine(r, p, i)
		}
	})
}

// givesUpRoot are lines by which rsyslog becomes another user. Debian 13's unit takes away
// the capabilities that this needs, and rsyslog ends there.
var givesUpRoot = lazyregexp.New(`(?i)^\s*\$PrivDropTo(User|Group)`)

func keepsRoot(p *convert.Page, i int) bool {
	if !givesUpRoot.MatchString(p.Lines[i]) {
		return false
	}
	p.Drop(i, "Debian's rsyslog stays root, and is confined by its unit.")
	return true
}

// rsyslogLine rewrites a line, and names the packages of its modules.
func rsyslogLine(r *convert.Result, p *convert.Page, i int) {
	packages := []string{}
	line := strings.TrimSpace(p.Lines[i])
	for _, m := range rsyslogLoads(line) {
		switch name := convert.WordsOf("rsyslog-packages")[m].Now; {
		case name != "":
			packages = append(packages, name)
		case !convert.Lists("rsyslog-modules", m):
			p.Refuse(i, "Debian's rsyslog has no module "+m+".")
			return
		}
	}
	r.Packages = append(r.Packages, packages...)
	p.Replace(i, rsyslogAction(line), "rsyslog 8 has another word for it.")
	// A file that is not synchronised has a dash before its name.
	line = strings.ReplaceAll(strings.TrimSpace(p.Lines[i]), "-/", "-\x00/")
	p.Replace(i, strings.ReplaceAll(rsyslogPlaces.Move(line), "\x00", ""), "Debian keeps it in another place.")
}

// rsyslogLoads are the modules that a line loads.
func rsyslogLoads(line string) (names []string) {
	fields := strings.Fields(line)
	switch first := strings.ToLower(fields[0]); {
	case len(fields) < 2 && first[0] == '$':
	case first == "$modload":
		name := fields[1][strings.LastIndexByte(fields[1], '/')+1:]
		return []string{strings.TrimSuffix(name, ".so")}
	case first == "$defaultnetstreamdriver":
		return []string{fields[1]}
	}
	for _, mark := range []string{`load="`, `driver="`} { // module(load="…"), global(defaultNetstreamDriver="…"), action(… streamDriver="…")
		_, after, ok := strings.Cut(strings.ToLower(strings.ReplaceAll(line, " ", "")), mark)
		if name, _, end := strings.Cut(after, `"`); ok && end {
			names = append(names, name)
		}
	}
	return names
}

// rsyslogAction is a line of a selector with an action in today's words.
func rsyslogAction(line string) string {
	at := len(strings.TrimRight(line, "~*"))
	before, action := line[:at], line[at:]
	switch spaced := strings.HasSuffix(before, " ") || strings.HasSuffix(before, "\t"); {
	case action == "~" && spaced && line[0] != '$':
		return before + "stop"
	case action == "*" && spaced && strings.Contains(before, "."):
		return before + ":omusrmsg:*"
	}
	return line
}
