package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
)

const goodUsage = `{"kind":"migration","vm_fingerprint":"` + goodHex + `","source":{"distro":"centos","version":"7"},"target":{"distro":"debian","version":"12"}}`

const goodHex = "abababababababababababababababababababababababababababababababab"

// with replaces a part of the good body.
func with(old, replacement string) string {
	return strings.Replace(goodUsage, old, replacement, 1)
}

// TestBadBodies sends everything that is wrong in its own way; each is refused
// with its code, and nothing is recorded.
func TestBadBodies(t *testing.T) {
	s := start(t, func(c *Config) { c.Rates = map[api.Plan]int{} })
	id, token := s.account(license.Account{FreeQuota: 10})
	before := s.recorded(id)
	for name, c := range map[string]struct {
		body string
		code api.Code
	}{
		"empty":               {"", api.MalformedRequest},
		"null":                {"null", api.BadKind},
		"list":                {"[]", api.MalformedRequest},
		"unknown member":      {with("{", `{"x":1,`), api.MalformedRequest},
		"repeated member":     {with("{", `{"kind":"drift",`), api.MalformedRequest},
		"case of a member":    {with(`"kind"`, `"Kind"`), api.MalformedRequest},
		"trailing value":      {goodUsage + "{}", api.MalformedRequest},
		"trailing bracket":    {goodUsage + "]", api.MalformedRequest},
		"cut":                 {goodUsage[:50], api.MalformedRequest},
		"wrong type":          {with(`"migration"`, `7`), api.MalformedRequest},
		"huge number":         {with(`"migration"`, "1e999999"), api.MalformedRequest},
		"deep":                {with(`"7"`, strings.Repeat(`{"a":`, 50)+"1"+strings.Repeat("}", 50)), api.MalformedRequest},
		"invalid UTF-8":       {with("centos", "cent\xffos"), api.MalformedRequest},
		"NUL":                 {with("centos", `cent\u0000os`), api.MalformedRequest},
		"lone surrogate":      {with("centos", `\udc00`), api.MalformedRequest},
		"kind":                {with("migration", "conquest"), api.BadKind},
		"license as kind":     {with("migration", "license"), api.BadKind},
		"case of the kind":    {with("migration", "Migration"), api.BadKind},
		"short fingerprint":   {with(goodHex, goodHex[1:]), api.BadFingerprint},
		"long fingerprint":    {with(goodHex, goodHex+"a"), api.BadFingerprint},
		"upper fingerprint":   {with(goodHex, strings.ToUpper(goodHex)), api.BadFingerprint},
		"newline fingerprint": {with(goodHex, goodHex[1:]+`\n`), api.BadFingerprint},
		"no fingerprint":      {with(`"vm_fingerprint":"`+goodHex+`",`, ""), api.BadFingerprint},
		"bad distro":          {with("centos", "cent os"), api.MalformedRequest},
		"long distro":         {with("centos", strings.Repeat("a", 65)), api.MalformedRequest},
		"no target":           {with(`,"target":{"distro":"debian","version":"12"}`, ""), api.MalformedRequest},
		"null target":         {with(`{"distro":"debian","version":"12"}`, "null"), api.MalformedRequest},
		"target of a drift":   {with("migration", "drift"), api.MalformedRequest},
		"host_hint null":      {with("{", `{"host_hint":null,`), api.BadHostHint},
		"host_hint empty":     {with("{", `{"host_hint":"",`), api.BadHostHint},
		"host_hint short":     {with("{", `{"host_hint":"abc",`), api.BadHostHint},
		"host_hint upper":     {with("{", `{"host_hint":"`+strings.ToUpper(goodHex)+`",`), api.BadHostHint},
		"host_hint number":    {with("{", `{"host_hint":1,`), api.BadHostHint},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			for _, route := range []string{"/v1/usage", "/v1/authorize"} {
				a := s.call("POST", route, token, c.body)
				is.Equal(a.status, http.StatusBadRequest)
				s.refused(a, c.code)
			}
			is.Equal(s.recorded(id), before)
		})
	}
	is.New(t).Equal(s.call("POST", "/v1/usage", token, goodUsage).status, 200) // so the rest of it was right
}

