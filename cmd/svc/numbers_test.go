package main

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/server"
	"svc/tools/guide"
	"svc/tools/migration"
)

var number = regexp.MustCompile(`\d+(?:\.\d+)*`)

// TestTheGuideHasTheNumbersOfTheRules holds every number of passages that state rules
// against the code of these.
func TestTheGuideHasTheNumbersOfTheRules(t *testing.T) {
	status := func(code api.Code) int { return api.Errorf(code, "").Status() }
	pack := func(plan api.Plan) int {
		return license.PriceOf(license.Account{Plan: plan}, license.Holdings{}, 1, "2026-01-01").Pack
	}
	rate := func(plan api.Plan) int {
		return license.PriceOf(license.Account{Plan: plan}, license.Holdings{}, 1, "2026-01-01").Rate
	}
	for passage, want := range map[string][]any{
		"billing":    {rate(api.PlanOnDemand), rate(api.PlanPro), pack(api.PlanPro), rate(api.PlanFleet), pack(api.PlanFleet)},
		"free-quota": {defaultFreeQuota, status(api.SeatQuota)},
		"seat-quota": {status(api.SeatQuota), status(api.VMLimit)},
		"rate-limits": {
			server.DefaultRates[api.PlanFree], server.DefaultRates[api.PlanOnDemand], server.DefaultRates[api.PlanPro], server.DefaultRates[api.PlanFleet],
			status(api.RateLimited),
		},
		"confidence": {migration.Sure},
		"exit-codes": {exitDone, exitFailed, exitUsage, exitRefused, status(api.SeatQuota), 403, exitNotFound, exitUnauthenticated, exitDiffers, exitNotCompared, exitInterrupted, exitDiffers},
		"inhibitors": {exitDiffers},
		"confirm":    {exitUsage},
	} {
		is := is.New(t)
		p, ok := guide.Find(passage)
		is.True(ok)
		var numbers []string
		for _, n := range want {
			numbers = append(numbers, fmt.Sprint(n))
		}
		said := number.FindAllString(p.Text, -1)
		slices.Sort(said)
		slices.Sort(numbers)
		is.Equal(slices.Compact(said), slices.Compact(numbers)) // what the guide says, and what is so
	}
}
