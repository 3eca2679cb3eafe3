// Package report_test opens reports and the page of a fleet in a browser: at the widths
// of a desk and of a phone, and as print has them, nothing may be wider than the page,
// each tile must agree with what it leads to, and print must show what is folded. The
// page of a thousand machines must open at once, filter and sort, and be dark where the
// reader's system is. They must look as they did, on a desk, a phone and paper.
//
// SVC_SCREENSHOTS=DIR keeps what they look like, SVC_PICTURES=keep takes it for right.
package report_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/.ci/e2e"
)

func TestMain(m *testing.M) { e2e.Main(m, "chromium:chromium", "fc-list:fontconfig") }

// paper is the width of A4 between its margins, in pixels.
const paper = 718

//go:embed report.js
var reportScript string

//go:embed fleet.js
var fleetScript string

// browser is a test's browser.
type browser struct {
	*e2e.Work
	t  *testing.T
	is *is.I
}

func newBrowser(t *testing.T) *browser { return &browser{e2e.New(t), t, is.New(t)} }

// of is the browser for a subtest.
func (b *browser) of(t *testing.T) *browser { return &browser{b.In(t), t, is.New(t)} }

// open has the browser do what its flags say with a page.
func (b *browser) open(page string, flags ...string) string {
	b.t.Helper()
	flags = append([]string{"120", "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--allow-file-access-from-files"}, flags...)
	return b.Run(0, "timeout", append(flags, "file://"+page)...).Out
}

// measured is the last JSON that a script of measures leaves in a page.
var measured = regexp.MustCompile(`<script type="?application/json"?>(\{.*\})</script>`)

// measure runs a script in a page and reads what it leaves there.
func (b *browser) measure(page, script string, width int, into any) {
	b.t.Helper()
	b.Files(b.Dir, map[string]string{"page.html": page + "<script>\n" + script + "</script>\n"})
	said := measured.FindStringSubmatch(b.open(b.Path("page.html"), fmt.Sprintf("--window-size=%d,1200", width), "--dump-dom"))
	if said == nil {
		b.t.Fatal("the page was not measured")
	}
	b.is.NoErr(json.Unmarshal([]byte(said[1]), into))
}

func (b *browser) read(path string) string {
	b.t.Helper()
	text, err := os.ReadFile(path)
	b.is.NoErr(err)
	return string(text)
}

// keeps takes a picture of a page where SVC_SCREENSHOTS says.
func (b *browser) keeps(page, name string, width int) {
	if dir := os.Getenv("SVC_SCREENSHOTS"); dir != "" {
		b.is.NoErr(os.MkdirAll(dir, 0o755))
		b.open(page, fmt.Sprintf("--window-size=%d,2400", width), "--screenshot="+filepath.Join(dir, name+".png"))
	}
}

// as has a page as a medium has it, on the screen.
func as(page, medium string) string {
	switch medium {
	case "print":
		return strings.ReplaceAll(page, "@media print", "@media screen")
	case "dark":
		return strings.ReplaceAll(page, "@media (prefers-color-scheme: dark)", "@media screen")
	}
	return page
}

// scriptless is the line of a report that allows no script.
var scriptless = regexp.MustCompile(`(?m)^.*Content-Security-Policy.*\n`)

// layout is what every measure has.
type layout struct {
	Page, Window int
	Wide         []string // elements that are wider than the page
	Hidden       int      // folded elements that do not show
}

func (b *browser) fits(l layout, medium string) {
	b.t.Helper()
	if l.Page > l.Window+1 || len(l.Wide) > 0 {
		b.t.Errorf("wider than the page: %+v", l)
	}
	if medium == "print" && l.Hidden > 0 {
		b.t.Errorf("print hides what is folded: %+v", l)
	}
}

// reportMeasures is what report.js leaves.
type reportMeasures struct {
	layout
	Tiles []struct {
		Count      int
		Kind, Text string
		There      bool
	}
	Cards map[string]int
}

// counting is the text of a tile that counts findings.
var counting = regexp.MustCompile(`(high|medium) findings|(high|medium) finding$`)

func TestReports(t *testing.T) {
	for _, move := range []struct{ host, target string }{{"debian-11-web", "debian-13"}, {"centos-7-web", "rocky-9"}, {"centos-7-web", "debian-13"}} {
		t.Run(move.host+" to "+move.target, func(t *testing.T) {
			b := newBrowser(t)
			b.Shell(0, `"$1" migrate --root "../../../fixtures/hosts/$2" --target "$3" --out "$4" --confirm || [ $? = 6 ]`, b.Command().Path, move.host, move.target, b.Path("out"))
			file := b.Path("out/report.html")
			page := scriptless.ReplaceAllString(b.read(file), "")
			for _, width := range []int{1280, 390} {
				for _, medium := range []string{"screen", "print"} {
					t.Run(fmt.Sprintf("%s of %d", medium, width), func(t *testing.T) {
						var m reportMeasures
						b := b.of(t)
						b.measure(as(page, medium), reportScript, width, &m)
						b.fits(m.layout, medium)
						for _, tile := range m.Tiles {
							b.is.True(tile.There) // what it leads to
							if counting.MatchString(tile.Text) {
								b.is.Equal(tile.Count, m.Cards[tile.Kind]) // the findings that it counts
							}
						}
					})
				}
				b.keeps(file, fmt.Sprintf("%s-%s-%d", move.host, move.target, width), width)
			}
			b.open(file, "--no-pdf-header-footer", "--print-to-pdf="+b.Path("report.pdf"))
			b.is.True(len(b.read(b.Path("report.pdf"))) > 20000) // the print is not empty
		})
	}
}

