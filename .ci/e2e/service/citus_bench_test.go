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

// BenchmarkCitusClaims counts the processor's time of a claim on one, two and three workers,
// which share one machine here: by the coordinator, by the workers together, and by the
// service; and the statements that the workers got for it.
func BenchmarkCitusClaims(b *testing.B) {
	const clients = 64 // and accounts
	for workers := 1; workers <= 3; workers++ {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			c := newCitusOf(b, workers)
			is.New(b).NoErr(c.execute("CREATE EXTENSION pg_stat_statements"))
			s := start(b, address(c.cluster), 1)
			claim := claims(s.tokens(b, clients))
			s.drive(b, clients, benchTime, claim)
			for b.Loop() {
				before := c.cost(b, s)
				n := float64(len(s.drive(b, clients, 2*benchTime, claim)))
				for what, cost := range c.cost(b, s) {
					b.ReportMetric((cost-before[what])/n, what)
				}
				b.ReportMetric(n/(2*benchTime).Seconds(), "claims/s")
			}
		})
	}
}

// cost is what a service on Citus has cost so far.
func (c *citus) cost(b *testing.B, s *service) map[string]float64 {
	micros := func(d time.Duration) float64 { return float64(d.Microseconds()) }
	cost := map[string]float64{"us-coordinator/claim": micros(c.used(b)), "us-svc/claim": micros(usedBy(b, s.replicas[0].cmd.Process.Pid))}
	for _, w := range c.workers {
		cost["us-workers/claim"] += micros(w.used(b))
		n, err := w.column("SELECT sum(calls)::bigint FROM pg_stat_statements")
		is.New(b).NoErr(err)
		cost["statements/claim"] += float64(n[0])
	}
	return cost
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
