package course

import (
	"testing"

	"github.com/matryer/is"

	"svc/backend/index/build"
	"svc/backend/index/lookup"
	"svc/backend/release"
)

// TestEveryRateIsRead: what was measured of a kind of evidence counts where it is the
// case, and no answer is surer than that.
func TestEveryRateIsRead(t *testing.T) {
	is := is.New(t)
	read, err := build.Rows("rates.tsv", 6)
	is.NoErr(err)
	toSUSE, n := Measured(release.Debian, release.SUSE), 0
	r, ok := toSUSE.Of(ByCanonical, string(lookup.Nowhere))
	is.True(ok && r.Claim() < 0.6 && !r.Sure()) // names of EL, which SUSE does not have
	_, ok = toSUSE.Of("hearsay", string(lookup.InList))
	is.True(!ok)
	for _, measured := range rates() {
		for _, r := range measured {
			is.True(r.right <= r.of && r.of > 0)
			n++
		}
	}
	is.Equal(len(read), n)
}

// TestARateIsAClaim: few pairs make nobody certain, and what is wrong too often is a question.
func TestARateIsAClaim(t *testing.T) {
	is := is.New(t)
	is.Equal(Rate{0, 18}.Claim(), 0.05)
	is.True(Rate{3, 3}.Claim() < 0.81 && Rate{300, 300}.Claim() == SameConfidence)
	is.True(Rate{97, 100}.Sure() && !Rate{96, 100}.Sure())
}
