package server

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/api/redact"
	"svc/backend/api/schema"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/sqlite"
	"svc/backend/store/storetest"
)

// TestEveryEndpointIsMounted reads the endpoints from the contract's source:
// one that no route serves is found.
func TestEveryEndpointIsMounted(t *testing.T) {
	is := is.New(t)
	mounted := map[string]bool{}
	for _, r := range (*Server)(nil).routes() {
		mounted[r.path+" "+r.doc] = true
	}
	file, err := parser.ParseFile(token.NewFileSet(), "../api/endpoint.go", nil, 0)
	is.NoErr(err)
	declared := 0
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		fields := map[string]string{}
		for _, e := range literal.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				if value, ok := pair.Value.(*ast.BasicLit); ok {
					fields[pair.Key.(*ast.Ident).Name] = strings.Trim(value.Value, `"`)
				}
			}
		}
		if path := fields["Path"]; path != "" {
			declared++
			if !mounted[path+" "+fields["Doc"]] {
				t.Errorf("%s is not mounted", path)
			}
		}
		return true
	})
	is.Equal(declared, len(mounted))
}

func TestPublicRoutes(t *testing.T) {
	is := is.New(t)
	s := start(t)
	is.Equal(string(s.call("GET", "/v1/health", "", nil).body), `{"status":"ok"}`)
	is.Equal(s.call("GET", "/v1/health", "nonsense", nil).status, 200) // a token is ignored
	v := get[api.VersionResponse](s, s.call("GET", "/v1/version", "", nil))
	is.Equal(v.Service, api.ServiceVersion{Version: "1.2.3", Commit: "abc"})
	is.True(v.Releases.Stable == nil && len(v.History) == 0)

	ctx := t.Context()
	stage := func(tag, notes string) {
		_, err := s.db.StageRelease(ctx, "test", store.Release{Tag: tag, Channel: "stable", Notes: notes})
		is.NoErr(err)
	}
	stage("v1", "first")
	_, err := s.db.PublishRelease(ctx, "test", "v1")
	is.NoErr(err)
	stage("v2", "")
	v = get[api.VersionResponse](s, s.call("GET", "/v1/version", "", nil))
	is.Equal(v.Releases.Stable.Tag, "v1") // v2 is only staged
	is.Equal(len(v.History), 1)
	is.True(v.Releases.Beta == nil)
}

func TestIndexRoutes(t *testing.T) {
	is := is.New(t)
	s := start(t)
	token := s.free()
	names := []string{"bash", "no-such-package-xyz", "bash"}
	r := get[api.ResolveResponse](s, s.call("POST", "/v1/resolve", token, api.ResolveRequest{Release: "bookworm", Packages: names}))
	is.Equal(r.Release, "debian-12")
	is.Equal(len(r.Results), 3) // in order, duplicates included
	is.Equal(r.Results[1].Match, api.MatchNone)
	is.True(r.Results[1].Canonical == nil)
	is.Equal(r.Results[0], r.Results[2])
	is.Equal(r.Resolved, 2)
	is.Equal(r.Unresolved, 1)
	ask := api.TranslateRequest{Source: "debian-11", Target: "debian-12", Canonicals: []string{*r.Results[0].Canonical, "nothing"}}
	tr := get[api.TranslateResponse](s, s.call("POST", "/v1/translate", token, ask))
	is.Equal(len(tr.Results), 2)
	is.Equal(tr.Results[0].Relation, api.RelationSame)
	is.Equal(tr.IndexVersion, r.IndexVersion)
	c := get[api.ConfigPathsResponse](s, s.call("POST", "/v1/config-paths", token, ask))
	is.Equal(len(c.Results), 2)
	is.True(c.Results[0].Units != nil && len(c.Results[0].Units) == 0) // bash has none
	is.True(c.Results[1].Units == nil)                                 // of this, nobody knows
	is.Equal(get[api.Account](s, s.call("GET", "/v1/account", token, nil)).MeteredRequests, api.MeteredRequests{Today: 3, ThisMonth: 3})

	unknown := s.call("POST", "/v1/resolve", token, api.ResolveRequest{Release: "debain-12", Packages: names})
	s.refused(unknown, api.UnknownRelease)
	is.True(strings.Contains(unknown.refusal(t).Message, "debian-12")) // the nearest are named
	list := get[api.ReleasesResponse](s, s.call("GET", "/v1/releases", token, nil))
	is.True(len(list.Releases) > 10)
	edges := s.call("GET", "/v1/upgrade-edges?engine=postgresql", token, nil)
	if want, err := s.server.cfg.Index.UpgradeEdges("postgresql"); err == nil {
		is.Equal(get[api.UpgradeEdgesResponse](s, edges), want)
	} else {
		s.refused(edges, api.CodeOf(err))
	}
	s.refused(s.call("GET", "/v1/upgrade-edges?engine=paradox", token, nil), api.NotFound)
	s.refused(s.call("GET", "/v1/upgrade-edges", token, nil), api.MalformedRequest)
	s.refused(s.call("GET", "/v1/upgrade-edges?engine=%00", token, nil), api.MalformedRequest)
}

