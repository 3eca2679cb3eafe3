package fleet

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/tools/page/pagetest"
)

// thousand is a fleet of a thousand machines of ten kinds. A name is long, one is
// hostile.
func thousand() *Document {
	releases := []string{"debian-11", "centos-7", "ubuntu-20.04", "rhel-8"}
	read := []Read{}
	for i := range 1000 {
		kind := i % 10
		m := Machine{
			Name: fmt.Sprintf("host%04d.site-%d.example.net", i, kind), Place: fmt.Sprintf("image:/srv/images/host%04d.qcow2", i), Source: releases[i%len(releases)],
			Fingerprint: fmt.Sprint(i), Packages: 400 + kind, Questions: kind % 4, Manual: kind % 3, DataBytes: int64(i) << 24, Inhibitors: []Finding{}, Databases: []string{"postgresql 13"},
			Findings: []Finding{{Key: "a.b", Severity: assess.Medium, Title: "Packages whose counterpart is not known", Summary: strings.Repeat("1 of 350 chosen packages. ", 8)}},
		}
		switch kind {
		case 0:
			m.Findings, m.Questions, m.Manual = []Finding{}, 0, 0
		case 8:
			m.Inhibitors = []Finding{{Key: "x.y", Severity: assess.High, Title: "The target does not start from this disk <script>alert(1)</script>"}}
		case 9:
			m = Machine{Name: m.Name, Place: m.Place, Error: "the image was cut short: it has 12 of 40 GiB", Inhibitors: []Finding{}, Findings: []Finding{}, Databases: []string{}}
		}
		read = append(read, Read{Machine: m, Features: []uint64{uint64(kind)}, Names: []uint64{uint64(i) + 1}, Mentions: []uint64{uint64(i/20*20) + 1}})
	}
	return New("debian-13", "index", read, Funds{Left: 100, Rate: 799, Annual: 4990})
}

// TestPageOfAThousand has each machine in it once, needs nothing but itself, and is
// short enough to open at once; with SVC_PAGES it is written there, for a browser.
func TestPageOfAThousand(t *testing.T) {
	is := is.New(t)
	b := Page(thousand(), "svc test")
	page := string(b)
	is.Equal(strings.Count(page, `/report.html"`), 900) // all that were read
	is.Equal(strings.Count(page, "<tr data-verdict="), 1000)
	is.True(!strings.Contains(page, "<script>alert"))
	for _, outside := range []string{"src=", "@import", "url(", "http:", "https:"} {
		is.True(!strings.Contains(page, outside))
	}
	is.True(strings.Contains(page, "644190 USD</b>a year after all have moved; 4990 now")) // 900 seats, 100 of them there
	is.True(len(page) < 1<<20)
	is.NoErr(os.WriteFile(filepath.Join(cmp.Or(os.Getenv("SVC_PAGES"), t.TempDir()), "thousand.html"), b, 0o644))
}

func TestThePagesAreNoMachinesOwn(t *testing.T) {
	pagetest.Holds(t, func(d *Document) []byte { return Page(d, "svc test") })
	pagetest.Holds(t, func(o *Overview) []byte { return o.Page("svc test") })
}

// TestPageOfAThousandOutcomes is of the overview what TestPageOfAThousand is of a fleet.
func TestPageOfAThousandOutcomes(t *testing.T) {
	is := is.New(t)
	var outcomes []Outcome
	for i := range 1000 {
		o := Outcome{Name: fmt.Sprintf("host%04d.site-%d.example.net", i, i%10), State: StateFindings, What: fmt.Sprintf("%d differ, 5 not checkable, 640 as planned", i%17+1), Exit: 6}
		o.Place, o.File = fmt.Sprintf("image:/srv/images/of-the-second-data-centre/host%04d.qcow2", i), o.Name+"/report.html"
		switch i % 10 {
		case 0:
			o.State, o.What, o.Exit = StateClean, "5 not checkable, 641 as planned", 0
		case 8:
			o.State, o.What, o.File, o.Exit = StateFailed, "reading the source: moves/"+o.Name+": there is no such file or folder", "", 1
		case 9:
			o.State, o.What, o.File, o.Exit = StateNotReached, "stopped before its turn came", "", 130
		}
		outcomes = append(outcomes, o)
	}
	b := NewOverview("svc verify", outcomes).Page("svc test")
	page := string(b)
	is.Equal(strings.Count(page, `/report.html"`), 800)
	is.Equal(strings.Count(page, "<tr data-verdict="), 1000)
	is.True(len(page) < 1<<20)
	is.NoErr(os.WriteFile(filepath.Join(cmp.Or(os.Getenv("SVC_PAGES"), t.TempDir()), "overview.html"), b, 0o644))
}
