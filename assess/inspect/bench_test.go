package inspect

import (
	"crypto/md5"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/host"
	"svc/assess/packages"
)

// realRoot is the root of a real server, where the end-to-end test made one.
func realRoot(tb testing.TB) string {
	tb.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		tb.Skip(err)
	}
	root := filepath.Join(cache, "svc-e2e", "roots", "bullseye-server")
	if _, err := os.Stat(root + ".recipe"); err != nil {
		tb.Skip("no real root: bash .ci/e2e/roots.sh makes one")
	}
	return root
}

// BenchmarkFloor reads the package database and hashes the files that an
// assessment compares, and nothing else.
func BenchmarkFloor(b *testing.B) {
	is := is.New(b)
	root := realRoot(b)
	h, err := host.OpenRoot(root)
	is.NoErr(err)
	defer h.Close()
	m := &assess.Machine{Context: b.Context(), FS: h.FS(), Reading: assess.Reading{A: &assess.Assessment{}}}
	packages.ReadPackages(m)
	b.ResetTimer()
	for b.Loop() {
		_, err := os.ReadFile(filepath.Join(root, "var/lib/dpkg/status"))
		is.NoErr(err)
		for file := range m.Book.Conffiles {
			content, err := os.ReadFile(filepath.Join(root, file))
			if err == nil {
				md5.Sum(content)
			}
		}
	}
}

func BenchmarkAssess(b *testing.B) {
	is := is.New(b)
	h, err := host.OpenRoot(realRoot(b))
	is.NoErr(err)
	defer h.Close()
	b.ReportAllocs()
	for b.Loop() {
		_, err := Assess(b.Context(), h, assess.Options{Now: time.Now()})
		is.NoErr(err)
	}
}

// BenchmarkAssessRPM assesses a machine that is little else than a real database
// of rpm: the 396 packages of a CentOS 7.
func BenchmarkAssessRPM(b *testing.B) {
	is := is.New(b)
	h, err := host.OpenRoot(realRPM(b, "centos7-many", "var/lib/rpm/Packages", osCentOS7, nil))
	is.NoErr(err)
	defer h.Close()
	b.ReportAllocs()
	for b.Loop() {
		_, err := Assess(b.Context(), h, assess.Options{Now: time.Now()})
		is.NoErr(err)
	}
}
