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
	is.Equal(len(read), len(rates()))
	r, ok := Measured(release.Debian, release.SUSE, ByCanonical, string(lookup.Nowhere))
	is.True(ok && r.Claim() < 0.5 && !r.Sure()) // names of EL, which SUSE does not have
	_, ok = Measured(release.Debian, release.SUSE, "hearsay", string(lookup.InList))
	is.True(!ok)
	for _, r := range rates() {
		is.True(r.right <= r.of && r.of > 0)
	}
}

// TestARateIsAClaim: few pairs make nobody certain, and what is wrong too often is a question.
func TestARateIsAClaim(t *testing.T) {
	is := is.New(t)
	is.Equal(rate{0, 18}.Claim(), 0.05)
	is.True(rate{3, 3}.Claim() < 0.81 && rate{300, 300}.Claim() == SameConfidence)
	is.True(rate{97, 100}.Sure() && !rate{96, 100}.Sure())
}
