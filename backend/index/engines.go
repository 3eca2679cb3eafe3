package index

import (
	"errors"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/lookup"
	"svc/backend/index/record"
)

// Engines are the engines of databases on record.
func (ix *Index) Engines() (engines []string) {
	for engine := range ix.tables.File.Table(record.EdgesTable).All() {
		engines = append(engines, engine)
	}
	slices.Sort(engines)
	return engines
}

// UpgradeEdges is what is on record of a database engine's versions, decoded
// once: the answer is shared and must not be changed. An engine without any edge
// is NOT_FOUND.
func (ix *Index) UpgradeEdges(engine string) (api.UpgradeEdgesResponse, error) {
	engine = strings.ToLower(engine)
	if known, ok := ix.engines.Load(engine); ok {
		return known.(api.UpgradeEdgesResponse), nil
	}
	response, err := ix.readEngine(engine)
	if err == nil {
		ix.engines.Store(engine, response)
	}
	return response, err
}

// readEngine decodes what the tables have of an engine.
func (ix *Index) readEngine(engine string) (api.UpgradeEdgesResponse, error) {
	edges, err := lookup.Curated[api.UpgradeEdge](ix.tables.File.Table(record.EdgesTable), engine)
	if err == nil && len(edges) == 0 {
		err = ix.unknownEngine(engine)
	}
	if err != nil {
		return api.UpgradeEdgesResponse{}, err
	}
	barriers, barriersErr := lookup.Curated[api.UpgradeBarrier](ix.tables.File.Table(record.BarriersTable), engine)
	series, seriesErr := lookup.Curated[api.EngineSeries](ix.tables.File.Table(record.SeriesTable), engine)
	offers, offersErr := lookup.Curated[api.EngineOffer](ix.tables.File.Table(record.OffersTable), engine)
	return api.UpgradeEdgesResponse{
		Engine: engine, IndexVersion: ix.Version(), Edges: edges, Barriers: barriers, Series: series, Offers: offers,
	}, errors.Join(barriersErr, seriesErr, offersErr)
}

func (ix *Index) unknownEngine(engine string) error {
	return api.Errorf(api.NotFound, "no upgrade edges are on record for engine %.80q; there are some for %s", engine, strings.Join(ix.Engines(), ", "))
}
