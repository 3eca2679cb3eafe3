package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend"
	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
)

// defaultFreeQuota are the VMs of a new account that cost nothing.
const defaultFreeQuota = 10

// defaultVMLimit is the hard limit of VMs of a new account.
const defaultVMLimit = 10_000

func (p *program) adminCommand() *ffcli.Command {
	return p.group("svc admin", "run the service: accounts, tokens, capacity, releases, index",
		p.group("svc admin account", "accounts",
			p.accountCreate(), p.accountSet(),
			p.storeCommand("list", "svc admin account list", "list the accounts", nil, p.accountList),
			p.storeIDCommand("show", "svc admin account show ID", "show one account", nil, p.accountShow), p.accountIsolate()),
		p.group("svc admin token", "tokens", p.tokenCreate(), p.tokenList(), p.tokenDisable()),
		p.group("svc admin grant", "licence grants", p.grantAdd(), p.grantList("grant", "licence grants", func(h license.Holdings) []license.Grant { return h.Licenses }), p.grantRevoke()),
		p.group("svc admin pov", "proofs of value", p.povAdd(), p.grantList("pov", "proofs of value", func(h license.Holdings) []license.Grant { return h.POVs }), p.povConvert()),
		p.group("svc admin release", "releases of the product", p.releaseStage(), p.releasePublish()),
		p.group("svc admin finding", "findings of accounts", p.findingList()),
		p.group("svc admin question", "questions of accounts", p.questionList()),
		p.indexCommand(),
		p.advisoriesCommand(),
		p.checkCommand(),
		p.backupCommand(),
		p.pruneCommand(),
		p.storeCommand("spread", "svc admin spread", "spread a PostgreSQL store over the servers of its Citus; end every svc serve first", nil, p.spread),
		p.storeCommand("audit", "svc admin audit", "show what operators did", nil, p.audit),
		p.group("svc admin key", "signing keys", p.keyRotate()),
	)
}

// storeCommand is a command on the store itself, without arguments.
func (p *program) storeCommand(name, usage, help string, flags func(*flag.FlagSet), run func(context.Context, store.Store) error) *ffcli.Command {
	return p.storeArgs(name, usage, help, flags, func(_ context.Context, args []string) error {
		if len(args) > 0 {
			return usagef("unexpected argument %q; nothing was changed", args[0])
		}
		return nil
	}, run)
}

// storeIDCommand is a command on one thing in the store: ID, or --id ID.
func (p *program) storeIDCommand(name, usage, help string, flags func(*flag.FlagSet), run func(context.Context, store.Store, int64) error) *ffcli.Command {
	var id int64
	return p.storeArgs(name, usage, help, func(fs *flag.FlagSet) {
		fs.Int64Var(&id, "id", 0, "the ID, instead of as an argument")
		if flags != nil {
			flags(fs)
		}
	}, func(_ context.Context, args []string) (err error) {
		id, err = oneID(id, args)
		return err
	}, func(ctx context.Context, s store.Store) error { return run(ctx, s, id) })
}

// storeArgs is a command on the store that looks at its arguments before it
// opens the store.
func (p *program) storeArgs(name, usage, help string, flags func(*flag.FlagSet), check func(context.Context, []string) error, run func(context.Context, store.Store) error) *ffcli.Command {
	fs := p.flagSet(name)
	p.settings.store(fs, p.paths)
	if flags != nil {
		flags(fs)
	}
	return p.command(fs, usage, help, func(ctx context.Context, args []string) error {
		if err := check(ctx, args); err != nil {
			return err
		}
		s, err := backend.OpenStore(ctx, p.settings.db, store.Options{Log: p.logger()})
		if err != nil {
			return err
		}
		p.closers = append(p.closers, s)
		return notFound(usage, run(ctx, s))
	})
}

