package course

import (
	"strconv"
	"sync"

	"svc/backend/index/data"
	"svc/backend/release"
	"svc/backend/tsv"
)

// families are those between which an answer leads.
type families struct{ from, towards string }

// way is how an answer was found, and how the index knows that the target has the names.
type way struct{ found, known string }

// rate is how often answers of a kind were measured right.
type rate struct{ right, of float64 }

// Whole is in the place of a presence towards Debian and its derivatives, whose lists are whole.
const Whole = "-"

// The families of a kind that is wider than one pair of them.
const (
	kin       = "kin"       // from those of the target's line, which have its names
	strangers = "strangers" // from those of other lines
	each      = "-"         // from all, or towards all
)

// widerWeight is how many facts the rate of the next wider kind counts for. It is measured, not
// set: with it what was counted of each kind is likeliest, given the kinds that it is one of.
const widerWeight = 8

// rates are those of every kind that was measured, and of the wider kinds that it is one of.
var rates = sync.OnceValue(func() map[families]map[way]rate {
	all := map[families]map[way]rate{}
	for c := range tsv.Rows(data.Rates, 6) {
		right, err := strconv.ParseFloat(c[4], 64)
		of, errOf := strconv.ParseFloat(c[5], 64)
		if err != nil || errOf != nil {
			continue
		}
		ends, found := families{c[0], c[1]}, way{c[2], c[3]}
		for _, wider := range append(widenings(ends), ends) {
			if all[wider] == nil {
				all[wider] = map[way]rate{}
			}
			sum := all[wider][found]
			all[wider][found] = rate{sum.right + right, sum.of + of}
		}
	}
	return all
})

// widenings are the kinds that answers between two families are of, found one way, the widest
// first: whether the target's names are the source's too, and which target it is. (With the target
// first, what was counted is less likely.)
func widenings(ends families) []families {
	from := strangers
	if lineOf(ends.from) == lineOf(ends.towards) {
		from = kin
	}
	return []families{{each, each}, {from, each}, {from, ends.towards}}
}

func lineOf(family string) release.Line { return release.Family(family).Conventions().Line }

// Rates are the claims of answers between two families, by how they were found.
type Rates map[way]float64

// kept are the claims between each two families that were asked for.
var kept sync.Map

// Measured are the rates between two families.
func Measured(from, to release.Family) Rates {
	ends := families{string(measuredAs(from)), string(measuredAs(to))}
	if claims, ok := kept.Load(ends); ok {
		return claims.(Rates)
	}
	claims := Rates{}
	for found := range rates()[families{each, each}] {
		claims[found] = ends.claim(found)
	}
	kept.Store(ends, claims)
	return claims
}

// measuredAs is the family with which another was measured.
func measuredAs(f release.Family) release.Family {
	if f == release.Ubuntu {
		return release.Debian
	}
	return f
}

// Claim is the confidence that answers deserve which were found so; ok is false where
// none were measured.
func (r Rates) Claim(found, known string) (claim float64, ok bool) {
	claim, ok = r[way{found, known}]
	return claim, ok
}

// claim is the rate of a kind, drawn towards what all other facts of the wider ones foretell of it:
// a few facts make nobody certain, and many speak for themselves.
func (ends families) claim(found way) float64 {
	own, foretold := rates()[ends][found], foretold(ends, found, widerWeight)
	if foretold == 0 {
		return min((own.right+0.5)/(own.of+1), SameConfidence)
	}
	return min((own.right+widerWeight*foretold)/(own.of+widerWeight), SameConfidence)
}

// foretold is the rate of the kinds that a way between two families is one of, each drawn towards
// that of the one before it, by all facts but its own; 0 where there are no others.
func foretold(ends families, found way, weight float64) (claim float64) {
	own := rates()[ends][found]
	for _, wider := range widenings(ends) {
		all := rates()[wider][found]
		right, of := all.right-own.right, all.of-own.of
		switch {
		case of == 0:
		case claim == 0:
			claim = (right + 0.5) / (of + 1)
		default:
			claim = (right + weight*claim) / (of + weight)
		}
	}
	return claim
}
