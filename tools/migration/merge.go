package migration

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"svc/tools/convert"
	"svc/tools/merge"
)

// maxClashes bounds the clashes that a plan shows of one file.
const maxClashes = 50

// Merged is what came of joining a person's changes and the target's own file.
type Merged struct {
	Base   Origin `json:"base"`   // what the person changed: the file of the source's package
	Target Origin `json:"target"` // the file of the target's package
	// Changes are the lines that are not as the target's package has them: Was is
	// the package's, Now the person's; lines are those of the result. None where
	// something clashes.
	Changes []convert.Change `json:"changes"`
	// Clashes are the places that both changed, each in its own way. With one the
	// person's file is carried over as it is, and a person decides.
	Clashes []Clash `json:"clashes"`
}

// Clash is a place that a person and the target's package both changed.
type Clash struct {
	Line       int      `json:"line"` // of the person's file, as it is carried over, from 1
	Text       []string `json:"text"`
	TargetLine int      `json:"target_line"` // of the target's own file, from 1
	Target     []string `json:"target"`
	Base       []string `json:"base"` // what the source's package had there
	Why        string   `json:"why"`
}

// The reasons of clashes.
const (
	bothChanged = "The person and the target's package both changed these lines."
	elsewhere   = "The target's package has this setting at another place, where the person's would count beside it or instead of it."
)

// merge joins the changes that people made with the target's own files.
func (p *Plan) merge(in Input, where places) {
	if in.Read == nil || in.TargetFile == nil {
		return
	}
	for i := range p.Configuration {
		c := &p.Configuration[i]
		if c.base == nil || c.Action != Copy && c.Action != Convert {
			continue
		}
		if own := in.TargetFile(where.targets(c.Package), c.To, func([]byte) bool { return true }); own != nil {
			c.merge(in, newShipped(own))
		}
	}
}

// targets are the packages of the target that surely take the place of one.
func (p places) targets(pkg string) (names []string) {
	row := p.packages[pkg]
	for _, t := range row.Targets {
		if row.Confidence >= Sure {
			names = append(names, t.Name)
		}
	}
	return names
}

// merge joins one file with the target's own.
func (c *Config) merge(in Input, own *shipped) {
	person, ok := c.carried(in)
	was, now, theirs := lines(c.base.text), lines(person), lines(own.text)
	if !ok || max(len(was), len(now), len(theirs)) > maxEdited || !isText(c.base.text+person+own.text) {
		return
	}
	result, clashes := join(merge.Lines(was, now, theirs))
	c.Merge = &Merged{Base: c.base.from, Target: own.from, Changes: []convert.Change{}, Clashes: clashes[:min(len(clashes), maxClashes)]}
	if len(clashes) > 0 {
		c.Reason += fmt.Sprintf(" What a person changed clashes with the target's own file (%s), so that it is carried over whole: see which it should be.", count(len(clashes), "place"))
		return
	}
	changes := differences(theirs, result)
	if c.Merge.Changes = changes[:min(len(changes), maxEdits)]; len(changes) == 0 {
		c.To, c.Action, c.Text, c.Changes, c.Reason = "", LeftOut, nil, nil, "The target's own file says the same."
		return
	}
	c.Changes = slices.DeleteFunc(c.Changes, func(change convert.Change) bool { return !has(result, change.Now) })
	merged := strings.Join(result, "\n") + "\n"
	c.Action, c.Text = Merge, &merged
	c.Reason = fmt.Sprintf("The target's own file, with what a person changed (%s).", count(len(changes), "line"))
}

// carried is the text that a row carries to the target.
func (c *Config) carried(in Input) (string, bool) {
	if c.Text != nil {
		return *c.Text, true
	}
	text, err := in.Read(c.From)
	return string(text), err == nil
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// has reports whether one of some lines is, blanks aside, in a change.
func has(result []string, now string) bool {
	return slices.ContainsFunc(strings.Split(now, "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && slices.ContainsFunc(result, func(r string) bool { return strings.TrimSpace(r) == line })
	})
}

// join settles every part of a merge, or says where nobody can.
func join(parts []merge.Part) ([]string, []Clash) {
	result := []string{}
	added, clashes := newAdded(parts), []Clash{}
	line, targetLine := 1, 1
	for i, p := range parts {
		agreed, ok := settle(p)
		why := bothChanged
		if ok && added.besides(i, changed(p.Base, p.Ours)) {
			ok, why = false, elsewhere
		}
		if !ok {
			clashes = append(clashes, Clash{line, p.Ours, targetLine, p.Theirs, p.Base, why})
		}
		result = append(result, agreed...)
		line, targetLine = line+len(p.Ours), targetLine+len(p.Theirs)
	}
	return result, clashes
}

// settle is what becomes of a part. Where both sides changed it, but one of them
// nothing that a program reads, the other's lines count.
func settle(p merge.Part) ([]string, bool) {
	if agreed, ok := p.Lines(); ok {
		return agreed, true
	}
	was, now, theirs := said(p.Base), said(p.Ours), said(p.Theirs)
	switch {
	case slices.Equal(now, was):
		return p.Theirs, true
	case slices.Equal(theirs, was) && len(was) == 0: // the target's remarks, and what the person says
		return slices.Concat(p.Theirs, slices.DeleteFunc(slices.Clone(p.Ours), func(line string) bool { return slices.Contains(p.Base, line) })), true
	case slices.Equal(theirs, was) && len(was) == len(now): // the person's lines among the target's remarks
		return reworded(p.Theirs, now), true
	case slices.Equal(theirs, was):
		return p.Ours, true
	}
	return nil, false
}

// reworded puts other lines in the place of those that say something.
func reworded(lines, now []string) (all []string) {
	for _, line := range lines {
		if !remark(line) {
			line, now = now[0], now[1:]
		}
		all = append(all, line)
	}
	return all
}

// said are the lines that say something to a program.
func said(lines []string) []string { return slices.DeleteFunc(slices.Clone(lines), remark) }

// setting is the name of what a line sets, as programs compare it; empty for
// what is no setting of its own, such as the beginning of a block.
func setting(line string) string {
	line = strings.ToLower(strings.TrimSpace(line))
	if line == "" || strings.ContainsRune("<[{}()", rune(line[0])) || strings.HasPrefix(line, "include") {
		return ""
	}
	end := strings.IndexAny(line, " \t=:")
	if end < 0 {
		end = len(line)
	}
	return line[:end]
}

// settings are those of some lines.
func settings(lines []string) (names []string) {
	for _, line := range said(lines) {
		if name := setting(line); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// changed are the settings of the lines that only one of two texts has.
func changed(was, now []string) []string {
	only := func(has, lacks []string) []string {
		return settings(slices.DeleteFunc(slices.Clone(has), func(line string) bool { return slices.Contains(lacks, line) }))
	}
	return slices.Concat(only(was, now), only(now, was))
}

// added has the settings that the target's package has anew, with the parts of
// the merge that they stand in.
type added map[string][]int

func newAdded(parts []merge.Part) added {
	all := added{}
	for i, p := range parts {
		was := settings(p.Base)
		for _, name := range settings(p.Theirs) {
			if !slices.Contains(was, name) {
				all[name] = append(all[name], i)
			}
		}
	}
	return all
}

// besides reports whether one of some settings is anew in another part.
func (a added) besides(part int, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(a[name], func(i int) bool { return i != part })
	})
}