// TestAuthorizeSaysWhatUsageDoes asks authorize before every usage.
func TestAuthorizeSaysWhatUsageDoes(t *testing.T) {
	for name, a := range map[string]license.Account{
		"free":      {Plan: api.PlanFree, FreeQuota: 2},
		"paying":    {Plan: api.PlanPro, FreeQuota: 1, VMLimit: 3},
		"capped":    {Plan: api.PlanFree, FreeQuota: 9, VMLimit: 2},
		"unlimited": {Plan: api.PlanFree, Unlimited: true},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s := start(t, func(c *Config) { c.Rates = map[api.Plan]int{} })
			id, token := s.account(a)
			for n := range 5 {
				for _, kind := range api.UsageKinds {
					before := s.recorded(id)
					said := get[api.AuthorizeResponse](s, s.call("POST", "/v1/authorize", token, usageOf(kind, n)))
					is.Equal(s.recorded(id), before) // it records nothing
					done := s.call("POST", "/v1/usage", token, usageOf(kind, n))
					is.Equal(said.Allowed, done.status == 200)
					if !said.Allowed {
						e := done.refusal(t)
						is.Equal(*said.Denial, api.Denial{Status: done.status, Code: e.Code, Error: e.Message})
						is.Equal(s.recorded(id), before) // nor does a refusal
						continue
					}
					u := get[api.UsageResponse](s, done)
					is.Equal(u.SeatClaimed, said.WouldClaimSeat)
					is.Equal(u.Overage, said.Overage)
					is.Equal(u.Licensed, said.Licensed || u.SeatClaimed)
					is.Equal(u.VM, fingerprint(n)[:12])
				}
			}
			wrong, err := s.db.Check(t.Context())
			is.NoErr(err)
			is.Equal(len(wrong), 0)
		})
	}
}

func TestEnrollIsIdempotent(t *testing.T) {
	is := is.New(t)
	s := start(t)
	_, token := s.account(license.Account{FreeQuota: 1})
	in := api.EnrollRequest{Fingerprint: fingerprint(1), Source: api.OS{Distro: "centos", Version: "7"}}
	is.Equal(get[api.EnrollResponse](s, s.call("POST", "/v1/enroll", token, in)), api.EnrollResponse{Seated: true})
	is.Equal(get[api.EnrollResponse](s, s.call("POST", "/v1/enroll", token, in)), api.EnrollResponse{Seated: true, AlreadyLicensed: true})
	in.Fingerprint = fingerprint(2)
	s.refused(s.call("POST", "/v1/enroll", token, in), api.SeatQuota)
	drift := s.call("POST", "/v1/usage", token, usageOf(api.Drift, 2))
	s.refused(drift, api.UnlicensedVM)
	is.True(strings.Contains(drift.refusal(t).Message, "UNLICENSED_VM"))
}

func TestScanWithoutAFeedIsNotClean(t *testing.T) {
	is := is.New(t)
	s := start(t)
	id, token := s.account(license.Account{FreeQuota: 1})
	in := api.CVEScanRequest{Fingerprint: fingerprint(1), Release: "bookworm", ScanID: "a", Packages: []api.ScannedPackage{{Name: "bash", Version: "5"}}}
	out := get[api.CVEScanResponse](s, s.call("POST", "/v1/cve-scan", token, in))
	is.Equal(out, api.CVEScanResponse{Release: "debian-12", Scanned: 1, Matches: []api.CVEMatch{}, Updates: []api.CVEMatch{}, Unlisted: []string{}})
	before := s.recorded(id) // nothing: nothing was compared
	is.Equal(get[api.Capacity](s, s.call("GET", "/v1/account/capacity", token, nil)).BillableVMsUsed, 0)
	in.Release = "windows-11"
	s.refused(s.call("POST", "/v1/cve-scan", token, in), api.UnknownRelease)
	is.Equal(s.recorded(id), before)
}