func TestBadBatches(t *testing.T) {
	s := start(t)
	id, token := s.account(license.Account{FreeQuota: 10})
	before := s.recorded(id)
	many := `"a"` + strings.Repeat(`,"a"`, api.MaxBatch)
	scan := `{"vm_fingerprint":"` + goodHex + `","release":"debian-12","packages":[`
	for _, c := range []struct {
		path, body string
		code       api.Code
	}{
		{"/v1/resolve", `{"release":"debian-12","packages":[]}`, api.EmptyBatch},
		{"/v1/resolve", `{"release":"debian-12","packages":null}`, api.EmptyBatch},
		{"/v1/resolve", `{"release":"debian-12"}`, api.EmptyBatch},
		{"/v1/resolve", `{"release":"debian-12","packages":[` + many + `]}`, api.BatchTooLarge},
		{"/v1/resolve", `{"release":"debian-12","packages":[""]}`, api.MalformedRequest},
		{"/v1/resolve", `{"release":"debian-12","packages":[null]}`, api.MalformedRequest},
		{"/v1/resolve", `{"release":"debian-12","packages":["` + strings.Repeat("a", 257) + `"]}`, api.MalformedRequest},
		{"/v1/resolve", `{"packages":["a"]}`, api.MalformedRequest},
		{"/v1/resolve", `{"release":"plan9-4","packages":["a"]}`, api.UnknownRelease},
		{"/v1/translate", `{"source":"debian-12","target":"debian-13","canonicals":[]}`, api.EmptyBatch},
		{"/v1/translate", `{"source":"debian-12","target":"debian-13","canonicals":[` + many + `]}`, api.BatchTooLarge},
		{"/v1/translate", `{"source":"debian-12","target":"plan9-4","canonicals":["a"]}`, api.UnknownRelease},
		{"/v1/config-paths", `{"source":"debian-12","target":"debian-13","canonicals":[]}`, api.EmptyBatch},
		{"/v1/config-paths", `{"source":"plan9-4","target":"debian-13","canonicals":["a"]}`, api.UnknownRelease},
		{"/v1/cve-scan", scan + `]}`, api.EmptyBatch},
		{"/v1/cve-scan", scan + `null]}`, api.MalformedRequest},
		{"/v1/cve-scan", scan + `{"name":"a"}]}`, api.MalformedRequest},
		{"/v1/cve-scan", strings.Replace(scan, "debian-12", "plan9-4", 1) + `{"name":"a","version":"1"}]}`, api.UnknownRelease},
		{"/v1/enroll", `{"vm_fingerprint":"x","source":{"distro":"a","version":"1"}}`, api.BadFingerprint},
		{"/v1/enroll", `{"vm_fingerprint":"` + goodHex + `"}`, api.MalformedRequest},
		{"/v1/findings", `{"kind":"rant","title":"a","body":"b"}`, api.BadKind},
		{"/v1/findings", `{"kind":"bug","title":" ","body":"b"}`, api.MalformedRequest},
		{"/v1/findings", `{"kind":"bug","title":"` + strings.Repeat("é", 201) + `","body":"b"}`, api.MalformedRequest},
		{"/v1/findings", `{"kind":"bug","title":"a","body":"` + strings.Repeat("a", 20_001) + `"}`, api.MalformedRequest},
		{"/v1/questions", `{"question":""}`, api.MalformedRequest},
	} {
		s.refused(s.call("POST", c.path, token, c.body), c.code)
	}
	is.New(t).Equal(s.recorded(id), before)
}

