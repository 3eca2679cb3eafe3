package main

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/nearest"
	"svc/backend/plainly"
	"svc/backend/visible"
	"svc/tools/register"
	"svc/tools/tool"
)

// program is one run of svc: its streams, its settings and what it has opened.
type program struct {
	env            func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
	settings       settings
	paths          paths
	sets           []*flag.FlagSet // of every command, to see which settings were given
	running        *ffcli.Command  // the command that was called, once its call was understood
	parsed         *ffcli.Command  // the command whose flags did not parse, or whose help is asked for
	closers        []io.Closer
	progress       func(what string, done, total int) // nil where nobody looks
	drawing        *drawing                           // what it draws on
}

// run is the whole program: it returns the exit code.
func run(ctx context.Context, args []string, env func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{env: env, stdin: stdin, stdout: stdout, stderr: stderr, paths: pathsOf(env)}
	err := p.execute(ctx, args)
	for _, c := range slices.Backward(p.closers) {
		err = errors.Join(err, c.Close())
	}
	code := exitCode(err)
	if code == exitFailed && ctx.Err() != nil {
		code = exitInterrupted // a program that svc ran may die of the same signal first, and is told of instead
	}
	p.report(ctx, err, code == exitInterrupted)
	return code
}

// execute parses the arguments and runs the command they name.
func (p *program) execute(ctx context.Context, args []string) error {
	root := p.root()
	err := root.Parse(asFlags(args))
	var group ffcli.NoExecError
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err = fmt.Fprintln(p.stdout, help(p.parsed, widthOf(p.stdout)))
		return err
	case errors.As(err, &group):
		return p.incomplete(group.Command)
	case err != nil:
		return misused(p.parsed, err)
	}
	return root.Run(ctx)
}

// incomplete answers a group of commands that was called without one of them.
func (p *program) incomplete(group *ffcli.Command) error {
	full, _ := strings.CutSuffix(group.ShortUsage, groupUsage)
	names := names(group)
	if rest := group.FlagSet.Args(); len(rest) > 0 {
		if meant := p.meant(group, full, rest[0]); meant != "" {
			return usagef("there is no command %q; is it `%s`?", rest[0], meant)
		}
		return usagef("there is no command %q: see `%s -h`", rest[0], full)
	}
	fmt.Fprintf(p.stderr, "%s\n\n", help(group, widthOf(p.stderr)))
	return usagef("%s needs a command: %s", full, strings.Join(names, ", "))
}

// meant is the command that a word means which a group has none for: one of the group's,
// or the only one of that name in another; "" where there is none.
func (p *program) meant(group *ffcli.Command, full, word string) string {
	if meant, ok := nearest.Meant(word, names(group)); ok {
		return full + " " + meant
	}
	var found []string
	var look func(c *ffcli.Command)
	look = func(c *ffcli.Command) {
		for _, sub := range c.Subcommands {
			if sub.Name == word && (group.Name == "svc" || group.Name == c.Name) {
				found = append(found, words(sub))
			}
			look(sub)
		}
	}
	look(p.root())
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// names are the words of a group's commands.
func names(group *ffcli.Command) (all []string) {
	for _, c := range group.Subcommands {
		all = append(all, c.Name)
	}
	return all
}

// asFlags takes `svc help COMMAND` for `svc COMMAND -h`, and `svc --version` for
// `svc version`: people try both.
func asFlags(args []string) []string {
	switch {
	case len(args) > 0 && args[0] == "help":
		return append(args[1:], "-h")
	case len(args) == 1 && slices.Contains([]string{"--version", "-version", "-V"}, args[0]):
		return []string{"version"}
	}
	return args
}

// report says on stderr why the program did not do what it was asked.
func (p *program) report(ctx context.Context, err error, interrupted bool) {
	if p.drawing != nil {
		p.drawing.close()
	}
	var own *exitError
	if err == nil || errors.As(err, &own) && own.err == nil {
		return
	}
	name := "svc:"
	if p.colours(p.stderr) {
		name = paint(name, bold+";"+red)
	}
	if interrupted {
		said := ": " + plainly.Error(err) // what was being done, if that is known
		for _, stop := range []error{cmp.Or(context.Cause(ctx), context.Canceled), context.Canceled} {
			said = strings.ReplaceAll(said, ": "+stop.Error(), "")
		}
		fmt.Fprintf(p.stderr, "%s interrupted%s. %s\n", name, visible.Lines(said), p.left())
		return
	}
	fmt.Fprintf(p.stderr, "%s %s\n", name, visible.Lines(plainly.Error(err)))
}

// left says what an interruption leaves behind of the command that ran.
func (p *program) left() string {
	if p.running == nil {
		return leftNothing
	}
	return cmp.Or(pages[words(p.running)].left, leftNothing)
}

// root is the command tree.
func (p *program) root() *ffcli.Command {
	return p.group("svc", "move Linux VMs between operating-system releases",
		p.releasesCommand(),
		p.assessCommand(),
		p.readinessCommand(),
		p.rehearseCommand(),
		p.migrateCommand(),
		p.verifyCommand(),
		p.driftCommand(),
		p.cveScanCommand(),
		p.feedCommand(),
		p.dataCommand(),
		p.enrollCommand(),
		p.dbCommand(),
		p.mcpCommand(),
		p.authCommand(),
		p.accountCommand(),
		p.attestCommand(),
		p.statusCommand(),
		p.whatsNewCommand(),
		p.updatesCommand(),
		p.askCommand(),
		p.reportCommand(),
		p.findingsCommand(),
		p.questionsCommand(),
		p.serveCommand(),
		admin{p}.tree(),
		p.versionCommand(),
		p.completionCommand(),
		p.manualCommand(),
	)
}

// group is a command that only holds others; full is all its words.
func (p *program) group(full, short string, commands ...*ffcli.Command) *ffcli.Command {
	name := full[strings.LastIndex(full, " ")+1:]
	return &ffcli.Command{
		Name: name, ShortHelp: short, ShortUsage: full + groupUsage,
		FlagSet: p.flagSet(name), UsageFunc: p.keepUsage, Subcommands: commands,
	}
}

// groupUsage stands after the words of a group of commands in its usage.
const groupUsage = " COMMAND"

// command is a command that does something. Its flags may stand before and
// after its arguments; run gets the arguments.
func (p *program) command(fs *flag.FlagSet, usage, short string, run func(ctx context.Context, args []string) error, sub ...*ffcli.Command) *ffcli.Command {
	c := &ffcli.Command{Name: fs.Name(), ShortUsage: usage, ShortHelp: short, FlagSet: fs, UsageFunc: p.keepUsage, Subcommands: sub}
	c.Exec = func(ctx context.Context, args []string) error {
		args, err := interspersed(fs, args)
		if errors.Is(err, flag.ErrHelp) {
			_, err = fmt.Fprintln(p.stdout, help(p.parsed, widthOf(p.stdout)))
			return err
		}
		if err != nil {
			return misused(p.parsed, err)
		}
		if len(args) > 0 {
			if meant, ok := nearest.Meant(args[0], names(c)); ok {
				return usagef("there is no command %q; is it `%s %s`? Nothing was done", args[0], words(c), meant)
			}
		}
		if err := p.resolveSettings(); err != nil {
			return err
		}
		p.running = c
		return asTyped(c, run(ctx, args))
	}
	return c
}

// noArgs refuses arguments that a command does not take.
func noArgs(run func(ctx context.Context) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		if len(args) > 0 {
			return surplus(args[0])
		}
		return run(ctx)
	}
}