func TestAccountRoutes(t *testing.T) {
	is := is.New(t)
	s := start(t)
	id, token := s.account(license.Account{FreeQuota: 10})
	for n := range 3 {
		get[api.UsageResponse](s, s.call("POST", "/v1/usage", token, usageOf(api.Migration, n)))
	}
	vms := get[api.VMList](s, s.call("GET", "/v1/account/vms?limit=2", token, nil))
	is.Equal(vms.Count, 2)
	is.True(vms.HasMore)
	for query, want := range map[string][2]int{
		"": {50, 0}, "?limit=0": {1, 0}, "?limit=-5": {1, 0}, "?limit=99999": {1000, 0}, "?limit=%2B7": {7, 0},
		"?limit=99999999999999999999999": {1000, 0}, "?offset=-1": {50, 0}, "?offset=-99999999999999999999": {50, 0},
		"?offset=99999999999999999999": {50, 1_000_000_000}, "?offset=1": {50, 1},
	} {
		u := get[api.UsageHistory](s, s.call("GET", "/v1/account/usage"+query, token, nil))
		is.Equal([2]int{u.Limit, u.Offset}, want)
	}
	for _, query := range []string{"?limit=x", "?limit=", "?limit=1.5", "?limit=1e3", "?offset=0x10", "?limit=1&limit=2", "?limit=%00", "?limit=%zz", "?limit=%20", "?limit=١"} {
		s.refused(s.call("GET", "/v1/account/usage"+query, token, nil), api.MalformedRequest)
	}
	is.Equal(get[api.FindingList](s, s.call("GET", "/v1/findings?limit=1000", token, nil)).Limit, 100)
	is.Equal(get[api.Statement](s, s.call("GET", "/v1/account/statement", token, nil)).Instances, 3)
	first := s.call("GET", "/v1/account/capacity", token, nil)
	is.Equal(get[api.Capacity](s, first).BillableVMsUsed, 3)
	for _, alias := range []string{"/v1/account/entitlements", "/v1/account/terms"} {
		is.Equal(string(s.call("GET", alias, token, nil).body), string(first.body))
	}
	is.Equal(get[api.Account](s, s.call("GET", "/v1/account", token, nil)).AccountID, id)
}

// TestPageTooFar asks for pages when the time of a request is over.
func TestPageTooFar(t *testing.T) {
	is := is.New(t)
	s := start(t)
	id, _ := s.account(license.Account{})
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	who := caller{Principal: store.Principal{AccountID: id}}
	for offset, want := range map[int]api.Code{0: api.Unavailable, farOffset - 1: api.Unavailable, farOffset: api.MalformedRequest} {
		_, usage := s.server.usageHistory(late, who, api.Page{Limit: 50, Offset: offset})
		_, vms := s.server.vms(late, who, api.Page{Limit: 50, Offset: offset})
		_, bill := s.server.statement(late, who, api.StatementRequest{Limit: 50, Offset: offset})
		for _, err := range []error{usage, vms, bill} {
			is.Equal(asError(err).Code, want)
		}
	}
}

