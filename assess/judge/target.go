package judge

import (
	"fmt"
	"time"

	"svc/assess"
	"svc/backend/release"
)

// JudgeTarget says what is wrong with a release as a target on a day, of a machine
// of the release source, a slug: that it is older, the same, not out yet, or out of
// support. A zero day judges no dates.
func JudgeTarget(source string, target release.Release, day time.Time) (all []assess.Finding) {
	from, known := release.Lookup(source)
	switch {
	case known && target.Older(from):
		all = append(all, found("target.older", fmt.Sprintf("%s is an earlier release than %s: software would go back to earlier versions, which data and settings seldom survive.", target.Name, from.Name), nil))
	case known && target.Family != from.Family && target.Released != "" && target.Released < from.Released:
		all = append(all, found("target.earlier", fmt.Sprintf("%s is of %s and %s of %s: programs may be older there, and data and settings of newer ones seldom go back.", target.Name, target.Released, from.Name, from.Released), nil))
	case known && target.Slug == from.Slug:
		all = append(all, found("target.same", fmt.Sprintf("The machine runs %s already: this moves it to another machine, not to another release.", target.Name), nil))
	}
	if day.IsZero() {
		return all
	}
	today := day.UTC().Format(time.DateOnly)
	if supported, known := target.Supported(day); known && !supported {
		all = append(all, assess.Finding{
			Key: "target.end-of-life", Severity: assess.High, Title: target.Name + " is out of support",
			Summary:      fmt.Sprintf("The vendor's free support ended on %s: there are no security updates for everybody any more.", target.EndOfLife),
			Remediations: assess.Hints("Choose a release that is supported."),
		})
	}
	if target.Released == "" || target.Released > today {
		all = append(all, assess.Finding{
			Key: "target.unreleased", Severity: assess.High, Title: target.Name + " is not released yet",
			Summary:      "Its packages still change, it has no security support, and what the index knows of it is of an unfinished state.",
			Remediations: assess.Hints("Choose a release that is out, unless this is a trial."),
		})
	}
	return all
}
