package server

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/index"
	"svc/backend/license"
	"svc/backend/store"
)

// benchmark calls the handler itself, from many goroutines at once: what a
// socket costs is not measured.
func benchmark(b *testing.B, method, path string, body func(n int64) string) {
	db, err := store.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "svc.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	id, err := db.CreateAccount(b.Context(), "bench", license.Account{Plan: api.PlanInternal, Unlimited: true})
	if err != nil {
		b.Fatal(err)
	}
	token := api.NewToken()
	if _, err := db.CreateToken(b.Context(), "bench", id, api.TokenHash(token)); err != nil {
		b.Fatal(err)
	}
	ix, err := index.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	s := New(Config{Store: db, Index: ix, Key: attest.NewKey()})
	var n atomic.Int64
	b.SetParallelism(32)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			r := httptest.NewRequest(method, path, strings.NewReader(body(n.Add(1))))
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); w.Code != http.StatusOK {
				b.Errorf("%d %s", w.Code, w.Body)
				return
			}
		}
	})
}

func BenchmarkHealth(b *testing.B) {
	benchmark(b, "GET", "/v1/health", func(int64) string { return "" })
}

func BenchmarkAccount(b *testing.B) {
	benchmark(b, "GET", "/v1/account", func(int64) string { return "" })
}

func BenchmarkEnroll(b *testing.B) {
	benchmark(b, "POST", "/v1/enroll", func(n int64) string {
		body, _ := json.Marshal(api.EnrollRequest{Fingerprint: fingerprint(int(n)), Source: api.OS{Distro: "centos", Version: "7"}})
		return string(body)
	})
}

func BenchmarkResolveThousand(b *testing.B) {
	names := make([]string, api.MaxBatch)
	for i := range names {
		names[i] = "bash"
	}
	body, _ := json.Marshal(api.ResolveRequest{Release: "debian-12", Packages: names})
	benchmark(b, "POST", "/v1/resolve", func(int64) string { return string(body) })
}

func BenchmarkEdges(b *testing.B) {
	benchmark(b, "GET", "/v1/upgrade-edges?engine=sqlite", func(int64) string { return "" })
}
