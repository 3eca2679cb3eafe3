// Package dbplan plans the databases of a machine, ranks the ways of one, and takes one on
// this host.
package dbplan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/datadir"
	"svc/assess/host"
	"svc/backend/api"
	"svc/backend/client"
	"svc/backend/sliced"
	"svc/tools/database"
	"svc/tools/job"
	"svc/tools/machine"
	"svc/tools/tool"
)

// PlanSchema names the form of the result.
const PlanSchema = "svc.db-plan/v1"

// PlanInput is the input of DBPlan.
type PlanInput struct {
	machine.Machine
	Target string `json:"target" jsonschema:"release to move to"`
	tool.Aim
}

// PlanResult has every database that was found.
type PlanResult struct {
	Schema       string          `json:"schema"`
	Source       string          `json:"source"`
	Target       string          `json:"target"`
	IndexVersion string          `json:"index_version"`
	Databases    []database.Plan `json:"databases"`
	Sources      []assess.Source `json:"sources"`         // where databases were looked for, and could not be read
	Scoring      string          `json:"scoring"`         // how a path's score is made
	Total        map[string]int  `json:"total,omitempty"` // of databases, where they are cut
	tool.Cut
}

// PlanPart is Plan, or the part of its result that a call aims at.
func PlanPart(ctx context.Context, env *tool.Env, in PlanInput) (any, error) {
	if !in.Aimed() {
		return Plan(ctx, env, in)
	}
	uncut := *env
	uncut.Resources = nil
	whole, err := Plan(ctx, &uncut, in)
	if err != nil {
		return nil, err
	}
	return in.Shoot(env, "svc_db_plan", whole, 0)
}

// Plan reads the databases of a machine and plans each. Nothing is written.
func Plan(ctx context.Context, env *tool.Env, in PlanInput) (PlanResult, error) {
	target, err := job.TargetNamed(in.Target)
	if err != nil {
		return PlanResult{}, err
	}
	d := &databases{&job.Job{Env: env, Machine: in.Machine, Target: target}}
	if err := d.Open(ctx); err != nil {
		return PlanResult{}, err
	}
	defer d.Close()
	if err := d.Assess(ctx); d.Assessment == nil {
		return PlanResult{}, err
	}
	if err := d.Connect(ctx); err != nil {
		return PlanResult{}, err
	}
	result, err := d.plan(ctx)
	if err == nil {
		err = host.Lost(d.Host)
	}
	if err != nil {
		return PlanResult{}, err
	}
	return result.fit(env), nil
}

// databases are those of one machine.
type databases struct{ *job.Job }

func (d *databases) plan(ctx context.Context) (PlanResult, error) {
	r := PlanResult{Schema: PlanSchema, Source: d.Assessment.Release, Target: d.Target.Slug, Databases: []database.Plan{}, Sources: []assess.Source{}, Scoring: database.Weights}
	files, all := d.sqliteFiles()
	if !all {
		r.Sources = append(r.Sources, assess.Source{What: "databases.sqlite", State: assess.SourceUnreadable, Detail: fmt.Sprintf("there are more than %d folders, or %d files of SQLite: the rest was not looked at", sqliteFolders, sqliteMost)})
	}
	found := append(slices.Clone(d.Assessment.Databases), files...)
	graph, err := d.graph(ctx, found)
	if err != nil {
		return r, err
	}
	translations, err := d.translations(ctx)
	if err != nil {
		return r, err
	}
	r.IndexVersion = graph.IndexVersion()
	for i, db := range found {
		d.Env.Step("reading databases", i, len(found))
		if err := ctx.Err(); err != nil {
			return r, fmt.Errorf("reading databases: %w", err)
		}
		r.Databases = append(r.Databases, database.New(database.Input{
			Database: db, Data: datadir.Read(d.Host.FS(), placeOf(db)), Target: d.Target, Graph: graph,
			Libc: libc(d.Assessment.Packages), Packages: d.Assessment.Packages, Translations: translations,
		}))
	}
	r.Sources = append(r.Sources, sliced.Filter(d.Assessment.Sources, func(s assess.Source) bool {
		return strings.HasPrefix(s.What, "databases.") && s.State != assess.SourceOK && s.State != assess.SourceAbsent
	})...)
	return r, nil
}

// placeOf is where a database's data and configuration are.
func placeOf(db assess.Database) datadir.Source {
	src := datadir.Source{Engine: db.Engine, Directory: db.Directory}
	switch file := db.Evidence.Path; {
	case path.Base(file) == "postgresql.conf":
		src.Config = path.Dir(file)
	case strings.HasSuffix(file, ".conf"), strings.HasSuffix(file, ".cnf"):
		src.Config = file
	}
	return src
}

// graph asks what is on record of the engines that are there.
func (d *databases) graph(ctx context.Context, found []assess.Database) (database.Graph, error) {
	known := []string{"postgresql", "mysql", "mariadb", "mongodb", "redis", "valkey", "openldap", "sqlite"}
	engines := sliced.FilterMap(found, func(db assess.Database) (string, bool) {
		e := database.EngineOf(db.Engine)
		return e, slices.Contains(known, e)
	})
	return engineGraph(ctx, d.Client, engines...)
}

