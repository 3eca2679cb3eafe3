package fleet

import (
	"cmp"
	"embed"
	"fmt"
	"math"
	"strings"

	"svc/assess"
	"svc/tools/page"
)

// static are the style and the script of both pages.
//
//go:embed look.css script.js
var static embed.FS

// bytesOf is a size in the unit in which it is short.
func bytesOf(n int64) string {
	const unit = 1024
	size, name := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB", "PiB"} {
		if size < unit {
			break
		}
		size, name = size/unit, next
	}
	if name == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", size, name)
}

// share is a part of a whole in percent, to a tenth.
func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return math.Round(1000*float64(part)/float64(whole)) / 10
}

// bar is a part of a picture.
type bar struct {
	Name  string
	Count int
}

// mostShown is how many findings and fixes the page shows.
const mostShown = 30

// Page is the fleet as one page for people: it needs nothing but itself. Its script
// filters and sorts the table; without one, all is there.
func Page(d *Document, tool string) []byte {
	verdicts := []bar{{"ready", d.Totals.Ready}, {"work", d.Totals.Work}, {"blocked", d.Totals.Blocked}, {"unreadable", d.Totals.Unreadable}}
	releases := d.releases()
	title := fmt.Sprintf("%d machines to %s", d.Totals.Machines, d.Target)
	return page.Whole(title, page.Look(static, "look.css"),
		page.El("h1", page.Text(title)),
		page.P(page.Soft(), page.Textf("Nothing was changed on any machine, and no licence seat was claimed. Made by %s, index %s.", tool, d.IndexVersion)),
		d.facts(),
		page.Div(page.Attr("class", "stack"), page.Attr("role", "img"), page.Attr("aria-label", "Machines by verdict"), page.Each(verdicts, func(b bar) page.Node { return page.If(b.Count > 0, piece(b, b.Name)) })),
		page.El("h2", page.Textf("Releases")),
		page.Div(page.Attr("class", "bars"), page.Each(releases, func(b bar) page.Node {
			return page.Group(page.El("span", page.Text(b.Name)), page.El("i", page.Style("width", share(b.Count, d.Totals.Machines), "%")), page.El("span", page.Text(b.Count)))
		})),
		page.El("h2", page.Textf("What to fix first")), d.first(),
		page.El("h2", page.Textf("What many share")), d.common(),
		page.El("h2", page.Textf("Order of the move")),
		page.Each(d.Waves, func(w Wave) page.Node {
			return page.Group(page.P(page.El("b", page.Textf("Wave %d", w.Number)), page.Textf(", %s: %s.", assess.Plural(len(w.Machines), "machine"), w.Why)), names(w.Machines))
		}),
		page.If(len(d.Waves) == 0, page.P(page.Textf("No machine can move yet."))),
		page.El("h2", page.Textf("Groups of like machines")),
		wide(page.Heads("Group", "Release", "Machines"), page.Each(d.Groups, func(g Group) page.Node {
			return page.Tr(short(g.Name), short(g.Source), long(names(g.Machines)))
		})),
		page.El("h2", page.Textf("Machines")),
		tools("Verdict", "all verdicts", Verdicts, page.El("select", page.Attr("id", "release"), page.Attr("aria-label", "Release"), page.El("option", page.Attr("value", ""), page.Textf("all releases")), page.Each(releases, func(b bar) page.Node { return page.El("option", page.Text(b.Name)) }))),
		wide(page.Attr("id", "machines"), page.El("thead", page.Heads("Machine", "Release", "Verdict", "Wave", "Packages", "Questions", "Findings", "Data", "Why")), page.El("tbody", page.Each(d.Machines, Machine.row))),
		page.Script(static, "script.js"))
}

// facts are the numbers on top of the page.
func (d *Document) facts() page.Node {
	left := ""
	if d.Cost.CapacityLeft != nil {
		left = fmt.Sprintf(", %d left", *d.Cost.CapacityLeft)
	}
	return page.Div(page.Attr("class", "facts"),
		fact(Ready, d.Totals.Ready, "ready: nothing for a person beyond the ordered steps"),
		fact(Work, d.Totals.Work, "need work first"),
		fact(Blocked, d.Totals.Blocked, "are blocked"),
		page.If(d.Totals.Unreadable > 0, fact(Unreadable, d.Totals.Unreadable, "could not be read")),
		page.Div(page.El("b", page.Text(d.Cost.SeatsNeeded)), page.Textf("licence seats needed%s", left)),
		page.Div(page.El("b", page.Textf("%d USD", d.Cost.AnnualAfter)), page.Textf("a year after all have moved; %d now", d.Cost.AnnualBefore)))
}

// fact is how many machines have a verdict.
func fact(v Verdict, n int, said string) page.Node {
	return page.Div(page.Class(v), page.El("b", page.Text(n)), page.Text(said))
}

// piece is a part of a picture of all machines.
func piece(b bar, class string) page.Node {
	return page.El("span", page.Class(class), page.Style("flex-grow", float64(b.Count), ""), page.Title("%d %s", b.Count, b.Name))
}

// wide is a table that may be wider than the page.
func wide(within ...page.Node) page.Node {
	return page.Div(page.Attr("class", "wide"), page.Table(within...))
}

