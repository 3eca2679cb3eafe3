package main

import (
	"context"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/tools/account"
	"svc/tools/machine"
)

func (p *program) enrollCommand() *ffcli.Command {
	var in machine.Machine
	fs := p.flagSet("enroll")
	machineFlags(fs, &in)
	return p.command(fs, "svc enroll --root DIR | --image FILE | --ssh HOST", "license a machine without moving it: claims its seat",
		noArgs(func(ctx context.Context) error {
			r, err := account.Enroll(ctx, p.toolEnv(), in)
			if err != nil {
				return err
			}
			return p.print(r, func(w *view) {
				if r.AlreadyLicensed {
					w.line("the machine %.12s (%s) was licensed already; nothing was claimed", r.Fingerprint, r.Release)
					return
				}
				w.line("the machine %.12s (%s) is licensed now, for ever", r.Fingerprint, r.Release)
			})
		}))
}
