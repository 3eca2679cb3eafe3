// Package benchcpu measures the processor's time of benchmarks and tests: what a busy
// machine does not change.
package benchcpu

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Start begins to measure, and gives the function that ends it. That reports what the
// whole process used meanwhile, in nanoseconds for each of b.N, as cpu-ns/op.
func Start(b *testing.B) (end func()) {
	before := Used(b)
	return func() { b.ReportMetric(float64(Used(b)-before)/float64(b.N), "cpu-ns/op") }
}

// Used is what the whole process has used so far.
func Used(tb testing.TB) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
