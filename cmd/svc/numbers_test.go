package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/server"
	"svc/backend/store/ledger"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/service"
	"svc/tools/guide"
	"svc/tools/migration"
	"svc/tools/upgrade"
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
		"free-quota": {service.DefaultFreeQuota, status(api.SeatQuota)},
		"seat-quota": {status(api.SeatQuota), status(api.VMLimit)},
		"rate-limits": {
			server.DefaultRates[api.PlanFree], server.DefaultRates[api.PlanOnDemand], server.DefaultRates[api.PlanPro], server.DefaultRates[api.PlanFleet],
			status(api.RateLimited),
		},
		"confidence": {migration.Sure},
		"requests": {
			status(api.MalformedRequest), 1, api.MaxBatch, status(api.InternalPlanRequired), status(api.NotFound), status(api.MethodNotAllowed),
			status(api.BodyTooLarge), api.MaxBody >> 20, status(api.UnsupportedMediaType), status(api.Internal500), status(api.Unavailable),
		},
		"idempotency": {ledger.Lifetime.Hours(), status(api.IdempotencyMismatch), status(api.IdempotencyInFlight)},
		"pages":       {api.DefaultLimit, api.MaxLimit, api.MaxShort, 1}, // /v1
		"exit-codes":  {exit.Done, exit.Failed, exit.Usage, exit.Refused, status(api.SeatQuota), 403, exit.NotFound, exit.Unauthenticated, exit.Differ, exit.NotCompared, exit.Interrupted, exit.Differ},
		"inhibitors":  {exit.Differ},
		"confirm":     {exit.Usage},
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

// TestTheGuideHasTheNamesOfTheRules holds the lists of names in passages against the code.
func TestTheGuideHasTheNamesOfTheRules(t *testing.T) {
	for passage, names := range map[string][]string{
		"relations": texts(api.Relations),
		"engines":   upgrade.Engines(),
		"plans":     {string(api.PlanFree), string(api.PlanOnDemand), string(api.PlanPro), string(api.PlanFleet)},
		"metering":  texts(api.UsageKinds),
	} {
		is := is.New(t)
		p, ok := guide.Find(passage)
		is.True(ok)
		for _, name := range names {
			is.True(strings.Contains(strings.ToLower(p.Title+p.Text), name)) // the guide has not this name
		}
	}
}

func texts[T ~string](all []T) (texts []string) {
	for _, one := range all {
		texts = append(texts, string(one))
	}
	return texts
}
