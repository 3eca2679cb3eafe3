package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/api"
	"svc/tools/migration"
)

func TestTheReport(t *testing.T) {
	is := is.New(t)
	evil := `<script>alert("x")</script>`
	p := &migration.Plan{
		Source: "debian-11", Target: "debian-13",
		Packages: []migration.Package{
			{Name: "a", Relation: api.RelationSame}, {Name: evil, Relation: api.RelationUnknown, Manual: true, Why: evil},
		},
		Configuration: []migration.Config{{From: evil, Action: migration.Manual, Reason: "by hand"}},
		Inhibitors:    []assess.Finding{{Title: "stop " + evil, Inhibitor: true, Severity: assess.High}},
	}
	a := &assess.Assessment{System: assess.System{Hostname: "web1"}, Findings: []assess.Finding{{Title: "note", Severity: assess.Low}}, Sources: []assess.Source{{What: "x", State: assess.SourceUnreadable}}}
	page, err := Render(p, a, "svc test")
	is.NoErr(err)
	is.True(!bytes.Contains(page, []byte("<script"))) // text of a machine is only text
	text := string(page)
	for _, part := range []string{"web1: debian-11 to debian-13", "50.00%", "stop &lt;script&gt;", "Packages that need a decision", "A person has to carry over", "unreadable"} {
		is.True(strings.Contains(text, part))
	}
	is.True(strings.Index(text, "What stops the move") < strings.Index(text, "What to know"))
	for _, outside := range []string{"http://", "https://", "src=", "@import", "url("} {
		is.True(!strings.Contains(text, outside)) // the page needs nothing but itself
	}
}
