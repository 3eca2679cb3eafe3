package ledger

import (
	"slices"
	"strings"
	"time"

	"svc/backend/api"
)

// KindBits is the order of kinds in a seat's set of them; it is stored, so new
// kinds go to the end.
var KindBits = []api.Kind{api.Migration, api.Verify, api.License, api.CVEScanKind, api.Drift, api.Preflight, api.Readiness}

// KindBit is a kind in such a set.
func KindBit(k api.Kind) int64 {
	for i, known := range KindBits {
		if k == known {
			return 1 << i
		}
	}
	return 0
}

// kindNames are the kinds of a set as the VM list spells them, sorted.
func kindNames(set int64) []string {
	names := []string{}
	for i, k := range KindBits {
		if set&(1<<i) != 0 {
			names = append(names, strings.ReplaceAll(string(k), "_", "-"))
		}
	}
	slices.Sort(names)
	return names
}

// stamp is how lists show an instant.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + "+00" }