// interspersed parses flags that stand after arguments.
func interspersed(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for len(args) > 0 {
		rest = append(rest, args[0])
		if err := fs.Parse(args[1:]); err != nil {
			return nil, err
		}
		args = fs.Args()
	}
	return rest, nil
}

// flagSet is a flag set with the settings of every command.
func (p *program) flagSet(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // run prints help and errors, once
	p.settings.common(fs, p.paths)
	p.sets = append(p.sets, fs)
	return fs
}

// logger writes to stderr: text for people, JSON where a program reads it.
func (p *program) logger() *slog.Logger {
	level := slog.LevelWarn
	if p.settings.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: level}))
}

// toolEnv is what the tools run in. The service is opened once, at the first call
// that needs it.
func (p *program) toolEnv() *tool.Env {
	return &tool.Env{
		Client:     shared(p.client),
		Log:        p.logger(),
		Progress:   p.newProgress(),
		Now:        time.Now,
		Cache:      filepath.Join(p.paths.cacheDir, "archives"),
		Rehearsals: filepath.Join(p.paths.cacheDir, "rehearsals"),
		Version:    version(),
		LocalKey:   func() (ed25519.PrivateKey, error) { return attest.LoadOrCreateKey(p.localKey()) },
		Hosts:      hostNames(),
		Register:   register.Register{File: filepath.Join(p.paths.stateDir, "machines.jsonl")},
		Trust: func(published []api.Key) ([]ed25519.PublicKey, error) {
			return p.pins().Trust(p.settings.server, published)
		},
	}
}

// newProgress shows on stderr what takes long; it is nil where nobody wants to see it.
func (p *program) newProgress() func(what string, done, total int) {
	if p.settings.quiet {
		return nil
	}
	if p.drawing == nil {
		p.drawing = newDrawing(p.stderr)
	}
	return p.drawing.report
}

// note says on stderr what is no result and no error.
func (p *program) note(format string, args ...any) {
	if p.settings.quiet {
		return
	}
	p.clearLine()
	fmt.Fprintf(p.stderr, "svc: "+format+"\n", args...)
}

// hostNames are the names of the machine that svc runs on; where it has none
// there is nothing to strip.
func hostNames() []string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return nil
	}
	short, _, _ := strings.Cut(name, ".")
	return []string{name, short}
}

// sharedEnv is a tools' environment for several machines at once, without progress of
// its own.
func (p *program) sharedEnv() *tool.Env {
	env := p.toolEnv()
	p.progress, env.Progress = env.Progress, nil
	return env
}
