package packages

import (
	"testing"

	"github.com/matryer/is"

	"svc/assess"
)

// TestBounds: what a need ends with is noted, but where there is an alternative, or no
// such end.
func TestBounds(t *testing.T) {
	is := is.New(t)
	m := &assess.Machine{Reading: assess.Reading{A: &assess.Assessment{}}}
	addBounds(m, "git-run", "git (>> 1:2.39), git (<< 1:2.39.5-.), libc6 (>= 2.34), old (<< 2) | new, python3:any (<= 3.12~), same (= 1.0-1), sh (<< $(reboot))")
	addBounds(m, "plain", "libc6 (>= 2.34), adduser")
	is.Equal(m.A.Bounds, map[string][]assess.Bound{"git-run": {{Needs: "git", Relation: "<<", Version: "1:2.39.5-."}, {Needs: "python3", Relation: "<=", Version: "3.12~"}, {Needs: "same", Relation: "=", Version: "1.0-1"}}})
}