func TestFindingsAndQuestions(t *testing.T) {
	is := is.New(t)
	s := start(t)
	mine, theirs := s.free(), s.free()
	_, team := s.account(license.Account{Plan: api.PlanInternal})
	f := get[api.Finding](s, s.call("POST", "/v1/findings", mine, api.FindingRequest{Kind: "bug", Title: "web01 fails", Body: "see /etc/x at 10.0.0.1", Release: new("db1.corp.example.com")}))
	is.Equal(f.Title, "[host] fails")
	is.Equal(f.Body, "see [path] at [ip]")
	is.Equal(*f.Release, "[host]")
	is.Equal(f.Redactions, map[string]int{"host": 2, "path": 1, "ip": 1})
	is.Equal(f.Status, "open")
	is.Equal(s.call("POST", "/v1/findings", mine, api.FindingRequest{Kind: "bug", Title: "a", Body: "b"}).status, http.StatusCreated)

	path := "/v1/findings/1"
	is.Equal(get[api.Finding](s, s.call("GET", path, mine, nil)).ID, f.ID)
	missing := s.call("GET", "/v1/findings/999", theirs, nil)
	foreign := s.call("GET", path, theirs, nil)
	s.refused(foreign, api.NotFound)
	is.Equal(foreign.refusal(t).Message, missing.refusal(t).Message) // another's is as if it were not
	s.refused(s.call("POST", path+"/resolve", mine, `{"channel":"stable"}`), api.InternalPlanRequired)
	s.refused(s.call("POST", "/v1/findings/x/resolve", mine, `{"channel":"stable"}`), api.InternalPlanRequired) // before any look at the id
	s.refused(s.call("POST", path+"/resolve", team, `{"channel":"stable"}`), api.NoStagedRelease)
	_, err := s.db.StageRelease(t.Context(), "test", store.Release{Tag: "v9", Channel: "stable"})
	is.NoErr(err)
	is.Equal(*get[api.Finding](s, s.call("POST", path+"/resolve", team, `{"channel":"stable"}`)).Release, "v9")
	is.Equal(get[api.Finding](s, s.call("POST", path+"/resolve", team, `{"channel":"beta"}`)).Status, "fixed") // unchanged
	s.refused(s.call("POST", "/v1/findings/999/resolve", team, `{"channel":"stable"}`), api.NotFound)

	q := get[api.Question](s, s.call("POST", "/v1/questions", mine, api.QuestionRequest{Question: "why does joe@example.com fail?"}))
	is.Equal(q.Question, "why does [email] fail?")
	s.refused(s.call("GET", "/v1/questions/1", theirs, nil), api.NotFound)
	s.refused(s.call("POST", "/v1/questions/1/answer", mine, `{"answer":"so"}`), api.InternalPlanRequired)
	is.Equal(get[api.Question](s, s.call("POST", "/v1/questions/1/answer", team, `{"answer":"so"}`)).Status, "answered")
	is.Equal(*get[api.QuestionList](s, s.call("GET", "/v1/questions", mine, nil)).Questions[0].Answer, "so")
	is.Equal(get[api.QuestionList](s, s.call("GET", "/v1/questions", theirs, nil)).Count, 0)
}

func TestAttestations(t *testing.T) {
	is := is.New(t)
	s := start(t)
	id, token := s.account(license.Account{FreeQuota: 1})
	other := s.free()
	statement, err := attest.New(fingerprint(7), &attest.MigrationPredicate{
		Operation: attest.Operation{
			Fingerprint: fingerprint(1), Source: "centos-7", Target: "debian-12",
			Issued: &attest.Issued{AccountID: 99, At: "1999"}, // what the caller says there does not count
		},
	})
	is.NoErr(err)
	raw, err := json.Marshal(statement)
	is.NoErr(err)
	request := `{"statement":` + string(raw) + `}`
	s.refused(s.call("POST", "/v1/attest/sign", token, request), api.UnlicensedVM)
	get[api.UsageResponse](s, s.call("POST", "/v1/usage", token, usageOf(api.Migration, 1)))
	before := s.recorded(id)
	signed := s.call("POST", "/v1/attest/sign", token, request)
	is.Equal(signed.status, 200)
	is.Equal(s.recorded(id), before) // it records no usage
	verified, err := attest.Verify(signed.body, []ed25519.PublicKey{s.server.cfg.Key.Public().(ed25519.PublicKey)})
	is.NoErr(err)
	p, err := verified.Known()
	is.NoErr(err)
	is.Equal(*p.(*attest.MigrationPredicate).Issued, attest.Issued{AccountID: id, At: "2026-08-01T12:00:00Z"})
	s.refused(s.call("POST", "/v1/attest/sign", other, request), api.UnlicensedVM) // another account's VM

	for _, bad := range []string{
		`{}`, `{"statement":null}`, `{"statement":{}}`, `{"statement":"x"}`,
		strings.Replace(request, "urn:svc:", "urn:other:", 1),
		strings.Replace(request, `"predicate":{`, `"predicate":{"extra":1,`, 1),
		strings.Replace(request, fingerprint(7), "xyz", 1),
	} {
		s.refused(s.call("POST", "/v1/attest/sign", token, bad), api.MalformedRequest)
	}
	is.Equal(len(get[api.KeysResponse](s, s.call("GET", "/v1/attest/keys", token, nil)).Keys), 0) // package backend lists them
}

