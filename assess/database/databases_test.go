package database

import (
	"testing"

	"github.com/matryer/is"
)

func TestWiredTigerSaysItsVersion(t *testing.T) {
	is.New(t).Equal(wiredTiger([]byte("WiredTiger\nWiredTiger 10.0.2: (x)\n")), "wiredtiger 10.0.2")
}