func TestWhoMayAsk(t *testing.T) {
	is := is.New(t)
	s := start(t)
	ctx := t.Context()
	id, token := s.account(license.Account{FreeQuota: 10})
	disabledID, err := s.db.CreateToken(ctx, "test", id, api.TokenHash("other"))
	is.NoErr(err)
	is.NoErr(s.db.DisableToken(ctx, "test", disabledID))
	gone, goneToken := s.account(license.Account{})
	is.NoErr(s.db.SetAccount(ctx, "test", gone, func(a *store.Account) { a.Disabled = true }))

	// What an operator changes holds at once, also for a token that was just used.
	enrolled := `{"vm_fingerprint":"` + goodHex + `","source":{"distro":"a","version":"1"}}`
	used := s.call("POST", "/v1/enroll", token, enrolled)
	is.Equal(used.status, 200)
	own, err := s.db.Authenticate(ctx, api.TokenHash(token))
	is.NoErr(err)
	is.NoErr(s.db.DisableToken(ctx, "test", own.TokenID))
	for _, body := range []string{enrolled, "{", ""} {
		s.refused(s.call("POST", "/v1/enroll", token, body), api.Unauthenticated)
	}
	token = api.NewToken()
	_, err = s.db.CreateToken(ctx, "test", id, api.TokenHash(token))
	is.NoErr(err)

	last := "x"
	if strings.HasSuffix(token, last) {
		last = "y" // another than the token's own
	}
	bodies := map[string]bool{}
	for name, value := range map[string]string{
		"none": "", "empty": "Bearer ", "no scheme": token, "basic": "Basic " + token, "two": "Bearer " + token + " x",
		"unknown": "Bearer " + api.NewToken(), "disabled": "Bearer " + goneToken, "typo": "Bearer " + token[:49] + last,
		"long": "Bearer " + strings.Repeat("a", 4000), "SQL": "Bearer ' OR 1=1 --",
	} {
		a := s.call("GET", "/v1/account", "", nil, "Authorization", value)
		if a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %d %v", name, a.status, a.header)
		}
		bodies[a.refusal(t).Message] = true
	}
	is.Equal(len(bodies), 1) // missing, unknown and disabled look alike
	for _, scheme := range []string{"Bearer ", "bearer ", "BEARER  "} {
		is.Equal(s.call("GET", "/v1/account", "", nil, "Authorization", scheme+token).status, 200)
	}
	for _, r := range (*Server)(nil).routes() {
		a := s.call(r.method, strings.ReplaceAll(r.path, "{id}", "1"), "", "{}")
		is.Equal(a.status == http.StatusUnauthorized, r.auth != api.Public)
	}
}

func TestRoutesAndMethods(t *testing.T) {
	is := is.New(t)
	s := start(t)
	token := s.free()
	for path, allow := range map[string]string{"/v1/usage": "POST", "/v1/account": "GET, HEAD", "/v1/findings": "GET, HEAD, POST", "/v1/findings/1": "GET, HEAD"} {
		for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"} {
			a := s.call(method, path, "", nil) // before authentication
			is.Equal(a.status, http.StatusMethodNotAllowed)
			is.Equal(a.header.Get("Allow"), allow)
			s.refused(a, api.MethodNotAllowed)
		}
	}
	s.refused(s.call("GET", "/v1/usage", "", nil), api.MethodNotAllowed)
	head := s.call("HEAD", "/v1/health", "", nil)
	is.Equal(head.status, 200)
	is.Equal(len(head.body), 0)
	is.Equal(head.header.Get("Content-Length"), s.call("GET", "/v1/health", "", nil).header.Get("Content-Length"))
	is.Equal(s.call("HEAD", "/v1/account", "", nil).status, http.StatusUnauthorized)
	for _, path := range []string{"/", "/v1", "/v1/", "/v2/health", "/v1/health/", "//v1/health", "/v1/../v1/health", "/v1/%2e%2e/v1/health", "/v1/nothing", "/V1/health", "/v1/health%00"} {
		s.refused(s.call("GET", path, "", nil), api.NotFound)
	}
	for _, id := range []string{"%2e%2e", "%2F", "a%2Fb", "%00", "0", "-1", "+1", "01", "1.0", "1e3", "x", "99999999999999999999", "9223372036854775807", "%d9%a1"} {
		s.refused(s.call("GET", "/v1/findings/"+id, token, nil), api.NotFound)
		s.refused(s.call("GET", "/v1/questions/"+id, token, nil), api.NotFound)
	}
}

