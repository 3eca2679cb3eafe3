package index

import (
	_ "embed" // the rows
	"strconv"
	"strings"
	"sync"

	"svc/backend/release"
)

// ratesText is rates.tsv: part of the program, as families.tsv is.
//
//go:embed data/rates.tsv
var ratesText string

// evidenceKind is what is known of an answer that names packages: to which family it
// leads, how it was found, and how the index knows that the target has them.
type evidenceKind struct{ towards, found, known string }

// rates are how often answers of a kind were measured right.
var rates = sync.OnceValue(func() map[evidenceKind]float64 {
	all := map[evidenceKind]float64{}
	for _, line := range lines(ratesText) {
		c := strings.Split(strings.TrimSpace(line), "\t")
		if len(c) != 5 {
			continue // a test counts the rows
		}
		right, err := strconv.ParseFloat(c[3], 64)
		of, errOf := strconv.ParseFloat(c[4], 64)
		if err != nil || errOf != nil || of == 0 {
			continue
		}
		all[evidenceKind{c[0], c[1], c[2]}] = right / of
	}
	return all
})

// measured is how often such answers towards a family are right, or those towards all.
func measured(towards release.Family, found string, known presence) (rate float64, ok bool) {
	for _, family := range []string{string(towards), "-"} {
		if rate, ok = rates()[evidenceKind{family, found, string(known)}]; ok {
			return rate, true
		}
	}
	return 0, false
}
