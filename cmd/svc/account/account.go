// Package account has the commands about the account, and for talking to the team.
package account

import (
	"context"
	"fmt"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/client"
	"svc/cmd/svc/program"
	"svc/tools/account"
)

// Commands are what is about the account and its talk with the team.
type Commands struct{ *program.Program }

// Account is `svc account`.
func (p Commands) Account() *ffcli.Command {
	return p.Command(p.FlagSet("account"), "svc account [vms|usage|capacity|statement]", "show the account: plan, licences, price", program.NoArgs(p.account),
		p.pageCommand("vms", "list the licensed machines", p.vms),
		p.pageCommand("usage", "list the billable operations, newest first", p.usageHistory),
		p.Command(p.FlagSet("capacity"), "svc account capacity", "show capacity and its terms", program.NoArgs(p.capacity)),
		p.statementCommand(),
	)
}

func (p Commands) pageCommand(name, help string, run func(context.Context, api.Page) error) *ffcli.Command {
	page := api.Page{Limit: api.DefaultLimit}
	fs := p.FlagSet(name)
	fs.IntVar(&page.Limit, "limit", api.DefaultLimit, "entries to list, at most 1000")
	fs.IntVar(&page.Offset, "offset", 0, "entries to skip")
	return p.Command(fs, "svc account "+name, help, program.NoArgs(func(ctx context.Context) error { return run(ctx, page) }))
}

// call is one request of the service.
func call[In, Out any](ctx context.Context, p *program.Program, e api.Endpoint[In, Out], in In) (out Out, err error) {
	c, err := p.Client(ctx)
	if err != nil {
		return out, err
	}
	return client.Call(ctx, c, e, in)
}

func (p Commands) account(ctx context.Context) error {
	a, err := account.Whoami(ctx, p.ToolEnv(), account.WhoamiInput{})
	return p.Answer(a, err, func(w *program.View) {
		w.Line("account %d, %s", a.AccountID, a.Name)
		w.Table([][]string{
			{"plan", string(a.Plan) + program.Unlimited(a.Unlimited)},
			{"licensed machines", fmt.Sprintf("%d, %d of them paid", a.BillableInstances, a.PaidInstances)},
			{"free quota", fmt.Sprint(a.FreeQuota)},
			{"price", fmt.Sprintf("%d %s a year (%d for each)", a.AnnualTotal, a.Currency, a.Rate)},
			{"requests", fmt.Sprintf("%d today, %d this month", a.MeteredRequests.Today, a.MeteredRequests.ThisMonth)},
		})
	})
}

func (p Commands) vms(ctx context.Context, page api.Page) error {
	l, err := call(ctx, p.Program, api.GetVMs, page)
	return p.Answer(l, err, func(w *program.View) {
		program.List(w, []string{"VM", "LICENSED SINCE", "LAST SEEN", "KINDS"}, l.VMs, func(v api.VM) []string {
			return []string{v.VM, v.FirstBillableAt, v.LastSeenAt, strings.Join(v.Kinds, ", ")}
		})
		more(w, l.HasMore, l.Offset+l.Count)
	})
}

func (p Commands) usageHistory(ctx context.Context, page api.Page) error {
	h, err := call(ctx, p.Program, api.GetUsage, page)
	return p.Answer(h, err, func(w *program.View) {
		program.List(w, []string{"AT", "KIND", "VM", "SOURCE", "TARGET"}, h.Events, func(e api.UsageEvent) []string {
			return []string{e.At, string(e.Kind), e.VM, e.Source, program.OrDash(e.Target)}
		})
		more(w, h.HasMore, h.Offset+h.Count)
	})
}

func (p Commands) capacity(ctx context.Context) error {
	c, err := call(ctx, p.Program, api.GetCapacity, api.None{})
	if err != nil {
		return err
	}
	account, err := call(ctx, p.Program, api.GetAccount, api.None{})
	return p.Answer(c, err, func(w *program.View) {
		if account.Unlimited {
			w.Line("%s licensed; the account is unlimited", assess.Plural(c.BillableVMsUsed, "machine"))
			return
		}
		w.Line("%s licensed; room for %d free, %d by licence, %d by proof of value", assess.Plural(c.BillableVMsUsed, "machine"), c.FreeQuota, c.LicensedSeats, c.ActivePOVSeats)
		program.List(w, nil, c.Terms, func(t api.Term) []string {
			return []string{t.Kind, program.OrDash(t.Source), fmt.Sprint(t.Seats), t.ValidFrom + " to " + t.ValidUntil, program.OrDash(t.Note)}
		})
	})
}

func more(w *program.View, hasMore bool, next int) {
	if hasMore {
		w.Line("more: --offset %d", next)
	}
}
