//go:build !linux

package move

import (
	"context"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/cmd/svc/exit"
)

func (p Commands) dbUpgradeCommand() *ffcli.Command {
	return p.Command(p.FlagSet("upgrade"), "svc db upgrade", "upgrade a database of this host: only on Linux",
		func(context.Context, []string) error {
			return exit.Usagef("svc db upgrade upgrades databases of the host that it runs on, which must be Linux; nothing was changed: run it there")
		})
}
