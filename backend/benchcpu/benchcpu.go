// Package benchcpu measures the processor's time of benchmarks: what a busy machine
// does not change.
package benchcpu

import (
	"testing"

	"golang.org/x/sys/unix"
)

// Start begins to measure, and gives the function that ends it. That reports what the
// whole process used meanwhile, in nanoseconds for each of b.N, as cpu-ns/op.
func Start(b *testing.B) (end func()) {
	before := used(b)
	return func() { b.ReportMetric(float64(used(b)-before)/float64(b.N), "cpu-ns/op") }
}

// used is the nanoseconds that the process has used so far.
func used(b *testing.B) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
