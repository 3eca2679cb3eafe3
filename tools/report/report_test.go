package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/api"
	"svc/tools/exposure"
	"svc/tools/migration"
	"svc/tools/migration/edits"
	"svc/tools/parity"
)

func TestTheParityPage(t *testing.T) {
	is := is.New(t)
	evil := `<script>alert("x")</script>`
	r := parity.Verify(parity.Input{
		Plan:   &migration.Plan{Source: "debian-11", Target: "debian-13", Packages: []migration.Package{{Name: "a", Install: true, Why: evil, Targets: []migration.Target{{Name: "a"}}}}},
		Before: &assess.Assessment{Users: []assess.User{{Name: evil, UID: 1000, Home: "/home/x"}}}, After: &assess.Assessment{Release: "debian-13"},
	})
	page := RenderParity(r, &assess.Assessment{System: assess.System{Hostname: "web1"}}, "svc test")
	text := string(page)
	is.True(!strings.Contains(text, "<script")) // text of a machine is only text
	for _, part := range []string{"web1: 1 difference<", "Before: debian-11", "After: debian-13", `class="differs" style="flex: 1"`, "not all are installed", "&lt;script&gt;"} {
		is.True(strings.Contains(text, part))
	}
	is.True(strings.Index(text, "What differs") < strings.Index(text, "Before and after"))
	for _, outside := range []string{"http://", "https://", "src=", "@import", "url("} {
		is.True(!strings.Contains(text, outside)) // the page needs nothing but itself
	}
	for want, sum := range map[string]parity.Sum{
		"does what debian-11 did":                                 {Total: 1, Match: 1},
		"nothing differs, 1 can't be checked":                     {Total: 2, Match: 1, Unknown: 1},
		"nothing differs, 1 left to a person":                     {Total: 2, Match: 1, Manual: 1},
		"nothing differs, 2 left to a person, 1 can't be checked": {Total: 4, Match: 1, Manual: 2, Unknown: 1},
		"2 differences":                                           {Total: 2, Differs: 2},
	} {
		is.Equal(verdict(&parity.Report{Source: "debian-11", Sum: sum}), want)
	}
}

func TestTheReport(t *testing.T) {
	is := is.New(t)
	evil := `<script>alert("x")</script>`
	p := &migration.Plan{
		Source: "debian-11", Target: "debian-13",
		Packages: []migration.Package{
			{Name: "a", Relation: api.RelationSame}, {Name: evil, Relation: api.RelationUnknown, Manual: true, Why: evil},
		},
		Configuration: []migration.Config{{From: evil, Action: migration.Manual, Reason: "by hand"}, {From: "/etc/x", Action: migration.Copy, Merge: &migration.Merged{
			Base: migration.Origin{Path: "/etc/x", Package: "x", Version: "1"}, Target: migration.Origin{Path: "/etc/x.dist"}, Clashes: []edits.Clash{{Line: 7, Text: []string{"mine " + evil}, TargetLine: 8}},
		}}},
		Inhibitors: []assess.Finding{{Title: "stop " + evil, Inhibitor: true, Severity: assess.High}},
	}
	a := &assess.Assessment{System: assess.System{Hostname: "web1"}, Findings: []assess.Finding{{Title: "note", Severity: assess.Low}}, Sources: []assess.Source{{What: "x", State: assess.SourceUnreadable}}}
	page := Render(p, a, exposure.Uncompared("debian-11", "debian-13", "no feed of "+evil), "svc test")
	is.True(!bytes.Contains(page, []byte("<script"))) // text of a machine is only text
	text := string(page)
	for _, part := range []string{"web1: debian-11 to debian-13", `<a href="#stops" class="stop"><b>1</b>stop the move`, `class="low"><b>1</b>low findings`, `class="none"><b>0</b>high findings`, `<li id="back">`, "50.00%", "stop &lt;script&gt;", "Packages that need a decision", "A person has to carry over", "1 clash with the target", "line 7<pre>mine &lt;script&gt;", "line 8 (nothing)", "</code> of x 1", "on the machine", "unreadable", "Nothing is known of what the move fixes"} {
		is.True(strings.Contains(text, part))
	}
	is.True(strings.Index(text, "What stops the move") < strings.Index(text, "What to know"))
	page = Render(p, a, &exposure.Document{
		Compared: true, Before: exposure.Counts{High: 1, Total: 1}, SourceFeed: api.Feed{UpdatedAt: new("2026-01-02")}, TargetFeed: api.Feed{UpdatedAt: new("2026-01-03")},
		Change: exposure.Change{Fixed: []exposure.Vulnerability{{ID: "CVE-2026-1", Severity: "high", Packages: []string{evil}}}},
	}, "svc test")
	is.True(!bytes.Contains(page, []byte("<script")))
	for _, part := range []string{"Fixed by the move: 1", "CVE-2026-1", "Only in the target&#39;s packages: 0", "of 2026-01-02 for"} {
		is.True(strings.Contains(string(page), part))
	}
	for _, outside := range []string{"http://", "https://", "src=", "@import", "url("} {
		is.True(!strings.Contains(text, outside)) // the page needs nothing but itself
	}
}
