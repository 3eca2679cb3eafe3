package course

import (
	"math"
	"testing"

	"github.com/matryer/is"

	"svc/backend/index/build"
	"svc/backend/index/lookup"
	"svc/backend/release"
)

// TestEveryRateIsRead: what was measured of a kind of evidence counts where it is the case,
// between families of which each is known.
func TestEveryRateIsRead(t *testing.T) {
	is := is.New(t)
	read, err := build.Rows("rates.tsv", 6)
	is.NoErr(err)
	n := 0
	for ends, measured := range rates() {
		for _, r := range measured {
			is.True(r.right <= r.of && r.of > 0)
			if ends.from != kin && ends.from != strangers && ends.from != each {
				is.True(lineOf(ends.from) != "" && lineOf(ends.towards) != "")
				n++
			}
		}
	}
	is.Equal(len(read), n)
}

// TestAFewFactsAreDrawnToTheMany: what was seen once claims nearly what the wider kind was
// measured, what was seen often its own rate; names are kept within their line.
func TestAFewFactsAreDrawnToTheMany(t *testing.T) {
	is := is.New(t)
	nowhere := string(lookup.Nowhere)
	claim := func(from, to release.Family, found, known string) float64 {
		c, ok := Measured(from, to).Claim(found, known)
		is.True(ok)
		return c
	}
	is.True(claim(release.EL, release.Fedora, ByName, nowhere) > 0.6) // EL was made of Fedora
	is.True(claim(release.SUSE, release.Fedora, ByName, nowhere) < 0.5)
	is.True(claim(release.Amazon, release.Fedora, ByName, nowhere) > 0.7) // nobody measured it: that of its line
	is.True(claim(release.Debian, release.Fedora, ByGuess, nowhere) < 0.25)
	is.Equal(claim(release.Ubuntu, release.Fedora, ByGuess, nowhere), claim(release.Debian, release.Fedora, ByGuess, nowhere))
	is.Equal(claim(release.Debian, release.Fedora, ByCanonical, string(lookup.InList)), SameConfidence)
	_, ok := Measured(release.Debian, release.SUSE).Claim("hearsay", string(lookup.InList))
	is.True(!ok)
}

// TestTheWeightIsWhatTheFactsSay: the counts of the kinds are likeliest where each kind's rate
// varies about that of the wider ones as it does with this weight (a beta-binomial distribution,
// its mean by the facts of all other kinds). A table that is measured anew may say another one.
func TestTheWeightIsWhatTheFactsSay(t *testing.T) {
	best, likeliest := 0.0, math.Inf(-1)
	for _, weight := range []float64{1, 2, 4, 8, 16, 32, 64, 128} {
		if l := likelihood(weight); l > likeliest {
			best, likeliest = weight, l
		}
	}
	is := is.New(t)
	is.Equal(best, float64(widerWeight))
	is.True(likelihood(1) < likeliest-10) // it matters that rates are drawn at all
}

// likelihood is the logarithm of how likely the counts of all kinds are with a weight.
func likelihood(weight float64) (sum float64) {
	for ends, measured := range rates() {
		if ends.from == kin || ends.from == strangers || ends.from == each {
			continue
		}
		for found, r := range measured {
			mean := min(foretold(ends, found, weight), SameConfidence)
			if mean == 0 {
				mean = 0.5 // no other kind was found so
			}
			a, b := weight*mean, weight*(1-mean)
			sum += logGamma(a+r.right) + logGamma(b+r.of-r.right) - logGamma(weight+r.of) - logGamma(a) - logGamma(b) + logGamma(weight)
		}
	}
	return sum
}

func logGamma(x float64) float64 {
	l, _ := math.Lgamma(x)
	return l
}
