// Command svc moves Linux VMs between operating-system releases: it assesses a
// machine from the outside, plans the move, writes the role that makes it, and
// signs what it did.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"svc/tools/sandbox"
)

func main() {
	sandbox.Stage()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once. One that comes with the first is none: a
	// terminal, sudo and timeout each send it to all that they have begun.
	context.AfterFunc(ctx, func() { time.Sleep(time.Second); stop() })
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
