package service

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/sliced"
	"svc/backend/store"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
)

// DefaultFreeQuota are the VMs of a new account that cost nothing.
const DefaultFreeQuota = 10

// defaultVMLimit is the hard limit of VMs of a new account.
const defaultVMLimit = 10_000

// accountFlags are what an operator sets of an account.
func accountFlags(fs *flag.FlagSet, a *store.Account) {
	textVar(fs, &a.Name, "name", "name")
	fs.Func("plan", "free, on_demand, pro, fleet or internal", func(s string) error {
		a.Plan = api.Plan(s)
		if !slices.Contains(api.Plans, a.Plan) {
			return fmt.Errorf("no plan is called %q", s)
		}
		return nil
	})
	fs.IntVar(&a.FreeQuota, "free-quota", a.FreeQuota, "instances at no charge")
	fs.IntVar(&a.VMLimit, "vm-limit", a.VMLimit, "hard limit of VMs")
	fs.BoolVar(&a.Unlimited, "unlimited", a.Unlimited, "no quota and no limit")
}

// maxSeats bounds what an operator grants at once: all of it can be added up, and
// every store can keep it.
const maxSeats = 1_000_000_000

// checkAccount refuses numbers that make no sense.
func checkAccount(a license.Account) error {
	if a.FreeQuota < 0 || a.VMLimit < 0 || max(a.FreeQuota, a.VMLimit) > maxSeats {
		return exit.Usagef("--free-quota and --vm-limit must be from 0 to %d; nothing was changed", maxSeats)
	}
	return nil
}

func (p Commands) accountCreate() *ffcli.Command {
	a := store.Account{Account: license.Account{Plan: api.PlanFree, FreeQuota: DefaultFreeQuota, VMLimit: defaultVMLimit}}
	return p.storeCommand("create", "svc admin account create --name NAME [--plan PLAN]", "make an account", func(fs *flag.FlagSet) { accountFlags(fs, &a) },
		func(ctx context.Context, s store.Store) error {
			if a.Name == "" {
				return exit.Usagef("account create needs --name")
			}
			if err := checkAccount(a.Account); err != nil {
				return err
			}
			id, err := s.CreateAccount(ctx, actor(), a.Account)
			return p.made("account_id", id, err)
		})
}

func (p Commands) accountSet() *ffcli.Command {
	var a store.Account
	var set *flag.FlagSet
	return p.storeIDCommand("set", "svc admin account set ID [--plan PLAN] …", "change an account; what is not given stays", func(fs *flag.FlagSet) {
		set = fs
		accountFlags(fs, &a)
		fs.BoolVar(&a.Disabled, "disabled", false, "refuse all its tokens")
	}, func(ctx context.Context, s store.Store, id int64) error {
		if err := checkAccount(a.Account); err != nil {
			return err
		}
		if given(set, "name") && a.Name == "" {
			return exit.Usagef("an account needs a name; nothing was changed")
		}
		if err := s.SetAccount(ctx, actor(), id, func(now *store.Account) { setGiven(set, now, a) }); err != nil {
			return err
		}
		return p.accountShow(ctx, s, id)
	})
}

// setGiven sets of an account what stands on the command line.
func setGiven(fs *flag.FlagSet, now *store.Account, a store.Account) {
	for name, take := range map[string]func(){
		"name": func() { now.Name = a.Name }, "plan": func() { now.Plan = a.Plan }, "free-quota": func() { now.FreeQuota = a.FreeQuota },
		"vm-limit": func() { now.VMLimit = a.VMLimit }, "unlimited": func() { now.Unlimited = a.Unlimited }, "disabled": func() { now.Disabled = a.Disabled },
	} {
		if given(fs, name) {
			take()
		}
	}
}

// given reports whether a flag stands on the command line.
func given(fs *flag.FlagSet, name string) (yes bool) {
	fs.Visit(func(f *flag.Flag) { yes = yes || f.Name == name })
	return yes
}

// accountView is an account as an operator sees it.
type accountView struct {
	ID        int64     `json:"account_id"`
	Name      string    `json:"name"`
	Plan      api.Plan  `json:"plan"`
	Unlimited bool      `json:"unlimited"`
	FreeQuota int       `json:"free_quota"`
	VMLimit   int       `json:"vm_limit"`
	Used      int       `json:"billable_vms_used"`
	Disabled  bool      `json:"disabled"`
	CreatedAt time.Time `json:"created_at"`
}

func viewOf(a store.Account) accountView {
	return accountView{a.ID, a.Name, a.Plan, a.Unlimited, a.FreeQuota, a.VMLimit, a.Used, a.Disabled, a.CreatedAt}
}

func (p Commands) accountList(ctx context.Context, s store.Store) error {
	accounts, err := s.Accounts(ctx)
	views := append([]accountView{}, sliced.Map(accounts, viewOf)...)
	return p.Answer(views, err, func(w *program.View) {
		program.List(w, []string{"ID", "NAME", "PLAN", "VMS", "FREE", "LIMIT"}, views, func(a accountView) []string {
			return []string{fmt.Sprint(a.ID), a.Name, string(a.Plan) + program.Unlimited(a.Unlimited), fmt.Sprint(a.Used), fmt.Sprint(a.FreeQuota), fmt.Sprint(a.VMLimit)}
		})
	})
}

func (p Commands) accountShow(ctx context.Context, s store.Store, id int64) error {
	a, err := s.Account(ctx, id)
	if err != nil {
		return err
	}
	copies, err := s.Copies(ctx, id)
	v := struct {
		accountView
		Copies []store.Copies `json:"copies"` // VMs that several hosts report as
	}{viewOf(a), copies}
	return p.Answer(v, err, func(w *program.View) {
		w.Line("account %d, %s: plan %s%s, %d of %d free, limit %d, disabled %t", v.ID, v.Name, v.Plan, program.Unlimited(v.Unlimited), v.Used, v.FreeQuota, v.VMLimit, v.Disabled)
		for _, c := range copies {
			w.Line("VM %s is reported by %d hosts (%s): one seat", c.VM, c.Hosts, assess.Plural(c.Events, "event"))
		}
	})
}

// accountIsolate gives an account that outgrows the others a place of its own.
func (p Commands) accountIsolate() *ffcli.Command {
	server := ""
	return p.storeIDCommand("isolate", "svc admin account isolate ID [--node HOST:PORT]", "give an account a shard of its own in a store that is spread; its claims wait meanwhile", func(fs *flag.FlagSet) {
		fs.StringVar(&server, "node", "", "server that takes the shard, HOST:PORT as Citus knows it (default where it is)")
	}, func(ctx context.Context, s store.Store, id int64) error {
		shard, err := s.Isolate(ctx, actor(), id, server)
		return p.Answer(map[string]int64{"account_id": id, "shard": shard}, err, func(w *program.View) { w.Line("account %d has shard %d of its own", id, shard) })
	})
}
