package parity

import (
	"fmt"
	"slices"
	"strings"

	"svc/backend/sliced"
	"svc/backend/visible"
	"svc/tools/data"
	"svc/tools/migration"
	"svc/tools/migration/naming"
)

// Followed is what a plan's own steps change in a place after its data came: modules of
// a language are copied to the folder of another version, and lines of programs name
// what the target has.
type Followed struct {
	Copied []string         // folders that were made, below the place
	Lines  []naming.Mention // that were changed
	Grown  int64            // bytes by which these lines are longer
	Apart  bool             // what was copied was not counted
}

// Follow finds what a plan's own steps change in a place.
func Follow(p *migration.Plan, i data.Item) (f Followed) {
	for _, m := range p.Mentions {
		below, in := strings.CutPrefix(m.Now, i.Path+"/")
		switch {
		case m.Now == "" || i.Names != nil:
		case m.Line == 0 && in:
			f.Copied = append(f.Copied, below)
		case m.Line > 0 && strings.HasPrefix(m.Path, i.Path+"/"):
			f.Lines = append(f.Lines, m)
		}
	}
	return f
}

// Without is an item of which what was copied is not counted.
func (f Followed) Without(i data.Item) data.Item {
	i.Excludes = slices.Concat(i.Excludes, f.Copied)
	if i.RawExcludes != nil {
		for _, name := range f.Copied {
			i.RawExcludes = append(slices.Clone(i.RawExcludes), []byte(name))
		}
	}
	return i
}

// Grow counts by how many bytes a line of a file on the target is longer than it was.
func (f *Followed) Grow(m naming.Mention, text string) {
	lines := strings.Split(text, "\n")
	if m.Line <= len(lines) {
		f.Grown += int64(strings.Count(lines[m.Line-1], m.Now) * (len(m.Now) - len(m.Name)))
	}
}

// with says in words what was left out of a comparison, or allowed for.
func (f Followed) with() string {
	said := ""
	if f.Apart {
		said += fmt.Sprintf(" What the plan's own step copied there is not counted: %s.", visible.Names(f.Copied))
	}
	if f.Lines != nil {
		files := sliced.Map(f.Lines, func(m naming.Mention) string { return m.Path })
		said += fmt.Sprintf(" The plan's own step changed lines in: %s.", visible.Names(slices.Compact(files)))
	}
	return said
}
