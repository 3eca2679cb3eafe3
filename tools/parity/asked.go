package parity

import (
	"fmt"

	"svc/assess"
	"svc/backend/visible"
)

// Wanted reports whether a unit is enabled on the migrated machine, or should be.
func Wanted(in Input) func(unit string) bool {
	units := map[string]bool{}
	for _, u := range in.After.Services {
		units[u.Name] = u.State == "enabled" || u.State == "enabled-runtime"
	}
	for _, s := range in.Plan.Services {
		units[s.To] = units[s.To] || s.State == "enabled"
	}
	if r := in.After.Running; r != nil {
		for _, u := range r.Units {
			units[u.Name] = true // active, or failed
		}
	}
	return func(unit string) bool { return units[unit] }
}

// answers are what the services of the migrated machine say of how they are set up.
func (v verification) answers() (all []Check) {
	for _, a := range v.Asked.Answers {
		c := Check{Dimension: Services, Subject: a.Command, Result: Match, Why: a.Name + ": its own check of its configuration passes.", Evidence: in(a.File)}
		switch {
		case a.Err != nil:
			c.Result, c.Why = Unknown, fmt.Sprintf("%s could not be asked: %v", visible.Name(a.Name), a.Err)
		case !a.OK():
			c.Result, c.After = Differs, a.Text
			c.Why = fmt.Sprintf("%s: its own check of its configuration ends with status %d.", visible.Name(a.Name), a.Status)
		}
		all = append(all, c)
	}
	return all
}

// dead are the services that were enabled on the source and that nobody started
// here, or somebody stopped. Those that failed are told as that.
func (v verification) dead() (all []Check) {
	for _, s := range v.Plan.Services {
		is, known := v.Asked.Services[s.To]
		if s.State != "enabled" || !known || !is.Dead() {
			continue
		}
		c := Check{
			Dimension: Services, Subject: s.To + ", running", Result: Differs, Before: s.State, After: is.Active, Evidence: v.unitFile(s.Unit),
			Why: "It was enabled on the source, and does not run here.",
		}
		if is.Refused {
			c.Result, c.Why = Unknown, "It was enabled on the source; here a condition of its unit is not met, so it does not run: see systemctl status."
		}
		all = append(all, c)
	}
	return all
}

// notAsked says what a machine was not asked.
func notAsked(asked Asked, after *assess.Assessment) (all []string) {
	const own = "what the services' own checks say of their configuration: "
	switch {
	case asked.Why != "":
		return []string{own + asked.Why}
	case asked.Answers != nil:
		return nil
	case after.Running == nil:
		return []string{own + "the machine did not run; verify it over ssh with --ask"}
	}
	return []string{own + "--ask has the migrated machine run them"}
}