// short is a cell that stays on one line, long one that may have many, number one of
// a number.
func short(s string) page.Node { return page.Td(page.Attr("class", "k"), page.Text(s)) }

func long(within ...page.Node) page.Node {
	return page.Td(page.Attr("class", "long"), page.Group(within...))
}
func number(n int) page.Node { return page.Td(page.Attr("class", "n"), page.Text(n)) }

// numbered is the head of a column of numbers.
func numbered(name page.Node) page.Node { return page.El("th", page.Attr("class", "n"), name) }

// first is what to fix first.
func (d *Document) first() page.Node {
	if len(d.Fixes) == 0 {
		return page.P(page.Textf("No machine that could be read waits for a fix."))
	}
	return page.Group(
		page.P(page.Soft(), page.Textf("In this order few fixes or decisions make many machines ready. Each counts as one, for all that have it and however much it is on each. %d of %d are ready without any.", d.Totals.Ready, d.Totals.Machines)),
		wide(page.Tr(page.El("th", page.Textf("Fix or decision")), page.El("th", page.Textf("Severity")), numbered(page.Textf("Machines that need it")), numbered(page.Textf("Ready with it and those above"))),
			page.Each(d.Fixes[:min(len(d.Fixes), mostShown)], func(f Fix) page.Node {
				return page.Tr(long(page.Text(f.Title)), page.Td(severity(f.Inhibitor, f.Severity)), number(len(f.Machines)), number(f.Ready))
			})),
		more(len(d.Fixes)))
}

// common is what many machines share.
func (d *Document) common() page.Node {
	if len(d.Shared) == 0 {
		return page.P(page.Textf("No finding is on more than one machine."))
	}
	return page.Group(
		page.P(page.Soft(), page.Textf("A machine needs a fix where its verdict is not ready before it. What the ordered steps of the move do, and what is low, no machine needs.")),
		wide(page.Tr(page.El("th", page.Textf("Finding")), page.El("th", page.Textf("Severity")), numbered(page.Textf("Machines")), numbered(page.Textf("Need its fix")), numbered(page.Textf("Need nothing else"))),
			page.Each(d.Shared[:min(len(d.Shared), mostShown)], func(f Shared) page.Node {
				return page.Tr(long(page.Text(f.Title)), page.Td(severity(f.Inhibitor, f.Severity)), number(len(f.Machines)), number(f.Waiting), number(len(f.Frees)))
			})),
		more(len(d.Shared)))
}

// more says where all are, of which the page shows some.
func more(n int) page.Node {
	return page.If(n > mostShown, page.P(page.Soft(), page.Textf("All %d are in fleet.json.", n)))
}

func severity(inhibitor bool, s assess.FindingSeverity) page.Node {
	if inhibitor {
		return page.El("span", page.Attr("class", "v blocked"), page.Textf("stops the move"))
	}
	return page.Text(s)
}

// tools are what the script filters the table by.
func tools[T ~string](label, all string, states []T, further page.Node) page.Node {
	return page.Div(page.Attr("class", "tools"),
		page.El("input", page.Attr("id", "find"), page.Attr("type", "search"), page.Attr("placeholder", "Search"), page.Attr("aria-label", "Search the machines")),
		page.El("select", page.Attr("id", "verdict"), page.Label(label), page.El("option", page.Attr("value", ""), page.Text(all)), page.Each(states, func(s T) page.Node { return page.El("option", page.Text(s)) })),
		further, page.El("span", page.Attr("id", "shown"), page.Soft()))
}

// row is a machine in the table.
func (m Machine) row() page.Node {
	name := page.Text(m.Name)
	if m.Error == "" {
		name = page.El("a", page.Beside(m.Name, "report.html"), name)
	}
	return page.El("tr", page.Data("verdict", m.Verdict),
		page.Td(page.Attr("class", "k"), name), short(cmp.Or(m.Source, "not known")), page.Td(page.Class("v", string(m.Verdict)), page.Text(m.Verdict)), wave(m.Wave),
		number(m.Packages), number(m.Questions), number(len(m.Findings)),
		page.Td(page.Attr("class", "n"), page.Data("n", m.DataBytes), page.Text(bytesOf(m.DataBytes))),
		long(page.Text(m.Why()), page.If(len(m.DependsOn) > 0, page.Textf("; names %s", strings.Join(m.DependsOn, ", ")))))
}

// wave is the number of a machine's wave, where it is in one.
func wave(n int) page.Node {
	return page.Td(page.Attr("class", "n"), page.If(n > 0, page.Text(n)))
}

// names are machines, folded where they are many.
func names(machines []string) page.Node {
	list := page.El("span", page.Soft(), page.Text(strings.Join(machines, ", ")))
	if len(machines) > 12 {
		return page.El("details", page.El("summary", page.Text(assess.Plural(len(machines), "machine"))), list)
	}
	return list
}

// releases counts the machines of each release, in the order of the machines.
func (d *Document) releases() (all []bar) {
	at := map[string]int{}
	for _, m := range d.Machines {
		name := m.Source
		name = cmp.Or(name, "not known")
		if _, ok := at[name]; !ok {
			at[name] = len(all)
			all = append(all, bar{Name: name})
		}
		all[at[name]].Count++
	}
	return all
}
