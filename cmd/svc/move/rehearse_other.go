//go:build !linux

package move

import (
	"context"

	"github.com/peterbourgon/ff/v3/ffcli"
)

func (p moveCommands) rehearseCommand() *ffcli.Command {
	return p.command(p.flagSet("rehearse"), "svc rehearse", "try a move on a throw-away target: only on Linux",
		func(context.Context, []string) error {
			return usagef("svc rehearse boots a root apart from the machine that it runs on, which must be Linux; nothing was done: run it there")
		})
}
