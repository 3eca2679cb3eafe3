package naming

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/lazyregexp"
)

// program is what the target has in the place of a program, by its names: that of its
// process, and what people call it by. The two are one but where people call another in
// front of it, as Apache's by apachectl, which sets what it needs.
type program struct{ process, command string }

// processPlaces are where texts name programs that run, each by its manual: pgrep(1) and its
// like, ps(1), check_procs, snmpd.conf(5), Zabbix' agent, monit(1), Telegraf's procstat.
var processPlaces = []*lazyregexp.Regexp{
	lazyregexp.New(`\b(?:pgrep|pkill|pidof|killall)(?: +-[A-Za-z]+(?: +[A-Za-z0-9_]+)?)* +["']?([A-Za-z0-9_./-]+)`),
	lazyregexp.New(`\bps +[^|;&]*-C *["']?([A-Za-z0-9_.-]+)`),
	lazyregexp.New(`\bcheck_procs\b.* (?:-C|-a|--command=|--argument-array=) *["']?([A-Za-z0-9_./-]+)`),
	lazyregexp.New(`^\s*proc +([A-Za-z0-9_.-]+)(?:\s|$)`),
	lazyregexp.New(`\bproc\.(?:num|mem|cpu\.util)\[ *"?([A-Za-z0-9_.-]+)`),
	lazyregexp.New(`\bmatching +["']?\^?([A-Za-z0-9_./-]+)`),
	lazyregexp.New(`^\s*(?:exe|pattern) *= *["']\^?([A-Za-z0-9_./-]+)`),
}

// callsAlone are calls that say the same without their argument, which the target's program does
// not know: update-ca-trust(8); update-ca-certificates of Debian takes it for a question about itself.
var callsAlone = []string{"update-ca-trust extract"}

// bareName begins a call.
var bareName = lazyregexp.New(`^[A-Za-z0-9_.+-]+`)

// programsOf are the programs that the target calls otherwise, by their paths and, where that
// is another, by their bare names.
func programsOf(where Places) map[string]program {
	all := map[string]program{}
	for from, to := range where.programs {
		all[from] = program{to[0], to[len(to)-1]}
		if runs, calls := path.Base(to[0]), path.Base(to[len(to)-1]); inPATH(from) && inPATH(to[0]) && inPATH(to[len(to)-1]) && runs != path.Base(from) {
			all[path.Base(from)] = program{runs, calls}
		}
	}
	return all
}

// inPATH reports whether a program is called by its bare name.
func inPATH(name string) bool { return strings.HasSuffix(path.Dir(name), "bin") }

// calledBare are the calls of these programs by their bare names, in a shell's line, with no more of
// what follows than tells them: an argument may be a secret.
func calledBare(programs map[string]program) *regexp.Regexp {
	var names []string
	for name := range programs {
		if !strings.Contains(name, "/") {
			names = append(names, regexp.QuoteMeta(name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return regexp.MustCompile(`(?:^|[|;&({\x60!])\s*(?:(?:then|do|else|if|while|until|exec|sudo|nice|time|!|(?:command|type|which)(?: +-[vV])?)\s+)*((` + strings.Join(names, "|") + `)(?: +[^\s=|)(]|\s*(?:;|$|\|\||&&|[<>])))`)
}

// programs are those that run, those that a shell calls by their names, and at last those
// that are named by their paths: at each place what the target has there.
func (l *nameLine) programs() {
	for _, place := range processPlaces {
		l.text = replaceGroup(l.text, place.FindAllStringSubmatchIndex(l.text, -1), func(was string) string {
			if to, ok := l.r.programs[was]; ok {
				return l.process(was, to.process)
			}
			return was
		})
	}
	for _, call := range callsAlone {
		name, _, _ := strings.Cut(call, " ")
		if _, ok := l.r.programs[name]; ok && strings.Contains(l.text, call) {
			l.text = strings.ReplaceAll(l.text, call, l.process(call, name))
		}
	}
	if l.shell && l.r.bare != nil {
		l.text = replaceGroup(l.text, l.r.bare.FindAllStringSubmatchIndex(l.text, -1), func(was string) string {
			name := bareName.FindString(was)
			return l.process(was, l.r.programs[name].command+strings.TrimPrefix(was, name))
		})
	}
}

// process says that a program has another name.
func (l *nameLine) process(was, now string) string {
	if was != now {
		l.say(was, now, ", by the files of its package")
	}
	return now
}

// replaceGroup replaces what the first group of each match has.
func replaceGroup(text string, matches [][]int, by func(was string) string) string {
	for _, at := range slices.Backward(matches) {
		text = text[:at[2]] + by(text[at[2]:at[3]]) + text[at[3]:]
	}
	return text
}

// ofProgram keeps where a program or a file beside it stands that no person configures.
func (p Places) ofProgram(from string, r api.Relocation) {
	if to := r.Place(); r.Kind == api.RelocateFile && OfSystem(from) && OfSystem(to) && !slices.Contains(p.programs[from], to) {
		p.programs[from] = append(p.programs[from], to)
	}
}
