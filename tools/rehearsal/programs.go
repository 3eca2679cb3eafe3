package rehearsal

import (
	"fmt"
	"slices"
	"strings"

	"svc/assess/ask/compile"
	"svc/backend/api"
	"svc/backend/sliced"
	"svc/tools/migration"
	"svc/tools/migration/naming"
)

// maxTroubles is how many lines of a program are told that the target does not take.
const maxTroubles = 10

// programs are people's own, which the machine's interpreters were asked about. One whose
// interpreter the source does not have, or that is a package's of either machine, says
// nothing of the move.
func (j judge) programs() (all []Check) {
	if j.Source == nil || j.Source.Compiled == nil || j.Target.Compiled == nil {
		return nil
	}
	for _, p := range j.People {
		to := j.placeNow(p.Path)
		c := Check{Subject: p.Path, Verdict: Runs, Source: p.Language}
		lost := slices.DeleteFunc(compile.Lost(j.Source.Compiled, j.Target.Compiled, p.Path, j.placeNow), func(t compile.Trouble) bool { return j.mended(p.Path, t) })
		switch {
		case j.Source.Owners[p.Path] != "" || j.Target.Owners[to] != "" || !j.Source.Compiled.Asked[p.Path]:
			continue
		case !j.OnTarget(to) && j.leftBehind(p.Path):
			continue
		case !j.OnTarget(to) && !j.WithData:
			c.Verdict, c.Why = Untried, needsData
		case !j.OnTarget(to):
			c.Verdict, c.Why = Fails, "It is not on the target."
		case len(lost) > 0:
			j.tell(&c, p, to, lost)
		case !j.Target.Compiled.Asked[to]:
			c.Verdict, c.Why = Untried, "The target's interpreter was not asked, or did not come to its end."
		}
		all = append(all, c)
	}
	return all
}

// mended reports whether a step of the plan changes a line of the source of which the target's
// interpreter lacks something: what it lacks is asked by the source's text.
func (j judge) mended(program string, t compile.Trouble) bool {
	return t.Kind == "use" && j.WithData && slices.ContainsFunc(j.Plan.Mentions, func(m naming.Mention) bool {
		return m.Path == program && m.Line == t.Line && m.Now != ""
	})
}

// leftBehind reports whether the plan says that a file is not carried.
func (j judge) leftBehind(name string) bool {
	return slices.ContainsFunc(j.Plan.Configuration, func(row migration.Config) bool {
		return row.From == name && (row.To == "" || row.Action == migration.Manual || row.Action == migration.LeftOut)
	})
}

// tell says what of a program the target does not take, and what to do.
func (j judge) tell(c *Check, p compile.Program, to string, troubles []compile.Trouble) {
	first := troubles[0]
	c.Verdict, c.Target, c.Why = Fails, "does not take it", fmt.Sprintf("The target's interpreter does not take it, as the source's does: %s.", strings.TrimSuffix(first.Text, "."))
	if first.Line > 0 {
		c.Why = fmt.Sprintf("The target's interpreter does not take line %d, as the source's does: %s.", first.Line, strings.TrimSuffix(first.Text, "."))
	}
	c.Log = append(c.Log, sliced.Map(troubles[:min(len(troubles), maxTroubles)], func(t compile.Trouble) string { return fmt.Sprintf("line %d: %s", t.Line, t.Text) })...)
	if more := len(troubles) - maxTroubles; more > 0 {
		c.Log = append(c.Log, fmt.Sprintf("and %d more", more))
	}
	at := j.Source.Compiled.Files[p.Language+" "+first.Module()]
	brings := j.Source.Owners[at]
	c.Cause = &Cause{Kind: "program", Name: to, Line: first.Line}
	row, planned := relevant(j.Plan, brings)
	switch {
	case !j.WithData && at != "" && brings == "" && j.lacks(at):
		c.Verdict, c.Why, c.Cause = Untried, "It loads "+at+". "+needsData, nil
	case first.Kind == "syntax":
		c.Cause.Text = "Change that line to what the target's interpreter takes, which says what is wrong, and rehearse again."
	case planned && (row.Relation == api.RelationRemoved || row.Relation == api.RelationUnknown):
		c.Cause.Text = fmt.Sprintf("On the source, package %s brings %s. %s", brings, first.Module(), row.Why)
	case brings != "":
		c.Cause.Text = fmt.Sprintf("On the source, package %s brings %s, and what the target has in its place does not: install what does, or change the program.", brings, first.Module())
	case at != "":
		c.Cause.Text = fmt.Sprintf("On the source it is %s, which no package brings: install it for the target's interpreter, or change the program.", at)
	case first.Kind == "use":
		c.Cause.Text = "Install the part of the interpreter that has it on the target, where there is one, or change the program."
	default:
		c.Cause.Text = "Install what brings it on the target, or change the program to do without."
	}
}

// unasked says which of people's programs were not looked at.
func (j judge) unasked() (all []string) {
	for _, of := range []struct {
		name string
		o    *Observed
	}{{"source's copy", j.Source}, {"target", j.Target}} {
		if of.o == nil || of.o.Compiled == nil {
			continue
		}
		for _, left := range of.o.Compiled.Left[:min(len(of.o.Compiled.Left), maxTroubles)] {
			all = append(all, fmt.Sprintf("People's programs that the %s was not asked about: %s.", of.name, left))
		}
	}
	if j.PeopleLeft != "" && j.Source != nil {
		all = append(all, "Not all of people's programs were looked at: "+j.PeopleLeft+".")
	}
	return all
}
