package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"sync"

	"svc/assess"
	"svc/backend/visible"
	"svc/tools/parity"
)

//go:embed parity.html
var parityPage string

var parsedParity = sync.OnceValue(func() *template.Template { return template.Must(template.New("parity").Parse(parityPage)) })

// comparison is what the page of a comparison shows.
type comparison struct {
	*parity.Report
	System     assess.System
	Verdict    string
	Differing  *checks // nil where nothing differs
	Sections   []section
	Tool       string
	Percentage string // of the checks that could be made, those that hold
}

// checks are rows of a table.
type checks struct {
	Source, Target string // what the columns are called: release slugs
	Mixed          bool   // they are of several dimensions
	Checks         []parity.Check
}

// section is one dimension, what needs a look first.
type section struct {
	parity.DimensionSum
	checks
}

// urgency is the order of results in a section.
var urgency = []parity.Result{parity.Differs, parity.Manual, parity.Unknown, parity.Accepted, parity.Planned, parity.Match}

// RenderParity makes the page of a comparison: what differs first, then before
// and after side by side, by dimension. Like the report of a plan it needs
// nothing but itself.
func RenderParity(r *parity.Report, after *assess.Assessment, tool string) ([]byte, error) {
	c := comparison{Report: r, System: after.System, Verdict: verdict(r), Tool: tool, Percentage: "100 %"}
	if differing := r.Differences(); len(differing) > 0 {
		c.Differing = &checks{r.Source, r.Target, true, differing}
	}
	for _, d := range r.Dimensions {
		s := section{d, checks{r.Source, r.Target, false, nil}}
		for _, result := range urgency {
			for _, check := range r.Checks {
				if check.Dimension == d.Dimension && check.Result == result {
					s.Checks = append(s.Checks, check)
				}
			}
		}
		c.Sections = append(c.Sections, s)
	}
	if made := r.Sum.Total - r.Sum.Unknown; made > 0 {
		c.Percentage = fmt.Sprintf("%.1f %%", 100*float64(made-r.Sum.Differs)/float64(made))
	}
	var b bytes.Buffer
	if err := parsedParity().Execute(&b, c); err != nil {
		return nil, fmt.Errorf("rendering the report: %w", err)
	}
	return []byte(visible.Lines(b.String())), nil
}

// verdict is the comparison in a line; it says no more than was checked.
func verdict(r *parity.Report) string {
	switch {
	case r.Sum.Differs == 1:
		return "1 difference"
	case r.Sum.Differs > 1:
		return fmt.Sprintf("%d differences", r.Sum.Differs)
	case r.Sum.Manual > 0 && r.Sum.Unknown > 0:
		return fmt.Sprintf("nothing differs, %d left to a person, %d can't be checked", r.Sum.Manual, r.Sum.Unknown)
	case r.Sum.Manual > 0:
		return fmt.Sprintf("nothing differs, %d left to a person", r.Sum.Manual)
	case r.Sum.Unknown > 0:
		return fmt.Sprintf("nothing differs, %d can't be checked", r.Sum.Unknown)
	}
	return "does what " + r.Source + " did"
}
