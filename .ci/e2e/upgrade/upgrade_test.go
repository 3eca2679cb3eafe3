// Package upgrade_test upgrades a real cluster of PostgreSQL on a host that has versions
// 13, 15 and 17 installed together: killed in every step, and taken back. After each,
// every table is compared by checksums of these tests' own.
package upgrade_test

import (
	"testing"

	"svc/.ci/e2e"
)

func TestMain(m *testing.M) { e2e.Main(m, "debootstrap:debootstrap", "mke2fs:e2fsprogs") }

func TestPostgreSQL(t *testing.T) {
	h := newHost(t)
	for _, part := range []struct {
		name string
		does func(*host)
	}{
		{"chain", (*host).chain},
		{"taken back", (*host).takenBack},
	} {
		t.Run(part.name, func(t *testing.T) {
			of := h.in(t)
			of.reset()
			part.does(of)
		})
	}
}
