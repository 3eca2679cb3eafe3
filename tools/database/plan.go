package database

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/datadir"
	"svc/backend/api"
	"svc/backend/release"
	"svc/backend/sliced"
)

// Gap says how far the target's offer is from a database.
type Gap string

// The gaps.
const (
	GapNone         Gap = "none"          // the same series, and no other release of it is known
	GapMinor        Gap = "minor"         // the same series, another release
	GapMajor        Gap = "major"         // a newer series
	GapEngineChange Gap = "engine change" // the release has another engine in its place
	GapNotOffered   Gap = "not offered"   // nothing that the release itself has takes these data
	GapUnknown      Gap = "unknown"       // the version of the data is not known
)

// Input is what a plan of one database is made of.
type Input struct {
	Database     assess.Database
	Data         datadir.Statement
	Target       release.Release
	Graph        Graph
	Libc         Version                    // of the machine; empty where unknown
	Packages     []assess.Package           // of the machine
	Translations map[string]api.Translation // by name of a package of the machine
}

// Plan is what becomes of one database.
type Plan struct {
	Engine     string            `json:"engine"`
	Name       string            `json:"name"`
	Directory  string            `json:"directory"`
	Port       int               `json:"port"`
	Package    string            `json:"package"`
	Installed  string            `json:"installed"` // version of the server; empty where none is
	Version    Version           `json:"version"`   // of the data, or of the server where they state none
	StatedBy   string            `json:"stated_by"` // data or package
	Series     Version           `json:"series"`    // empty where it is not on record
	Supported  string            `json:"supported"` // until when its makers support the series: YYYY-MM-DD, empty where unknown
	Data       datadir.Statement `json:"data"`
	Gap        Gap               `json:"gap"`
	Target     *Target           `json:"target,omitempty"`
	Options    []Offer           `json:"options"` // other versions and engines to be had
	Paths      []Path            `json:"paths"`   // to the target, the best first
	Barriers   []Barrier         `json:"barriers"`
	Reindex    []Reindex         `json:"reindex"`
	Extensions []Addition        `json:"extensions"`
	Notes      []Note            `json:"notes"`
}

// Target is the version that the target offers.
type Target struct {
	Offer
	Exact string `json:"exact"` // version of its package; empty where no data backs one
}

// Addition is an extension of a database, and what brings it on the target.
type Addition struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Databases []string `json:"databases"`
	Package   string   `json:"package"` // that brings it on the source; empty where none looks like it
	Targets   []string `json:"targets"` // packages of the target
	Offered   string   `json:"offered"` // yes, no, unknown
}

// Note is something a person has to know.
type Note struct {
	Severity assess.FindingSeverity `json:"severity"`
	Text     string                 `json:"text"`
}

// EngineOf is the name under which versions of an assessed engine are on record.
func EngineOf(engine string) string {
	if engine == "slapd" {
		return "openldap"
	}
	return engine
}

// New plans one database.
func New(in Input) Plan {
	d := in.Database
	p := Plan{
		Engine: EngineOf(d.Engine), Name: d.Name, Directory: d.Directory, Port: d.Port, Package: d.Package, Data: in.Data,
		Options: []Offer{}, Paths: []Path{}, Barriers: []Barrier{}, Reindex: []Reindex{}, Extensions: []Addition{}, Notes: []Note{},
	}
	if d.Package != "" {
		if i := slices.IndexFunc(in.Packages, func(o assess.Package) bool { return o.Name == d.Package }); i >= 0 {
			v, _ := ParseVersion(in.Packages[i].Version)
			p.Installed = string(v)
		}
	}
	p.attribute(in)
	p.aim(in)
	if p.Engine == "postgresql" {
		p.Reindex = reindexes(in.Data.Databases, in.Libc, in.Target)
		p.Extensions = additions(in, p.Series)
	}
	p.Notes = append(p.Notes, notes(p, in)...)
	return p
}

// attribute says which version the data are of: what they state themselves
// counts, and completes itself by the server that is installed.
func (p *Plan) attribute(in Input) {
	stated, fromData := ParseVersion(in.Data.Version)
	installed, _ := ParseVersion(cmp.Or(p.Installed, in.Database.Version))
	p.Version, p.StatedBy = stated, "data"
	switch {
	case !fromData:
		p.Version, p.StatedBy = installed, "package"
	case p.Engine == "postgresql" && installed.in(stated):
		p.Version = installed // the data state the series alone
	}
	if p.Version == "" {
		p.StatedBy = ""
		return
	}
	p.Series, _ = in.Graph.SeriesOf(Place{p.Engine, p.Version})
	for _, s := range in.Graph.record[p.Engine].Series {
		if Version(s.Series) == p.Series {
			p.Supported = s.EndOfLife
		}
	}
}