// serverPackage tells packages of databases and what is added to them.
var serverPackages = []string{"postgresql", "postgis", "pg", "mysql", "mariadb", "redis", "valkey", "mongodb", "slapd", "openldap", "rh-postgresql"}

// translations are what becomes of the packages of databases, by their names.
func (d *databases) translations(ctx context.Context) (map[string]api.Translation, error) {
	names := []string{}
	for _, p := range d.Assessment.Packages {
		if slices.ContainsFunc(serverPackages, func(prefix string) bool { return strings.HasPrefix(p.Name, prefix) }) && len(names) < api.MaxBatch && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	all := map[string]api.Translation{}
	if len(names) == 0 {
		return all, nil
	}
	resolved, err := client.Call(ctx, d.Client, api.Resolve, api.ResolveRequest{Release: d.Assessment.Release, Packages: names, Architecture: api.BesideX86(d.Assessment.System.Architecture)})
	if err != nil {
		return nil, err
	}
	wanted := job.Canonicals(resolved.Results)
	if len(wanted) == 0 {
		return all, nil
	}
	translated, err := client.Call(ctx, d.Client, api.Translate, api.TranslateRequest{Source: d.Assessment.Release, Target: d.Target.Slug, Canonicals: wanted, Architecture: api.BesideX86(d.Assessment.System.Architecture)})
	if err != nil {
		return nil, err
	}
	for _, r := range resolved.Results {
		for _, t := range translated.Results {
			if r.Canonical != nil && *r.Canonical == t.Canonical {
				all[r.Package] = t
			}
		}
	}
	return all, nil
}

// libc is the version of the machine's C library: a number and a second one.
func libc(packages []assess.Package) database.Version {
	for _, p := range packages {
		if p.Name == "libc6" || p.Name == "glibc" {
			v, _ := database.ParseVersion(p.Version)
			first, rest, _ := strings.Cut(string(v), ".")
			second, _, _ := strings.Cut(rest, ".")
			return database.Version(first + "." + second)
		}
	}
	return ""
}

// Where SQLite files of services and people are looked for, and how far.
var sqlitePlaces = []string{"var/lib", "srv", "opt", "var/www", "var/opt", "usr/local", "home", "root"}

const (
	sqliteDepth   = 4
	sqliteFolders = 3000
	sqliteMost    = 100
)

// sqliteSystem are folders whose files the system makes again by itself.
var sqliteSystem = []string{"var/lib/rpm", "var/lib/dnf", "var/lib/yum", "var/lib/PackageKit", "var/lib/docker", "var/lib/containers", "var/lib/dpkg", "var/lib/apt"}

// sqliteFiles finds files that are named like SQLite's and begin like them, and says
// whether it looked everywhere.
func (d *databases) sqliteFiles() (found []assess.Database, all bool) {
	open, folders := slices.Clone(sqlitePlaces), 0
	for len(open) > 0 {
		if folders >= sqliteFolders || len(found) >= sqliteMost {
			return found, false
		}
		dir := open[0]
		open, folders = open[1:], folders+1
		entries, err := d.Host.FS().ReadDir(dir)
		if err != nil || slices.Contains(sqliteSystem, dir) {
			continue
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			switch {
			case e.IsDir() && strings.Count(name, "/") < sqliteDepth:
				open = append(open, name)
			case e.Type().IsRegular() && slices.Contains([]string{".sqlite", ".sqlite3", ".db", ".db3"}, path.Ext(name)) && d.isSQLite(name):
				found = append(found, assess.Database{Engine: "sqlite", Name: e.Name(), Directory: "/" + name, Evidence: assess.Evidence{Path: "/" + name}})
			}
		}
	}
	return found, true
}

func (d *databases) isSQLite(name string) bool {
	f, err := d.Host.FS().Open(name)
	if err != nil {
		return errors.Is(err, fs.ErrPermission) // it is named, with what could not be read
	}
	defer f.Close()
	var b [100]byte
	n, _ := f.Read(b[:])
	_, err = datadir.ParseSQLite(b[:n])
	return err == nil
}

// fit leaves of each database what is needed first where an agent reads the
// result: the best way, and the beginning of long lists.
func (r PlanResult) fit(env *tool.Env) PlanResult {
	if !env.TooBig(r) {
		return r
	}
	cut := env.Rest("db-plan", r)
	r.Total = map[string]int{"databases": len(r.Databases)}
	r.Databases = slices.Clone(r.Databases)
	for i := range r.Databases {
		p := &r.Databases[i]
		p.Paths, p.Options, p.Barriers = p.Paths[:min(1, len(p.Paths))], p.Options[:min(2, len(p.Options))], p.Barriers[:min(1, len(p.Barriers))]
		p.Reindex, p.Extensions = p.Reindex[:min(3, len(p.Reindex))], p.Extensions[:min(5, len(p.Extensions))]
		p.Data.Databases, p.Data.Facts, p.Data.Unread = p.Data.Databases[:min(3, len(p.Data.Databases))], p.Data.Facts[:min(5, len(p.Data.Facts))], p.Data.Unread[:min(2, len(p.Data.Unread))]
	}
	for env.TooBig(r) && len(r.Databases) > 1 {
		r.Databases = firstHalf(r.Databases)
	}
	r.Cut = cut
	return r
}
