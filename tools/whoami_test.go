package tools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/client"
	"svc/tools/account"
	"svc/tools/tool"
)

// TestTheAccountsMachinesAndBill pages through more machines than a result holds.
func TestTheAccountsMachinesAndBill(t *testing.T) {
	is := is.New(t)
	const machines = 120
	env := newEnv(t)
	env.Resources = &shelf{}
	c, err := env.Client(t.Context())
	is.NoErr(err)
	for i := range machines {
		_, err := client.Call(t.Context(), c, api.Enroll, api.EnrollRequest{Fingerprint: fmt.Sprintf("%012x%052x", i+1, 0), Source: api.OS{Distro: "debian", Version: "11"}})
		is.NoErr(err)
	}
	for _, detail := range []account.AccountDetail{account.DetailVMs, account.DetailStatement} {
		seen, in := map[string]bool{}, account.WhoamiInput{Detail: detail}
		for {
			r, err := account.Whoami(t.Context(), env, in)
			is.NoErr(err)
			is.Equal(r.BillableInstances, machines)
			is.True(len(tool.Encoded(r)) < tool.SummaryBudget+1<<10)
			for _, vm := range r.VMs {
				seen[vm.VM] = true
			}
			if r.Statement != nil {
				for _, line := range r.Statement.Lines {
					seen[line.VM] = true
				}
			}
			if in.Cursor = r.NextCursor; in.Cursor == "" {
				break
			}
		}
		is.Equal(len(seen), machines)
	}
	for _, wrong := range []account.WhoamiInput{{Detail: "all"}, {Detail: account.DetailVMs, Cursor: "x"}} {
		_, err := account.Whoami(t.Context(), env, wrong)
		is.True(err != nil && strings.Contains(err.Error(), "must be"))
	}
}
