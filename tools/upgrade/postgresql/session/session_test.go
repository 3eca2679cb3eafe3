package session

import (
	"testing"

	"github.com/matryer/is"
)

func TestNamesOfDatabases(t *testing.T) {
	is := is.New(t)
	is.Equal(dsn(`o'b\c = d`), `dbname='o\'b\\c = d'`)
}