// pages has a package's tests write the pages that never change.
func (b *browser) pages(pattern, folder string) {
	b.t.Helper()
	b.t.Setenv("SVC_PAGES", b.Dir)
	b.Run(0, "go", "test", "-count=1", "-run", pattern, "svc/"+folder)
}

// fleetMeasures is what fleet.js leaves.
type fleetMeasures struct {
	layout
	Opened, Worked float64 // ms
	Rows           int
	Filters        map[string]int // rows that each leaves
	Largest, Paper string
}

func TestFleet(t *testing.T) {
	b := newBrowser(t)
	b.pages("PageOfAThousand", "tools/fleet")
	file := b.Path("thousand.html")
	page := b.read(file)
	for _, width := range []int{1280, 390, paper} {
		for _, medium := range []string{"screen", "print", "dark"} {
			if medium == "print" && width == 390 {
				continue // no paper is as narrow as a phone
			}
			t.Run(fmt.Sprintf("%s of %d", medium, width), func(t *testing.T) {
				var m fleetMeasures
				b := b.of(t)
				b.measure(as(page, medium), fleetScript, width, &m)
				b.fits(m.layout, medium)
				b.is.Equal(m.Rows, 1000)
				b.is.Equal(m.Filters, map[string]int{"word": 1, "none": 1000, "verdict": 100, "both": 50})
				b.is.Equal(m.Largest, "15.6 GiB") // sorted by it
				if medium == "dark" {
					b.is.Equal(m.Paper, "rgb(18, 22, 28)")
				}
				t.Logf("opens in %.0f ms, filters and sorts in %.0f ms", m.Opened, m.Worked)
				b.is.True(m.Opened < 20000)
			})
		}
		b.keeps(file, fmt.Sprintf("fleet-%d", width), width)
	}
}

// fonts has all letters of one font, as machines have others.
var fonts = strings.NewReplacer("system-ui, sans-serif", `"DejaVu Sans"`, "ui-monospace, monospace", `"DejaVu Sans"`)

// TestPictures holds what pages look like against testdata.
func TestPictures(t *testing.T) {
	b := newBrowser(t)
	b.Call(0, "fc-list | grep -q DejaVuSans.ttf || needs no-such-program:fonts-dejavu-core")
	b.pages("PageOfAThousand", "tools/fleet")
	b.pages("PageOfAMachine", "tools/report")
	const alone = "<style>body > :not(.tools, .wide:last-of-type) { display: none; }</style>\n" // of the fleet, its table
	b.Files(b.Dir, map[string]string{"rows.html": b.read(b.Path("thousand.html")) + alone})
	for _, name := range []string{"machine", "thousand", "rows", "overview"} {
		page := fonts.Replace(scriptless.ReplaceAllString(b.read(b.Path(name+".html")), ""))
		for _, look := range []struct {
			name, medium string
			width        int
		}{{"desk", "screen", 1280}, {"phone", "screen", 390}, {"dark", "dark", 1280}, {"print", "print", paper}} {
			t.Run(name+" "+look.name, func(t *testing.T) {
				b := b.of(t)
				b.looks(name+"-"+look.name, as(page, look.medium), look.width)
			})
		}
	}
}

// looks holds a page against its picture.
func (b *browser) looks(name, page string, width int) {
	b.Files(b.Dir, map[string]string{"page.html": page})
	shot, reference := b.Path(name+".png"), filepath.Join("testdata", name+".png")
	b.open(b.Path("page.html"), "--force-device-scale-factor=1", "--force-color-profile=srgb", "--font-render-hinting=none", "--disable-lcd-text",
		fmt.Sprintf("--window-size=%d,1600", width), "--screenshot="+shot)
	if dir := os.Getenv("SVC_SCREENSHOTS"); dir != "" {
		b.Run(0, "cp", shot, dir)
	}
	if os.Getenv("SVC_PICTURES") == "keep" {
		b.is.NoErr(keep(reference, shot))
		return
	}
	if err := differ(reference, shot); err != nil {
		b.t.Errorf("%s does not look as it did: SVC_SCREENSHOTS=DIR keeps what it looks like, SVC_PICTURES=keep takes it for right: %v", name, err)
	}
}
