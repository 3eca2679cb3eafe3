package build

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/index/table"
)

// putEngines stores the rows of database engines.
func putEngines(w *table.Writer, r *reader) {
	group(w, record.EdgesTable, r, "upgrade_edges.tsv", 12, edge)
	group(w, record.BarriersTable, r, "upgrade_barriers.tsv", 7, func(c []string) (api.UpgradeBarrier, error) {
		return api.UpgradeBarrier{From: c[1], To: c[2], Method: c[3], Why: c[4], Instead: c[5], Source: c[6]}, nil
	})
	group(w, record.SeriesTable, r, "database_series.tsv", 5, func(c []string) (api.EngineSeries, error) {
		return api.EngineSeries{Series: c[1], EndOfLife: c[2], Form: c[3], Source: c[4]}, nil
	})
	group(w, record.OffersTable, r, "database_offers.tsv", 6, offer)
}

// The closed sets of the columns.
var (
	downtimes = []string{"seconds", "minutes", "time to copy the data", "time to load the data"}
	risks     = []string{"low", "medium", "high"}
	states    = []string{"running", "stopped"}
	offered   = []string{"default", "stream", "package", "collection", "extra", "repository", "vendor"}
)

func edge(c []string) (api.UpgradeEdge, error) {
	rank, err := strconv.Atoi(c[5])
	if err != nil {
		return api.UpgradeEdge{}, fmt.Errorf("rank: %w", err)
	}
	if !slices.Contains(downtimes, c[4]) || !slices.Contains(risks, c[6]) || c[7] != "yes" && c[7] != "no" || !slices.Contains(states, c[8]) {
		return api.UpgradeEdge{}, fmt.Errorf("downtime %q, risk %q, back %q or state %q is none", c[4], c[6], c[7], c[8])
	}
	return api.UpgradeEdge{
		From: c[1], To: c[2], Method: c[3], Downtime: c[4], Rank: rank, Risk: c[6], Back: c[7] == "yes", State: c[8],
		Requires: sentences(c[9]), Risks: sentences(c[10]), Source: c[11],
	}, nil
}

func offer(c []string) (api.EngineOffer, error) {
	if !slices.Contains(offered, c[3]) {
		return api.EngineOffer{}, fmt.Errorf("%q is no way of offering", c[3])
	}
	return api.EngineOffer{Release: c[1], Version: c[2], How: c[3], Package: c[4], Source: c[5]}, nil
}

// sentences are what semicolons part.
func sentences(column string) []string {
	all := []string{}
	for s := range strings.SplitSeq(column, ";") {
		if s = strings.TrimSpace(s); s != "" {
			all = append(all, s)
		}
	}
	return all
}