func TestMediaTypes(t *testing.T) {
	is := is.New(t)
	s := start(t)
	token := s.free()
	for _, c := range []struct {
		name, value string
		status      int
	}{
		{"Content-Type", "", 415},
		{"Content-Type", "text/plain", 415},
		{"Content-Type", "application/x-www-form-urlencoded", 415},
		{"Content-Type", "application/json; charset=latin-1", 415},
		{"Content-Type", "application/json;;;", 415},
		{"Content-Type", "application/json; charset=UTF-8", 200},
		{"Content-Type", "Application/JSON", 200},
		{"Content-Encoding", "gzip", 415},
		{"Content-Encoding", "identity", 200},
	} {
		is.Equal(s.call("POST", "/v1/authorize", token, goodUsage, c.name, c.value).status, c.status)
	}
}

// endless is a body that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestBodiesOverTheLimit(t *testing.T) {
	is := is.New(t)
	s := start(t)
	id, token := s.account(license.Account{FreeQuota: 10})
	before := s.recorded(id)
	pad := func(n int) string { return goodUsage + strings.Repeat(" ", n-len(goodUsage)) }
	s.refused(s.call("POST", "/v1/usage", token, pad(api.MaxBody+1)), api.BodyTooLarge)
	s.refused(s.call("POST", "/v1/usage", token, io.LimitReader(endless{}, 32<<20)), api.BodyTooLarge) // chunked
	is.Equal(s.recorded(id), before)
	is.Equal(s.call("POST", "/v1/usage", token, pad(api.MaxBody)).status, 200)
}

