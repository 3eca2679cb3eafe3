package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/api"
	"svc/backend/client"
	"svc/tools/account"
)

func (p *program) accountCommand() *ffcli.Command {
	return p.command(p.flagSet("account"), "svc account [vms|usage|capacity|statement]", "show the account: plan, licences, price", noArgs(p.account),
		p.pageCommand("vms", "list the licensed machines", p.vms),
		p.pageCommand("usage", "list the billable operations, newest first", p.usageHistory),
		p.command(p.flagSet("capacity"), "svc account capacity", "show capacity and its terms", noArgs(p.capacity)),
		p.statementCommand(),
	)
}

func (p *program) pageCommand(name, help string, run func(context.Context, api.Page) error) *ffcli.Command {
	page := api.Page{Limit: api.DefaultLimit}
	fs := p.flagSet(name)
	fs.IntVar(&page.Limit, "limit", api.DefaultLimit, "entries to list, at most 1000")
	fs.IntVar(&page.Offset, "offset", 0, "entries to skip")
	return p.command(fs, "svc account "+name, help, noArgs(func(ctx context.Context) error { return run(ctx, page) }))
}

// call is one request of the service.
func call[In, Out any](ctx context.Context, p *program, e api.Endpoint[In, Out], in In) (out Out, err error) {
	c, err := p.client(ctx)
	if err != nil {
		return out, err
	}
	return client.Call(ctx, c, e, in)
}

func (p *program) account(ctx context.Context) error {
	a, err := account.Whoami(ctx, p.toolEnv(), account.WhoamiInput{})
	if err != nil {
		return err
	}
	return p.print(a, func(w *view) {
		w.line("account %d, %s", a.AccountID, a.Name)
		w.table([][]string{
			{"plan", string(a.Plan) + unlimited(a.Unlimited)},
			{"licensed machines", fmt.Sprintf("%d, %d of them paid", a.BillableInstances, a.PaidInstances)},
			{"free quota", fmt.Sprint(a.FreeQuota)},
			{"price", fmt.Sprintf("%d %s a year (%d for each)", a.AnnualTotal, a.Currency, a.Rate)},
			{"requests", fmt.Sprintf("%d today, %d this month", a.MeteredRequests.Today, a.MeteredRequests.ThisMonth)},
		})
	})
}

func unlimited(yes bool) string {
	if yes {
		return ", unlimited"
	}
	return ""
}

func (p *program) vms(ctx context.Context, page api.Page) error {
	l, err := call(ctx, p, api.GetVMs, page)
	if err != nil {
		return err
	}
	return p.print(l, func(w *view) {
		rows := [][]string{{"VM", "LICENSED SINCE", "LAST SEEN", "KINDS"}}
		for _, v := range l.VMs {
			rows = append(rows, []string{v.VM, v.FirstBillableAt, v.LastSeenAt, strings.Join(v.Kinds, ", ")})
		}
		w.table(rows)
		more(w, l.HasMore, l.Offset+l.Count)
	})
}

func (p *program) usageHistory(ctx context.Context, page api.Page) error {
	h, err := call(ctx, p, api.GetUsage, page)
	if err != nil {
		return err
	}
	return p.print(h, func(w *view) {
		rows := [][]string{{"AT", "KIND", "VM", "SOURCE", "TARGET"}}
		for _, e := range h.Events {
			rows = append(rows, []string{e.At, string(e.Kind), e.VM, e.Source, orDash(e.Target)})
		}
		w.table(rows)
		more(w, h.HasMore, h.Offset+h.Count)
	})
}

func (p *program) capacity(ctx context.Context) error {
	c, err := call(ctx, p, api.GetCapacity, api.None{})
	if err != nil {
		return err
	}
	account, err := call(ctx, p, api.GetAccount, api.None{})
	if err != nil {
		return err
	}
	return p.print(c, func(w *view) {
		if account.Unlimited {
			w.line("%s licensed; the account is unlimited", plural(c.BillableVMsUsed, "machine"))
			return
		}
		w.line("%s licensed; room for %d free, %d by licence, %d by proof of value", plural(c.BillableVMsUsed, "machine"), c.FreeQuota, c.LicensedSeats, c.ActivePOVSeats)
		rows := [][]string{}
		for _, t := range c.Terms {
			rows = append(rows, []string{t.Kind, orDash(t.Source), fmt.Sprint(t.Seats), t.ValidFrom + " to " + t.ValidUntil, orDash(t.Note)})
		}
		w.table(rows)
	})
}

func more(w *view, hasMore bool, next int) {
	if hasMore {
		w.line("more: --offset %d", next)
	}
}

func orDash(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