// TestAWrongStatementIsToldInWords: not in those of the programming language.
func TestAWrongStatementIsToldInWords(t *testing.T) {
	is := is.New(t)
	s := start(t)
	token := s.free()
	for body, says := range map[string]string{
		`{"statement":{"x":1}}`:         "the statement: /x is no member of it",
		`{"statement":{"_type":1}}`:     "the statement: /_type must not be a JSON number",
		`{"statement":[]}`:              "the statement: it must be a JSON object, not a JSON array",
		`{"statement":{"subject":{}}}`:  "the statement: /subject must not be a JSON object",
		`{"statement":{"_type":"odd"}}`: "the statement's _type is",
	} {
		a := s.call("POST", "/v1/attest/sign", token, body)
		s.refused(a, api.MalformedRequest)
		is.True(strings.Contains(string(a.body), strings.ReplaceAll(says, `"`, `\"`)))
		is.True(!strings.Contains(string(a.body), "Go "))
	}
}

func TestSchemasAreServed(t *testing.T) {
	is := is.New(t)
	s := start(t)
	token := s.free()
	for _, name := range schema.Names() {
		is.Equal(get[map[string]any](s, s.call("GET", "/v1/schemas/"+name, token, nil))["title"], name)
	}
	for _, name := range []string{"nothing", "plan.json", "..%2fschema", "%00"} {
		is.True(s.call("GET", "/v1/schemas/"+name, token, nil).status >= 400)
	}
	is.Equal(s.call("GET", "/v1/schemas/nothing", token, nil).status, 404)
	is.Equal(s.call("GET", "/v1/schemas/plan", "", nil).status, 401)
}

func TestOpenAPIIsServed(t *testing.T) {
	is := is.New(t)
	s := start(t)
	doc := get[map[string]any](s, s.call("GET", "/v1/openapi.json", s.free(), nil))
	is.Equal(doc["openapi"], "3.1.0")
}

func TestIdempotencyKeys(t *testing.T) {
	is := is.New(t)
	s := start(t)
	id, token := s.account(license.Account{FreeQuota: 1})
	_, other := s.account(license.Account{FreeQuota: 1})
	key := []string{"Idempotency-Key", "k1"}
	first := s.call("POST", "/v1/usage", token, usageOf(api.Migration, 1), key...)
	is.True(get[api.UsageResponse](s, first).SeatClaimed)
	before := s.recorded(id)
	is.Equal(string(s.call("POST", "/v1/usage", token, usageOf(api.Migration, 1), key...).body), string(first.body))
	is.Equal(s.recorded(id), before)
	s.refused(s.call("POST", "/v1/usage", token, usageOf(api.Verify, 1), key...), api.IdempotencyMismatch)
	s.refused(s.call("POST", "/v1/enroll", token, api.EnrollRequest{Fingerprint: fingerprint(1), Source: api.OS{Distro: "a", Version: "1"}}, key...), api.IdempotencyMismatch)
	is.Equal(s.recorded(id), before)
	is.True(get[api.UsageResponse](s, s.call("POST", "/v1/usage", other, usageOf(api.Migration, 1), key...)).SeatClaimed) // keys are the account's own

	// A refusal is not kept: with capacity the same key succeeds.
	late := []string{"Idempotency-Key", "k2"}
	s.refused(s.call("POST", "/v1/usage", token, usageOf(api.Migration, 2), late...), api.SeatQuota)
	_, err := s.db.AddGrant(t.Context(), "test", id, license.Grant{Seats: 5, From: "2026-01-01", Until: "2027-01-01", Source: license.Manual})
	is.NoErr(err)
	is.True(get[api.UsageResponse](s, s.call("POST", "/v1/usage", token, usageOf(api.Migration, 2), late...)).SeatClaimed)

	finding := api.FindingRequest{Kind: "bug", Title: "a", Body: "b"}
	one := s.call("POST", "/v1/findings", token, finding, "Idempotency-Key", "f")
	is.Equal(string(s.call("POST", "/v1/findings", token, finding, "Idempotency-Key", "f").body), string(one.body))
	is.Equal(get[api.FindingList](s, s.call("GET", "/v1/findings", token, nil)).Count, 1)
	for _, bad := range []string{" ", "a b", "é", strings.Repeat("x", 256)} {
		s.refused(s.call("POST", "/v1/findings", token, finding, "Idempotency-Key", bad), api.MalformedRequest)
	}
}

