package datadir

import (
	"testing"

	"github.com/matryer/is"
)

func TestWiredTigerSaysItsVersion(t *testing.T) {
	is.New(t).Equal(WiredTiger("WiredTiger\nWiredTiger 10.0.2: (x)\n"), "wiredtiger 10.0.2")
}
