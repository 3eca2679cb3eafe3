// Command svc moves Linux VMs between operating-system releases: it assesses a
// machine from the outside, plans the move, writes the role that makes it, and
// signs what it did.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"svc/tools/sandbox"
)

func main() {
	sandbox.Stage()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
