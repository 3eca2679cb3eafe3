package several

import (
	"fmt"

	"svc/assess"
	"svc/tools/fleet"
	"svc/tools/machine"
)

// Summary counts what became of the machines of a list.
func Summary(machines []Listed, states map[string]int) string {
	text := fmt.Sprintf("%s: %d without findings, %d with", assess.Plural(len(machines), "machine"), states[fleet.StateClean], states[fleet.StateFindings])
	if n := states[fleet.StateNotCompared]; n > 0 {
		text += fmt.Sprintf(", %d not compared", n)
	}
	text += fmt.Sprintf(", %d failed", states[fleet.StateFailed])
	if n := states[fleet.StateNotReached]; n > 0 {
		text += fmt.Sprintf(", %d not reached", n)
	}
	if n := again(machines); n > 0 {
		text += fmt.Sprintf("; %s named more than once, and counted each time", assess.Plural(n, "machine"))
	}
	return text
}

// Stopped says how to go on after an interruption, and what it left of the machines that
// were done.
func Stopped(out string) string {
	kept := ""
	if out != "" {
		kept = " What is done is kept in " + out + ", and its index.html names the others."
	}
	return "It was stopped." + kept + " The same call looks at all machines again; no seat is claimed twice."
}

// again counts the machines that are listed more than once.
func again(machines []Listed) (n int) {
	times := map[machine.Machine]int{}
	for _, m := range machines {
		if times[m.Machine]++; times[m.Machine] == 2 {
			n++
		}
	}
	return n
}
