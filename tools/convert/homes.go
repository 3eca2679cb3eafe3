package convert

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"svc/backend/release"
	"svc/backend/tsv"
)

// Homes are where lines of families keep what files of a program name, by what the rpm
// families call it: the longer of two that overlap first.
type Homes map[release.Line]Places

//go:embed homes.tsv
var homeRows string

// homes are those of the table, by program.
var homes = sync.OnceValue(func() map[string]Homes {
	all := map[string]Homes{}
	for row := range tsv.Rows(homeRows, 4) {
		line := release.Line(row[1])
		for program := range strings.FieldsSeq(row[0]) {
			if all[program] == nil {
				all[program] = Homes{}
			}
			all[program][line] = append(all[program][line], [2]string{row[2], row[3]})
		}
	}
	return all
})

// HomesOf are the homes of what a program's files name.
func HomesOf(program string) Homes { return homes()[program] }

// certificates are where a line keeps what has one place for all services, where its
// programs' own homes do not say it.
var certificates = HomesOf("certificates")

// Of are the places of the target's family.
func (h Homes) Of(in Input) Places {
	line := in.Target.Family.Conventions().Line
	return slices.Concat(h[line], certificates[line])
}

// Debian are the places of Debian's line.
func (h Homes) Debian() Places { return h[release.LineDebian] }

// FromDebian are the places of the rpm families, of a program whose rows have Debian's first.
func (h Homes) FromDebian() Places { return h[release.LineEL] }

// OfData is where a move takes a program's data: as the program's configuration has it, or
// else where the program looks by itself.
func OfData(in Input, program, place string) string {
	if to := HomesOf(program).Between(in).Move(place); to != place {
		return to
	}
	return HomesOf("data").Between(in).Move(place)
}

// Between are the places that are others in a move.
func (h Homes) Between(in Input) Places {
	switch {
	case FromDebian(in), ToApart(in):
		return h.Debian().Back().Then(h.Of(in))
	case WithinRPM(in):
		return h.Of(in)
	}
	return h.Debian()
}

// Between are the places that are others in a move, of a table that says what
// the rpm families and Debian have.
func (all Places) Between(in Input) Places { return Homes{release.LineDebian: all}.Between(in) }

// Then is the way by two tables, one after the other.
func (all Places) Then(next Places) Places {
	if len(next) == 0 {
		return all
	}
	way := Places{}
	for _, first := range all {
		way = append(way, [2]string{first[0], next.Move(first[1])})
		for _, second := range next {
			if below, ok := strings.CutPrefix(second[0], first[1]+"/"); ok {
				way = append(way, [2]string{first[0] + "/" + below, second[1]})
			}
		}
	}
	way = append(way, next...)
	slices.SortStableFunc(way, func(a, b [2]string) int { return len(b[0]) - len(a[0]) })
	return way
}

// Back is the way from Debian: of several that lead to one place the first
// counts, and the longer comes before what it begins with.
func (all Places) Back() Places {
	turned := Places{}
	for _, place := range all {
		known := slices.ContainsFunc(turned, func(t [2]string) bool { return t[0] == place[1] })
		if !known && !strings.Contains(place[0], "/chroot/") && place[1] != "/tmp" && place[1] != "/var/log" {
			turned = append(turned, [2]string{place[1], place[0]})
		}
	}
	slices.SortStableFunc(turned, func(a, b [2]string) int { return len(b[0]) - len(a[0]) })
	return turned
}

// Elsewhere says why a place is another.
func Elsewhere(in Input) string {
	switch line := in.Target.Family.Conventions().Line; {
	case line == release.LineDebian:
		return "Debian keeps it in another place."
	case line == release.LineSUSE && WithinRPM(in):
		return "SUSE keeps it in another place."
	}
	return "The target keeps it in another place."
}

// Whose begins a sentence on what packages of a release have.
func Whose(r release.Release) string {
	if r.Family.Conventions().Line == release.LineSUSE {
		return "SUSE's"
	}
	return "The target's"
}
