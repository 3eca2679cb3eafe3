package sqlite

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/store/ledger"
)

// TestHistoryIsMerged looks at SQLite's plan: a page of the history is taken
// from the ends of two indexes, and nothing is sorted.
func TestHistoryIsMerged(t *testing.T) {
	is := is.New(t)
	s, account := openForTest(t, filepath.Join(t.TempDir(), "svc.db"))
	plan := strings.Join(planOf(t, s, history, account, int64(math.MaxInt64), 50, 0), "\n")
	is.True(strings.Contains(plan, "MERGE (UNION ALL)"))
	is.True(strings.Contains(plan, "SEARCH events USING INDEX events_listed (account_id=? AND at<?)"))
	is.True(strings.Contains(plan, "USING COVERING INDEX seats_newest (account_id=? AND first_at<?)"))
	is.True(!strings.Contains(plan, "TEMP B-TREE"))
}

// TestFindsASeatByItsIndex looks at SQLite's plan: nothing but the index is read.
func TestFindsASeatByItsIndex(t *testing.T) {
	is := is.New(t)
	s, account := openForTest(t, filepath.Join(t.TempDir(), "svc.db"))
	plan := planOf(t, s, ledger.SelectSeated, account, "x")
	is.Equal(plan[len(plan)-1], "SEARCH seats USING COVERING INDEX sqlite_autoindex_seats_1 (account_id=? AND fingerprint=?)")
}

// planOf is how SQLite answers a query, step by step.
func planOf(t *testing.T, s *sqlite, query string, args ...any) []string {
	steps, err := ledger.Collect(t.Context(), s.reads, func(r ledger.Row) (step string, err error) {
		var id, parent, unused int
		err = r.Scan(&id, &parent, &unused, &step)
		return step, err
	}, "EXPLAIN QUERY PLAN "+query, args...)
	is.New(t).NoErr(err)
	return steps
}
