//go:build !linux

package move

import (
	"context"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/cmd/svc/exit"
)

// Rehearse is `svc rehearse`.
func (p Commands) Rehearse() *ffcli.Command {
	return p.Command(p.FlagSet("rehearse"), "svc rehearse", "try a move on a throw-away target: only on Linux",
		func(context.Context, []string) error {
			return exit.Usagef("svc rehearse boots a root apart from the machine that it runs on, which must be Linux; nothing was done: run it there")
		})
}