// TestARepeatOfARunningRequest keeps the first request waiting for its store.
func TestARepeatOfARunningRequest(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "svc.db")
	db, err := sqlite.Open(t.Context(), file, store.Options{})
	is.NoErr(err)
	defer db.Close()
	s := start(t, func(c *Config) { c.Store = db })
	s.db = db
	_, token := s.account(license.Account{FreeQuota: 1})
	release := storetest.Hold(t, file)
	usage := func() answer {
		return s.call("POST", "/v1/usage", token, usageOf(api.Migration, 1), "Idempotency-Key", "k")
	}
	first := make(chan answer, 1)
	go func() { first <- usage() }()
	for running := 0; running == 0; s.server.running.Range(func(any, any) bool { running++; return true }) {
		time.Sleep(time.Millisecond)
	}
	repeat := usage()
	s.refused(repeat, api.IdempotencyInFlight)
	is.Equal(repeat.header.Get("Retry-After"), "1")
	release()
	answered := <-first
	is.True(get[api.UsageResponse](s, answered).SeatClaimed)
	is.Equal(string(usage().body), string(answered.body))
}

// TestOneOfManyRecords sends one request many times at once under one key, and
// as many without: one seat, and one event for the key.
func TestOneOfManyRecords(t *testing.T) {
	is := is.New(t)
	s := start(t)
	id, token := s.account(license.Account{FreeQuota: 1})
	const many = 16
	answers := make([]answer, many)
	var wg sync.WaitGroup
	for i := range many {
		wg.Go(func() {
			again := func() answer {
				return s.call("POST", "/v1/usage", token, usageOf(api.Migration, 1), "Idempotency-Key", "k")
			}
			for answers[i] = again(); answers[i].status == http.StatusConflict; answers[i] = again() {
				s.refused(answers[i], api.IdempotencyInFlight)
				time.Sleep(200 * time.Millisecond)
			}
		})
		wg.Go(func() {
			s.call("POST", "/v1/enroll", token, api.EnrollRequest{Fingerprint: fingerprint(1), Source: api.OS{Distro: "a", Version: "1"}})
		})
	}
	wg.Wait()
	for _, a := range answers {
		is.Equal(a.status, 200)
		is.Equal(string(a.body), string(answers[0].body))
	}
	usage, err := s.db.Usage(t.Context(), id, store.Page{Limit: 100})
	is.NoErr(err)
	is.Equal(usage.Count, 1+many)
	vms, err := s.db.VMs(t.Context(), id, store.Page{Limit: 100})
	is.NoErr(err)
	is.Equal(vms.Count, 1)
	wrong, err := s.db.Check(t.Context())
	is.NoErr(err)
	is.Equal(len(wrong), 0)
}

// TestFixedAnswersAreBounded: an answer is made once, whatever spellings of its
// engine somebody comes up with; those that are too many are made each time.
func TestFixedAnswersAreBounded(t *testing.T) {
	is := is.New(t)
	made := 0
	r := fixed(api.UpgradeEdges, func(_ context.Context, _ caller, in api.UpgradeEdgesRequest) (api.UpgradeEdgesResponse, error) {
		made++
		return api.UpgradeEdgesResponse{Engine: in.Engine}, nil
	})
	for i := range 2 * (maxFixed + 1) {
		engine := fmt.Sprintf("engine-%d", i/2)
		out, err := r.answer(httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/upgrade-edges?engine="+engine, nil), caller{})
		is.NoErr(err)
		var got api.UpgradeEdgesResponse
		is.NoErr(json.Unmarshal(out.(encoded), &got))
		is.Equal(got.Engine, engine)
	}
	is.Equal(made, maxFixed+2)
}

func TestUnknownQueryParametersAreRefused(t *testing.T) {
	is := is.New(t)
	s := start(t)
	_, token := s.account(license.Account{FreeQuota: 1})
	s.refused(s.call("GET", "/v1/account/vms?limt=5", token, nil), api.MalformedRequest)
	s.refused(s.call("GET", "/v1/account?page=2", token, nil), api.MalformedRequest)
	is.Equal(get[api.HealthResponse](s, s.call("GET", "/v1/health?probe=1", "", nil)).Status, "ok")
}

func TestRefusedReleasesNameSupportedOnes(t *testing.T) {
	is := is.New(t)
	s := start(t)
	_, token := s.account(license.Account{FreeQuota: 1})
	r := s.call("POST", "/v1/resolve", token, api.ResolveRequest{Release: "debian-99", Packages: []string{"bash"}})
	is.True(strings.Contains(r.refusal(t).Message, " debian-13, debian-12"))
}

// TestRoutesAreNotRedacted: what the service answers is no path of a machine.
func TestRoutesAreNotRedacted(t *testing.T) {
	is := is.New(t)
	for _, r := range start(t).server.routes() {
		text := r.method + " " + r.path + " is slow"
		got, _ := redact.Text(text)
		is.Equal(got, text)
	}
}
