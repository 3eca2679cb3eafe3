package migration

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/pkgversion"
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
		r.Owners = in.Owners(systemPaths(slices.Concat(slices.Collect(maps.Values(texts)), slices.Collect(maps.Values(own)))))
	}
	for _, i := range slices.Sorted(maps.Keys(texts)) {
		p.Mentions = append(p.Mentions, p.Configuration[i].refer(r, texts[i])...)
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		_, renamed, lost := r.Text(own[name])
		p.Mentions = append(p.Mentions, standingIn(name, append(renamed, lost...))...)
	}
	if in.PathExists != nil {
		p.Mentions = append(p.Mentions, r.Versioned(in.PathExists, in.Assessment.Software)...)
		p.Mentions = append(p.Mentions, languageModules(in, p)...)
	}
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

// standingIn are mentions with the file that they stand in.
func standingIn(file string, all []naming.Mention) []naming.Mention {
	for i := range all {
		all[i].Path = file
	}
	return all
}

// refer carries the names in one file over, and gives what it can't.
func (c *Config) refer(r *naming.References, text string) []naming.Mention {
	now, renamed, lost := r.Text(text)
	if to := r.OfUnit(c.To); to != c.To {
		c.To = to
		c.converts()
	}
	if now != text {
		c.converts()
		changes := changesOf(text, now, renamed)
		c.Text, c.Changes = &now, append(slices.Clone(c.Changes), changes...)
		slices.SortStableFunc(c.Changes, func(a, b convert.Change) int { return cmp.Compare(a.Line, b.Line) })
		c.Reason = strings.TrimSpace(c.Reason + " " + lineOfNames(len(changes)))
	}
	return standingIn(c.To, lost)
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

func lineOfNames(n int) string {
	if n == 1 {
		return "One line names what the target calls otherwise, and was changed."
	}
	return fmt.Sprintf("%d lines name what the target calls otherwise, and were changed.", n)
}

// ownTexts are the scripts among the programs that people wrote, by path.
func ownTexts(in Input) map[string]string {
	all := map[string]string{}
	for _, name := range slices.Concat(ownPrograms(in.Assessment), started(in)) {
		if _, ok := all[name]; ok || len(all) == maxReferrings {
			continue
		}
		if text, err := in.Read(name); err == nil && len(text) <= maxScript && strings.HasPrefix(string(text), "#!") && isText(string(text)) {
			all[name] = string(text)
		}
	}
	return all
}

func ownPrograms(a *assess.Assessment) (paths []string) {
	for _, p := range a.Programs {
		if p.Package == "" && p.Link == "" && p.Size <= maxScript && naming.IsOwn(p.Path) {
			paths = append(paths, p.Path)
		}
	}
	return paths
}

// started are the programs that the machine's own units and jobs run.
func started(in Input) (paths []string) {
	add := func(text string) {
		for _, name := range naming.Paths.FindAllString(text, -1) {
			if naming.IsOwn(name) {
				paths = append(paths, name)
			}
		}
	}
	for _, u := range slices.Concat(in.Assessment.Services, in.Assessment.Timers) {
		if !u.Local || u.Path == "" {
			continue
		}
		if text, err := in.Read(u.Path); err == nil {
			for _, line := range needed.FindAllStringSubmatch(string(text), -1) {
				add(line[1])
			}
		}
	}
	for _, job := range in.Assessment.Cron {
		add(job.Command)
	}
	return paths
}

// systemPaths are the paths that texts name, below the folders of packages.
func systemPaths(texts []string) (all []string) {
	for _, text := range texts {
		for _, name := range naming.Paths.FindAllString(text, -1) {
			if naming.OfSystem(name) {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// mentions says which texts name what the target has not, by file and line.
func mentions(_ Input, p *Plan) []assess.Finding {
	if len(p.Mentions) == 0 {
		return nil
	}
	f := found("names.of-the-source", "", nil)
	var said []string
	for _, m := range p.Mentions {
		f.Evidence = append(f.Evidence, assess.Evidence{Path: m.Path, Line: m.Line})
		said = append(said, fmt.Sprintf("%s:%d (%s)", visible.Name(m.Path), m.Line, visible.Text(m.Why)))
	}
	f.Summary = fmt.Sprintf("%d: %s", len(said), strings.Join(said[:min(10, len(said))], "; "))
	return []assess.Finding{f}
}

// languageFolders are the folders of people's modules that are of one version of a language, by
// Debian's policies: the target's does not look there. The end is behind the version.
var languageFolders = []struct{ language, pkg, home, end string }{
	{"Perl", "perl", "/usr/local/share/perl/", ""},
	{"Ruby", "ruby", "/var/lib/gems/", ".0"},
	{"Ruby", "ruby", "/usr/local/lib/site_ruby/", ".0"},
}

// languageModules are those of them that the machine has, with the target's in their place.
func languageModules(in Input, p *Plan) (all []naming.Mention) {
	for _, of := range languageFolders {
		i := slices.IndexFunc(p.Packages, func(row Package) bool { return row.Name == of.pkg })
		if i < 0 || len(p.Packages[i].Targets) != 1 || p.Packages[i].Targets[0].Name != of.pkg || p.Packages[i].Confidence < Sure {
			continue
		}
		was, now := pkgversion.Upstream(p.Packages[i].Version), pkgversion.Upstream(p.Packages[i].Targets[0].Version)
		if from, to := of.home+was+of.end, of.home+now+of.end; assess.PlainVersion.MatchString(was) && assess.PlainVersion.MatchString(now) && was != now && in.PathExists(from) {
			all = append(all, naming.Mention{Path: from, Name: from, Now: to, Why: fmt.Sprintf("%s %s looks into %s.", of.language, now, to)})
		}
	}
	return all
}
