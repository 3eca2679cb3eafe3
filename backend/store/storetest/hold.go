package storetest

import (
	"database/sql"
	"testing"

	"github.com/matryer/is"
)

// Hold keeps others from writing to a SQLite file, as another process may, until it is
// released.
func Hold(t *testing.T, file string) (release func()) {
	is := is.New(t)
	db := must(sql.Open("sqlite", file))(t)
	t.Cleanup(func() { db.Close() })
	holder := must(db.Conn(t.Context()))(t)
	_, err := holder.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	is.NoErr(err)
	return func() {
		_, err := holder.ExecContext(t.Context(), "ROLLBACK")
		is.NoErr(err)
	}
}
