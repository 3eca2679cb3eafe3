package assess

import (
	"fmt"
	"slices"
	"strings"

	"svc/backend/sliced"
	"svc/backend/tsv"
	"svc/backend/visible"
)

// maxNamed bounds what a finding names; its summary counts all.
const maxNamed = 1000

func (r *Reading) Finding(all ...Finding) {
	for _, f := range all {
		f.Related, f.Evidence = f.Related[:min(len(f.Related), maxNamed)], f.Evidence[:min(len(f.Evidence), maxNamed)]
		r.A.Findings = append(r.A.Findings, f)
	}
}

// Hints and commands make remediations.
func Hints(texts ...string) []Remediation {
	return sliced.Map(texts, func(t string) Remediation { return Remediation{Type: "hint", Text: t} })
}

func Command(text string) Remediation { return Remediation{Type: "command", Text: text} }

// Remedy is what a row of a table says to do: a command stands after a "$", and one that
// follows the data after a "$data".
func Remedy(do string) Remediation {
	if line, ok := strings.CutPrefix(do, "$ "); ok {
		return Command(line)
	}
	if line, ok := strings.CutPrefix(do, "$data "); ok {
		return Remediation{Type: "command", Text: line, AfterData: true}
	}
	return Remediation{Type: "hint", Text: do}
}

// Told are findings by key, as a table has them: what all of a key have in common.
type Told map[string]Finding

// ReadTold reads a table: the key; how severe it is, and "inhibitor" where it stops a move;
// the title; what to do, or a dash.
func ReadTold(text string) Told {
	all := Told{}
	for row := range tsv.Rows(text, 4) {
		severity, stops, _ := strings.Cut(row[1], " ")
		f := Finding{Key: row[0], Severity: FindingSeverity(severity), Inhibitor: stops != "", Title: row[2]}
		if row[3] != "-" {
			f.Remediations = []Remediation{Remedy(row[3])}
		}
		all[f.Key] = f
	}
	return all
}

// Found is the finding of a key, with what was found.
func (t Told) Found(key, summary string, related []Resource, evidence ...Evidence) Finding {
	f, ok := t[key]
	if !ok {
		panic("no table has the finding " + key)
	}
	f.Summary, f.Related, f.Evidence = summary, related, evidence
	f.Remediations = slices.Clone(f.Remediations)
	return f
}

// Gathering is one finding of all that a check comes upon, and none where that is nothing.
type Gathering struct {
	Finding
	Said []string // of each thing, in short
}

// Gather begins the finding of a key.
func (t Told) Gather(key string) *Gathering { return &Gathering{t.Found(key, "", nil), nil} }

// Call takes a thing up: what is said of it, and what it is called.
func (g *Gathering) Call(said string, called ...Resource) {
	g.Said, g.Related = append(g.Said, said), append(g.Related, called...)
}

// Add takes up a thing that stands somewhere.
func (g *Gathering) Add(said string, at Evidence, called ...Resource) {
	g.Call(said, called...)
	g.Evidence = append(g.Evidence, at)
}

// AddFile takes up a file, or what a place in it says.
func (g *Gathering) AddFile(said string, at Evidence) { g.Add(said, at, Resource{"file", at.Path}) }

// Tell is the finding, with what it says of all that was gathered.
func (g *Gathering) Tell(summary string) []Finding {
	if len(g.Said) == 0 {
		return nil
	}
	g.Summary = summary
	return []Finding{g.Finding}
}

// Resources names things of one scheme.
func Resources(scheme string, names []string) []Resource {
	return sliced.Map(names, func(n string) Resource { return Resource{scheme, n} })
}

// Some joins the first few names, and says how many more there are.
func Some(names []string) string {
	const most = 5
	if len(names) <= most {
		return visible.Names(names)
	}
	return fmt.Sprintf("%s and %d more", visible.Names(names[:most]), len(names)-most)
}

// Plural is "1 file" or "2 files".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// ThirdParty are the enabled origins that are not the distribution's.
func (r *Reading) ThirdParty() []Origin {
	return sliced.Filter(r.A.Origins, func(o Origin) bool { return o.ThirdParty && o.Enabled })
}
