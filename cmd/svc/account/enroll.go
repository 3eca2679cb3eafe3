package account

import (
	"context"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/cmd/svc/many"
	"svc/cmd/svc/program"
	"svc/tools/account"
	"svc/tools/machine"
)

// Enroll is `svc enroll`.
func (p Commands) Enroll() *ffcli.Command {
	var in machine.Machine
	fs := p.FlagSet("enroll")
	many.MachineFlags(fs, &in)
	return p.Command(fs, "svc enroll --root DIR | --image FILE | --ssh HOST", "license a machine without moving it: claims its seat",
		program.NoArgs(func(ctx context.Context) error {
			r, err := account.Enroll(ctx, p.ToolEnv(), in)
			return p.Answer(r, err, func(w *program.View) {
				if r.AlreadyLicensed {
					w.Line("the machine %.12s (%s) was licensed already; nothing was claimed", r.Fingerprint, r.Release)
					return
				}
				w.Line("the machine %.12s (%s) is licensed now, for ever", r.Fingerprint, r.Release)
			})
		}))
}
