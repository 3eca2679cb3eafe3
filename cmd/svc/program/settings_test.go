package program

import (
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/server"
)

func TestFilesAreNeverWhereTheProgramRuns(t *testing.T) {
	is := is.New(t)
	for _, dir := range []string{"", "relative", "/home/ann"} {
		p := PathsOf(func(string) string { return dir })
		for _, path := range []string{p.ConfigDir, p.DataDir, p.StateDir, p.CacheDir} {
			is.True(filepath.IsAbs(path))
		}
	}
}

func TestRateLimitsSurviveTheirText(t *testing.T) {
	is := is.New(t)
	var r, again rates
	is.NoErr(r.Set("free=60,fleet=none"))
	is.Equal(r[api.PlanFree], 60)
	is.Equal(r[api.PlanPro], server.DefaultRates[api.PlanPro])
	_, limited := r[api.PlanFleet]
	is.True(!limited)
	is.NoErr(again.Set(r.String()))
	is.Equal(again, r)
}
