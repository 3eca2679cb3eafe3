// Package upgrade_test upgrades a real cluster of PostgreSQL on a host that has versions
// 13, 15 and 17 installed together: with plans, refusals, kills, full disks, and a file
// system that turns read-only; and one in the layout of Red Hat's own packages. After each,
// every table is compared by checksums of these tests' own. With -all, so is what takes
// long: SIGKILL and signals in every step, what is hard, many tables, kills at any moment, a
// cluster of many gigabytes, and the newest release.
package upgrade_test

import (
	"flag"
	"testing"

	"svc/.ci/e2e"
)

func TestMain(m *testing.M) { e2e.Main(m, "mmdebstrap:mmdebstrap", "mke2fs:e2fsprogs") }

var all = flag.Bool("all", false, "what takes long, in place of what does not")

// part is a part of the tests. It begins with the cluster as it was made.
type part struct {
	name string
	does func(*host)
}

var (
	usual = []part{
		{"refusals", (*host).refusals},
		{"attacks", (*host).attacks},
		{"chain", (*host).chain},
		{"orders", (*host).orders},
		{"cut off", (*host).cutOff},
		{"full disk", (*host).dataFull},
		{"failing disk", (*host).backupFails},
		{"distribution", (*host).distribution}, // the host has no other layout from here on
	}
	long = []part{
		{"taken back", (*host).takenBack},
		{"signals", (*host).signals},
		{"early", (*host).early},
		{"hard", (*host).hard},
		{"many", (*host).many},
		{"random", (*host).random},
		{"newest", (*host).newest},
		{"large", (*host).large},
	}
)

func TestPostgreSQL(t *testing.T) {
	parts := usual
	if *all {
		parts = long
	}
	h := newHost(t)
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) {
			of := h.in(t)
			of.reset()
			p.does(of)
		})
	}
}
