// Package exposure is what advisories say of a machine: how grave it is, what a
// move to another release changes of it, and the same in the forms that other
// programs read. It is pure.
package exposure

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"svc/backend/api"
	"svc/backend/sliced"
)

// Severities lists the severities, worst first.
var Severities = []string{"critical", "high", "medium", "low", "unknown"}

// Rank is the place of a severity in Severities: less is worse.
func Rank(severity string) int {
	if i := slices.Index(Severities, severity); i >= 0 {
		return i
	}
	return len(Severities) - 1
}

// Counts are numbers of advisories by severity.
type Counts struct {
	Critical int `json:"critical"`
	High     int `json:"high"`
	Medium   int `json:"medium"`
	Low      int `json:"low"`
	Unknown  int `json:"unknown"`
	Total    int `json:"total"`
}

// Count counts each advisory once, by the worst that it says of a package.
func Count(matches []api.CVEMatch) Counts {
	worst := map[string]int{}
	for _, m := range matches {
		rank, seen := worst[m.Advisory]
		if r := Rank(m.Severity); !seen || r < rank {
			worst[m.Advisory] = r
		}
	}
	var c Counts
	of := []*int{&c.Critical, &c.High, &c.Medium, &c.Low, &c.Unknown}
	for _, rank := range worst {
		*of[rank]++
		c.Total++
	}
	return c
}

// Reach reports whether an advisory is as grave as a threshold, or worse. What
// is of unknown severity counts where even low does.
func (c Counts) Reach(threshold string) bool {
	limit := Rank(threshold)
	if threshold == "low" {
		limit = Rank("unknown")
	}
	for rank, n := range []int{c.Critical, c.High, c.Medium, c.Low, c.Unknown} {
		if n > 0 && rank <= limit {
			return true
		}
	}
	return false
}

// Sort orders matches: worst first, then by package and advisory.
func Sort(matches []api.CVEMatch) {
	slices.SortFunc(matches, func(a, b api.CVEMatch) int {
		return cmp.Or(cmp.Compare(Rank(a.Severity), Rank(b.Severity)), cmp.Compare(a.Package, b.Package), cmp.Compare(a.Advisory, b.Advisory), cmp.Compare(a.Version, b.Version))
	})
}

// Stale reports whether the newest advisory of a feed is older than a week. No
// feed is stale, and so is one whose time can't be read.
func Stale(f api.Feed, now time.Time) bool {
	if !f.Loaded || f.UpdatedAt == nil {
		return true
	}
	updated, err := time.Parse("2006-01-02 15:04:05-07", *f.UpdatedAt)
	return err != nil || now.Sub(updated) > api.StaleAfter
}

// names are what a match is about: its CVEs, or the advisory where it has none.
func names(m api.CVEMatch) []string {
	cves := sliced.Filter(append([]string{m.Advisory}, m.Aliases...), func(a string) bool { return strings.HasPrefix(a, "CVE-") })
	if len(cves) == 0 {
		return []string{m.Advisory}
	}
	return cves
}
