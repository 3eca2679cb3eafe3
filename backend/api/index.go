package api

import "svc/backend/release"

// HealthResponse is the answer of a process that serves.
type HealthResponse struct {
	Status string `json:"status"` // "ok"
}

// ResolveRequest asks for the canonicals of native package names.
type ResolveRequest struct {
	Release  string   `json:"release"`  // a release slug or one of its aliases
	Packages []string `json:"packages"` // 1 to 1000 native names

	Architecture string `json:"architecture,omitempty"` // of the machine: arm64, aarch64; x86-64 where empty
}

// Check refuses an empty or an oversized batch.
func (r ResolveRequest) Check() error {
	if r.Release == "" {
		return Errorf(MalformedRequest, "release is required: a slug such as debian-12")
	}
	if err := checkArchitecture(r.Architecture); err != nil {
		return err
	}
	return checkItems(r.Packages, "packages")
}

// ResolveResponse has one result for each package asked, in the same order.
type ResolveResponse struct {
	Release      string       `json:"release"`
	IndexVersion string       `json:"index_version"`
	Results      []Resolution `json:"results"`
	Resolved     int          `json:"resolved"`
	Unresolved   int          `json:"unresolved"`
}

// Role is the job that a binary package has within its software.
type Role string

// The roles of the contract.
const (
	RoleMain   Role = "main"
	RoleClient Role = "client"
	RoleLib    Role = "lib"
	RoleDev    Role = "dev"
	RoleDoc    Role = "doc"
	RoleCommon Role = "common"
	RoleDebug  Role = "debug"
	RoleLang   Role = "lang"
	RolePlugin Role = "plugin"
)

// Roles lists the closed set.
var Roles = []Role{RoleMain, RoleClient, RoleLib, RoleDev, RoleDoc, RoleCommon, RoleDebug, RoleLang, RolePlugin}

// Match says by what evidence a name was resolved.
type Match string

// The matches of the contract, best first.
const (
	MatchExact     Match = "exact"
	MatchAlias     Match = "alias"
	MatchProvides  Match = "provides"
	MatchSource    Match = "source"
	MatchHeuristic Match = "heuristic"
	MatchNone      Match = "none"
)

// Resolution is what a native package name is, independent of distribution.
type Resolution struct {
	Package    string  `json:"package"`
	Canonical  *string `json:"canonical"` // null where match is none
	Software   *string `json:"software"`
	Role       *Role   `json:"role"`
	Major      *string `json:"major"` // "17" of openjdk-17; null where it does not matter
	Confidence float64 `json:"confidence"`
	Match      Match   `json:"match"`
}

// TranslateRequest asks for the counterparts of canonicals in another release.
type TranslateRequest struct {
	Source     string   `json:"source"`
	Target     string   `json:"target"`
	Canonicals []string `json:"canonicals"` // 1 to 1000

	Architecture string `json:"architecture,omitempty"` // of the machine: arm64, aarch64; x86-64 where empty
}

// Check refuses an empty or an oversized batch.
func (r TranslateRequest) Check() error {
	if r.Source == "" || r.Target == "" {
		return Errorf(MalformedRequest, "source and target are required: slugs such as centos-7 and debian-12")
	}
	if err := checkArchitecture(r.Architecture); err != nil {
		return err
	}
	return checkItems(r.Canonicals, "canonicals")
}

// TranslateResponse has one result for each canonical asked, in the same order.
type TranslateResponse struct {
	Source       string        `json:"source"`
	Target       string        `json:"target"`
	IndexVersion string        `json:"index_version"`
	Results      []Translation `json:"results"`
}

// Relation says how software of one release relates to its counterpart.
type Relation string

// The relations of the contract: a closed set, so that a plan's rows add up.
const (
	RelationSame     Relation = "same"
	RelationRenamed  Relation = "renamed"
	RelationSplit    Relation = "split"
	RelationMerged   Relation = "merged"
	RelationReplaced Relation = "replaced"
	RelationIncluded Relation = "included" // comes with the base system or as a dependency
	RelationRemoved  Relation = "removed"
	RelationUnknown  Relation = "unknown"
)

