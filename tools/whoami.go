package tools

import (
	"context"

	"svc/backend/api"
)

// AccountDetail is what svc_whoami gives beside the account's numbers.
type AccountDetail string

// The details of an account.
const (
	DetailAccount   AccountDetail = "account"
	DetailVMs       AccountDetail = "vms"
	DetailStatement AccountDetail = "statement"
)

// WhoamiInput is the input of Whoami.
type WhoamiInput struct {
	Detail AccountDetail `json:"detail,omitempty" jsonschema:"vms lists the machines that have a seat, statement has the bill; account where absent"`
	Cursor string        `json:"cursor,omitempty" jsonschema:"next_cursor of the call before"`
}

// WhoamiResult is the account and, where it was asked for, a page of its machines
// or of its bill.
type WhoamiResult struct {
	api.Account
	VMs        []api.VM       `json:"vms,omitempty"`
	Statement  *api.Statement `json:"statement,omitempty"`
	NextCursor string         `json:"next_cursor,omitempty"` // where there are more machines, or lines
}

func whoami() Tool {
	return define(Tool{
		Name:        "svc_whoami",
		Title:       "Who am I",
		Description: "The account that the API token belongs to: plan, free quota, licensed instances, price; with detail its machines or its bill. Call it first to see that the service answers.",
		Hints:       Hints{ReadOnly: true, Idempotent: true},
	}, Whoami)
}

// Whoami is the authenticated account.
func Whoami(ctx context.Context, env *Env, in WhoamiInput) (r WhoamiResult, err error) {
	limit, offset, err := Paging{Cursor: in.Cursor}.page("svc_whoami")
	if err != nil {
		return r, err
	}
	if r.Account, err = call(ctx, env, api.GetAccount, api.None{}); err != nil {
		return r, err
	}
	var page Page
	switch in.Detail {
	case "", DetailAccount:
	case DetailVMs:
		list, err := call(ctx, env, api.GetVMs, api.Page{Limit: limit, Offset: offset})
		if err != nil {
			return r, err
		}
		r.VMs, page = paged(env, list.VMs, offset, list.HasMore)
	case DetailStatement:
		bill, err := call(ctx, env, api.GetStatement, api.None{})
		if err != nil {
			return r, err
		}
		offset = min(offset, len(bill.Lines))
		bill.Lines, page = paged(env, bill.Lines[offset:], offset, false)
		r.Statement = &bill
	default:
		return r, inputErrorf("svc_whoami", "detail must be %s, %s or %s, not %q", DetailAccount, DetailVMs, DetailStatement, in.Detail)
	}
	r.NextCursor = page.NextCursor
	return r, nil
}
