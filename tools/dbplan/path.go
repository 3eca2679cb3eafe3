package dbplan

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/client"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/tools/database"
	"svc/tools/tool"
)

// UpgradePathSchema names the form of the result.
const UpgradePathSchema = "svc.db-upgrade-path/v1"

// UpgradePathInput is the input of DBUpgradePath.
type UpgradePathInput struct {
	Engine        string `json:"engine" jsonschema:"postgresql, mysql, mariadb, mongodb, redis, valkey, openldap or sqlite"`
	From          string `json:"from" jsonschema:"version of the data, such as 8.0.34, or a release: its default"`
	To            string `json:"to" jsonschema:"a version, engine/version, or a release"`
	SourceOffline bool   `json:"source_offline,omitempty" jsonschema:"true: the source is stopped and stays so"`
	InPlace       bool   `json:"in_place,omitempty" jsonschema:"true: on the host it is on; else to a fresh host"`
}

// UpgradePathResult has the ways, the best first.
type UpgradePathResult struct {
	Schema       string `json:"schema"`
	IndexVersion string `json:"index_version"`
	To           string `json:"to"` // as asked
	database.Route
	Scoring string `json:"scoring"` // how a score is made
	tool.Cut
}

// fit leaves the best of the ways where an agent reads the result.
func (r UpgradePathResult) fit(env *tool.Env) UpgradePathResult {
	whole := r
	for env.TooBig(r) && max(len(r.Paths), len(r.Barriers), len(r.Offers)) > 1 {
		r.Paths, r.Barriers, r.Offers = firstHalf(r.Paths), firstHalf(r.Barriers), firstHalf(r.Offers)
		r.Cut = env.Rest("db-upgrade-path", whole)
	}
	return r
}

// firstHalf is what is left of a list of which something has to go.
func firstHalf[T any](list []T) []T { return list[:(len(list)+1)/2] }

// UpgradePath ranks the ways on record. That there is none is no error:
// Possible is then false, and the barriers say why.
func UpgradePath(ctx context.Context, env *tool.Env, in UpgradePathInput) (UpgradePathResult, error) {
	c, err := env.Client(ctx)
	if err != nil {
		return UpgradePathResult{}, err
	}
	source, engine, to := targetOf(in.Engine, in.To)
	g, err := engineGraph(ctx, c, source, engine)
	if err != nil {
		return UpgradePathResult{}, err
	}
	from := database.Place{Engine: source}
	if from.Version, err = versionOf(g, from.Engine, in.From); err != nil {
		return UpgradePathResult{}, err
	}
	move := database.Move{InPlace: in.InPlace, Offline: in.SourceOffline}
	result := UpgradePathResult{Schema: UpgradePathSchema, IndexVersion: g.IndexVersion(), To: in.To, Scoring: database.Weights}
	if r, ok := release.Named(in.To); ok {
		result.Route = g.ToRelease(from, r, move)
		return result.fit(env), nil
	}
	target := database.Place{Engine: engine}
	if target.Version, err = versionOf(g, target.Engine, to); err != nil {
		return UpgradePathResult{}, err
	}
	target.Version, _ = g.SeriesOf(target)
	result.Route = g.To(from, target, move)
	return result.fit(env), nil
}

// engineGraph asks the index about engines, and those that they can become.
func engineGraph(ctx context.Context, c *client.Client, engines ...string) (database.Graph, error) {
	record := map[string]api.UpgradeEdgesResponse{}
	for len(engines) > 0 {
		engine := strings.ToLower(engines[0])
		engines = engines[1:]
		if _, known := record[engine]; known {
			continue
		}
		r, err := client.Call(ctx, c, api.UpgradeEdges, api.UpgradeEdgesRequest{Engine: engine})
		if err != nil {
			return database.Graph{}, err
		}
		record[engine] = r
		engines = append(engines, database.Neighbours(r)...)
	}
	return database.NewGraph(record), nil
}

// versionOf is a version of which the engine's series is on record: as it is
// written, or the default one of a release.
func versionOf(g database.Graph, engine, s string) (database.Version, error) {
	if r, ok := release.Named(s); ok {
		return defaultOf(g, engine, r)
	}
	if known := g.Series(engine); strings.EqualFold(s, "latest") && len(known) > 0 {
		return slices.MaxFunc(known, database.Version.Compare), nil
	}
	v, ok := database.ParseVersion(s)
	if ok {
		_, ok = g.SeriesOf(database.Place{Engine: engine, Version: v})
	}
	if !ok {
		known := sliced.Map(g.Series(engine), func(series database.Version) string { return string(series) })
		return "", tool.InputErrorf("svc_db_upgrade_path", "%q is no version of %s that is on record, and no release; these are: %s", s, engine, strings.Join(known, ", "))
	}
	return v, nil
}

// defaultOf is the version of an engine that a release itself installs unasked.
func defaultOf(g database.Graph, engine string, r release.Release) (database.Version, error) {
	offers := g.Offers(engine, r)
	if len(offers) == 0 || offers[0].How != "default" {
		return "", tool.InputErrorf("svc_db_upgrade_path", "which version of %s %s installs by default is not on record; give the version", engine, r.Slug)
	}
	return offers[0].Version, nil
}

// engines are what people call engines, beside the names on record.
var engines = map[string]string{
	"postgres": "postgresql", "pg": "postgresql", "psql": "postgresql", "pgsql": "postgresql", "maria": "mariadb", "mongo": "mongodb",
	"ldap": "openldap", "slapd": "openldap", "sqlite3": "sqlite",
}

// engineNamed is the engine that a person or a model means.
func engineNamed(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	return cmp.Or(engines[name], name)
}

// targetOf splits what an upgrade leads to: its engine is that of the source,
// unless another goes before the version.
func targetOf(engine, to string) (from, toEngine, version string) {
	from = engineNamed(engine)
	if other, version, change := strings.Cut(to, "/"); change {
		return from, engineNamed(other), version
	}
	return from, from, to
}