// Relations lists the closed set in the order in which reports show it.
var Relations = []Relation{
	RelationSame, RelationRenamed, RelationSplit, RelationMerged,
	RelationReplaced, RelationIncluded, RelationRemoved, RelationUnknown,
}

// Severity grades a caveat.
type Severity string

// The severities of a caveat.
const (
	SeverityInfo      Severity = "info"
	SeverityWarning   Severity = "warning"
	SeverityInhibitor Severity = "inhibitor"
)

// Translation is what one canonical becomes.
type Translation struct {
	Canonical    string          `json:"canonical"`
	Relation     Relation        `json:"relation"`
	Packages     []TargetPackage `json:"packages"`
	Confidence   float64         `json:"confidence"` // 0 to 1; below 0.8 is a question, never an install
	Caveats      []Caveat        `json:"caveats"`
	Conditionals []Conditional   `json:"conditionals"`
}

// TargetPackage is a package of the target release.
type TargetPackage struct {
	Name       string `json:"name"`
	Version    string `json:"version"`    // empty where no data backs one
	Repository string `json:"repository"` // main, contrib, epel, …; empty where unknown
}

// EPEL is the repository of packages that EL itself does not have.
const EPEL = "epel"

// Caveat is something a person should know about a translation.
type Caveat struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Text     string   `json:"text"`
}

// Conditional adds packages where its condition holds on the VM.
type Conditional struct {
	When     Condition `json:"when"`
	Text     string    `json:"text"`
	Packages []string  `json:"packages"`
}

// Condition has exactly one member; the client evaluates it on the VM.
type Condition struct {
	CanonicalInstalled string `json:"canonical_installed,omitempty"`
	ServiceEnabled     string `json:"service_enabled,omitempty"`
	PathExists         string `json:"path_exists,omitempty"`
}

// ConfigPathsResponse has one result for each canonical asked, in the same order.
type ConfigPathsResponse struct {
	Source       string            `json:"source"`
	Target       string            `json:"target"`
	IndexVersion string            `json:"index_version"`
	Results      []ConfigRelocated `json:"results"`
}

// ConfigRelocated is where the configuration of one canonical goes.
type ConfigRelocated struct {
	Canonical   string       `json:"canonical"`
	Relocations []Relocation `json:"relocations"`
	// Units are those that the target's packages in its place ship; absent where the index does not know them.
	Units []string `json:"units,omitzero"`
}

// RelocationKind says what a relocation moves.
type RelocationKind string

// The kinds of a relocation.
const (
	RelocateFile    RelocationKind = "file"
	RelocateDir     RelocationKind = "dir"
	RelocateService RelocationKind = "service"
	RelocateUser    RelocationKind = "user"
	RelocateGroup   RelocationKind = "group"
)

// RelocationAction says what has to be done.
type RelocationAction string

// The actions of a relocation.
const (
	ActionCopy    RelocationAction = "copy"
	ActionConvert RelocationAction = "convert"
	ActionManual  RelocationAction = "manual"
	ActionDrop    RelocationAction = "drop" // To is null
)

// Relocation is one path, unit, user or group that moves: one of a canonical for
// each kind and From. Root is itself in every release, and never in one.
type Relocation struct {
	From         string           `json:"from"`
	To           *string          `json:"to"`
	Kind         RelocationKind   `json:"kind"`
	Action       RelocationAction `json:"action"`
	Note         string           `json:"note"`
	Alternatives []OtherPlace     `json:"alternatives,omitempty"` // other places that are possible, the likelier first
}

// Place is where it goes; empty where nothing takes its place.
func (r Relocation) Place() string {
	if r.To == nil {
		return ""
	}
	return *r.To
}

// OtherPlace is another place to which a relocation may lead.
type OtherPlace struct {
	To   string `json:"to"`
	Note string `json:"note"`
}

// ReleasesResponse lists the releases of the index.
type ReleasesResponse struct {
	IndexVersion string        `json:"index_version"`
	IndexDate    *string       `json:"index_date"` // YYYY-MM-DD, by which its facts had been taken from the archives; null where it was built elsewhere
	Releases     []ReleaseInfo `json:"releases"`
}

