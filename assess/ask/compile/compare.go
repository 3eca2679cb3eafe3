package compile

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Lost are the troubles of a program that one machine has and another had not, where both
// were asked about it; now is where the one has a file of the other. What nobody knows of
// the one, or the other had too, is none.
func Lost(before, after *Answers, program string, now func(string) string) (all []Trouble) {
	to := now(program)
	if !before.Asked[program] {
		return nil
	}
	had := before.Troubles[program]
	for _, t := range after.Troubles[to] {
		known := slices.ContainsFunc(had, func(b Trouble) bool { return b.Kind == t.Kind && b.Name == t.Name || b.Kind == "syntax" })
		if !t.Unsure && !known {
			all = append(all, t)
		}
	}
	if after.Asked[to] {
		all = append(all, unusable(before, after, program)...)
	}
	slices.SortStableFunc(all, func(a, b Trouble) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Name, b.Name)) })
	return all
}

// unusable are functions and classes of an interpreter that a program names, and that the
// later one has no more.
func unusable(before, after *Answers, program string) (all []Trouble) {
	for name, use := range before.Uses {
		if _, has := after.Uses[name]; has {
			continue
		}
		for _, at := range use.Places {
			if at.Path == program {
				all = append(all, Trouble{Kind: "use", Name: name, Line: at.Line, Text: fmt.Sprintf("no %s; on the source, %s has it", name, cmp.Or(use.Of, "the interpreter itself"))})
			}
		}
	}
	return all
}

// Module is what a trouble's program loads: the module itself, or that of a name.
func (t Trouble) Module() string {
	if t.Kind == "name" {
		return strings.TrimSuffix(t.Name, path.Ext(t.Name))
	}
	return t.Name
}