// aim finds what the target offers, how far that is, and the ways there.
func (p *Plan) aim(in Input) {
	own, vendors := split(in.Graph.Offers(p.Engine, in.Target))
	var others []Offer
	for _, engine := range Neighbours(in.Graph.record[p.Engine]) {
		o, _ := split(in.Graph.Offers(engine, in.Target))
		others = append(others, o...)
	}
	p.Options = append(append(append(p.Options, own...), others...), vendors...)
	if p.Series == "" {
		p.Gap = GapUnknown
		return
	}
	o, gap := nearest(p.Series, own, others)
	p.Gap = gap
	at := Place{p.Engine, p.Version}
	if gap == GapNotOffered {
		r := in.Graph.ToRelease(at, in.Target, Move{})
		p.Paths, p.Barriers = r.Paths[:min(1, len(r.Paths))], r.Barriers
		return
	}
	p.Target = &Target{o, exact(in.Translations, o.Package)}
	if exact, known := ParseVersion(p.Target.Exact); gap == GapNone && known && exact != p.Version && p.Version != p.Series {
		p.Gap = GapMinor
	}
	p.Options = slices.DeleteFunc(p.Options, func(other Offer) bool { return other == o })
	r := in.Graph.route(at, []Offer{o}, nil, Move{})
	p.Paths, p.Barriers = r.Paths, r.Barriers
}

// nearest is the offer for data of a series: the same series wherever it is
// from, else a newer one, that which is there by default first; else the
// default of another engine.
func nearest(series Version, own, others []Offer) (Offer, Gap) {
	for _, o := range own {
		if o.Version == series {
			return o, GapNone
		}
	}
	for _, o := range own {
		if o.Version.Compare(series) > 0 {
			return o, GapMajor
		}
	}
	if len(own) == 0 && len(others) > 0 {
		return others[0], GapEngineChange
	}
	return Offer{}, GapNotOffered
}

// exact is the version of a package of the target, where the index has it.
func exact(translations map[string]api.Translation, name string) string {
	for _, t := range translations {
		for _, p := range t.Packages {
			if p.Name == name && p.Version != "" {
				return p.Version
			}
		}
	}
	return ""
}

// contrib are the extensions that PostgreSQL itself comes with.
var contrib = strings.Fields(`adminpack amcheck autoinc bloom btree_gin btree_gist citext cube dblink dict_int dict_xsyn earthdistance file_fdw fuzzystrmatch hstore insert_username
	intagg intarray isn lo ltree moddatetime old_snapshot pageinspect pg_buffercache pg_freespacemap pg_logicalinspect pg_prewarm pg_stat_statements pg_surgery pg_trgm pg_visibility
	pg_walinspect pgcrypto pgrowlocks pgstattuple plpgsql postgres_fdw refint seg sslinfo tablefunc tcn tsm_system_rows tsm_system_time unaccent uuid-ossp xml2`)

// gone are extensions of PostgreSQL itself that a series no longer has.
var gone = map[string]Version{"adminpack": "17", "old_snapshot": "17", "plpython2u": "13", "plpythonu": "13", "tsearch2": "10", "chkpass": "11"}

