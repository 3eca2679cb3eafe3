package service

import (
	"context"
	"flag"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/api"
	"svc/backend/store"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
)

func (p Commands) tokenCreate() *ffcli.Command {
	var account int64
	return p.storeCommand("create", "svc admin token create --account ID", "make a token; it is shown this once", func(fs *flag.FlagSet) {
		fs.Int64Var(&account, "account", 0, "ID of the account that the token is for")
	}, func(ctx context.Context, s store.Store) error {
		if account <= 0 {
			return exit.Usagef("token create needs --account")
		}
		t := api.NewToken()
		id, err := s.CreateToken(ctx, actor(), account, api.TokenHash(t))
		return p.Answer(struct {
			ID    int64  `json:"token_id"`
			Token string `json:"token"`
		}{id, t}, err, func(w *program.View) {
			w.Line("token %d, shown this once:", id)
			w.Line("%s", t)
		})
	})
}

func (p Commands) tokenList() *ffcli.Command {
	return p.accountCommand("list", "svc admin token list --account ID", "list an account's tokens", func(ctx context.Context, s store.Store, account int64) error {
		if _, err := s.Account(ctx, account); err != nil {
			return err
		}
		tokens, err := s.Tokens(ctx, account)
		return listed(p, tokens, err, func(w *program.View, t store.Token) {
			state := "in use"
			if t.DisabledAt != nil {
				state = "disabled " + t.DisabledAt.Format(time.DateTime)
			}
			w.Line("%d  made %s  %s", t.ID, t.CreatedAt.Format(time.DateTime), state)
		})
	})
}

func (p Commands) tokenDisable() *ffcli.Command {
	return p.storeIDCommand("disable", "svc admin token disable ID", "refuse a token from now on", nil, func(ctx context.Context, s store.Store, id int64) error {
		return p.made("token_id", id, s.DisableToken(ctx, actor(), id))
	})
}
