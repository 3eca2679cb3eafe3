// Package api is the contract between the service and everybody who calls it:
// endpoints, bodies, limits and errors, each defined once. The server mounts
// these values, the client calls them, and the OpenAPI document prints them.
package api

import "net/http"

// Auth says who may call an endpoint.
type Auth int

const (
	// Public endpoints need no token; one that is sent is ignored.
	Public Auth = iota
	// Bearer endpoints need an account's token.
	Bearer
	// Internal endpoints need the token of an account whose plan is internal.
	Internal
)

// Endpoint is one route: what it takes, what it answers and what it is for.
//
// In is decoded from the JSON body (POST), and its fields tagged `path` and
// `query` from the path and the query string. Where In has a method
// Check() error, the server calls it before anything else happens.
type Endpoint[In, Out any] struct {
	Method string
	Path   string // a ServeMux pattern: /v1/findings/{id}
	Auth   Auth
	Status int    // of success; zero means 200
	Replay bool   // honours Idempotency-Key
	Doc    string // one sentence
}

// None is the In of an endpoint that takes nothing.
type None struct{}

// Every endpoint of the service. The order is the order of the documentation.
var (
	Health  = Endpoint[None, HealthResponse]{Method: http.MethodGet, Path: "/v1/health", Auth: Public, Doc: "Liveness: answers while the process serves."}
	Version = Endpoint[None, VersionResponse]{Method: http.MethodGet, Path: "/v1/version", Auth: Public, Doc: "The service's version and the published releases."}
	OpenAPI = Endpoint[None, Document]{Method: http.MethodGet, Path: "/v1/openapi.json", Auth: Bearer, Doc: "This document."}

	Resolve      = Endpoint[ResolveRequest, ResolveResponse]{Method: http.MethodPost, Path: "/v1/resolve", Auth: Bearer, Doc: "Native package names of a release to canonical slugs. Metered, not charged."}
	Translate    = Endpoint[TranslateRequest, TranslateResponse]{Method: http.MethodPost, Path: "/v1/translate", Auth: Bearer, Doc: "Canonicals of one release to packages of another. Metered, not charged."}
	ConfigPaths  = Endpoint[TranslateRequest, ConfigPathsResponse]{Method: http.MethodPost, Path: "/v1/config-paths", Auth: Bearer, Doc: "Where configuration, units and accounts go between two releases. Metered, not charged."}
	Releases     = Endpoint[None, ReleasesResponse]{Method: http.MethodGet, Path: "/v1/releases", Auth: Bearer, Doc: "The operating-system releases that the index knows."}
	UpgradeEdges = Endpoint[UpgradeEdgesRequest, UpgradeEdgesResponse]{Method: http.MethodGet, Path: "/v1/upgrade-edges", Auth: Bearer, Doc: "Curated upgrade edges of a database engine."}

	Usage     = Endpoint[UsageRequest, UsageResponse]{Method: http.MethodPost, Path: "/v1/usage", Auth: Bearer, Replay: true, Doc: "Records one depersonalized operation on a VM; claims its seat where the kind does."}
	Authorize = Endpoint[UsageRequest, AuthorizeResponse]{Method: http.MethodPost, Path: "/v1/authorize", Auth: Bearer, Doc: "What usage would answer; records nothing."}
	Enroll    = Endpoint[EnrollRequest, EnrollResponse]{Method: http.MethodPost, Path: "/v1/enroll", Auth: Bearer, Replay: true, Doc: "Licenses a VM by its fingerprint."}
	CVEScan   = Endpoint[CVEScanRequest, CVEScanResponse]{Method: http.MethodPost, Path: "/v1/cve-scan", Auth: Bearer, Replay: true, Doc: "Matches a VM's packages against the loaded advisories; needs or claims a seat."}

	GetAccount   = Endpoint[None, Account]{Method: http.MethodGet, Path: "/v1/account", Auth: Bearer, Doc: "Billing and usage summary."}
	GetUsage     = Endpoint[Page, UsageHistory]{Method: http.MethodGet, Path: "/v1/account/usage", Auth: Bearer, Doc: "Billable operations, newest first."}
	GetVMs       = Endpoint[Page, VMList]{Method: http.MethodGet, Path: "/v1/account/vms", Auth: Bearer, Doc: "Licensed VMs, newest first."}
	GetStatement = Endpoint[StatementRequest, Statement]{Method: http.MethodGet, Path: "/v1/account/statement", Auth: Bearer, Doc: "Billing statement: instances, rate, annual total, and a line an instance: all of them, or a page; with format=csv the lines alone."}
	GetCapacity  = Endpoint[None, Capacity]{Method: http.MethodGet, Path: "/v1/account/capacity", Auth: Bearer, Doc: "Capacity and its terms."}
	Entitlements = Endpoint[None, Capacity]{Method: http.MethodGet, Path: "/v1/account/entitlements", Auth: Bearer, Doc: "Alias of /v1/account/capacity."}
	Terms        = Endpoint[None, Capacity]{Method: http.MethodGet, Path: "/v1/account/terms", Auth: Bearer, Doc: "Alias of /v1/account/capacity."}

	FileFinding    = Endpoint[FindingRequest, Finding]{Method: http.MethodPost, Path: "/v1/findings", Auth: Bearer, Status: http.StatusCreated, Replay: true, Doc: "Files a finding; names and paths are stripped."}
	ListFindings   = Endpoint[ShortPage, FindingList]{Method: http.MethodGet, Path: "/v1/findings", Auth: Bearer, Doc: "This account's findings, newest first."}
	GetFinding     = Endpoint[ByID, Finding]{Method: http.MethodGet, Path: "/v1/findings/{id}", Auth: Bearer, Doc: "One finding of this account."}
	ResolveFinding = Endpoint[ResolveFindingRequest, Finding]{Method: http.MethodPost, Path: "/v1/findings/{id}/resolve", Auth: Internal, Doc: "Marks a finding fixed in the newest staged release of a channel."}
	AskQuestion    = Endpoint[QuestionRequest, Question]{Method: http.MethodPost, Path: "/v1/questions", Auth: Bearer, Status: http.StatusCreated, Replay: true, Doc: "Files a question; names and paths are stripped."}
	ListQuestions  = Endpoint[ShortPage, QuestionList]{Method: http.MethodGet, Path: "/v1/questions", Auth: Bearer, Doc: "This account's questions, newest first."}
	GetQuestion    = Endpoint[ByID, Question]{Method: http.MethodGet, Path: "/v1/questions/{id}", Auth: Bearer, Doc: "One question of this account."}
	AnswerQuestion = Endpoint[AnswerRequest, Question]{Method: http.MethodPost, Path: "/v1/questions/{id}/answer", Auth: Internal, Doc: "Writes the team's answer."}

	AttestSign = Endpoint[SignRequest, Envelope]{Method: http.MethodPost, Path: "/v1/attest/sign", Auth: Bearer, Doc: "Signs an in-toto statement about a VM that this account has seated; records no usage."}
	Schema     = Endpoint[SchemaRequest, Document]{Method: http.MethodGet, Path: "/v1/schemas/{name}", Auth: Bearer, Doc: "The JSON Schema of a statement, a predicate, or a document that svc writes."}
	AttestKeys = Endpoint[None, KeysResponse]{Method: http.MethodGet, Path: "/v1/attest/keys", Auth: Bearer, Doc: "The public keys that sign, retired ones included."}
)
