package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend"
	"svc/backend/advisory"
	"svc/backend/api"
	"svc/backend/client"
	"svc/tools/assessment"
	"svc/tools/cvescan"
	"svc/tools/evidence"
	"svc/tools/machine"
	"svc/tools/move"
	"svc/tools/tool"
)

// manyCVEs are names as a kernel's advisory has them.
func manyCVEs(i int) string {
	names := []string{}
	for n := range 40 {
		names = append(names, fmt.Sprintf("%q", fmt.Sprintf("CVE-2026-%d%02d", i, n)))
	}
	return strings.Join(names, ",")
}

// scanEnv has advisories of every package of the fixture, in Debian 11 and 13.
func scanEnv(t *testing.T) *tool.Env {
	t.Helper()
	is := is.New(t)
	a, err := assessment.Assess(t.Context(), &tool.Env{Now: time.Now}, assessment.Input{Machine: machine.Machine{Root: fixture}, Detail: tool.DetailFull})
	is.NoErr(err)
	dir := t.TempDir()
	vectors := []string{"C:H/I:H/A:H", "C:N/I:N/A:H", "C:N/I:N/A:L"}
	for i, p := range a.Packages {
		text := fmt.Sprintf(`{"id":"DSA-%d-1","modified":%q,"summary":"%s","upstream":[%s],"severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/%s"}],"affected":[
			{"package":{"ecosystem":"Debian:11","name":%q},"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"}]}]},
			{"package":{"ecosystem":"Debian:13","name":%[6]q},"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"}]}]}]}`,
			1000+i, time.Now().UTC().Format(time.RFC3339), strings.Repeat("long ", 50), manyCVEs(1000+i), vectors[i%3], p.Source)
		is.NoErr(os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), []byte(text), 0o644))
	}
	feed := filepath.Join(t.TempDir(), "feed")
	_, err = advisory.Build(t.Context(), advisory.Sources{OSV: []string{dir}, Out: feed, Now: time.Now()})
	is.NoErr(err)
	env := newEnv(t)
	c, closer, err := backend.OpenEmbedded(t.Context(), t.TempDir(), backend.Config{Advisories: feed})
	is.NoErr(err)
	t.Cleanup(func() { closer.Close() })
	env.Client = func(context.Context) (*client.Client, error) { return c, nil }
	return env
}

// kept is a place for what results were too small for.
type kept map[string][]byte

func (k kept) Put(name string, document []byte) string {
	k[name] = document
	return name
}

func TestASummaryOfAScanIsSmall(t *testing.T) {
	is := is.New(t)
	env, all := scanEnv(t), kept{}
	env.Resources = all
	for _, target := range []string{"", "debian-13"} {
		r, err := cvescan.Scan(t.Context(), env, cvescan.Input{Machine: machine.Machine{Root: fixture}, Target: target})
		is.NoErr(err)
		is.True(len(tool.Encoded(r)) <= tool.SummaryBudget)
		is.True(r.Truncated && len(r.Matches) > 0 && r.Total["matches"] > len(r.Matches))
		is.Equal(r.Matches[0].Severity, "critical") // the worst stay
		is.True(r.Counts.Critical > 0 && r.Counts.Medium > 0)
		is.Equal(len(r.Warnings) > 0, target != "") // of counterparts that nobody could compare
		var whole cvescan.Result
		is.NoErr(json.Unmarshal(all[r.Resource], &whole))
		is.Equal(len(whole.Matches), r.Total["matches"])
		is.Equal(len(whole.Matches[0].Aliases), 40)
		if target != "" {
			is.True(r.Target.Compared)
			is.Equal(r.Total["target.stays"], len(whole.Target.Stays))
		}
	}
}

func TestAScanWithoutAdvisoriesIsNotClean(t *testing.T) {
	is := is.New(t)
	r, err := cvescan.Scan(t.Context(), newEnv(t), cvescan.Input{Machine: machine.Machine{Root: fixture}, Target: "debian-13"})
	is.NoErr(err)
	is.True(!r.Feed.Loaded && r.Stale && !r.Target.Compared)
	is.True(strings.HasPrefix(r.Warnings[0], "NOTHING WAS COMPARED"))
	is.True(r.Matches != nil && len(r.Matches) == 0)
}

func TestAMoveWithoutCounterpartsIsNotKnown(t *testing.T) {
	is := is.New(t)
	r, err := cvescan.Scan(t.Context(), scanEnv(t), cvescan.Input{Machine: machine.Machine{Root: fixture}, Target: "amzn-2"})
	is.NoErr(err)
	is.True(r.Feed.Loaded && !r.Target.Compared)
	is.True(strings.Contains(strings.Join(r.Warnings, "\n"), "the index is sure of no package's counterpart in amzn-2"))
}

