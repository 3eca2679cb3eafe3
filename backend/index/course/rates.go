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

// Rate is how often answers of a kind were measured right.
type Rate struct{ right, of float64 }

// Claim is the confidence that a rate deserves: a few pairs make nobody certain.
func (r Rate) Claim() float64 { return min((r.right+1)/(r.of+2), SameConfidence) }

// Sure reports whether answers of the kind are right often enough to be acted on unasked.
func (r Rate) Sure() bool { return r.right >= sureRate*r.of }

// sureRate is the part of a kind of answers that has to be right.
const sureRate = 0.97

// Whole is in the place of a presence towards Debian and its derivatives, whose lists are whole.
const Whole = "-"

// rates are those of every kind that was measured.
var rates = sync.OnceValue(func() map[families]map[way]Rate {
	all := map[families]map[way]Rate{}
	for c := range tsv.Rows(data.Rates, 6) {
		right, err := strconv.ParseFloat(c[4], 64)
		of, errOf := strconv.ParseFloat(c[5], 64)
		if err != nil || errOf != nil {
			continue
		}
		ends := families{c[0], c[1]}
		if all[ends] == nil {
			all[ends] = map[way]Rate{}
		}
		all[ends][way{c[2], c[3]}] = Rate{right, of}
	}
	return all
})

// Rates are those of answers between two families: theirs, those towards the one, and
// those of all.
type Rates [3]map[way]Rate

// Measured are the rates between two families.
func Measured(from, to release.Family) Rates {
	all, from, to := rates(), measuredAs(from), measuredAs(to)
	return Rates{all[families{string(from), string(to)}], all[families{"-", string(to)}], all[families{"-", "-"}]}
}

// measuredAs is the family with which another was measured.
func measuredAs(f release.Family) release.Family {
	if f == release.Ubuntu {
		return release.Debian
	}
	return f
}

// Of is the rate of answers that were found so: the nearest that was measured.
func (r *Rates) Of(found, known string) (rate Rate, ok bool) {
	for _, measured := range r {
		if rate, ok = measured[way{found, known}]; ok {
			return rate, true
		}
	}
	return rate, false
}
