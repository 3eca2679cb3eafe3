package convert

import (
	"cmp"
	_ "embed"
	"strings"
	"sync"

	"svc/assess/hazards"
	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

//go:embed known.tsv
var knownRows string

var (
	Known = sync.OnceValue(func() map[string]map[string]bool { return sets(tsv.Words(knownRows)) }) // program → the settings that it takes, folded
	Gone  = sync.OnceValue(func() map[string]map[string]Replacement { return goneSettings() })      // program → setting, folded
)

func sets(rows map[string][]string) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for program, names := range rows {
		all[program] = sliced.SetOf(names, Fold)
	}
	return all
}

// Fold is a name as programs compare it: without regard to case, mysqld without
// regard to dashes, Samba without regard to spaces.
func Fold(name string) string { return folded.Replace(strings.ToLower(name)) }

var folded = strings.NewReplacer("-", "_", " ", "", "\t", "")

// Replacement is what takes the place of a setting that is gone.
type Replacement struct {
	Now, Why string
	Since    string // version of the program; empty is long ago, debian is on Debian alone
}

// holds reports whether a setting is gone on a release.
func (r Replacement) holds(program string, target release.Release) bool {
	if r.Since == "debian" {
		return !RPMFamily(target)
	}
	return HasSince(program, r.Since, target)
}

func goneSettings() map[string]map[string]Replacement {
	all := map[string]map[string]Replacement{}
	for s := range hazards.Settings() {
		if all[s.Program] == nil {
			all[s.Program] = map[string]Replacement{}
		}
		all[s.Program][Fold(s.Name)] = Replacement{s.Now, s.Why, s.Since}
	}
	return all
}

// Settings converts files of one setting a line.
type Settings struct {
	Program string // of known and gone; one without a list of its own takes every name
	Comment string
	Equals  bool // a name and its value stand on either side of an equals sign, not of a space
	Places  Places
	Homes   Homes // what Towards makes Places of, where more than Debian has its own
	Target  release.Release
	Version string // of the target's program, where it is not that of the release
	// Own does what is particular about a setting; it reports whether that was
	// all there is to do.
	Own func(p *Page, i int, name, value string) bool

	elsewhere string // why a place is another; empty is that the target has it so
}

// Setting is the name and value of a line, with what stands between.
func (s Settings) Setting(line string) (name, between, value string) {
	line = strings.TrimSpace(line)
	cut := " \t"
	if s.Equals {
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

// Convert goes through a whole file.
func (s *Settings) Convert(f File) *Page {
	p := Open(f, s.Comment)
	for i := range p.Active() {
		s.Line(p, i)
	}
	return p
}

func (s Settings) Line(p *Page, i int) {
	was := p.Lines[i]
	name, between, value := s.Setting(was)
	if s.Own != nil && s.Own(p, i, name, value) {
		return
	}
	if p.Lines[i] != was { // what Own left of it
		if p.Idle(i) {
			return
		}
		name, between, value = s.Setting(p.Lines[i])
	}
	switch r, isGone := s.Gone(name); {
	case isGone && r.Now != "":
		p.Replace(i, strings.TrimSpace(r.Now+between+s.Places.Move(value)), r.Why)
	case isGone && r.Why != "":
		p.Drop(i, r.Why)
	case isGone:
		p.Refuse(i, "The target has this no more, and nothing in its place that would surely do the same.")
	case !s.Takes(name):
		p.Refuse(i, "The target's program does not know this setting.")
	default:
		s.Move(p, i)
	}
}

// Towards are the settings for a move: the places that are others in it.
func (s Settings) Towards(in Input) Settings {
	if s.Homes == nil {
		s.Homes = Homes{release.LineDebian: s.Places}
	}
	if s.Target, s.Places = in.Target, s.Homes.Between(in); WithinRPM(in) {
		s.elsewhere = Elsewhere(in)
	}
	return s
}

// Gone is what takes the place of a setting that the target's program has no
// more.
func (s Settings) Gone(name string) (Replacement, bool) {
	r, ok := Gone()[s.Program][Fold(name)]
	if about, ofDebian := strings.CutPrefix(r.Why, "Debian's "); ofDebian && !DebianFamily(s.Target) {
		r.Why = Whose(s.Target) + " " + about
	}
	if s.Version != "" && ok && r.Since != "" && r.Since != "debian" {
		return r, pkgversion.Compare(pkgversion.RPM, s.Version, r.Since) >= 0
	}
	return r, ok && r.holds(s.Program, s.Target)
}

// Move rewrites the places of a line.
func (s Settings) Move(p *Page, i int) {
	line := strings.TrimSpace(p.Lines[i])
	p.Replace(i, s.Places.Move(line), cmp.Or(s.elsewhere, "The target keeps it in another place."))
}

func (s Settings) Takes(name string) bool {
	names := Known()[s.Program]
	if _, later := Gone()[s.Program][Fold(name)]; names == nil || later {
		return true
	}
	name = Fold(name)
	for _, prefix := range []string{"", "loose_", "skip_", "enable_", "disable_"} {
		if bare, ok := strings.CutPrefix(name, prefix); ok && (names[bare] || names["skip_"+bare]) {
			return true
		}
	}
	return false
}

// Same carries files to a place with settings of one line each.
func Same(s Settings, place func(Input, string) string) func(Input) Result {
	return func(in Input) (r Result) {
		for _, f := range in.Files {
			here := s.Towards(in)
			r.Close(here.Convert(f), place(in, f.Path))
		}
		return r
	}
}

// There is a place that stays.
func There(_ Input, file string) string { return file }

// Place is where a file of a program stands in a release of the other family.
func Place(table Places) func(Input, string) string {
	return func(in Input, file string) string { return table.Between(in).Move(file) }
}
