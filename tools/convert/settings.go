package convert

import (
	_ "embed"
	"strings"
	"sync"

	"svc/assess/hazards"
	"svc/backend/release"
)

//go:embed known.tsv
var knownRows string

var (
	known = sync.OnceValue(func() map[string]map[string]bool { return sets(words(knownRows)) }) // program → the settings that it takes, folded
	gone  = sync.OnceValue(func() map[string]map[string]replacement { return goneSettings() })  // program → setting, folded
)

func sets(rows map[string][]string) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for program, names := range rows {
		all[program] = map[string]bool{}
		for _, name := range names {
			all[program][fold(name)] = true
		}
	}
	return all
}

// fold is a name as programs compare it: without regard to case, mysqld without
// regard to dashes, Samba without regard to spaces.
func fold(name string) string {
	return strings.NewReplacer("-", "_", " ", "", "\t", "").Replace(strings.ToLower(name))
}

// replacement is what takes the place of a setting that is gone.
type replacement struct {
	now, why string
	since    string // version of the program; empty is long ago, debian is on Debian alone
}

// holds reports whether a setting is gone on a release.
func (r replacement) holds(program string, target release.Release) bool {
	if r.since == "debian" {
		return !rpmFamily(target)
	}
	return hasSince(program, r.since, target)
}

func goneSettings() map[string]map[string]replacement {
	all := map[string]map[string]replacement{}
	for s := range hazards.Settings() {
		if all[s.Program] == nil {
			all[s.Program] = map[string]replacement{}
		}
		all[s.Program][fold(s.Name)] = replacement{s.Now, s.Why, s.Since}
	}
	return all
}

// settings converts files of one setting a line.
type settings struct {
	program string // of known and gone; one without a list of its own takes every name
	comment string
	equals  bool // a name and its value stand on either side of an equals sign, not of a space
	places  places
	target  release.Release
	// own does what is particular about a setting; it reports whether that was
	// all there is to do.
	own func(p *page, i int, name, value string) bool
}

// setting is the name and value of a line, with what stands between.
func (s settings) setting(line string) (name, between, value string) {
	line = strings.TrimSpace(line)
	cut := " \t"
	if s.equals {
		cut = "="
	}
	i := strings.IndexAny(line, cut)
	if i < 0 {
		return line, "", ""
	}
	name = strings.TrimRight(line[:i], " \t")
	value = strings.TrimLeft(line[i+1:], " \t")
	return name, line[len(name) : len(line)-len(value)], value
}

// convert goes through a whole file.
func (s settings) convert(f File) *page {
	p := open(f, s.comment)
	for i := range p.active() {
		s.line(p, i)
	}
	return p
}

func (s settings) line(p *page, i int) {
	name, between, value := s.setting(p.lines[i])
	if s.own != nil && s.own(p, i, name, value) {
		return
	}
	switch r, isGone := s.gone(name); {
	case isGone && r.now != "":
		p.replace(i, strings.TrimSpace(r.now+between+s.places.move(value)), r.why)
	case isGone && r.why != "":
		p.drop(i, r.why)
	case isGone:
		p.refuse(i, "The target has this no more, and nothing in its place that would surely do the same.")
	case !s.takes(name):
		p.refuse(i, "The target's program does not know this setting.")
	default:
		s.move(p, i)
	}
}

// towards are the settings for a move: the places that are others in it.
func (s settings) towards(in Input) settings {
	s.target, s.places = in.Target, s.places.between(in)
	return s
}

// gone is what takes the place of a setting that the target's program has no
// more.
func (s settings) gone(name string) (replacement, bool) {
	r, ok := gone()[s.program][fold(name)]
	return r, ok && r.holds(s.program, s.target)
}

// move rewrites the places of a line.
func (s settings) move(p *page, i int) {
	line := strings.TrimSpace(p.lines[i])
	p.replace(i, s.places.move(line), "The target keeps it in another place.")
}

func (s settings) takes(name string) bool {
	names := known()[s.program]
	if _, later := gone()[s.program][fold(name)]; names == nil || later {
		return true
	}
	name = fold(name)
	for _, prefix := range []string{"", "loose_", "skip_", "enable_", "disable_"} {
		if bare, ok := strings.CutPrefix(name, prefix); ok && (names[bare] || names["skip_"+bare]) {
			return true
		}
	}
	return false
}
