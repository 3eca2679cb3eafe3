package server

import (
	"context"
	"log/slog"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"svc/backend/store"
)

// shards are the metrics of a store that is spread over several servers, asked for when
// they are. They have numbers alone: no account's name, nor a server's.
type shards struct {
	store store.Store
	log   *slog.Logger
}

var shardBytes = prometheus.NewDesc("svc_store_shard_bytes", "Size of a shard of the events, of a store that is spread over several servers.", []string{"shard", "server"}, nil)

// Describe implements prometheus.Collector.
func (s shards) Describe(all chan<- *prometheus.Desc) { all <- shardBytes }

// Collect implements prometheus.Collector. What can't be asked now is left out.
func (s shards) Collect(all chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	found, err := s.store.Shards(ctx)
	if err != nil {
		s.log.Error("measuring the shards", "cause", err)
	}
	for _, one := range found {
		all <- prometheus.MustNewConstMetric(shardBytes, prometheus.GaugeValue, float64(one.Bytes), strconv.FormatInt(one.ID, 10), strconv.FormatInt(one.Server, 10))
	}
}
