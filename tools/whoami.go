package tools

import (
	"context"

	"svc/backend/api"
	"svc/backend/client"
)

// WhoamiInput takes nothing.
type WhoamiInput struct{}

func whoami() Tool {
	return define(Tool{
		Name:        "svc_whoami",
		Title:       "Who am I",
		Description: "The account that the API token belongs to: plan, free quota, licensed instances, price. Call it first to see that the service answers.",
		Hints:       Hints{ReadOnly: true, Idempotent: true},
	}, Whoami)
}

// Whoami is the authenticated account.
func Whoami(ctx context.Context, env *Env, _ WhoamiInput) (api.Account, error) {
	c, err := env.Client(ctx)
	if err != nil {
		return api.Account{}, err
	}
	return client.Call(ctx, c, api.GetAccount, api.None{})
}
