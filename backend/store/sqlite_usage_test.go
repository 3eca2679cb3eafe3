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
	steps, err := collect(t.Context(), s.reads, func(r row) (step string, err error) {
		var id, parent, unused int
		err = r.Scan(&id, &parent, &unused, &step)
		return step, err
	}, "EXPLAIN QUERY PLAN "+sqliteHistory, account, 50, 0)
	is.NoErr(err)
	plan := strings.Join(steps, "\n")
	is.True(strings.Contains(plan, "MERGE (UNION ALL)"))
	is.True(strings.Contains(plan, "SEARCH events USING INDEX events_listed (account_id=?)"))
	is.True(strings.Contains(plan, "USING COVERING INDEX seats_newest (account_id=?)"))
	is.True(!strings.Contains(plan, "TEMP B-TREE"))
}
