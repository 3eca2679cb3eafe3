package server

import (
	"bytes"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/index"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/sqlite"
)

func TestDecodeIsStrict(t *testing.T) {
	good := `{"release":"debian-12","packages":["bash"]}`
	for name, body := range map[string]string{
		"nothing":          ``,
		"no json":          `release=debian-12`,
		"trailing value":   good + `{}`,
		"trailing text":    good + `x`,
		"unknown member":   `{"release":"x","packages":["a"],"colour":"red"}`,
		"repeated member":  `{"release":"x","release":"y","packages":["a"]}`,
		"case of a member": `{"Release":"x","packages":["a"]}`,
		"number":           `{"release":12,"packages":["a"]}`,
		"object for list":  `{"release":"x","packages":{"a":1}}`,
		"list":             `[]`,
		"string":           `"x"`,
		"invalid UTF-8":    "{\"release\":\"\xff\",\"packages\":[\"a\"]}",
		"lone surrogate":   `{"release":"\ud800","packages":["a"]}`,
		"NUL":              `{"release":"x\u0000","packages":["a"]}`,
		"NUL in a name":    `{"rel\u0000ease":"x"}`,
		"raw control":      "{\"release\":\"a\nb\"}",
		"deep":             strings.Repeat("[", 40) + strings.Repeat("]", 40),
		"very deep":        strings.Repeat("[", 1<<20),
		"comment":          `{/* */}`,
		"NaN":              `{"release":NaN}`,
		"byte order mark":  "\ufeff" + good,
	} {
		t.Run(name, func(t *testing.T) {
			var in api.ResolveRequest
			is.New(t).Equal(api.CodeOf(decode([]byte(body), &in)), api.MalformedRequest)
		})
	}
	is := is.New(t)
	var in api.ResolveRequest
	is.NoErr(decode([]byte(" "+good+"\n"), &in))
	is.Equal(in, api.ResolveRequest{Release: "debian-12", Packages: []string{"bash"}})
	var usage api.UsageRequest
	is.Equal(api.CodeOf(decode([]byte(`{"host_hint":null}`), &usage)), api.BadHostHint)
	is.Equal(api.CodeOf(decode([]byte(`{"host_hint":"\u0000"}`), &usage)), api.MalformedRequest)
	var finding api.ResolveFindingRequest
	is.Equal(api.CodeOf(decode([]byte(`{"ID":1,"channel":"beta"}`), &finding)), api.MalformedRequest) // the id is the path's
}

// FuzzDecode checks that what is taken is what a plain reader would see: one
// value, that says the same when it is written again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"kind":"verify","vm_fingerprint":"ab","source":{"distro":"a","version":"1"},"target":null,"host_hint":""}`))
	f.Add([]byte(`{"kind":"\u0000"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var in, again api.UsageRequest
		if decode(body, &in) != nil {
			return
		}
		b, err := json.Marshal(in)
		if err != nil || decode(b, &again) != nil {
			t.Fatalf("%q was taken, but not what it says: %q, %v", body, b, err)
		}
		if strings.ContainsRune(string(in.Kind)+in.Fingerprint+in.Source.Distro, 0) {
			t.Fatalf("a NUL character came through in %q", body)
		}
	})
}

// FuzzRequests sends any body, id and query to every route: nothing makes the
// server fail, and what it says is JSON.
func FuzzRequests(f *testing.F) {
	routes := (*Server)(nil).routes()
	for i := range routes {
		f.Add(uint8(i), "1", "limit=1", []byte(`{"kind":"drift","channel":"beta"}`))
	}
	f.Add(uint8(8), "%2e%2e", "offset=-1&x=%zz", []byte(goodUsage))
	db, err := sqlite.Open(f.Context(), filepath.Join(f.TempDir(), "svc.db"), store.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	id, err := db.CreateAccount(f.Context(), "fuzz", license.Account{Plan: api.PlanInternal, FreeQuota: 5, VMLimit: 9})
	if err != nil {
		f.Fatal(err)
	}
	token := api.NewToken()
	if _, err := db.CreateToken(f.Context(), "fuzz", id, api.TokenHash(token)); err != nil {
		f.Fatal(err)
	}
	ix, err := index.Embedded()
	if err != nil {
		f.Fatal(err)
	}
	s := New(Config{Store: db, Index: ix, Key: attest.NewKey()})
	f.Fuzz(func(t *testing.T, n uint8, id, query string, body []byte) {
		route := routes[int(n)%len(routes)]
		r := httptest.NewRequest(route.method, "/", bytes.NewReader(body))
		r.URL.Path, r.URL.RawQuery = strings.ReplaceAll(route.path, "{id}", id), query
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code >= 500 || !jsontext.Value(w.Body.Bytes()).IsValid() {
			t.Fatalf("%s %s: %d %s", route.method, r.URL, w.Code, w.Body)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	in := api.CVEScanRequest{Release: "debian-12", Packages: make([]api.ScannedPackage, api.MaxBatch)}
	for i := range in.Packages {
		in.Packages[i] = api.ScannedPackage{Name: "libexample-package", Version: "1.2.3-4+deb12u1", Source: "example", SourceVersion: "1.2.3-4", Arch: "amd64"}
	}
	body, err := json.Marshal(in)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if err := decode(body, &in); err != nil {
			b.Fatal(err)
		}
	}
}
