package report

import (
	"fmt"

	"svc/assess"
	"svc/backend/sliced"
	"svc/tools/page"
	"svc/tools/parity"
)

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
func RenderParity(r *parity.Report, after *assess.Assessment, tool string) []byte {
	c := comparison{Report: r, System: after.System, Verdict: verdict(r), Tool: tool, Percentage: "100 %"}
	if differing := r.Differences(); len(differing) > 0 {
		c.Differing = &checks{r.Source, r.Target, true, differing}
	}
	for _, d := range r.Dimensions {
		s := section{d, checks{r.Source, r.Target, false, nil}}
		for _, result := range urgency {
			s.Checks = append(s.Checks, sliced.Filter(r.Checks, func(check parity.Check) bool { return check.Dimension == d.Dimension && check.Result == result })...)
		}
		c.Sections = append(c.Sections, s)
	}
	if made := r.Sum.Total - r.Sum.Unknown; made > 0 {
		c.Percentage = fmt.Sprintf("%.1f %%", 100*float64(made-r.Sum.Differs)/float64(made))
	}
	return c.whole()
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

// whole is the page of a comparison.
func (c *comparison) whole() []byte {
	title := c.System.Hostname + ": " + c.Verdict
	differing := page.P(page.Textf("Nothing."))
	if c.Differing != nil {
		differing = c.Differing.node()
	}
	return page.Whole(title, page.Group(page.Sealed(), page.Look(static, "parity.css")),
		page.El("h1", page.Text(title)),
		page.P(page.Soft(), page.Textf("%s to %s · fingerprint ", c.Source, c.Target), page.Code(c.Fingerprint)),
		page.Div(page.Attr("class", "facts"),
			page.Div(page.El("b", page.Text(c.Percentage)), page.Textf("of what can be checked holds")),
			fact("match", c.Sum.Match, "match"),
			fact("planned", c.Sum.Planned, "changed as planned"),
			fact("accepted", c.Sum.Accepted, "differences accepted"),
			fact("differs", c.Sum.Differs, choice(c.Sum.Differs == 1, "differs", "differ")),
			fact("manual", c.Sum.Manual, "left to a person"),
			fact("not-checkable", c.Sum.Unknown, "can't be checked")),
		page.P(page.Soft(), page.Textf("Together %d checks.", c.Sum.Total)),
		page.El("h2", page.Textf("What differs")), differing,
		page.El("h2", page.Textf("Before and after")), page.Each(c.Sections, section.node),
		page.If(len(c.Unused) > 0, page.El("h2", page.Textf("Acceptances that nothing needed")), page.El("ul", page.Each(c.Unused, func(name string) page.Node { return page.El("li", page.Code(name)) }))),
		page.P(page.Soft(), page.Textf("Made by %s with the index %s over the plan ", c.Tool, c.IndexVersion), page.Code(c.PlanDigest),
			page.If(c.DataPlanDigest != "", page.Textf(", the data plan "), page.Code(c.DataPlanDigest)),
			page.If(c.AcceptedDigest != "", page.Textf(", the accepted differences "), page.Code(c.AcceptedDigest)),
			page.Textf(". Text of the machine is shown as it was read.")))
}

// fact is a number on top of the page.
func fact(result parity.Result, count int, said string) page.Node {
	return page.Div(page.El("b", page.Class(result), page.Text(count)), page.Text(said))
}

func (s section) node() page.Node {
	counts := s.counts()
	return page.El("details", page.If(s.Differs > 0, page.Flag("open")),
		page.El("summary", page.El("b", page.Text(s.Dimension)),
			page.Div(page.Attr("class", "bar"), page.Each(counts, func(c count) page.Node {
				return page.El("i", page.Class(c.result), page.Style("flex", float64(c.n), ""))
			})),
			page.El("span", page.Each(counts, func(c count) page.Node {
				return page.Group(page.El("b", page.Class(c.result), page.Textf("%d %s", c.n, c.said)), page.Textf(" · "))
			}), page.Textf("%d in all", s.Total))),
		s.checks.node())
}

// count is how many checks came to a result.
type count struct {
	result parity.Result
	n      int
	said   string
}

// counts are those of a section's sum that are not nothing, what needs a look first.
func (s section) counts() []count {
	return sliced.Filter([]count{
		{parity.Differs, s.Differs, "differ"},
		{parity.Manual, s.Manual, "left to a person"},
		{parity.Unknown, s.Unknown, "not checkable"},
		{parity.Accepted, s.Accepted, "accepted"},
		{parity.Planned, s.Planned, "planned"},
		{parity.Match, s.Match, "match"},
	}, func(c count) bool { return c.n > 0 })
}

func (c *checks) node() page.Node {
	return page.Table(
		page.El("thead", page.Tr(page.El("th", page.Textf("What")), page.El("th", page.Textf("Before: %s", c.Source)), page.El("th", page.Textf("After: %s", c.Target)), page.El("th", page.Textf("Why")))),
		page.Each(c.Checks, func(one parity.Check) page.Node {
			return page.Tr(page.Class(one.Result),
				page.Td(page.Code(one.Subject), page.El("small", page.If(c.Mixed, page.Textf("%s, ", one.Dimension)), page.Text(one.Result))),
				page.Td(page.Code(one.Before)), page.Td(page.Code(one.After)), page.Td(page.Text(one.Why), page.El("small", page.Joined(", ", one.Evidence, place))))
		}))
}
