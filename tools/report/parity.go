package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"

	"svc/assess"
	"svc/tools/parity"
)

//go:embed parity.html
var parityPage string

var parsedParity = template.Must(template.New("parity").Parse(parityPage))

// comparison is what the page of a comparison shows.
type comparison struct {
	*parity.Report
	System     assess.System
	Sections   []section
	Tool       string
	Percentage string // of the checks that could be made, those that hold
}

// section is one dimension.
type section struct {
	parity.DimensionSum
	Checks []parity.Check
}

// RenderParity makes the page of a comparison: what differs first, then before
// and after side by side, by dimension. Like the report of a plan it needs
// nothing but itself.
func RenderParity(r *parity.Report, after *assess.Assessment, tool string) ([]byte, error) {
	c := comparison{Report: r, System: after.System, Tool: tool, Percentage: "100 %"}
	for _, d := range r.Dimensions {
		s := section{DimensionSum: d}
		for _, check := range r.Checks {
			if check.Dimension == d.Dimension {
				s.Checks = append(s.Checks, check)
			}
		}
		c.Sections = append(c.Sections, s)
	}
	if made := r.Sum.Total - r.Sum.Unknown; made > 0 {
		c.Percentage = fmt.Sprintf("%.1f %%", 100*float64(made-r.Sum.Differs)/float64(made))
	}
	var b bytes.Buffer
	if err := parsedParity.Execute(&b, c); err != nil {
		return nil, fmt.Errorf("rendering the report: %w", err)
	}
	return b.Bytes(), nil
}