// notFound gives what a store does not have its exit code, and says what was missing
// by the command's words.
func notFound(usage string, err error) error {
	if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	what := "nothing in the store has this ID"
	switch {
	case strings.Contains(usage, "--account") || strings.HasPrefix(usage, "svc admin account"):
		what = "no account has this ID: `svc admin account list` has them"
	case strings.HasPrefix(usage, "svc admin token"):
		what = "no token has this ID: `svc admin token list` has them"
	case strings.HasPrefix(usage, "svc admin release"):
		what = "no release has this tag"
	}
	return &exitError{exitNotFound, errors.New(what + "; nothing was changed")}
}

// actor is who the audit says did it.
func actor() string {
	u, err := user.Current()
	if err != nil {
		return "unknown"
	}
	return u.Username
}

// oneID takes the ID of a flag, or of the one argument.
func oneID(id int64, args []string) (int64, error) {
	switch {
	case id > 0 && len(args) == 0:
		return id, nil
	case id != 0 || len(args) != 1:
		return 0, usagef("one ID is needed; nothing was changed")
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil || id <= 0 {
		return 0, usagef("%q is no ID; nothing was changed", args[0])
	}
	return id, nil
}

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

// textVar is a flag that the service shows: its answers are UTF-8, which a terminal
// may not be.
func textVar(fs *flag.FlagSet, text *string, name, usage string) {
	fs.Func(name, usage, func(s string) error {
		if !utf8.ValidString(s) {
			return errors.New("it is not UTF-8")
		}
		*text = s
		return nil
	})
}

// maxSeats bounds what an operator grants at once: all of it can be added up, and
// every store can keep it.
const maxSeats = 1_000_000_000

// checkAccount refuses numbers that make no sense.
func checkAccount(a license.Account) error {
	if a.FreeQuota < 0 || a.VMLimit < 0 || max(a.FreeQuota, a.VMLimit) > maxSeats {
		return usagef("--free-quota and --vm-limit must be from 0 to %d; nothing was changed", maxSeats)
	}
	return nil
}

func (p *program) accountCreate() *ffcli.Command {
	a := store.Account{Account: license.Account{Plan: api.PlanFree, FreeQuota: defaultFreeQuota, VMLimit: defaultVMLimit}}
	return p.storeCommand("create", "svc admin account create --name NAME [--plan PLAN]", "make an account", func(fs *flag.FlagSet) { accountFlags(fs, &a) },
		func(ctx context.Context, s store.Store) error {
			if a.Name == "" {
				return usagef("account create needs --name")
			}
			if err := checkAccount(a.Account); err != nil {
				return err
			}
			id, err := s.CreateAccount(ctx, actor(), a.Account)
			if err != nil {
				return err
			}
			return p.made("account_id", id)
		})
}

// made prints the id of something new.
func (p *program) made(name string, id int64) error {
	return p.print(map[string]int64{name: id}, func(w *view) { w.line("%s %d", strings.ReplaceAll(name, "_", " "), id) })
}

func (p *program) accountSet() *ffcli.Command {
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
			return usagef("an account needs a name; nothing was changed")
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

func (p *program) accountList(ctx context.Context, s store.Store) error {
	accounts, err := s.Accounts(ctx)
	if err != nil {
		return err
	}
	views := []accountView{}
	for _, a := range accounts {
		views = append(views, viewOf(a))
	}
	return p.print(views, func(w *view) {
		rows := [][]string{{"ID", "NAME", "PLAN", "VMS", "FREE", "LIMIT"}}
		for _, a := range views {
			rows = append(rows, []string{fmt.Sprint(a.ID), a.Name, string(a.Plan) + unlimited(a.Unlimited), fmt.Sprint(a.Used), fmt.Sprint(a.FreeQuota), fmt.Sprint(a.VMLimit)})
		}
		w.table(rows)
	})
}

func (p *program) accountShow(ctx context.Context, s store.Store, id int64) error {
	a, err := s.Account(ctx, id)
	if err != nil {
		return err
	}
	copies, err := s.Copies(ctx, id)
	if err != nil {
		return err
	}
	v := struct {
		accountView
		Copies []store.Copies `json:"copies"` // VMs that several hosts report as
	}{viewOf(a), copies}
	return p.print(v, func(w *view) {
		defer func() {
			for _, c := range copies {
				w.line("VM %s is reported by %d hosts (%s): one seat", c.VM, c.Hosts, plural(c.Events, "event"))
			}
		}()
		w.line("account %d, %s: plan %s%s, %d of %d free, limit %d, disabled %t", v.ID, v.Name, v.Plan, unlimited(v.Unlimited), v.Used, v.FreeQuota, v.VMLimit, v.Disabled)
	})
}

// accountIsolate gives an account that outgrows the others a place of its own.
func (p *program) accountIsolate() *ffcli.Command {
	server := ""
	return p.storeIDCommand("isolate", "svc admin account isolate ID [--node HOST:PORT]", "give an account a shard of its own in a store that is spread; its claims wait meanwhile", func(fs *flag.FlagSet) {
		fs.StringVar(&server, "node", "", "server that takes the shard, HOST:PORT as Citus knows it (default where it is)")
	}, func(ctx context.Context, s store.Store, id int64) error {
		shard, err := s.Isolate(ctx, actor(), id, server)
		if err != nil {
			return err
		}
		return p.print(map[string]int64{"account_id": id, "shard": shard}, func(w *view) { w.line("account %d has shard %d of its own", id, shard) })
	})
}

// spread moves a store to several servers.
func (p *program) spread(ctx context.Context, s store.Store) error {
	if err := s.Spread(ctx, actor()); err != nil {
		return err
	}
	return p.print(map[string]bool{"spread": true}, func(w *view) { w.line("the accounts are spread over the servers; svc serve may be started") })
}

func (p *program) tokenCreate() *ffcli.Command {
	var account int64
	return p.storeCommand("create", "svc admin token create --account ID", "make a token; it is shown this once", func(fs *flag.FlagSet) {
		fs.Int64Var(&account, "account", 0, "account it is for")
	}, func(ctx context.Context, s store.Store) error {
		if account <= 0 {
			return usagef("token create needs --account")
		}
		t := api.NewToken()
		id, err := s.CreateToken(ctx, actor(), account, api.TokenHash(t))
		if err != nil {
			return err
		}
		return p.print(struct {
			ID    int64  `json:"token_id"`
			Token string `json:"token"`
		}{id, t}, func(w *view) {
			w.line("token %d, shown this once:", id)
			w.line("%s", t)
		})
	})
}

func (p *program) tokenList() *ffcli.Command {
	var account int64
	return p.storeCommand("list", "svc admin token list --account ID", "list an account's tokens", func(fs *flag.FlagSet) {
		fs.Int64Var(&account, "account", 0, "account")
	}, func(ctx context.Context, s store.Store) error {
		if account <= 0 {
			return usagef("token list needs --account")
		}
		if _, err := s.Account(ctx, account); err != nil {
			return err
		}
		tokens, err := s.Tokens(ctx, account)
		if err != nil {
			return err
		}
		return p.print(tokens, func(w *view) {
			for _, t := range tokens {
				state := "in use"
				if t.DisabledAt != nil {
					state = "disabled " + t.DisabledAt.Format(time.DateTime)
				}
				w.line("%d  made %s  %s", t.ID, t.CreatedAt.Format(time.DateTime), state)
			}
		})
	})
}

func (p *program) tokenDisable() *ffcli.Command {
	return p.storeIDCommand("disable", "svc admin token disable ID", "refuse a token from now on", nil, func(ctx context.Context, s store.Store, id int64) error {
		if err := s.DisableToken(ctx, actor(), id); err != nil {
			return err
		}
		return p.made("token_id", id)
	})
}

// grantFlags are those of a grant or a POV; until is the last day.
func grantFlags(fs *flag.FlagSet, account *int64, g *license.Grant) {
	fs.Int64Var(account, "account", 0, "account")
	fs.IntVar(&g.Seats, "seats", 0, "seats")
	fs.StringVar(&g.From, "from", "", "first day, YYYY-MM-DD (default today)")
	fs.StringVar(&g.Until, "until", "", "last day, YYYY-MM-DD")
}

// lastDay turns the last day of what begins on a day into the first that does not
// count. Dates are compared as text, so they have four digits of a year.
func lastDay(from, until string) (end string, err error) {
	for _, day := range []string{from, until} {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return "", usagef("%q is no date like 2027-12-31; nothing was changed", day)
		}
	}
	if end = license.AddDays(until, 1); until < from || len(end) > len(until) {
		return "", usagef("--until must be from %s to 9999-12-30; nothing was changed", from)
	}
	return end, nil
}

// checkGrant turns the last day into the first that does not count.
func checkGrant(account int64, g *license.Grant) error {
	if g.From == "" {
		g.From = license.Day(time.Now())
	}
	if account <= 0 || g.Seats <= 0 || g.Seats > maxSeats {
		return usagef("--account and --seats from 1 to %d are needed; nothing was changed", maxSeats)
	}
	end, err := lastDay(g.From, g.Until)
	g.Until = end
	return err
}

func (p *program) grantAdd() *ffcli.Command {
	var account int64
	var g license.Grant
	return p.storeCommand("add", "svc admin grant add --account ID --seats N --until DAY --source SOURCE", "add a licence grant", func(fs *flag.FlagSet) {
		grantFlags(fs, &account, &g)
		fs.StringVar(&g.Source, "source", license.Subscription, strings.Join(license.GrantSources, ", "))
		textVar(fs, &g.Note, "note", "commercial context")
	}, func(ctx context.Context, s store.Store) error {
		if !slices.Contains(license.GrantSources, g.Source) {
			return usagef("--source must be one of %s; nothing was changed", strings.Join(license.GrantSources, ", "))
		}
		if err := checkGrant(account, &g); err != nil {
			return err
		}
		id, err := s.AddGrant(ctx, actor(), account, g)
		if err != nil {
			return err
		}
		return p.made("grant_id", id)
	})
}

// grantView is a grant or a POV as a list shows it.
type grantView struct {
	ID     int64  `json:"id"`
	Seats  int    `json:"seats"`
	From   string `json:"valid_from"`
	Until  string `json:"valid_until"` // the last day
	Source string `json:"source,omitempty"`
	Note   string `json:"note,omitempty"`
	State  string `json:"state"` // active, ended (revoked or converted), expired, not yet started
}

func viewOfGrant(g license.Grant, day string) grantView {
	v := grantView{g.ID, g.Seats, g.From, license.AddDays(g.Until, -1), g.Source, g.Note, "active"}
	switch {
	case g.Revoked:
		v.State = "ended"
	case day >= g.Until:
		v.State = "expired"
	case day < g.From:
		v.State = "not yet started"
	}
	return v
}

// grantList lists the grants of an account, or its POVs, with the ids that revoke and
// convert take.
func (p *program) grantList(noun, what string, of func(license.Holdings) []license.Grant) *ffcli.Command {
	var account int64
	return p.storeCommand("list", "svc admin "+noun+" list --account ID", "list an account's "+what, func(fs *flag.FlagSet) {
		fs.Int64Var(&account, "account", 0, "account")
	}, func(ctx context.Context, s store.Store) error {
		if account <= 0 {
			return usagef("%s list needs --account", noun)
		}
		if _, err := s.Account(ctx, account); err != nil {
			return err
		}
		h, err := s.Holdings(ctx, account)
		if err != nil {
			return err
		}
		grants, rows := []grantView{}, [][]string{{"ID", "SEATS", "FROM", "UNTIL", "STATE", "SOURCE", "NOTE"}}
		for _, g := range of(h) {
			v := viewOfGrant(g, license.Day(time.Now()))
			grants = append(grants, v)
			rows = append(rows, []string{strconv.FormatInt(v.ID, 10), strconv.Itoa(v.Seats), v.From, v.Until, v.State, v.Source, v.Note})
		}
		return p.print(grants, func(w *view) { w.table(rows) })
	})
}

func (p *program) grantRevoke() *ffcli.Command {
	return p.storeIDCommand("revoke", "svc admin grant revoke ID", "end a licence grant now", nil, func(ctx context.Context, s store.Store, id int64) error {
		if err := s.RevokeGrant(ctx, actor(), id); err != nil {
			return err
		}
		return p.made("grant_id", id)
	})
}

func (p *program) povAdd() *ffcli.Command {
	var account int64
	var g license.Grant
	return p.storeCommand("add", "svc admin pov add --account ID --seats N --until DAY", "add a proof of value", func(fs *flag.FlagSet) { grantFlags(fs, &account, &g) },
		func(ctx context.Context, s store.Store) error {
			if err := checkGrant(account, &g); err != nil {
				return err
			}
			id, err := s.AddPOV(ctx, actor(), account, g)
			if err != nil {
				return err
			}
			return p.made("pov_id", id)
		})
}

func (p *program) povConvert() *ffcli.Command {
	until := ""
	return p.storeIDCommand("convert", "svc admin pov convert ID [--until DAY]", "make a licence of a proof of value", func(fs *flag.FlagSet) {
		fs.StringVar(&until, "until", "", "last day of the licence, YYYY-MM-DD (default a year from today)")
	}, func(ctx context.Context, s store.Store, id int64) error {
		today := license.Day(time.Now())
		end := license.Anniversary(today, 1)
		if until != "" {
			var err error
			if end, err = lastDay(today, until); err != nil {
				return err
			}
		}
		grant, err := s.ConvertPOV(ctx, actor(), id, end)
		if err != nil {
			return err
		}
		return p.made("grant_id", grant)
	})
}

func (p *program) releaseStage() *ffcli.Command {
	var r store.Release
	return p.storeCommand("stage", "svc admin release stage --tag TAG --channel CHANNEL", "stage a release", func(fs *flag.FlagSet) {
		textVar(fs, &r.Tag, "tag", "tag")
		fs.StringVar(&r.Channel, "channel", "", strings.Join(api.Channels, " or "))
		textVar(fs, &r.Notes, "notes", "what a user notices")
	}, func(ctx context.Context, s store.Store) error {
		if r.Tag == "" || !slices.Contains(api.Channels, r.Channel) {
			return usagef("release stage needs --tag, and --channel %s", strings.Join(api.Channels, " or "))
		}
		staged, err := s.StageRelease(ctx, actor(), r)
		if err != nil {
			return err
		}
		return p.print(staged, func(w *view) { w.line("%s is staged on %s", r.Tag, r.Channel) })
	})
}

func (p *program) releasePublish() *ffcli.Command {
	tag := ""
	return p.storeCommand("publish", "svc admin release publish --tag TAG", "publish a staged release", func(fs *flag.FlagSet) {
		fs.StringVar(&tag, "tag", "", "tag")
	}, func(ctx context.Context, s store.Store) error {
		if tag == "" {
			return usagef("release publish needs --tag")
		}
		r, err := s.PublishRelease(ctx, actor(), tag)
		if err != nil {
			return err
		}
		return p.print(r, func(w *view) { w.line("%s is published", r.Tag) })
	})
}

// findingList lists the findings of all accounts.
func (p *program) findingList() *ffcli.Command {
	open := false
	return p.storeCommand("list", "svc admin finding list [--open]", "list the findings of all accounts, oldest first", func(fs *flag.FlagSet) {
		fs.BoolVar(&open, "open", false, "leave out those that are fixed")
	}, func(ctx context.Context, s store.Store) error {
		findings, err := s.EveryFinding(ctx, open)
		if err != nil {
			return err
		}
		return p.print(findings, func(w *view) {
			for _, f := range findings {
				w.line("%d  %s  %s  %s  %s", f.ID, f.CreatedAt, f.Status, f.Kind, f.Title)
			}
		})
	})
}

// questionList lists the questions of all accounts.
func (p *program) questionList() *ffcli.Command {
	open := false
	return p.storeCommand("list", "svc admin question list [--open]", "list the questions of all accounts, oldest first", func(fs *flag.FlagSet) {
		fs.BoolVar(&open, "open", false, "leave out those that are answered")
	}, func(ctx context.Context, s store.Store) error {
		questions, err := s.EveryQuestion(ctx, open)
		if err != nil {
			return err
		}
		return p.print(questions, func(w *view) {
			for _, q := range questions {
				w.line("%d  %s  %s  %s", q.ID, q.CreatedAt, q.Status, q.Question)
			}
		})
	})
}

// checkCommand opens no store that is not there: to make one would hide the loss.
func (p *program) checkCommand() *ffcli.Command {
	return p.storeArgs("check", "svc admin check", "check the store: its pages or shards, and that counters and rows agree", nil, func(ctx context.Context, args []string) error {
		if len(args) > 0 {
			return usagef("unexpected argument %q; nothing was changed", args[0])
		}
		return backend.StoreExists(ctx, p.settings.db)
	}, p.storeCheck)
}

func (p *program) storeCheck(ctx context.Context, s store.Store) error {
	problems, err := s.Check(ctx)
	if err != nil {
		return err
	}
	err = p.print(map[string]any{"consistent": len(problems) == 0, "problems": problems}, func(w *view) {
		for _, problem := range problems {
			w.line("%s", problem)
		}
		if len(problems) == 0 {
			w.line("the store is whole; counters and rows agree")
		}
	})
	if err == nil && len(problems) > 0 {
		return &exitError{code: exitFailed}
	}
	return err
}

func (p *program) backupCommand() *ffcli.Command {
	out := ""
	return p.storeCommand("backup", "svc admin backup --out FILE", "copy the store while it is in use", func(fs *flag.FlagSet) {
		fs.StringVar(&out, "out", "", "new file")
	}, func(ctx context.Context, s store.Store) error {
		if out == "" {
			return usagef("backup needs --out")
		}
		if err := s.Backup(ctx, out); err != nil {
			return err
		}
		return p.print(map[string]string{"file": out}, func(w *view) { w.line("the store is copied to %s", out) })
	})
}

// pruneCommand removes old events; seats, and so what is paid, stay for ever.
func (p *program) pruneCommand() *ffcli.Command {
	before := ""
	return p.storeCommand("prune", "svc admin prune --before DAY", "remove events of before a day; seats stay", func(fs *flag.FlagSet) {
		fs.StringVar(&before, "before", "", "first day that is kept, YYYY-MM-DD")
	}, func(ctx context.Context, s store.Store) error {
		day, err := time.Parse(time.DateOnly, before)
		if err != nil {
			return usagef("prune needs --before with a date like 2026-12-31; nothing was removed")
		}
		n, err := s.Prune(ctx, actor(), day)
		if err != nil {
			return fmt.Errorf("%s removed, seats and other events stay: %w", plural(int(n), "event"), err)
		}
		return p.print(map[string]int64{"removed": n}, func(w *view) { w.line("removed %s", plural(int(n), "event")) })
	})
}

func (p *program) audit(ctx context.Context, s store.Store) error {
	entries, err := s.Audit(ctx)
	if err != nil {
		return err
	}
	return p.print(entries, func(w *view) {
		for _, e := range entries {
			w.line("%s  %s  %s  %s", e.At.Format(time.DateTime), e.Actor, e.Act, e.Detail)
		}
	})
}
