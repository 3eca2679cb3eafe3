package server

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/benchcpu"
	"svc/backend/index"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/sqlite"
)

// benchmark calls the handler itself, from many goroutines at once: what a
// socket costs is not measured.
func benchmark(b *testing.B, method, path string, body func(n int64) string) {
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "svc.db"), store.Options{})
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
	b.ReportAllocs()
	b.ResetTimer()
	end := benchcpu.Start(b)
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
	end()
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

// BenchmarkThousand asks for 1000 packages of machines of EL 8: the first time that
// they go to a target, as there are more of these than the index keeps, and again.
func BenchmarkThousand(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the service has it
	names := thousand(b)
	targets := strings.Fields("debian-13 debian-12 ubuntu-24.04 ubuntu-22.04 rhel-9 almalinux-9 rocky-9 almalinux-10 rhel-10 ol-9 " +
		"sles-15 opensuse-leap-15.6 amzn-2023 fedora-42 rocky-10 ol-10 debian-14 debian-11 sles-16 ubuntu-26.04")
	ix, err := index.Embedded()
	if err != nil {
		b.Fatal(err)
	}
	resolved, err := ix.Resolve("rhel-8", names)
	if err != nil {
		b.Fatal(err)
	}
	var canonicals []string
	for _, r := range resolved {
		if r.Canonical != nil {
			canonicals = append(canonicals, *r.Canonical)
		}
	}
	var bodies []string
	for _, target := range targets {
		body, _ := json.Marshal(api.TranslateRequest{Source: "rhel-8", Target: target, Canonicals: canonicals})
		bodies = append(bodies, string(body))
	}
	body, _ := json.Marshal(api.ResolveRequest{Release: "rhel-8", Packages: names})
	b.Run("resolve", func(b *testing.B) { benchmark(b, "POST", "/v1/resolve", func(int64) string { return string(body) }) })
	for _, path := range []string{"/v1/translate", "/v1/config-paths"} {
		b.Run(path[4:]+"/first", func(b *testing.B) {
			benchmark(b, "POST", path, func(n int64) string { return bodies[n%int64(len(bodies))] })
		})
		b.Run(path[4:]+"/again", func(b *testing.B) { benchmark(b, "POST", path, func(int64) string { return bodies[0] }) })
	}
}

// thousand are the names of packages of real machines.
func thousand(b *testing.B) []string {
	b.Helper()
	lists, err := filepath.Glob("../../../shared/data/hosts/*-8.*.tsv")
	if err != nil || len(lists) == 0 {
		b.Skip("the lists of machines' packages are not here")
	}
	seen := map[string]bool{}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if name, _, ok := strings.Cut(line, "\t"); ok && !strings.HasPrefix(line, "#") {
				seen[name] = true
			}
		}
	}
	names := slices.Sorted(maps.Keys(seen))
	if len(names) < api.MaxBatch {
		b.Skip("the machines have too few packages")
	}
	return names[:api.MaxBatch]
}

func BenchmarkEdges(b *testing.B) {
	benchmark(b, "GET", "/v1/upgrade-edges?engine=sqlite", func(int64) string { return "" })
}