// additions are the extensions of all databases of a cluster.
func additions(in Input, series Version) []Addition {
	all := []Addition{}
	for _, d := range in.Data.Databases {
		for _, e := range d.Extensions {
			i := slices.IndexFunc(all, func(a Addition) bool { return a.Name == e.Name && a.Version == e.Version })
			if i < 0 {
				i = len(all)
				all = append(all, addition(in, series, e))
			}
			all[i].Databases = append(all[i].Databases, d.Name)
		}
	}
	slices.SortFunc(all, func(a, b Addition) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	return all
}

func addition(in Input, series Version, e datadir.Extension) Addition {
	a := Addition{Name: e.Name, Version: e.Version, Databases: []string{}, Targets: []string{}, Offered: "unknown"}
	offers, _ := split(in.Graph.Offers("postgresql", in.Target))
	o, gap := nearest(series, offers, nil)
	since, isGone := gone[e.Name]
	switch {
	case isGone && gap != GapNotOffered && o.Version.Compare(since) >= 0:
		a.Offered = "no"
		return a
	case slices.Contains(contrib, e.Name):
		a.Offered = "yes" // with the server, or its package of contributions
		return a
	}
	a.Package = packageOf(in.Packages, e.Name)
	t := in.Translations[a.Package]
	a.Targets = append(a.Targets, sliced.Map(t.Packages, func(p api.TargetPackage) string { return p.Name })...)
	switch {
	case a.Package == "":
	case len(a.Targets) > 0:
		a.Offered = "yes"
	case t.Relation == api.RelationRemoved:
		a.Offered = "no"
	}
	return a
}

// packageOf is the package of a server that an extension's name stands in:
// postgresql-13-postgis-3, pgvector_16, postgresql-plpython3-15.
func packageOf(packages []assess.Package, extension string) string {
	plain := strings.ReplaceAll(strings.TrimSuffix(extension, "u"), "_", "-")
	for _, p := range packages {
		name := strings.ReplaceAll(p.Name, "_", "-")
		server := strings.HasPrefix(name, "postgresql") || strings.HasPrefix(name, "pg") || strings.HasPrefix(name, plain)
		if server && strings.Contains("-"+name+"-", plain+"-") && !strings.Contains(name, "-scripts") {
			return p.Name
		}
	}
	return ""
}

// notes are what a person has to know of the data before they move.
func notes(p Plan, in Input) (all []Note) {
	add := func(severity assess.FindingSeverity, format string, args ...any) {
		all = append(all, Note{severity, fmt.Sprintf(format, args...)})
	}
	if s := in.Data.State; s != "" && !strings.HasPrefix(s, "shut down") {
		add(assess.High, "The server was not shut down (%s): files that are copied so are not whole. Stop it cleanly first.", s)
	}
	if in.Data.Version != "" && p.Installed != "" {
		data, _ := in.Graph.SeriesOf(Place{p.Engine, Version(in.Data.Version)})
		server, known := in.Graph.SeriesOf(Place{p.Engine, Version(p.Installed)})
		if known && data != server {
			add(assess.High, "The data are of %s %s, and the server that is installed is %s.", p.Engine, data, p.Installed)
		}
	}
	for _, s := range in.Graph.record[p.Engine].Series {
		if form := in.Data.Form; Version(s.Series) == p.Series && form != "" && s.Form != "" && form != s.Form && p.Engine == "postgresql" {
			add(assess.Medium, "The data state %s, and releases of %s have %s: a test version or another product made them.", form, p.Series, s.Form)
		}
	}
	if p.Gap == GapEngineChange {
		add(assess.High, "The target has no %s; %s takes its place there.", p.Engine, p.Target.Place)
	}
	if p.Engine == "postgresql" && p.Target != nil && in.Data.Checksums == "off" && p.Target.Version.Compare("18") >= 0 {
		add(assess.Low, "Pages have no checksums here, and new clusters of 18 have them: pg_upgrade needs a target made with initdb --no-data-checksums, or pg_checksums --enable here.")
	}
	for _, r := range in.Data.Replication {
		if strings.HasPrefix(r, datadir.WritesLog) { // MySQL does so by itself
			add(assess.Low, "It %s: where others follow it by that, plan them with it.", r)
			continue
		}
		add(assess.Medium, "It is part of a replication: %s. Plan the others with it.", r)
	}
	return append(all, authNotes(p)...)
}

// authentication says what becomes of a way to authenticate from a version on.
var authentication = []struct {
	engine, name string // of the target
	since        Version
	severity     assess.FindingSeverity
	text         string
}{
	{"postgresql", "md5", "18", assess.Medium, "passwords kept as MD5 are deprecated from 18 on: set them again under scram-sha-256"},
	{"postgresql", "ident", "any", assess.Low, "ident and peer name accounts of the operating system: they have to be there on the target"},
	{"postgresql", "trust", "any", assess.Medium, "trust lets in whoever reaches the server: look at its lines before they move"},
	{"mysql", "mysql_native_password", "8.4", assess.High, "mysql_native_password is off by default in 8.4 and gone from 9.0 on: change the accounts that use it first"},
	{"mysql", "mysql_old_password", "5.7", assess.High, "passwords of the old form are refused from 5.7 on"},
	{"mariadb", "caching_sha2_password", "any", assess.High, "MariaDB has no caching_sha2_password: these accounts need their passwords anew"},
	{"mariadb", "sha256_password", "any", assess.High, "MariaDB has no sha256_password: these accounts need their passwords anew"},
}

func authNotes(p Plan) (all []Note) {
	if p.Target == nil {
		return nil
	}
	for _, a := range authentication {
		applies := a.since == "any" || p.Target.Version.compare(a.since, 0) >= 0
		uses := slices.ContainsFunc(p.Data.Auth, func(c datadir.Count) bool { return c.Name == a.name })
		if a.engine == p.Target.Engine && applies && uses {
			all = append(all, Note{a.severity, a.text + "."})
		}
	}
	return all
}
