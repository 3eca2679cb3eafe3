package migration

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"svc/assess"
	"svc/tools/convert"
	"svc/tools/merge"
	"svc/tools/migration/edits"
	"svc/tools/migration/naming"
)

// maxClashes bounds the clashes that a plan shows of one file.
const maxClashes = 50

// merge joins the changes that people made with the target's own files.
func (p *Plan) merge(in Input, where naming.Places) {
	if in.Read == nil || in.TargetFile == nil {
		return
	}
	for i := range p.Configuration {
		c := &p.Configuration[i]
		if c.base == nil || c.Action != Copy && c.Action != Convert {
			continue
		}
		if own := in.TargetFile(where.Targets(c.Package), c.To, func([]byte) bool { return true }); own != nil {
			c.merge(in, newOrigin(own))
		}
	}
}

// merge joins one file with the target's own.
func (c *Config) merge(in Input, own *origin) {
	person, ok := c.carried(in)
	was, now, theirs := edits.Lines(c.base.text), edits.Lines(person), edits.Lines(own.text)
	if !ok || max(len(was), len(now), len(theirs)) > maxEdited || !isText(c.base.text+person+own.text) {
		return
	}
	result, clashes := edits.Join(merge.Lines(was, now, theirs))
	c.Merge = &Merged{Base: c.base.from, Target: own.from, Changes: []convert.Change{}, Clashes: clashes[:min(len(clashes), maxClashes)]}
	if len(clashes) > 0 {
		c.Reason += fmt.Sprintf(" What a person changed clashes with the target's own file (%s), so that it is carried over whole: see which it should be.", assess.Plural(len(clashes), "place"))
		return
	}
	changes := edits.Between(theirs, result)
	if c.Merge.Changes = changes[:min(len(changes), maxEdits)]; len(changes) == 0 {
		c.To, c.Action, c.Text, c.Changes, c.Reason = "", LeftOut, nil, nil, "The target's own file says the same."
		return
	}
	c.Changes = slices.DeleteFunc(c.Changes, func(change convert.Change) bool { return !has(result, change.Now) })
	merged := strings.Join(result, "\n") + "\n"
	c.Action, c.Text = Merge, &merged
	c.Reason = fmt.Sprintf("The target's own file, with what a person changed (%s).", assess.Plural(len(changes), "line"))
}

// carried is the text that a row carries to the target.
func (c *Config) carried(in Input) (string, bool) {
	switch {
	case c.Text != nil:
		return *c.Text, true
	case in.Read == nil:
		return "", false
	}
	text, err := in.Read(c.From)
	return string(text), err == nil
}

func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// has reports whether one of some lines is, blanks aside, in a change.
func has(result []string, now string) bool {
	return slices.ContainsFunc(strings.Split(now, "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && slices.ContainsFunc(result, func(r string) bool { return strings.TrimSpace(r) == line })
	})
}
