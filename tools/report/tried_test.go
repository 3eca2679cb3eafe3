package report

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/tools/migration"
	"svc/tools/rehearsal"
)

func TestWhatARehearsalFoundIsNext(t *testing.T) {
	is := is.New(t)
	p := &migration.Plan{Source: "debian-12", Target: "debian-13"}
	d := &rehearsal.Document{Checks: []rehearsal.Check{
		{Kind: "program", Subject: "/opt/a.py", Verdict: rehearsal.Fails, Why: "No module named 'imp'.", Log: []string{"line 3: no imp", "line 9: no pipes"}, Cause: &rehearsal.Cause{Name: "/opt/a.py", Line: 3, Text: "Change it."}},
		{Kind: "site", Subject: "http://x:80/", Verdict: rehearsal.Runs},
	}}
	text := string(Next(p, &assess.Assessment{}, d))
	is.True(strings.Contains(text, "- program /opt/a.py: No module named 'imp'. (/opt/a.py, line 3) Change it.\n    - line 9: no pipes\n"))
	is.True(!strings.Contains(text, "site http"))
	is.True(strings.Index(text, "Mend what the rehearsal found") < strings.Index(text, "To go back"))
	is.Equal(string(Next(p, &assess.Assessment{}, nil)), string(Next(p, &assess.Assessment{}, &rehearsal.Document{Checks: d.Checks[1:]})))
}
