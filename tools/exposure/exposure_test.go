package exposure

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/backend/api"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// matches are of each kind: several CVEs, none, no fix, no text.
var matches = []api.CVEMatch{
	{Package: "openssl", Version: "1:1.1.1k-7.el8_6", Advisory: "ALSA-2024:0310", Aliases: []string{"CVE-2023-5363", "CVE-2023-5364"}, Severity: "critical", CVSS: "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", FixedVersion: "1:1.1.1k-12.el8_9", Status: "fixed", Summary: "openssl security update", URL: "https://errata.example.org/8/ALSA-2024-0310.html"},
	{Package: "openssl-libs", Version: "1:1.1.1k-7.el8_6", Advisory: "ALSA-2024:0310", Aliases: []string{"CVE-2023-5363", "CVE-2023-5364"}, Severity: "critical", FixedVersion: "1:1.1.1k-12.el8_9", Status: "fixed", Summary: "openssl security update", URL: "https://errata.example.org/8/ALSA-2024-0310.html"},
	{Package: "bind", Version: "32:9.11-1.el8", Advisory: "DSA-1-1", Aliases: []string{}, Severity: "medium", CVSS: "AV:N/AC:M/Au:N/C:N/I:P/A:N", Status: "unfixed"},
	{Package: "g++ <b>", Version: "1", Advisory: "CVE-2020-1", Aliases: []string{"GHSA-x"}, Severity: "unknown", Status: "end_of_life"},
}

// TestDocuments has the forms for other programs; the end-to-end test holds
// such against their schemas.
func TestDocuments(t *testing.T) {
	is := is.New(t)
	s := Subject{Release: "almalinux-8", Database: "var/lib/rpm", Tool: "1.2.3", Warnings: []string{"THE ADVISORIES ARE OLD"}}
	for name, document := range map[string]any{
		"scan.sarif": NewSARIF(s, matches), "scan.vex.json": NewVEX(s, matches, time.Unix(1_800_000_000, 0)),
		"none.sarif": NewSARIF(s, nil), "none.vex.json": NewVEX(s, nil, time.Unix(1_800_000_000, 0)),
	} {
		b, err := json.MarshalIndent(document, "", "  ")
		is.NoErr(err)
		golden := filepath.Join("testdata", name)
		if *update {
			is.NoErr(os.WriteFile(golden, append(b, '\n'), 0o644))
		}
		want, err := os.ReadFile(golden)
		is.NoErr(err)
		is.Equal(string(b), strings.TrimSuffix(string(want), "\n"))
	}
}

func TestCountIsByAdvisory(t *testing.T) {
	is.New(t).Equal(Count(matches), Counts{Critical: 1, Medium: 1, Unknown: 1, Total: 3})
}

func TestReach(t *testing.T) {
	is := is.New(t)
	for threshold, want := range map[string]int{"critical": 1, "high": 1, "medium": 2, "low": 4} {
		n := 0
		for _, m := range []api.CVEMatch{{Severity: "critical"}, {Severity: "medium"}, {Severity: "low"}, {Severity: "unknown"}} {
			if Count([]api.CVEMatch{m}).Reach(threshold) {
				n++
			}
		}
		is.Equal(n, want) // low counts what nobody graded, too
	}
	is.True(!Count(nil).Reach("low"))
}

func TestStale(t *testing.T) {
	is := is.New(t)
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	is.True(Stale(api.Feed{}, now))
	is.True(!Stale(api.Feed{Loaded: true, UpdatedAt: new("2026-11-14 12:00:01+00")}, now))
	is.True(Stale(api.Feed{Loaded: true, UpdatedAt: new("2026-11-14 11:59:59+00")}, now))
	is.True(Stale(api.Feed{Loaded: true, UpdatedAt: new("yesterday")}, now))
}

// TestCompareIsAClosedSum has each vulnerability of the source in one of three
// lists, and those of the target in one of two.
func TestCompareIsAClosedSum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		match := rapid.Custom(func(t *rapid.T) api.CVEMatch {
			return api.CVEMatch{
				Package: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "package"), Advisory: rapid.SampledFrom([]string{"X-1", "X-2", "CVE-3"}).Draw(t, "advisory"),
				Aliases: rapid.SliceOfN(rapid.SampledFrom([]string{"CVE-1", "CVE-2", "CVE-3", "GHSA-1"}), 0, 3).Draw(t, "aliases"), Severity: rapid.SampledFrom(Severities).Draw(t, "severity"),
			}
		})
		before, after := rapid.SliceOf(match).Draw(rt, "before"), rapid.SliceOf(match).Draw(rt, "after")
		unsure := map[string]bool{"a": rapid.Bool().Draw(rt, "unsure")}
		c := Compare(before, after, unsure)
		old, planned := ids(before), ids(after)
		seen := map[string]int{}
		for _, list := range [][]Vulnerability{c.Fixed, c.Stays, c.Open, c.Brought} {
			for _, v := range list {
				seen[v.ID]++
			}
		}
		for id := range old {
			delete(planned, id)
		}
		if len(c.Fixed)+len(c.Stays)+len(c.Open) != len(old) || len(c.Brought) != len(planned) {
			rt.Fatalf("%+v of %v and %v", c, before, after)
		}
		for id, n := range seen {
			if n != 1 {
				rt.Fatalf("%s is in %d lists", id, n)
			}
		}
		for _, v := range c.Fixed {
			if slices.Contains(v.Packages, "a") && unsure["a"] {
				rt.Fatalf("%s is said to be fixed, and nobody knows", v.ID)
			}
		}
	})
}

func ids(matches []api.CVEMatch) map[string]bool {
	all := map[string]bool{}
	for _, m := range matches {
		for _, id := range names(m) {
			all[id] = true
		}
	}
	return all
}
