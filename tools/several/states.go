package several

import (
	"fmt"
	"slices"

	"svc/assess"
	"svc/backend/sliced"
	"svc/tools/assessment"
	"svc/tools/cvescan"
	"svc/tools/fleet"
	"svc/tools/move"
	"svc/tools/verification"
)

// Assessed is what an assessment says of one machine of many.
func Assessed(r *assessment.Result) (state, text string) {
	severities := sliced.Map(r.Findings, func(f assess.Finding) assess.FindingSeverity { return f.Severity })
	state, text = counted(severities)
	return state, fmt.Sprintf("%s, %d packages; %s", r.Release, max(len(r.Packages), r.Total["packages"]), text)
}

// counted says how many findings there are of each severity.
func counted(severities []assess.FindingSeverity) (state, text string) {
	count := map[assess.FindingSeverity]int{}
	for _, s := range severities {
		count[s]++
	}
	text = fmt.Sprintf("findings: %d high, %d medium, %d low", count[assess.High], count[assess.Medium], count[assess.Low])
	if len(severities) == 0 {
		return fleet.StateClean, text
	}
	return fleet.StateFindings, text
}

// Moved is what became of the move of one machine of many.
func Moved(r *move.Result) (state, text string) {
	var severities []assess.FindingSeverity
	for _, f := range slices.Concat(r.Inhibitors, r.Findings) {
		severities = append(severities, f.Severity)
	}
	state, text = counted(severities)
	text = fmt.Sprintf("%s to %s, %d packages; %s", r.Source, r.Target, r.Sum.Total, text)
	if r.SeatClaimed {
		text += "; a seat was claimed"
	}
	if len(r.Inhibitors) > 0 {
		text += "; stopped by: " + r.Inhibitors[0].Title
	}
	return state, text
}

// Compared is what a comparison says of one machine of many.
func Compared(r *verification.Result) (state, text string) {
	state = fleet.StateClean
	if !r.Parity {
		state = fleet.StateFindings
	}
	for _, part := range []struct {
		n    int
		what string
	}{{r.Sum.Differs, "differ"}, {r.Sum.Manual, "left to a person"}, {r.Sum.Accepted, "accepted"}, {r.Sum.Unknown, "not checkable"}} {
		if part.n > 0 {
			text += fmt.Sprintf("%d %s, ", part.n, part.what)
		}
	}
	as := "as planned"
	if r.Kind == string(verification.KindDrift) {
		as = "unchanged"
	}
	text += fmt.Sprintf("%d %s", r.Sum.Match+r.Sum.Planned, as)
	if r.SeatClaimed {
		text += "; a seat was claimed"
	}
	return state, text
}

// Scanned is what a scan says of one machine of many, whatever its exit code: what was
// found counts also where no --fail-on asks for it.
func Scanned(r *cvescan.Result) (state, text string) {
	c := r.Counts
	switch {
	case !r.Feed.Loaded:
		return fleet.StateNotCompared, "no advisories for " + r.Release
	case c.Total == 0:
		return fleet.StateClean, fmt.Sprintf("%d packages", r.Scanned)
	}
	text = fmt.Sprintf("%d critical, %d high, %d medium, %d low, %d unknown", c.Critical, c.High, c.Medium, c.Low, c.Unknown)
	if r.SeatClaimed {
		text += "; a seat was claimed"
	}
	return fleet.StateFindings, text
}
