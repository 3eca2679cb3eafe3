package main

import (
	"context"
	"io"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/cmd/svc/account"
	"svc/cmd/svc/look"
	"svc/cmd/svc/move"
	"svc/cmd/svc/program"
	"svc/cmd/svc/prove"
	"svc/cmd/svc/service"
)

// run is the whole program: it returns the exit code.
func run(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program.Program{Tree: root, Version: version(), Commit: commit(), Env: env, Stdin: stdin, Stdout: stdout, Stderr: stderr, Paths: program.PathsOf(env)}
	return p.Run(ctx, args)
}

// root is the command tree.
func root(p *program.Program) *ffcli.Command {
	look, move, prove := look.Commands{Program: p}, move.Commands{Program: p}, prove.Commands{Program: p}
	account, service, own := account.Commands{Program: p}, service.Commands{Program: p}, commands{p}
	return p.Group("svc", "move Linux VMs between operating-system releases",
		look.Releases(),
		look.Assess(),
		look.Readiness(),
		move.Rehearse(),
		move.Migrate(),
		prove.Verify(),
		prove.Drift(),
		look.CVEScan(),
		look.Advisories(),
		move.Data(),
		account.Enroll(),
		move.DB(),
		own.mcpCommand(),
		account.Auth(),
		account.Account(),
		prove.Attest(),
		account.Status(),
		account.WhatsNew(),
		account.Updates(),
		account.Ask(),
		account.Report(),
		account.Findings(),
		account.Questions(),
		service.Serve(),
		service.Admin(),
		own.versionCommand(),
		own.completionCommand(),
		own.manualCommand(),
	)
}
