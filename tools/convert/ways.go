package convert

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/tsv"
)

//go:embed ways.tsv
var wayRows string

// way is what a converter knows of a line.
type way struct {
	is     string   // to, from, both, same, own, own-to; empty without a row
	beside []string // packages: name<version
}

// ways are those of lines by the names of converters.
var ways = sync.OnceValue(func() map[release.Line]map[string]way {
	all := map[release.Line]map[string]way{}
	for f := range tsv.Rows(wayRows, 4) {
		of := all[release.Line(f[0])]
		if of == nil {
			of = map[string]way{}
			all[release.Line(f[0])] = of
		}
		of[f[1]] = way{f[2], strings.Fields(tsv.Said(f[3]))}
	}
	return all
})

// settled are the lines between which each converter says itself which ways it knows. Of
// all others it knows what ways.tsv says, and no more.
var settled = []release.Line{release.LineDebian, release.LineEL, release.LineSUSE}

// sides are the lines of a move.
func (in Input) sides() (source, target release.Line) {
	return in.Source.Family.Conventions().Line, in.Target.Family.Conventions().Line
}

// Apart is a move to another line, or from it, that stands apart from Debian's, EL's and
// SUSE's.
func Apart(in Input) bool { return ApartLine(in) != "" }

// ApartLine is the line that stands apart in a move from line to line, first the
// target's; empty where none does.
func ApartLine(in Input) release.Line {
	source, target := in.sides()
	for _, line := range []release.Line{target, source} {
		if source != target && line != "" && !slices.Contains(settled, line) {
			return line
		}
	}
	return ""
}

// FromApart is a move from a line that stands apart to Debian's.
func FromApart(in Input) bool { return Apart(in) && DebianFamily(in.Target) }

// ToApart is a move from Debian's line to one that stands apart.
func ToApart(in Input) bool { return Apart(in) && DebianFamily(in.Source) }

// KnowsApart reports whether a converter knows the way of a move to a line that stands
// apart, or from it.
func KnowsApart(in Input, converter string) bool {
	switch ways()[ApartLine(in)][converter].is {
	case "both":
		return ToApart(in) || FromApart(in)
	case "to":
		return ToApart(in)
	case "from":
		return FromApart(in)
	}
	return false
}

// OwnWay reports whether the files that a converter takes are written in a way which the
// other side of a move has not.
func OwnWay(in Input, converter string) bool {
	source, target := in.sides()
	if to := ways()[target][converter].is; to == "own" || to == "own-to" || ways()[source][converter].is == "own" {
		return true
	}
	return slices.ContainsFunc([]release.Line{source, target}, func(line release.Line) bool {
		return Apart(in) && !slices.Contains(settled, line) && ways()[line][converter].is != "same"
	})
}

// Beside are the packages that a converter's program needs beside it on the target.
func Beside(in Input, converter string) (names []string) {
	_, target := in.sides()
	for _, cell := range ways()[target][converter].beside {
		name, until, ends := strings.Cut(cell, "<")
		if !ends || pkgversion.Compare(pkgversion.RPM, in.Target.Version, until) < 0 {
			names = append(names, name)
		}
	}
	return names
}

// ByLine are what carries a program's files between Debian's line and those that stand apart.
type ByLine map[release.Line]func(Input) Result

// Convert carries the files of a move, and leaves them to a person where no row knows it.
func (c ByLine) Convert(in Input) (r Result) {
	if carry := c[ApartLine(in)]; carry != nil {
		return carry(in)
	}
	for _, f := range in.Files {
		r.Refuse(f.Path, Refusal{Why: "It is written in the way of " + in.Source.Name + ", and no converter knows that of " + in.Target.Name + ": carry its settings over by hand."})
	}
	return r
}
