package session

import (
	"testing"

	"github.com/matryer/is"
)

// TestOrdersThatDiffer has the versions that two servers and the record say.
func TestOrdersThatDiffer(t *testing.T) {
	for _, c := range []struct {
		name, recorded, before, now string
		differs                     bool
	}{
		{"nothing has changed", "153.120", "153.120", "153.120", false},
		{"another library", "153.120", "153.120", "153.128", true},
		{"the old server's library was changed before", "153.112", "153.120", "153.120", true},
		{"and was changed back", "153.128", "153.120", "153.128", true},
		{"nobody knows", "", "", "", true},
		{"nothing is on record", "", "2.41", "2.41", true},
		{"the new server does not know", "2.41", "2.41", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			got := differing([]Order{{Name: "x"}, {Recorded: c.recorded, Actual: c.before}}, []Order{{Actual: c.now, Recorded: c.now, Indexes: []string{"i"}}})
			is.Equal(len(got) == 1, c.differs)
			if c.differs {
				is.Equal(got[0], Order{Recorded: c.recorded, Actual: c.now, Indexes: []string{"i"}})
			}
		})
	}
	is := is.New(t)
	is.Equal(len(differing(nil, []Order{{Actual: "1", Recorded: "1"}})), 1) // an old server that could not be asked
}

func TestOrdersInAPlan(t *testing.T) {
	is := is.New(t)
	is.Equal(sortedBy(nil), "")
	is.Equal(sortedBy([]Order{
		{Name: `pg_catalog."de-x-icu"`, Recorded: "1", Actual: "2", Indexes: []string{"b", "a"}},
		{Recorded: "3", Actual: "3", Indexes: []string{"a"}, Tables: []string{"t"}, Checks: []int64{7, 5, 7}, Stored: []int64{9}},
	}), `2 indexes, 1 partitioned tables, 2 constraints and 1 columns that are made of others go by pg_catalog."de-x-icu" (version 1, where the library has 2 by now), the database's own order (version 3); those for which the new server's library has another version are made again, or checked, before clients come back`)
	is.Equal(Sorted{Database: "d", By: []string{"x (1 → 2)"}, Indexes: 3, Checked: -1, Tables: 1, Checks: 2, Stored: 1, Unknown: []string{"whether x"}}.String(),
		"in d 3 indexes were made again, and the partitions of 1 tables, 2 constraints and 1 columns that are made of others checked, as the order of text may be another: x (1 → 2); amcheck is not installed, so nothing has looked at them since; 1 things could not be checked, such as whether x")
}
