// Package account is what the service says of the account, and which machines have its
// seats.
package account

import (
	"context"
	"strings"

	"svc/backend/api"
	"svc/tools/job"
	"svc/tools/tool"
)

// AccountDetail is what svc_whoami gives beside the account's numbers.
type AccountDetail string

// The details of an account.
const (
	DetailAccount   AccountDetail = "account"
	DetailVMs       AccountDetail = "vms"
	DetailStatement AccountDetail = "statement"
)

// linesOfBill is how many lines of a bill a result may have.
const linesOfBill = 1000

// WhoamiInput is the input of Whoami.
type WhoamiInput struct {
	Detail AccountDetail `json:"detail,omitempty" jsonschema:"vms: the machines that have a seat; statement: the bill"`
	Cursor string        `json:"cursor,omitempty" jsonschema:"next_cursor"`
}

// WhoamiResult is the account and, where it was asked for, a page of its machines
// or of its bill.
type WhoamiResult struct {
	api.Account
	SeatsLeft   *int           `json:"seats_left,omitempty"`   // absent where the account has no limit
	OverageRate int            `json:"overage_rate,omitempty"` // US dollars a year for a machine beyond the capacity
	NextSeat    string         `json:"next_seat"`              // what one more machine costs
	VMs         []NamedVM      `json:"vms,omitempty"`
	Statement   *api.Statement `json:"statement,omitempty"`
	NextCursor  string         `json:"next_cursor,omitempty"` // where there are more machines, or lines
}

// NamedVM is a machine that has a seat, by what this user calls it. Name, place and
// move are of this user's own register: the service knows none of them.
type NamedVM struct {
	VM       string   `json:"vm"` // the first of its fingerprint
	Name     string   `json:"name,omitempty"`
	Place    string   `json:"place,omitempty"`
	Target   string   `json:"target,omitempty"`
	Out      string   `json:"out,omitempty"`
	Since    string   `json:"since"`
	LastSeen string   `json:"last_seen"`
	Kinds    []string `json:"kinds"`
}

// byName joins what the service says of machines with what this user calls them.
func byName(env *tool.Env, vms []api.VM) []NamedVM {
	known, all := env.Named(), []NamedVM{}
	for _, v := range vms {
		m := known[v.VM]
		all = append(all, NamedVM{v.VM, m.Name, m.Place, m.Target, m.Out, day(v.FirstBillableAt), day(v.LastSeenAt), v.Kinds})
	}
	return all
}

// day is the day of a time.
func day(at string) string {
	day, _, _ := strings.Cut(at, " ")
	return day
}

// Whoami is the authenticated account.
func Whoami(ctx context.Context, env *tool.Env, in WhoamiInput) (r WhoamiResult, err error) {
	limit, offset, err := tool.Paging{Cursor: in.Cursor}.Page("svc_whoami")
	if err != nil {
		return r, err
	}
	if r.Account, err = tool.Call(ctx, env, api.GetAccount, api.None{}); err != nil {
		return r, err
	}
	if err := r.price(ctx, env); err != nil {
		return r, err
	}
	var page tool.Page
	switch in.Detail {
	case "", DetailAccount:
	case DetailVMs:
		list, err := tool.Call(ctx, env, api.GetVMs, api.Page{Limit: limit, Offset: offset})
		if err != nil {
			return r, err
		}
		r.VMs, page = tool.Paged(env, byName(env, list.VMs), offset, list.HasMore)
	case DetailStatement:
		bill, err := tool.Call(ctx, env, api.GetStatement, api.StatementRequest{Limit: linesOfBill, Offset: offset})
		if err != nil {
			return r, err
		}
		bill.Lines, page = tool.Paged(env, bill.Lines, offset, bill.NextCursor != "")
		bill.NextCursor = "" // the result's own is told
		r.Statement = &bill
	default:
		return r, tool.InputErrorf("svc_whoami", "detail must be %s, %s or %s, not %q", DetailAccount, DetailVMs, DetailStatement, in.Detail)
	}
	r.NextCursor = page.NextCursor
	return r, nil
}

// price adds what one more machine costs.
func (r *WhoamiResult) price(ctx context.Context, env *tool.Env) error {
	capacity, err := tool.Call(ctx, env, api.GetCapacity, api.None{})
	if err != nil {
		return err
	}
	r.NextSeat = job.PriceOf(r.Account, capacity)
	if !r.Unlimited {
		r.SeatsLeft, r.OverageRate = new(job.SeatsLeft(capacity)), api.OverageRate
	}
	return nil
}
