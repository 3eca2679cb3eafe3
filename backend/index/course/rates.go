package course

import (
	"strconv"
	"strings"
	"sync"

	"svc/backend/index/data"
	"svc/backend/release"
)

// evidenceKind is what is known of an answer: between which families it leads, how it was
// found, and how the index knows that the target has the names.
type evidenceKind struct{ from, towards, found, known string }

// rate is how often answers of a kind were measured right.
type rate struct{ right, of float64 }

// Claim is the confidence that a rate deserves: a few pairs make nobody certain.
func (r rate) Claim() float64 { return min((r.right+1)/(r.of+2), SameConfidence) }

// Sure reports whether answers of the kind are right often enough to be acted on unasked.
func (r rate) Sure() bool { return r.right >= sureRate*r.of }

// sureRate is the part of a kind of answers that has to be right.
const sureRate = 0.97

// Whole is in the place of a presence towards Debian and its derivatives, whose lists are whole.
const Whole = "-"

// rates are those of every kind that was measured.
var rates = sync.OnceValue(func() map[evidenceKind]rate {
	all := map[evidenceKind]rate{}
	for _, line := range data.Lines(data.Rates) {
		c := strings.Split(strings.TrimSpace(line), "\t")
		if len(c) != 6 {
			continue // a test counts the rows
		}
		right, err := strconv.ParseFloat(c[4], 64)
		of, errOf := strconv.ParseFloat(c[5], 64)
		if err == nil && errOf == nil {
			all[evidenceKind{c[0], c[1], c[2], c[3]}] = rate{right, of}
		}
	}
	return all
})

// Measured is the rate of such answers between two families: theirs, or that towards the
// one, or that of all.
func Measured(from, to release.Family, found, known string) (r rate, ok bool) {
	if from == release.Ubuntu {
		from = release.Debian
	}
	for _, ends := range [][2]string{{string(from), string(to)}, {"-", string(to)}, {"-", "-"}} {
		if r, ok = rates()[evidenceKind{ends[0], ends[1], found, known}]; ok {
			return r, true
		}
	}
	return r, false
}
