package server

import (
	"context"
	"io"
	"strconv"

	victoria "github.com/VictoriaMetrics/metrics"

	"svc/backend/store"
)

// writeShards writes the sizes of the shards of a store that is spread over several
// servers. They have numbers alone: no account's name, nor a server's. What can't be
// asked now is left out.
func (s *Server) writeShards(ctx context.Context, w io.Writer) {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	found, err := s.cfg.Store.Shards(ctx)
	if err != nil {
		s.cfg.Log.Error("measuring the shards", "cause", err)
	}
	sizes(found).WritePrometheus(w)
}

func sizes(found []store.Shard) *victoria.Set {
	set := victoria.NewSet()
	for _, one := range found {
		name := series(shardBytes, "shard", strconv.FormatInt(one.ID, 10), "server", strconv.FormatInt(one.Server, 10))
		set.NewGauge(name, nil).Set(float64(one.Bytes))
	}
	return set
}
