package database

import (
	"testing"

	"github.com/matryer/is"
)

func TestWhatDataSayOfThemselves(t *testing.T) {
	is := is.New(t)
	form, version := parseRDB([]byte("REDIS0011\xfa\x09redis-ver\x057.2.4\xfa"))
	is.Equal([]string{form, version}, []string{"rdb 11", "7.2.4"})
	form, version = parseRDB([]byte("REDIS0006\xfe\x00"))
	is.Equal([]string{form, version}, []string{"rdb 6", "rdb 6"})
	form, _ = parseRDB([]byte("VALKEY080\xfa\x0avalkey-ver\x059.0.0"))
	is.Equal(form, "rdb 80")
	is.Equal(tablespaceVersion([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x38, 0xA2, 0, 0, 0, 1}), "8.0.34")
	is.Equal(tablespaceVersion([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}), "")
	is.Equal(lastUpgrade([]byte(`{"upgrade_history":[{"version":"8.3.0"},{"version":"8.4.2"}]}`)), "8.4.2")
	is.Equal(lastUpgrade([]byte(`{"upgrade_history":[]}`)), "")
	is.Equal(wiredTiger([]byte("WiredTiger\nWiredTiger 10.0.2: (x)\n")), "wiredtiger 10.0.2")
}
