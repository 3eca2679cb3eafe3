package rehearsal

import (
	"maps"
	"slices"

	"svc/tools/rehearsal/session"
)

// sessions are what people find who log in, held against what they found.
func (j judge) sessions() (all []Check) {
	if j.Source == nil {
		return nil
	}
	for _, account := range slices.Sorted(maps.Keys(j.Source.Sessions)) {
		now, ok := j.Target.Sessions[account]
		c := Check{Subject: account, Verdict: Runs}
		switch lost := session.Lost(j.Source.Sessions[account], now, j.OnSource); {
		case !ok && j.Level == Chroot:
			c.Verdict, c.Why = Untried, notStarted
		case !ok:
			c.Verdict, c.Why = Fails, "Nobody can log in as it on the target."
		case len(lost) > 0 && !j.WithData:
			c.Verdict, c.Why, c.Log = Untried, "What a login gives may be in its home. "+needsData, lost
		case len(lost) > 0:
			c.Verdict, c.Why, c.Log = Fails, "A login does not give on the target what it gives on the source: "+lost[0]+".", lost
		}
		all = append(all, c)
	}
	return all
}