func TestScanRefusals(t *testing.T) {
	is := is.New(t)
	_, err := cvescan.Scan(t.Context(), newEnv(t), cvescan.Input{Machine: machine.Machine{Root: fixture}, Target: "debain-13"})
	is.True(err != nil && strings.Contains(err.Error(), "debian-13"))
	_, err = cvescan.Scan(t.Context(), newEnv(t), cvescan.Input{Machine: machine.Machine{Root: fixture}, Detail: "some"})
	is.True(err != nil)
}

// TestOnlyTheKernelThatRuns has machines with several kernels.
func TestOnlyTheKernelThatRuns(t *testing.T) {
	deb := []assess.Package{
		{Name: "linux-image-6.1.0-18-amd64", Version: "6.1.76-1"},
		{Name: "linux-image-6.1.0-28-amd64", Version: "6.1.119-1"},
		{Name: "linux-image-amd64", Version: "6.1.119-1"},
		{Name: "bash", Version: "5.2-1"},
	}
	rpm := []assess.Package{
		{Name: "bash", Version: "4.4.20-1.el8", Arch: "x86_64"},
		{Name: "kernel-core", Version: "4.18.0-348.el8", Arch: "x86_64"},
		{Name: "kernel-core", Version: "4.18.0-553.el8_10", Arch: "x86_64"},
		{Name: "kernel-headers", Version: "4.18.0-553.el8_10", Arch: "x86_64"},
	}
	for name, c := range map[string]struct {
		packages []assess.Package
		running  string
		want     string
	}{
		"Debian's, known":         {deb, "6.1.0-18-amd64", "linux-image-6.1.0-18-amd64 6.1.76-1, bash 5.2-1"},
		"Debian's, not installed": {deb, "6.9.0-custom", "linux-image-6.1.0-18-amd64 6.1.76-1, linux-image-6.1.0-28-amd64 6.1.119-1, linux-image-amd64 6.1.119-1, bash 5.2-1"},
		"Debian's, not known":     {deb, "", "linux-image-6.1.0-18-amd64 6.1.76-1, linux-image-6.1.0-28-amd64 6.1.119-1, linux-image-amd64 6.1.119-1, bash 5.2-1"},
		"rpm's, the older":        {rpm, "4.18.0-348.el8.x86_64", "kernel-core 4.18.0-348.el8, kernel-headers 4.18.0-553.el8_10, bash 4.4.20-1.el8"},
		"rpm's, not known":        {rpm, "", "kernel-core 4.18.0-348.el8, kernel-core 4.18.0-553.el8_10, kernel-headers 4.18.0-553.el8_10, bash 4.4.20-1.el8"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &assess.Assessment{Packages: c.packages}
			if c.running != "" {
				a.Running = &assess.Running{Kernel: c.running}
			}
			got := []string{}
			for _, p := range cvescan.Scanned(a) {
				got = append(got, p.Name+" "+p.Version)
			}
			is.New(t).Equal(strings.Join(got, ", "), c.want)
		})
	}
}

// TestAMigrationSaysWhatItFixes holds the counts against the file.
func TestAMigrationSaysWhatItFixes(t *testing.T) {
	is := is.New(t)
	env := scanEnv(t)
	in := confirmed(t)
	preflight, err := move.Migrate(t.Context(), env, move.Input{Machine: in.Machine, Target: in.Target, Preflight: true})
	is.NoErr(err)
	is.True(!preflight.Exposure.Compared && strings.Contains(preflight.Exposure.Why, "no licence seat"))
	r := migrate(t, env, in)
	is.True(r.SeatClaimed) // by the migration, not by the scan
	is.True(r.Exposure.Compared)
	b, err := os.ReadFile(filepath.Join(in.Out, evidence.ExposureFile))
	is.NoErr(err)
	var d struct {
		Fixed, Stays, Brought, Open []json.RawMessage
		SourceFeed                  api.Feed `json:"source_feed"`
	}
	is.NoErr(json.Unmarshal(b, &d))
	is.Equal([]int{len(d.Fixed), len(d.Stays), len(d.Brought), len(d.Open)}, []int{*r.Exposure.Fixed, *r.Exposure.Stays, *r.Exposure.Brought, *r.Exposure.Open})
	is.True(*r.Exposure.Stays > 0 && d.SourceFeed.Loaded)
	before := contents(t, in.Out)
	again := migrate(t, env, in)
	is.Equal(contents(t, in.Out), before)
	is.Equal(again.Exposure, r.Exposure)
}
