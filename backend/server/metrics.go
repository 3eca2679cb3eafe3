package server

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// metrics are labelled by route pattern, never by path: a path holds ids.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	running  prometheus.Gauge
	refused  *prometheus.CounterVec
	seats    *prometheus.CounterVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "svc_requests_total", Help: "Requests answered.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "svc_request_seconds", Help: "Time from the first byte of a request to the last of its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30},
		}, []string{"route"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "svc_requests_running", Help: "Requests being answered.",
		}),
	}
	m.refused = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "svc_refusals_total", Help: "Requests answered with an error, by its code.",
	}, []string{"code"})
	m.seats = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "svc_seats_claimed_total", Help: "Seats claimed through this process, by the pool they were taken from; overage is invoiced.",
	}, []string{"pool"})
	m.registry.MustRegister(m.requests, m.seconds, m.running, m.refused, m.seats,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// answered counts an endpoint's requests that were answered so.
func (m *metrics) answered(e *endpoint, status int) prometheus.Counter {
	if status == e.status {
		return e.done
	}
	return m.requests.WithLabelValues(e.pattern, strconv.Itoa(status))
}
