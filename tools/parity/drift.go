package parity

import (
	"slices"

	"svc/assess"
	"svc/backend/sliced"
)

// Drift compares a machine with what it was. Its checks are the differences
// alone; its sums count what is as it was too. What follows from another
// difference is told with that one: the units of a package that is gone, the
// file in which a port was changed. Of the places of data it matters whether
// they still hold something.
func Drift(before, after *assess.Assessment, places map[string]bool, accepted Acceptances) *Report {
	r := &Report{Kind: "drift", Source: before.Release, Target: after.Release, Fingerprint: before.Fingerprint}
	running := bothRun(before, after)
	hidden := unread(after, "machine")
	r.Checks = append(unread(before, "verified machine"), hidden...)
	held, holds := kept(places)
	r.NotLooked = notLooked(before, after)
	was := slices.Concat(inventory(before, running), guarded(before), held)
	is := slices.Concat(inventory(after, running), guarded(after), holds)
	if before.Programs == nil {
		is = slices.DeleteFunc(is, func(s subject) bool { return s.dimension == Programs })
	}
	same, changed := difference(was, is, unseen(hidden))
	r.Checks = append(r.Checks, sliced.Map(fold(edits(changed, before, after)), func(c change) Check { return c.Check })...)
	r.finish(accepted)
	for _, i := range same {
		r.count(i.dimension, Match, false)
	}
	return r
}
