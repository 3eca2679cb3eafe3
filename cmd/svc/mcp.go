package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/agent"
	"svc/agent/writecap"
	"svc/backend/visible"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
)

// commands are what is about the program itself.
type commands struct{ *program.Program }

func (p commands) mcpCommand() *ffcli.Command {
	fs := p.FlagSet("mcp")
	printConfig := fs.Bool("print-config", false, "print the entry for an agent's configuration and exit")
	client := fs.String("client", "", "print the entry in the form of: "+strings.Join(agent.Clients(), ", "))
	var o agent.Options
	fs.BoolVar(&o.ReadOnly, "read-only", false, "leave out the tools that may change something; wins over --tools")
	fs.Func("tools", "serve these tools alone: names, with commas between", func(s string) error {
		o.Tools = strings.Split(s, ",")
		return o.Check()
	})
	return p.Command(fs, "svc mcp [--read-only] [--tools NAMES] [--print-config [--client NAME]]", "serve the tools to a coding agent, over stdin and stdout",
		program.NoArgs(func(ctx context.Context) error {
			if *printConfig || *client != "" {
				return p.printConfig(*client, o)
			}
			return p.mcp(ctx, o)
		}))
}

// mcp serves until stdin ends. All calls share one client.
func (p commands) mcp(ctx context.Context, o agent.Options) error {
	env := p.ToolEnv()
	env.Log = slog.New(slog.NewJSONHandler(visible.JSONWriter(p.Stderr), &slog.HandlerOptions{Level: slog.LevelInfo}))
	env.Progress = nil
	env.Admit = writecap.Cap{File: filepath.Join(p.Paths.StateDir, "agent-writes.json")}.Take
	o.Version, o.Log, o.Results = p.Version, env.Log, filepath.Join(p.Paths.CacheDir, "results")
	return agent.Serve(ctx, env, io.NopCloser(p.Stdin), writeNopCloser{p.Stdout}, o)
}

type writeNopCloser struct{ io.Writer }

func (writeNopCloser) Close() error { return nil }

// calledAs is the absolute path by which this program was called: a link stays
// what it is, since what it leads to may have a version in its name. Where that
// does not lead here it is the program's own.
func calledAs(name string) (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	called, err := exec.LookPath(name) // along PATH, where the name is no path
	if err == nil {
		called, err = filepath.Abs(called)
	}
	if err != nil {
		return own, nil
	}
	here, err1 := os.Stat(own)
	there, err2 := os.Stat(called)
	if err1 != nil || err2 != nil || !os.SameFile(here, there) {
		return own, nil
	}
	return called, nil
}

// printConfig prints the entry on stdout, and on stderr where it belongs.
func (p commands) printConfig(client string, o agent.Options) error {
	executable, err := calledAs(os.Args[0])
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	c, err := agent.Configure(client, agent.NewServerEntry(executable, o, p.Env))
	if err != nil {
		return exit.Usagef("%w", err)
	}
	if client != "" && p.Settings.JSON {
		return p.Print(c, nil)
	}
	if c.File != "" {
		fmt.Fprintf(p.Stderr, "%s: put this into %s\n", client, c.File)
	}
	if c.Command != "" {
		fmt.Fprintf(p.Stderr, "or run: %s\n", c.Command)
	}
	_, err = io.WriteString(p.Stdout, c.Entry)
	return err
}
