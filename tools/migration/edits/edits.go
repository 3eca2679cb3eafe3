// Package edits says line by line what a person changed of a text, and joins that
// with what the target's package changed of it. It is pure.
package edits

import (
	"slices"
	"strings"

	"svc/tools/convert"
	"svc/tools/merge"
)

// Lines are those of a text, whichever system ended them.
func Lines(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

// Between are the lines of two texts that they do not have in common; one
// that took the place of another is one change. Lines are those of the second
// text, from 1.
func Between(was, now []string) []convert.Change {
	all := []convert.Change{}
	between := func(was, now []string, line int) {
		for i := range max(len(was), len(now)) {
			c := convert.Change{Line: line + min(i, len(now))}
			if i < len(was) {
				c.Was = was[i]
			}
			if i < len(now) {
				c.Now = now[i]
			}
			all = append(all, c)
		}
	}
	i, j := 0, 0
	for next, at := range merge.Common(was, now) {
		if at >= 0 {
			between(was[i:next], now[j:at], j+1)
			i, j = next+1, at+1
		}
	}
	between(was[i:], now[j:], j+1)
	return all
}

// remark reports whether a line says nothing to a program. #! and #include do,
// and so does what goes on in the next line.
func remark(line string) bool {
	line = strings.TrimSpace(line)
	switch {
	case line == "":
		return true
	case strings.HasPrefix(line, "#!"), strings.HasPrefix(line, "#include"), strings.HasSuffix(line, `\`):
		return false
	}
	return line[0] == '#' || line[0] == ';'
}

// OnlyRemarks reports whether changes are to comments and empty lines alone.
func OnlyRemarks(changes []convert.Change) bool {
	return !slices.ContainsFunc(changes, func(c convert.Change) bool { return !remark(c.Was) || !remark(c.Now) })
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
	BothChanged = "The person and the target's package both changed these lines."
	elsewhere   = "The target's package has this setting at another place, where the person's would count beside it or instead of it."
)

// Join settles every part of a merge, or says where nobody can.
func Join(parts []merge.Part) ([]string, []Clash) {
	result := []string{}
	added, clashes := newAdded(parts), []Clash{}
	line, targetLine := 1, 1
	for i, p := range parts {
		agreed, ok := settle(p)
		why := BothChanged
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
	was, now, theirs := Said(p.Base), Said(p.Ours), Said(p.Theirs)
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

// Said are the lines that say something to a program.
func Said(lines []string) []string { return slices.DeleteFunc(slices.Clone(lines), remark) }

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
	for _, line := range Said(lines) {
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
