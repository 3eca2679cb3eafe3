package migration

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/release"
	"svc/tools/convert"
	"svc/tools/convert/registry"
)

// convert has the configuration converted that a converter knows, and completes
// the plan by what that needs.
func (p *Plan) convert(in Input, files []Config) {
	p.Configuration = files
	if in.Read == nil {
		return
	}
	of := conversion(in, p)
	taken := map[string][]int{}  // converter → rows
	closed := map[string][]int{} // converter → rows of secrets that stay behind
	names := []string{}
	for i, c := range files {
		if why := registry.ByHand(of, c.From); why != "" && c.Action == Copy {
			files[i].To, files[i].Link, files[i].Action, files[i].Reason = "", "", Manual, why
			continue
		}
		if name := registry.Takes(of, c.From); name != "" && (convertible(c, registry.TakesLinks(of, name)) || convert.Prepares(name) && prepared(c)) {
			if taken[name] == nil {
				names = append(names, name)
			}
			taken[name] = append(taken[name], i)
		} else if name != "" && c.Action == LeftOut && c.Reason == secretReason && c.Link == "" {
			closed[name] = append(closed[name], i)
		}
	}
	for name, rows := range closed {
		p.age(name, rows, of, in)
	}
	for _, name := range names {
		p.apply(name, taken[name], of, in)
	}
	oneEach(p.Configuration, in)
	slices.SortFunc(p.Configuration, compareConfig)
	slices.Sort(p.Install)
	p.Install = slices.Compact(p.Install)
}

// oneEach leaves one source to each file of the target: that of the service
// which runs, or else the one by the same name; a person adds what the others
// say.
func oneEach(files []Config, in Input) {
	first := map[string]int{}
	for i, c := range files {
		if c.To == "" || c.Action != Copy && c.Action != Convert {
			continue
		}
		j, taken := first[c.To]
		if !taken || files[j].From == c.From {
			first[c.To] = i
			continue
		}
		wins, loses := j, i
		if worth(c, in) > worth(files[j], in) {
			wins, loses = i, j
		}
		first[c.To] = wins
		lost := &files[loses]
		lost.Reason = fmt.Sprintf("%s becomes %s, since its service is in use, or by its name: add there what of this file is wanted.", files[wins].From, c.To)
		lost.To, lost.Link, lost.Action, lost.Text, lost.Changes = "", "", Manual, nil, nil
	}
}

// worth orders files that have one place on the target.
func worth(c Config, in Input) (n int) {
	if slices.ContainsFunc(in.Assessment.Services, func(u assess.Unit) bool { return u.Package == c.Package && c.Package != "" && u.State == "enabled" }) {
		n = 2
	}
	if path.Base(c.From) == path.Base(c.To) {
		n++
	}
	return n
}

// convertible reports whether a row is a file whose text may be carried over, or
// a link, where these are taken.
func convertible(c Config, links bool) bool {
	return (c.Link == "" || links) && c.Action != LeftOut && c.Action != Remove && c.Owner != ""
}

// prepared reports whether a row is a file of this very machine, or one that is
// closed to others, which may be made ready on the target, and waits there for a
// person.
func prepared(c Config) bool {
	return c.Link == "" && c.Action == LeftOut && (c.Reason == machineReason || c.Reason == secretReason) && c.Owner != ""
}

// conversion is what converters may ask of a move.
func conversion(in Input, p *Plan) convert.Input {
	source, _ := release.Lookup(in.Assessment.Release)
	of := convert.Input{Source: source, Target: in.Target, Links: map[string]string{}, Installed: map[string]string{}, Brought: map[string]string{}, Folder: in.folder}
	for _, f := range in.Assessment.Configuration {
		if f.Link != "" {
			of.Links[f.Path] = assess.LeadsTo(f.Path, f.Link)
		}
	}
	for _, row := range p.Packages {
		of.Installed[row.Name] = row.Version
		for _, t := range row.Targets {
			if row.Confidence >= Sure {
				of.Brought[t.Name] = t.Version
			}
		}
	}
	of.Pages = in.pages()
	return of
}

// pages are the texts of what sets how pages are served, in their folders.
func (in Input) pages() (all []convert.File) {
	for _, file := range in.Assessment.Apart {
		if !slices.Contains(assess.PageSettings, path.Base(file)) || in.Read == nil {
			continue
		}
		if text, err := in.Read(file); err == nil {
			all = append(all, convert.File{Path: file, Text: string(text)})
		}
	}
	return all
}

// folder are the texts of a folder of the machine whose names end so.
func (in Input) folder(name, end string) (all []convert.File) {
	if in.Machine == nil || in.Machine.Files == nil {
		return nil
	}
	for _, file := range in.Machine.Files.Names(name) {
		if strings.HasSuffix(file, end) {
			all = append(all, convert.File{Path: path.Join(name, file), Text: in.Machine.Files.Text(path.Join(name, file))})
		}
	}
	return all
}

