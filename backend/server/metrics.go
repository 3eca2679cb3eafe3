package server

import (
	"fmt"
	"io"
	"runtime/metrics"
	"strings"

	victoria "github.com/VictoriaMetrics/metrics"
)

// meters are what /metrics has, but for what is asked for then. They are labelled by
// route pattern, never by path: a path holds ids.
type meters struct {
	set     *victoria.Set
	running *victoria.Gauge
}

// bounds are the upper bounds of a request's time, in seconds.
var bounds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30}

// The metrics of requests; what each is, helps says.
const (
	requestsTotal  = "svc_requests_total"
	requestSeconds = "svc_request_seconds"
	running        = "svc_requests_running"
	refusalsTotal  = "svc_refusals_total"
	seatsClaimed   = "svc_seats_claimed_total"
	shardBytes     = "svc_store_shard_bytes"
)

// helps completes the lines of help, which the library leaves empty.
var helps = strings.NewReplacer(completed(
	requestsTotal, "Requests answered.",
	requestSeconds, "Time from the first byte of a request to the last of its answer.",
	running, "Requests being answered.",
	refusalsTotal, "Requests answered with an error, by its code.",
	seatsClaimed, "Seats claimed through this process, by the pool they were taken from; overage is invoiced.",
	shardBytes, "Size of a shard of the events, of a store that is spread over several servers.",
)...)

// completed are lines of help without and with their text, of names and texts.
func completed(told ...string) (pairs []string) {
	for i := 0; i < len(told); i += 2 {
		line := "# HELP " + told[i]
		pairs = append(pairs, line+"\n", line+" "+told[i+1]+"\n")
	}
	return pairs
}

func newMeters() *meters {
	victoria.ExposeMetadata(true)
	set := victoria.NewSet()
	return &meters{set: set, running: set.NewGauge(running, nil)}
}

// series is the name of a metric with its labels: names and values in turn, all of
// them the program's own.
func series(name string, labels ...string) string {
	var b strings.Builder
	for i := 0; i < len(labels); i += 2 {
		fmt.Fprintf(&b, ",%s=%q", labels[i], labels[i+1])
	}
	return name + "{" + b.String()[1:] + "}"
}

// count is the counter of a series.
func (m *meters) count(name string, labels ...string) *victoria.Counter {
	return m.set.GetOrCreateCounter(series(name, labels...))
}

// seconds are the times of a route's requests.
func (m *meters) seconds(route string) *victoria.PrometheusHistogram {
	return m.set.GetOrCreatePrometheusHistogramExt(series(requestSeconds, "route", route), bounds)
}

// ofRuntime are settings of Go's runtime, by what runtime/metrics calls them.
var ofRuntime = []struct{ name, sample string }{
	{"go_gc_gogc_percent", "/gc/gogc:percent"},
	{"go_gc_gomemlimit_bytes", "/gc/gomemlimit:bytes"},
	{"go_sched_gomaxprocs_threads", "/sched/gomaxprocs:threads"},
}

// write writes the meters, then what the process and Go's runtime say.
func (m *meters) write(w io.Writer) {
	m.set.WritePrometheus(w)
	victoria.WriteProcessMetrics(w)
	victoria.WriteFDMetrics(w)
	for _, one := range ofRuntime {
		sample := []metrics.Sample{{Name: one.sample}}
		metrics.Read(sample)
		victoria.WriteGaugeUint64(w, one.name, sample[0].Value.Uint64())
	}
}
