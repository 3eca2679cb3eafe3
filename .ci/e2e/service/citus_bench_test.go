package service_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// BenchmarkCitusClaims counts the processor's time of a claim of a thousand accounts on
// one, two and three workers, which share one machine here: by the coordinator, by the
// workers together, and by the service.
func BenchmarkCitusClaims(b *testing.B) {
	for workers := 1; workers <= 3; workers++ {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			c := newCitusOf(b, workers)
			s := start(b, address(c.cluster), 1)
			claim := claims(s.tokens(b, 200))
			s.drive(b, 64, benchTime, claim)
			for b.Loop() {
				coordinator, rest, served := c.used(b), time.Duration(0), usedBy(b, s.replicas[0].cmd.Process.Pid)
				for _, w := range c.workers {
					rest += w.used(b)
				}
				took := s.drive(b, 64, 2*benchTime, claim)
				n := float64(len(took))
				each := func(used time.Duration) float64 { return float64(used.Microseconds()) / n }
				b.ReportMetric(each(c.used(b)-coordinator), "us-coordinator/claim")
				var now time.Duration
				for _, w := range c.workers {
					now += w.used(b)
				}
				b.ReportMetric(each(now-rest), "us-workers/claim")
				b.ReportMetric(each(usedBy(b, s.replicas[0].cmd.Process.Pid)-served), "us-svc/claim")
				b.ReportMetric(n/(2*benchTime).Seconds(), "claims/s")
			}
		})
	}
}

// used is the processor's time of a server and its processes, those that ended too.
func (c *cluster) used(t testing.TB) (sum time.Duration) {
	server := c.postgres.Process.Pid
	for _, p := range processes() {
		if p.parent == server || p.pid == server {
			sum += usedBy(t, p.pid)
		}
	}
	return sum
}

// usedBy is the processor's time of a process and of its children that ended; the kernel
// counts in hundredths of a second.
func usedBy(t testing.TB, pid int) (sum time.Duration) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if os.IsNotExist(err) {
		return 0
	}
	is.New(t).NoErr(err)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	for _, ticks := range fields[11:15] {
		n, err := strconv.Atoi(ticks)
		is.New(t).NoErr(err)
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum
}