// age marks the secrets of one service that would be converted, had the role them:
// as they are, they are written for the source's release.
func (p *Plan) age(name string, rows []int, of convert.Input, in Input) {
	of.Files = nil
	for _, i := range rows {
		if b, err := in.Read(p.Configuration[i].From); err == nil {
			of.Files = append(of.Files, convert.File{Path: p.Configuration[i].From, Text: string(b)})
		}
	}
	r := registry.Run(name, of)
	for _, i := range rows {
		c := &p.Configuration[i]
		c.taken, c.Old = true, len(r.Changes[c.From]) > 0 || len(r.Refusals[c.From]) > 0
	}
}

// apply converts the files of one service.
func (p *Plan) apply(name string, rows []int, of convert.Input, in Input) {
	of.Files = nil
	rows = slices.DeleteFunc(rows, func(i int) bool {
		from := p.Configuration[i].From
		if of.Links[from] != "" && registry.TakesLinks(of, name) {
			of.Files = append(of.Files, convert.File{Path: from})
			return false
		}
		b, err := in.Read(from)
		if err == nil {
			of.Files = append(of.Files, convert.File{Path: from, Text: string(b)})
		}
		return err != nil
	})
	r := registry.Run(name, of)
	bases := p.convertBases(name, rows, of)
	p.Install = append(p.Install, r.Packages...)
	written := map[string][]convert.File{}
	for _, f := range r.Files {
		written[f.From] = append(written[f.From], f)
	}
	for _, i := range rows {
		c := p.Configuration[i]
		more := converted(c, name, r, written[c.From])
		for i := range more {
			more[i].base = bases[[2]string{c.From, more[i].To}]
		}
		p.Configuration[i] = more[0]
		p.Configuration = append(p.Configuration, more[1:]...)
	}
}

// convertBases converts what people changed as their files are, by source and
// place on the target: only alike can be compared.
func (p *Plan) convertBases(name string, rows []int, of convert.Input) map[[2]string]*origin {
	original := map[string]*origin{}
	for _, i := range rows {
		if c := p.Configuration[i]; c.base != nil {
			original[c.From] = c.base
		}
	}
	all := map[[2]string]*origin{}
	if len(original) == 0 {
		return all
	}
	of.Files = slices.Clone(of.Files)
	for i, f := range of.Files {
		if b := original[f.Path]; b != nil {
			of.Files[i].Text = b.text
		}
	}
	for _, f := range registry.Run(name, of).Files {
		if b := original[f.From]; b != nil {
			all[[2]string{f.From, f.Path}] = &origin{f.Text, b.from}
		}
	}
	return all
}

// converted are the rows that follow from a file; the first is that of the
// file itself.
func converted(c Config, name string, r convert.Result, written []convert.File) []Config {
	c.Converter, c.Changes, c.Refusals, c.Link = name, r.Changes[c.From], r.Refusals[c.From], ""
	if len(c.Refusals) > 0 {
		first := c.Refusals[0]
		c.Action, c.Reason = Manual, fmt.Sprintf("Line %d is not understood (%d in all): %s", first.Line, len(c.Refusals), first.Why)
		return []Config{c}
	}
	if len(written) == 1 && written[0].Path == c.From && len(c.Changes) == 0 && (c.Action == Copy || c.Action == Convert) {
		c.To, c.Action = c.From, Copy // it holds as it is
		return []Config{c}
	}
	all := []Config{}
	for _, f := range written {
		row := c
		row.To, row.Action, row.Reason, row.Text = f.Path, Convert, strings.TrimSpace(c.shipped+" "+reasonOfChanges(c.Changes)), &f.Text
		if row.Mode = cmp.Or(f.Mode, c.Mode); convert.Waits(f.Path) {
			row.Reason += waiting
		}
		all = append(all, row)
		c.Changes = nil // they are told once
	}
	if len(all) == 0 {
		c.To, c.Action, c.Reason = "", LeftOut, "Nothing of it is needed on the target in this form."
		if slices.ContainsFunc(c.Changes, func(change convert.Change) bool { return change.Now != "" }) {
			c.Reason = "What it says is in the files that follow from others: see its changes."
		}
		all = append(all, c)
	}
	for _, l := range r.Links {
		if l.From == c.From {
			all = append(all, Config{From: c.From, To: l.Path, Link: l.Target, Action: Convert, Reason: l.Why, Converter: name, Mode: "0777", Owner: "root", Group: "root"})
		}
	}
	for _, l := range r.Removed {
		if l.From == c.From {
			all = append(all, Config{From: c.From, To: l.Path, Action: Remove, Reason: l.Why, Converter: name, Mode: "0777", Owner: "root", Group: "root"})
		}
	}
	return all
}

// waiting says of a row that the role only lays it ready.
const waiting = " It waits below " + convert.Waiting + ", where nothing reads it, until the machine takes over."

func reasonOfChanges(changes []convert.Change) string {
	switch len(changes) {
	case 0:
		return "It has its new place; no line had to be changed."
	case 1:
		return "One line was changed."
	}
	return fmt.Sprintf("%d lines were changed.", len(changes))
}
