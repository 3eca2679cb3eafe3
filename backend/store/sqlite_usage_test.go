package store

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestSQLiteHistoryIsMerged looks at SQLite's plan: a page of the history is taken
// from the ends of two indexes, and nothing is sorted.
func TestSQLiteHistoryIsMerged(t *testing.T) {
	is := is.New(t)
	s, account := openForTest(t, filepath.Join(t.TempDir(), "svc.db"))
	plan := strings.Join(planOf(t, s, sqliteHistory, account, 50, 0), "\n")
	is.True(strings.Contains(plan, "MERGE (UNION ALL)"))
	is.True(strings.Contains(plan, "SEARCH events USING INDEX events_listed (account_id=?)"))
	is.True(strings.Contains(plan, "USING COVERING INDEX seats_newest (account_id=?)"))
	is.True(!strings.Contains(plan, "TEMP B-TREE"))
}

// TestSQLiteFindsASeatByItsDigest looks at SQLite's plan: nothing but the index is read.
func TestSQLiteFindsASeatByItsDigest(t *testing.T) {
	is := is.New(t)
	s, account := openForTest(t, filepath.Join(t.TempDir(), "svc.db"))
	plan := planOf(t, s, sqliteSeated, account, "x")
	is.Equal(plan[len(plan)-1], "SEARCH seats USING COVERING INDEX sqlite_autoindex_seats_1 (account_id=? AND digest=?)")
}

// planOf is how SQLite answers a query, step by step.
func planOf(t *testing.T, s *sqlite, query string, args ...any) []string {
	steps, err := collect(t.Context(), s.reads, func(r row) (step string, err error) {
		var id, parent, unused int
		err = r.Scan(&id, &parent, &unused, &step)
		return step, err
	}, "EXPLAIN QUERY PLAN "+query, args...)
	is.New(t).NoErr(err)
	return steps
}
