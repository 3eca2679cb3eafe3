package server

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/go-json-experiment/json"
	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/api/schema"
	"svc/backend/index"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/sqlite"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// day is when every test happens.
var day = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// service is a real server on a real store, with the log it wrote. Every
// answer that a test gets is checked against the OpenAPI document.
type service struct {
	t          *testing.T
	server     *Server
	db         store.Store
	closeStore func() error
	url        string
	log        *lockedBuffer
	router     routers.Router
}

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

func start(t *testing.T, changes ...func(*Config)) *service {
	t.Helper()
	is := is.New(t)
	now := func() time.Time { return day }
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "svc.db"), store.Options{Now: now})
	is.NoErr(err)
	ix, err := index.Embedded()
	is.NoErr(err)
	log := new(lockedBuffer)
	c := Config{
		Store: db, Index: ix, Key: attest.NewKey(), Now: now, Version: "1.2.3", Commit: "abc",
		Log: slog.New(slog.NewJSONHandler(log, nil)),
	}
	for _, change := range changes {
		change(&c)
	}
	s := New(c)
	web := httptest.NewServer(s)
	closeStore := sync.OnceValue(db.Close)
	t.Cleanup(func() { web.Close(); is.NoErr(closeStore()) })
	return &service{t: t, server: s, db: db, closeStore: closeStore, url: web.URL, log: log, router: documented(t)}
}

// documented routes requests by the OpenAPI document.
func documented(t *testing.T) routers.Router {
	t.Helper()
	is := is.New(t)
	b, err := document((*Server)(nil).routes())
	is.NoErr(err)
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, u *url.URL) ([]byte, error) {
		b, ok := schema.Get(strings.TrimPrefix(u.Path, "/v1/schemas/"))
		is.True(ok)
		return b, nil
	}
	doc, err := loader.LoadFromDataWithPath(b, &url.URL{Path: "/v1/openapi.json"})
	is.NoErr(err)
	is.NoErr(doc.Validate(context.Background()))
	router, err := legacy.NewRouter(doc)
	is.NoErr(err)
	return router
}

// account makes an account and a token of it.
func (s *service) account(a license.Account) (id int64, token string) {
	s.t.Helper()
	is := is.New(s.t)
	if a.Plan == "" {
		a.Plan = api.PlanFree
	}
	if a.VMLimit == 0 {
		a.VMLimit = 10_000
	}
	id, err := s.db.CreateAccount(s.t.Context(), "test", a)
	is.NoErr(err)
	token = api.NewToken()
	_, err = s.db.CreateToken(s.t.Context(), "test", id, api.TokenHash(token))
	is.NoErr(err)
	return id, token
}

// free makes an account with ten free seats.
func (s *service) free() string {
	_, token := s.account(license.Account{Name: "free", FreeQuota: 10})
	return token
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// refusal reads an error's body.
func (a answer) refusal(t *testing.T) api.Error {
	t.Helper()
	var e api.Error
	is.New(t).NoErr(json.Unmarshal(a.body, &e))
	return e
}

// call sends a request; headers come as name, value, …, and "" removes one.
func (s *service) call(method, path, token string, body any, headers ...string) answer {
	s.t.Helper()
	is := is.New(s.t)
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, reader(s.t, body))
	is.NoErr(err)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	is.NoErr(err)
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	is.NoErr(err)
	a := answer{response.StatusCode, response.Header, b}
	s.check(r, a)
	return a
}

func reader(t *testing.T, body any) io.Reader {
	switch b := body.(type) {
	case nil:
		return nil
	case io.Reader:
		return b
	case string:
		return strings.NewReader(b)
	case []byte:
		return bytes.NewReader(b)
	}
	b, err := json.Marshal(body)
	is.New(t).NoErr(err)
	return bytes.NewReader(b)
}

// check holds what is true of every answer.
func (s *service) check(r *http.Request, a answer) {
	s.t.Helper()
	is := is.New(s.t)
	is.True(a.header.Get("X-Request-Id") != "")
	is.Equal(a.header.Get("X-Content-Type-Options"), "nosniff")
	is.Equal(a.header.Get("Cache-Control"), "no-store")
	is.Equal(a.header.Get("Content-Type"), "application/json")
	is.True(a.status < 300 || a.status >= 400) // nothing redirects
	length, err := strconv.Atoi(a.header.Get("Content-Length"))
	is.NoErr(err)
	is.True(length == len(a.body) || r.Method == http.MethodHead)
	if r.Method != http.MethodHead && a.status >= 400 {
		e := a.refusal(s.t)
		is.Equal(e.Status(), a.status) // the code is of the status
		is.Equal(e.RequestID, a.header.Get("X-Request-Id"))
		is.True(e.Message != "")
	}
	route, path, err := s.router.FindRoute(r)
	if err != nil {
		return // the document does not have it
	}
	err = openapi3filter.ValidateResponse(s.t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: path, Route: route},
		Status:                 a.status, Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)),
	})
	if err != nil {
		s.t.Errorf("%s %s: %s is not as documented: %v", r.Method, r.URL, a.body, err)
	}
}

// get decodes the body of a success.
func get[T any](s *service, a answer) T {
	s.t.Helper()
	var out T
	if a.status >= 300 {
		s.t.Fatalf("refused: %d %s", a.status, a.body)
	}
	is.New(s.t).NoErr(json.Unmarshal(a.body, &out))
	return out
}

// refused checks a refusal's code.
func (s *service) refused(a answer, code api.Code) {
	s.t.Helper()
	if got := a.refusal(s.t); got.Code != code {
		s.t.Fatalf("%d %s, not %s", a.status, a.body, code)
	}
}

// recorded is everything that a refused call must not have changed.
func (s *service) recorded(id int64) string {
	s.t.Helper()
	is := is.New(s.t)
	ctx, all := s.t.Context(), store.Page{Limit: 1000}
	summary, err := s.db.Summary(ctx, id)
	is.NoErr(err)
	usage, err := s.db.Usage(ctx, id, all)
	is.NoErr(err)
	vms, err := s.db.VMs(ctx, id, all)
	is.NoErr(err)
	findings, err := s.db.Findings(ctx, id, all)
	is.NoErr(err)
	questions, err := s.db.Questions(ctx, id, all)
	is.NoErr(err)
	b, err := json.Marshal([]any{summary, usage, vms, findings, questions})
	is.NoErr(err)
	return string(b)
}

func fingerprint(n int) string { return fmt.Sprintf("%064x", n) }

func usageOf(kind api.Kind, n int) api.UsageRequest {
	r := api.UsageRequest{Kind: kind, Fingerprint: fingerprint(n), Source: api.OS{Distro: "centos", Version: "7"}}
	if kind.Targeted() {
		r.Target = &api.OS{Distro: "debian", Version: "12"}
	}
	return r
}

func TestTheDocumentIsAsPublished(t *testing.T) {
	is := is.New(t)
	documented(t)
	got, err := document((*Server)(nil).routes())
	is.NoErr(err)
	if *update {
		is.NoErr(os.WriteFile("openapi.json", append(got, '\n'), 0o644))
	}
	want, err := os.ReadFile("openapi.json")
	is.NoErr(err)
	is.Equal(string(got)+"\n", string(want)) // go test ./backend/server -update
}
