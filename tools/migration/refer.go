package migration

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/hazards"
	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/visible"
	"svc/tools/convert"
	"svc/tools/migration/naming"
)

// Bounds of the texts that are read for names, in bytes, and of how many programs
// are.
const (
	maxReferring  = 1 << 20
	maxScript     = 256 << 10
	maxReferrings = 2000
)

// refer carries the names in all texts over that the role brings, and notes what
// is left to a person: among it the machine's own programs, which move with the
// data as they are.
func (p *Plan) refer(in Input, where naming.Places) {
	p.Mentions = []naming.Mention{}
	if in.Read == nil {
		return
	}
	r := naming.NewReferences(rowsOf(p.Packages), where, in.Target.Slug)
	texts := map[int]string{}
	for i, c := range p.Configuration {
		if text, ok := c.readable(in); ok {
			texts[i] = text
		}
	}
	p.Mentions = append(p.Mentions, p.mailAccounts(in, texts)...)
	own := ownTexts(in)
	if in.Owners != nil {
		r.Owners = in.Owners(naming.SystemPaths(slices.Concat(slices.Collect(maps.Values(texts)), slices.Collect(maps.Values(own)))))
	}
	r.Placed, p.names = p.placed(), r
	if !sameLine(in) {
		source, _ := release.Lookup(in.Assessment.Release)
		ways := convert.Input{Source: source, Target: in.Target}
		r.Homes = func(path string) string {
			return convert.Authorities.Between(ways).Move(convert.Logs.Between(ways).Move(convert.OfData(ways, "", path)))
		}
	}
	for _, i := range slices.Sorted(maps.Keys(texts)) {
		p.Mentions = append(p.Mentions, p.Configuration[i].refer(r, texts[i])...)
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		_, renamed, lost := r.Text(own[name])
		p.Mentions = append(p.Mentions, naming.In(name, append(renamed, lost...))...)
	}
	p.Files = p.Files.Choosing(func(command string) string { now, _, _ := r.Text(command); return now })
	if in.PathExists != nil {
		was, python := p.versions("python3")
		python = cmp.Or(python, hazards.VersionOn("python", in.Target)) // the index has no versions of Ubuntu's packages
		p.Mentions = append(p.Mentions, slices.Concat(r.Versioned(was, python, in.PathExists), naming.Environments(in.Assessment.Software, python, in.PathExists))...)
	}
	if !sameLine(in) && in.PathExists != nil {
		p.Install = append(p.Install, naming.Commands(in.Target.Family.Conventions().Line, p.Installs, in.PathExists, own, in.Assessment.Cron)...)
		slices.Sort(p.Install)
		p.Install = slices.Compact(p.Install)
	}
}

// Installs reports whether the role installs the counterpart of a package.
func (p *Plan) Installs(name string) bool {
	return slices.ContainsFunc(p.Packages, func(row Package) bool { return row.Name == name && row.Install })
}

// placed are the files that go to one other place, by where they are.
func (p *Plan) placed() map[string]string {
	all := map[string]string{}
	for _, c := range p.Configuration {
		if c.To != "" && c.To != c.From && !c.Waits() && c.Link == "" && slices.Contains([]Action{Copy, Convert, Merge}, c.Action) {
			if _, several := all[c.From]; several {
				c.To = ""
			}
			all[c.From] = c.To
		}
	}
	return all
}

// rowsOf are packages as names follow from them.
func rowsOf(packages []Package) (rows []naming.Row) {
	for _, p := range packages {
		rows = append(rows, naming.Row{Name: p.Name, Canonical: p.Canonical, Targets: p.TargetNames(), Relation: p.Relation, Sure: p.Confidence >= Sure, Base: p.Base})
	}
	return rows
}

// readable is the text that a row brings to the target, where it is one.
func (c *Config) readable(in Input) (string, bool) {
	if c.To == "" || c.Link != "" || c.Waits() || !slices.Contains([]Action{Copy, Convert, Merge}, c.Action) {
		return "", false
	}
	text, ok := c.carried(in)
	return text, ok && len(text) <= maxReferring && isText(text)
}

// refer carries the names in one file over, and gives what it can't.
func (c *Config) refer(r *naming.References, text string) []naming.Mention {
	now, renamed, lost := r.Of(c.Package, c.From).Text(text)
	if to := r.OfUnit(c.To); to != c.To {
		c.To = to
		c.converts()
	}
	if n := c.writes(text, now, renamed); n > 0 {
		c.Reason = strings.TrimSpace(c.Reason + " " + naming.Changed(n))
	}
	return naming.In(c.To, lost)
}

// writes has what the role brings say something else, and gives in how many lines.
func (c *Config) writes(text, now string, said []naming.Mention) int {
	if now == text {
		return 0
	}
	c.converts()
	changes := changesOf(text, now, said)
	c.Text, c.Changes = &now, append(slices.Clone(c.Changes), changes...)
	slices.SortStableFunc(c.Changes, func(a, b convert.Change) int { return cmp.Compare(a.Line, b.Line) })
	return len(changes)
}

// changesOf are the lines of a text that are not as they were.
func changesOf(was, now string, renamed []naming.Mention) (all []convert.Change) {
	before, after := strings.Split(was, "\n"), strings.Split(now, "\n")
	for _, m := range renamed {
		if n := len(all) - 1; n >= 0 && all[n].Line == m.Line {
			all[n].Why += " " + m.Why
			continue
		}
		all = append(all, convert.Change{Line: m.Line, Was: strings.TrimSpace(before[m.Line-1]), Now: strings.TrimSpace(after[m.Line-1]), Why: m.Why})
	}
	return all
}

func (c *Config) converts() {
	if c.Action == Copy {
		c.Action = Convert
	}
}

// ownTexts are the scripts among the programs that people wrote, and what sets how their pages
// are served, by path.
func ownTexts(in Input) map[string]string {
	all := map[string]string{}
	for _, name := range programs(in) {
		if _, ok := all[name]; ok || len(all) == maxReferrings {
			continue
		}
		if text, err := in.Read(name); err == nil && len(text) <= maxScript && (strings.HasPrefix(string(text), "#!") || slices.Contains(assess.PageSettings, path.Base(name))) && isText(string(text)) {
			all[name] = string(text)
		}
	}
	return all
}

// programs are those of people, and what the machine's own units and jobs run.
func programs(in Input) []string {
	return naming.Programs(in.Assessment, maxScript, func(unit string) [][]string {
		text, _ := in.Read(unit)
		return naming.Needed.FindAllStringSubmatch(string(text), -1)
	})
}

// mentions says which texts name what the target has not, by file and line.
func mentions(_ Input, p *Plan) []assess.Finding {
	g := gather("names.of-the-source")
	for _, m := range p.Mentions {
		g.Add(fmt.Sprintf("%s:%d (%s)", visible.Name(m.Path), m.Line, visible.Text(m.Why)), assess.Evidence{Path: m.Path, Line: m.Line})
	}
	return g.Tell(fmt.Sprintf("%d: %s", len(g.Said), strings.Join(g.Said[:min(10, len(g.Said))], "; ")))
}

// versions are those of a package on both sides, where both are sure.
func (p *Plan) versions(pkg string) (was, now string) {
	i := slices.IndexFunc(p.Packages, func(row Package) bool { return row.Name == pkg })
	if i < 0 || len(p.Packages[i].Targets) != 1 || p.Packages[i].Targets[0].Name != pkg || p.Packages[i].Confidence < Sure {
		return "", ""
	}
	return pkgversion.Upstream(p.Packages[i].Version), pkgversion.Upstream(p.Packages[i].Targets[0].Version)
}
