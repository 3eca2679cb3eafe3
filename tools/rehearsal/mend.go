package rehearsal

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"svc/backend/sliced"
)

// Mend says which fixes mended what an earlier rehearsal of the machine had fail: of
// those that are new or changed since then, the ones that have most words of what failed
// or its cause and of nothing else that did, or all of them where none has any.
func (d *Document) Mend(before *Document) {
	if before == nil || before.Fingerprint != d.Fingerprint || before.Target != d.Target {
		return
	}
	failed := map[string]Check{}
	for _, c := range before.Checks {
		if c.Verdict == Fails {
			failed[c.ID()] = c
		}
	}
	for i := range d.Checks {
		c := &d.Checks[i]
		switch was, ok := failed[c.ID()]; {
		case c.Verdict != Runs:
		case ok:
			c.MendedBy = d.mended(before, was)
		default:
			c.MendedBy = before.mendedBy(c.ID())
		}
		d.note(c, c.MendedBy)
	}
}

// mendedBy are the fixes that a rehearsal says mended a check.
func (d *Document) mendedBy(id string) []string {
	return sliced.First(d.Checks, func(c Check) bool { return c.ID() == id && len(c.MendedBy) > 0 }).MendedBy
}

func (d *Document) note(c *Check, fixes []string) {
	for i := range d.Fixes {
		if slices.Contains(fixes, d.Fixes[i].Name) {
			d.Fixes[i].Mended = append(d.Fixes[i].Mended, c.ID())
		}
	}
}

// mended are the names of the fixes that came since an earlier rehearsal and have the
// most words of what this check alone said, or of all where none has any.
func (d *Document) mended(before *Document, was Check) (names []string) {
	said := wordsOf(was.about())
	for _, c := range before.Checks {
		if c.Verdict == Fails && c.ID() != was.ID() {
			maps.DeleteFunc(said, func(word string, _ bool) bool { return wordsOf(c.about())[word] })
		}
	}
	most := 0
	for _, f := range d.Fixes {
		if slices.ContainsFunc(before.Fixes, func(b Fix) bool { return b.Name == f.Name && b.SHA256 == f.SHA256 }) {
			continue
		}
		has := 0
		for word := range wordsOf(strings.Join(f.about, " ")) {
			if said[word] {
				has++
			}
		}
		if has > most {
			names, most = nil, has
		}
		if has == most {
			names = append(names, f.Name)
		}
	}
	return names
}

// about is all that is told of a check.
func (c Check) about() string {
	said := c.Subject + " " + c.Why + " " + strings.Join(c.Log, " ")
	if c.Cause != nil {
		said += " " + c.Cause.Name + " " + c.Cause.Text
	}
	return said
}

// wordsOf are a text's words, without those that most paths have.
func wordsOf(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) > 2 && !slices.Contains([]string{"usr", "local", "lib", "bin", "sbin", "etc", "var", "opt", "srv", "the"}, w) {
			all[w] = true
		}
	}
	return all
}

// NewFix is a fix of the role, and what it is about: its paths, packages and commands.
func NewFix(name, digest string, about []string) Fix {
	return Fix{Name: name, SHA256: digest, Mended: []string{}, about: about}
}