// ReleaseInfo is one known operating-system release.
type ReleaseInfo struct {
	Slug      string   `json:"slug"`
	Name      string   `json:"name"`
	Aliases   []string `json:"aliases"`
	Released  *string  `json:"released"`    // YYYY-MM-DD
	EndOfLife *string  `json:"end_of_life"` // YYYY-MM-DD, of the vendor's free support
	Packages  *int     `json:"packages"`    // of the list where that is whole
	List      Listing  `json:"list"`        // what is known of its packages
}

// Listing says how much of a release's list of packages the index has. What a list
// lacks, a plan asks about; `svc admin index build --rpm-md` makes it whole.
type Listing string

// The listings.
const (
	ListWhole   Listing = "whole"   // what its archive has
	ListDerived Listing = "derived" // what another release has, but for what is known to differ
	ListMost    Listing = "most"    // nearly all names
	ListSome    Listing = "some"    // names that are found in rules and other lists
	ListNone    Listing = "none"    // it is a name alone: neither source nor target of a plan
)

// InfoOf is the part of a ReleaseInfo that the release itself says.
func InfoOf(r release.Release) ReleaseInfo {
	return ReleaseInfo{Slug: r.Slug, Name: r.Name, Aliases: r.Aliases, Released: date(r.Released), EndOfLife: date(r.EndOfLife)}
}

func date(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// UpgradeEdgesRequest names a database engine.
type UpgradeEdgesRequest struct {
	Engine string `json:"-" query:"engine"` // postgresql, mariadb, mysql, redis, valkey, mongodb, openldap, sqlite
}

// Check refuses a request that names no engine.
func (r UpgradeEdgesRequest) Check() error {
	if r.Engine == "" {
		return Errorf(MalformedRequest, "engine is required: postgresql, mariadb, mysql, redis, valkey, mongodb, openldap or sqlite")
	}
	return nil
}

// UpgradeEdgesResponse is what is on record of a database engine's versions.
// Every list is sorted as its rows are, and never null.
type UpgradeEdgesResponse struct {
	Engine       string           `json:"engine"`
	IndexVersion string           `json:"index_version"`
	Edges        []UpgradeEdge    `json:"edges"`
	Barriers     []UpgradeBarrier `json:"barriers"`
	Series       []EngineSeries   `json:"series"`
	Offers       []EngineOffer    `json:"offers"`
}

// UpgradeEdge is one supported way from a range of versions to another. From is
// any, a series (8.0), or bounds (9.2..14; >=7.4,<8.0); a series stands for its
// last release. To may also be newer, same, or newer with a range; where it is
// of another engine, that goes before it.
type UpgradeEdge struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Method   string   `json:"method"`
	Downtime string   `json:"downtime"` // seconds, minutes, time to copy the data, time to load the data
	Rank     int      `json:"rank"`     // 1 is best
	Risk     string   `json:"risk"`     // low, medium, high
	Back     bool     `json:"back"`     // the source is as it was afterwards: starting it again is the way back
	State    string   `json:"state"`    // of the source meanwhile: running, stopped
	Requires []string `json:"requires"`
	Risks    []string `json:"risks"`
	Source   string   `json:"source"`
}

// UpgradeBarrier is a way that does not work. To may also be older, and beyond:
// newer than the next series.
type UpgradeBarrier struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Method  string `json:"method"`
	Why     string `json:"why"`
	Instead string `json:"instead"` // what would make it possible
	Source  string `json:"source"`
}

// EngineSeries are the versions of an engine whose data have one form.
type EngineSeries struct {
	Series    string `json:"series"`      // 9.6, 13, 10.11
	EndOfLife string `json:"end_of_life"` // YYYY-MM-DD; empty where none is on record
	Form      string `json:"form"`        // as files of the data state it: "catalog 202007201", "rdb 11", "fcv 7.0"; empty where they don't
	Source    string `json:"source"`
}

// EngineOffer is a version that a release offers.
type EngineOffer struct {
	Release string `json:"release"` // slug; el-9 is every distribution of EL 9, * every release that a vendor builds for
	Version string `json:"version"` // a series
	How     string `json:"how"`     // default, stream, package, collection, extra, repository, vendor
	Package string `json:"package"` // a module's stream where how is stream
	Source  string `json:"source"`
}
