package service

import (
	"cmp"
	"context"
	"flag"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/license"
	"svc/backend/store"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
)

// grantFlags are those of a grant or a POV; until is the last day.
func grantFlags(fs *flag.FlagSet, account *int64, g *license.Grant) {
	fs.Int64Var(account, "account", 0, "ID of the account")
	fs.IntVar(&g.Seats, "seats", 0, "number of seats")
	fs.StringVar(&g.From, "from", "", "first `DAY`, YYYY-MM-DD (default today)")
	fs.StringVar(&g.Until, "until", "", "last day, YYYY-MM-DD")
}

// lastDay turns the last day of what begins on a day into the first that does not
// count. Dates are compared as text, so they have four digits of a year.
func lastDay(from, until string) (end string, err error) {
	for _, day := range []string{from, until} {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return "", exit.Usagef("%q is no date like 2027-12-31; nothing was changed", day)
		}
	}
	if end = license.AddDays(until, 1); until < from || len(end) > len(until) {
		return "", exit.Usagef("--until must be from %s to 9999-12-30; nothing was changed", from)
	}
	return end, nil
}

// checkGrant turns the last day into the first that does not count.
func checkGrant(account int64, g *license.Grant) error {
	g.From = cmp.Or(g.From, license.Day(time.Now()))
	if account <= 0 || g.Seats <= 0 || g.Seats > maxSeats {
		return exit.Usagef("--account and --seats from 1 to %d are needed; nothing was changed", maxSeats)
	}
	end, err := lastDay(g.From, g.Until)
	g.Until = end
	return err
}

func (p Commands) grantAdd() *ffcli.Command {
	var account int64
	var g license.Grant
	return p.storeCommand("add", "svc admin grant add --account ID --seats N --until DAY --source SOURCE", "add a licence grant", func(fs *flag.FlagSet) {
		grantFlags(fs, &account, &g)
		fs.StringVar(&g.Source, "source", license.Subscription, "`KIND` of the grant: "+strings.Join(license.GrantSources, ", "))
		textVar(fs, &g.Note, "note", "commercial context")
	}, func(ctx context.Context, s store.Store) error {
		if !slices.Contains(license.GrantSources, g.Source) {
			return exit.Usagef("--source must be one of %s; nothing was changed", strings.Join(license.GrantSources, ", "))
		}
		if err := checkGrant(account, &g); err != nil {
			return err
		}
		id, err := s.AddGrant(ctx, actor(), account, g)
		return p.made("grant_id", id, err)
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
func (p Commands) grantList(noun, what string, of func(license.Holdings) []license.Grant) *ffcli.Command {
	return p.accountCommand("list", "svc admin "+noun+" list --account ID", "list an account's "+what, func(ctx context.Context, s store.Store, account int64) error {
		if _, err := s.Account(ctx, account); err != nil {
			return err
		}
		h, err := s.Holdings(ctx, account)
		grants, rows := []grantView{}, [][]string{{"ID", "SEATS", "FROM", "UNTIL", "STATE", "SOURCE", "NOTE"}}
		for _, g := range of(h) {
			v := viewOfGrant(g, license.Day(time.Now()))
			grants = append(grants, v)
			rows = append(rows, []string{strconv.FormatInt(v.ID, 10), strconv.Itoa(v.Seats), v.From, v.Until, v.State, v.Source, v.Note})
		}
		return p.Answer(grants, err, func(w *program.View) { w.Table(rows) })
	})
}

func (p Commands) grantRevoke() *ffcli.Command {
	return p.storeIDCommand("revoke", "svc admin grant revoke ID", "end a licence grant now", nil, func(ctx context.Context, s store.Store, id int64) error {
		return p.made("grant_id", id, s.RevokeGrant(ctx, actor(), id))
	})
}

func (p Commands) povAdd() *ffcli.Command {
	var account int64
	var g license.Grant
	return p.storeCommand("add", "svc admin pov add --account ID --seats N --until DAY", "add a proof of value", func(fs *flag.FlagSet) { grantFlags(fs, &account, &g) },
		func(ctx context.Context, s store.Store) error {
			if err := checkGrant(account, &g); err != nil {
				return err
			}
			id, err := s.AddPOV(ctx, actor(), account, g)
			return p.made("pov_id", id, err)
		})
}

func (p Commands) povConvert() *ffcli.Command {
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
		return p.made("grant_id", grant, err)
	})
}
