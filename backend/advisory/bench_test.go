package advisory

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/benchcpu"
)

// twoThousand are the packages of real machines of EL 8, filled up with names
// of EL 8 at a version that is older than every fix.
func twoThousand(tb testing.TB) (packages []api.ScannedPackage) {
	tb.Helper()
	seen := map[string]bool{}
	add := func(p api.ScannedPackage) {
		if !seen[p.Name] && len(packages) < 2000 {
			seen[p.Name] = true
			packages = append(packages, p)
		}
	}
	for _, list := range []string{"almalinux-8.vuls.tsv", "rhel-8.osbuild-ec2_sap-ec2_sap_empty.tsv", "ol-8.vuls.tsv"} {
		for _, p := range hostPackages(tb, list) {
			add(p)
		}
	}
	b, err := os.ReadFile(realFile(tb, "names/el-8.txt"))
	is.New(tb).NoErr(err)
	for name := range strings.Lines(string(b)) {
		if name = strings.TrimSpace(name); name != "" && !strings.HasPrefix(name, "#") {
			add(api.ScannedPackage{Name: strings.Fields(name)[0], Version: "0-1.el8", Arch: "x86_64"})
		}
	}
	is.New(tb).Equal(len(packages), 2000)
	return packages
}

// BenchmarkMatch is the service's part of a scan: a request's packages against
// the advisories of AlmaLinux 8, from a feed that is opened each time.
func BenchmarkMatch(b *testing.B) {
	out := filepath.Join(b.TempDir(), "feed")
	_, err := Build(b.Context(), Sources{OSV: []string{realFile(b, "osv")}, Out: out, Now: time.Now()})
	is.New(b).NoErr(err)
	packages := twoThousand(b)
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the service has it
	for name, open := range map[string]func() (*Feed, error){
		"2000_packages": func() func() (*Feed, error) {
			kept, err := Open(out)
			return func() (*Feed, error) { return kept, err }
		}(),
		"2000_packages_and_opening": func() (*Feed, error) { return Open(out) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			matches, end := 0, benchcpu.Start(b)
			for b.Loop() {
				feed, err := open()
				if err != nil {
					b.Fatal(err)
				}
				r, err := feed.match("almalinux-8", packages, time.Now())
				if err != nil || len(r.Matches) == 0 {
					b.Fatal(len(r.Matches), err)
				}
				matches = len(r.Matches) + len(r.Updates)
			}
			end()
			b.ReportMetric(float64(matches), "matches")
		})
	}
}

// BenchmarkReadArchive is the floor of what a scanner does that keeps the
// published archive and reads it for each scan: unpacking alone.
func BenchmarkReadArchive(b *testing.B) {
	for b.Loop() {
		n := 0
		err := eachDocument(b.Context(), realFile(b, "osv/almalinux8.tar.zst"), "", nil, func(_ string, text []byte) error {
			n += len(text)
			return nil
		}, func(string, error) {})
		if err != nil || n == 0 {
			b.Fatal(n, err)
		}
	}
}
