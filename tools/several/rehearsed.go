//go:build linux

package several

import (
	"fmt"

	"svc/tools/fleet"
	"svc/tools/rehearse"
)

// Rehearsed is what a rehearsal says of one machine of many.
func Rehearsed(r *rehearse.Result) (state, text string) {
	text = fmt.Sprintf("%d run, %d do not, %d could not be tried", r.Sum.Runs, r.Sum.Fails, r.Sum.Untried)
	if r.Passed() {
		return fleet.StateClean, text
	}
	return fleet.StateFindings, text
}
