package server

import (
	"maps"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"svc/backend/api"
)

// DefaultRates are the requests a minute of each plan; a plan that is not in
// it is unlimited.
var DefaultRates = map[api.Plan]int{
	api.PlanFree:     120,
	api.PlanOnDemand: 600,
	api.PlanPro:      1200,
	api.PlanFleet:    6000,
}

// maxBuckets bounds the accounts that are remembered at once.
const maxBuckets = 100_000

// limiter counts requests per account, in this process. A burst may use a
// minute's quota at once.
type limiter struct {
	rates map[api.Plan]int

	mu      sync.Mutex
	buckets map[int64]*bucket
}

type bucket struct {
	*rate.Limiter
	plan api.Plan
}

func newLimiter(rates map[api.Plan]int) *limiter {
	return &limiter{rates: rates, buckets: map[int64]*bucket{}}
}

// take counts one request and writes the RateLimit headers, or refuses.
func (l *limiter) take(h http.Header, account int64, plan api.Plan, clock func() time.Time) error {
	quota, limited := l.rates[plan]
	if !limited {
		delete(h, "Ratelimit-Policy") // of the plan before, where that refused
		delete(h, "Ratelimit")
		return nil
	}
	now := clock()
	b := l.bucket(account, plan, quota, now)
	allowed := b.AllowN(now, 1)
	left := b.TokensAt(now)
	perSecond := float64(quota) / 60
	name := `"` + string(plan) + `"`
	h["Ratelimit-Policy"] = []string{name + ";q=" + strconv.Itoa(quota) + ";w=60"}
	h["Ratelimit"] = []string{name + ";r=" + strconv.Itoa(max(0, int(left))) + ";t=" + strconv.Itoa(seconds((float64(quota)-left)/perSecond))}
	if allowed {
		return nil
	}
	refused := api.Errorf(api.RateLimited, "the plan %s allows %d requests a minute: try again later", plan, quota)
	refused.RetryAfter = max(1, seconds((1-left)/perSecond))
	return refused
}

func seconds(s float64) int { return int(math.Ceil(s)) }

// bucket is the account's, new where its plan changed.
func (l *limiter) bucket(account int64, plan api.Plan, quota int, now time.Time) *bucket {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[account]
	if b == nil || b.plan != plan {
		l.makeRoom(now)
		b = &bucket{rate.NewLimiter(rate.Limit(float64(quota)/60), quota), plan}
		l.buckets[account] = b
	}
	return b
}

// makeRoom forgets accounts that have their whole quota again, where there are
// too many; if there is none, it forgets all.
func (l *limiter) makeRoom(now time.Time) {
	if len(l.buckets) < maxBuckets {
		return
	}
	maps.DeleteFunc(l.buckets, func(_ int64, b *bucket) bool { return b.TokensAt(now) >= float64(b.Burst()) })
	if len(l.buckets) >= maxBuckets {
		clear(l.buckets)
	}
}