func TestABodyThatStops(t *testing.T) {
	is := is.New(t)
	s := start(t)
	id, token := s.account(license.Account{FreeQuota: 10})
	before := s.recorded(id)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	is.NoErr(err)
	_, err = fmt.Fprintf(conn, "POST /v1/usage HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		token, len(goodUsage), goodUsage[:40])
	is.NoErr(err)
	is.NoErr(conn.(*net.TCPConn).CloseWrite())
	answer, err := io.ReadAll(conn)
	is.NoErr(err)
	is.NoErr(conn.Close())
	is.True(bytes.HasPrefix(answer, []byte("HTTP/1.1 400 ")))
	is.Equal(s.recorded(id), before)
}

func TestRequestIDs(t *testing.T) {
	is := is.New(t)
	s := start(t)
	for sent, kept := range map[string]bool{
		"abc-1.2_3": true, strings.Repeat("a", 128): true, strings.Repeat("a", 129): false, "a b": false, "a\tb": false, "é": false, "": false,
	} {
		got := s.call("GET", "/v1/health", "", nil, "X-Request-Id", sent).header.Get("X-Request-Id")
		is.Equal(got == sent, kept)
		is.True(got != "")
	}
}

func TestRateLimits(t *testing.T) {
	is := is.New(t)
	now := day
	s := start(t, func(c *Config) {
		c.Rates = map[api.Plan]int{api.PlanFree: 3, api.PlanPro: 60}
		c.Now = func() time.Time { return now }
	})
	id, token := s.account(license.Account{FreeQuota: 10})
	_, internal := s.account(license.Account{Plan: api.PlanInternal})
	for left := 2; left >= 0; left-- {
		a := s.call("GET", "/v1/account", token, nil)
		is.Equal(a.status, 200)
		is.Equal(a.header.Get("RateLimit-Policy"), `"free";q=3;w=60`)
		is.True(strings.HasPrefix(a.header.Get("RateLimit"), `"free";r=`+string(rune('0'+left))+";t="))
	}
	before := s.recorded(id)
	a := s.call("POST", "/v1/usage", token, goodUsage)
	s.refused(a, api.RateLimited)
	is.Equal(a.header.Get("Retry-After"), "20")
	is.Equal(a.header.Get("RateLimit"), `"free";r=0;t=60`)
	is.Equal(s.recorded(id), before)
	is.Equal(s.call("GET", "/v1/health", token, nil).status, 200)
	is.Equal(s.call("GET", "/v1/account", internal, nil).header.Get("RateLimit"), "") // not limited

	now = now.Add(20 * time.Second)
	is.Equal(s.call("GET", "/v1/account", token, nil).status, 200)
	s.refused(s.call("GET", "/v1/account", token, nil), api.RateLimited)
	is.NoErr(s.db.SetAccount(t.Context(), "test", id, func(a *store.Account) { a.Plan = api.PlanPro }))
	is.Equal(s.call("GET", "/v1/account", token, nil).header.Get("RateLimit-Policy"), `"pro";q=60;w=60`) // from the next request on

	// Also where the token was seen a moment ago.
	busy, token := s.account(license.Account{FreeQuota: 10})
	for range 3 {
		is.Equal(s.call("POST", "/v1/usage", token, goodUsage).status, 200)
	}
	s.refused(s.call("POST", "/v1/usage", token, goodUsage), api.RateLimited)
	is.NoErr(s.db.SetAccount(t.Context(), "test", busy, func(a *store.Account) { a.Plan = api.PlanInternal }))
	a = s.call("POST", "/v1/usage", token, goodUsage)
	is.Equal(a.status, 200)
	is.Equal(a.header.Get("RateLimit"), "")
}

func TestRateLimitsForgetIdleAccounts(t *testing.T) {
	is := is.New(t)
	l := newLimiter(map[api.Plan]int{api.PlanFree: 60})
	at := func(now time.Time) func() time.Time { return func() time.Time { return now } }
	for id := range int64(maxBuckets) {
		is.NoErr(l.take(http.Header{}, id, api.PlanFree, at(day)))
	}
	is.NoErr(l.take(http.Header{}, -1, api.PlanFree, at(day.Add(time.Hour))))
	is.Equal(len(l.buckets), 1)
}

func TestNothingSecretIsLogged(t *testing.T) {
	is := is.New(t)
	s := start(t)
	token := s.free()
	body := strings.Replace(goodUsage, "{", `{"host_hint":"`+strings.Repeat("cd", 32)+`",`, 1)
	is.Equal(s.call("POST", "/v1/usage", token, body).status, 200)
	s.call("GET", "/v1/findings/7", token, nil)
	s.call("POST", "/v1/findings", token, `{"kind":"bug","title":"the secret","body":"words"}`)
	log := s.log.String()
	for _, secret := range []string{token, token[4:20], goodHex, goodHex[:12], strings.Repeat("cd", 32), "secret", "words"} {
		is.True(!strings.Contains(log, secret))
	}
	is.True(strings.Contains(log, `"route":"GET /v1/findings/{id}"`)) // the pattern, not the path
	is.True(strings.Contains(log, `"status":404`))
	is.True(strings.Contains(log, `"request_id"`))
}

func TestAFaultIsSaidOnlyInTheLog(t *testing.T) {
	is := is.New(t)
	s := start(t)
	token := s.free()
	broken := s.server.endpoint(mount(api.Endpoint[api.None, api.HealthResponse]{Method: "GET", Path: "/v1/broken"},
		func(context.Context, caller, api.None) (api.HealthResponse, error) { panic("the cause") }))
	s.server.mux.Handle(broken.pattern, broken)
	a := s.call("GET", "/v1/broken", token, nil)
	s.refused(a, api.Internal500)
	is.True(!bytes.Contains(a.body, []byte("cause")))
	is.True(strings.Contains(s.log.String(), "the cause"))
	is.Equal(s.call("GET", "/v1/health", "", nil).status, 200) // and it goes on
}

func TestAClosedStoreIsUnavailable(t *testing.T) {
	is := is.New(t)
	s := start(t)
	token := s.free()
	is.NoErr(s.closeStore())
	a := s.call("POST", "/v1/usage", token, goodUsage)
	is.True(a.status >= 500)
	is.True(!bytes.Contains(a.body, []byte("sql")))
	is.Equal(s.call("GET", "/v1/health", "", nil).status, 200)
}
