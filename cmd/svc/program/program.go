// Package program is one run of svc, whatever command is called: its settings, its
// streams, what it has opened, its help, and how it ends.
package program

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/nearest"
	"svc/backend/plainly"
	"svc/backend/sliced"
	"svc/backend/visible"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/help"
)

// Program is one run of svc: its streams, its settings and what it has opened.
type Program struct {
	Tree            func(*Program) *ffcli.Command // makes the command tree
	Version, Commit string
	Env             func(string) string
	Stdin           io.Reader
	Stdout, Stderr  io.Writer
	Settings        settings
	Paths           Paths
	sets            []*flag.FlagSet // of every command, to see which settings were given
	running         *ffcli.Command  // the command that was called, once its call was understood
	parsed          *ffcli.Command  // the command whose flags did not parse, or whose help is asked for
	Closers         []io.Closer
	Progress        func(what string, done, total int) // nil where nobody looks
	Drawing         *drawing                           // what it draws on
}

// Run does what the arguments ask for, and returns the exit code.
func (p *Program) Run(ctx context.Context, args []string) int {
	err := p.Execute(ctx, args)
	for _, c := range slices.Backward(p.Closers) {
		err = errors.Join(err, c.Close())
	}
	code := exit.Code(err)
	if code == exit.Failed && ctx.Err() != nil {
		code = exit.Interrupted // a program that svc ran may die of the same signal first, and is told of instead
	}
	p.report(ctx, err, code == exit.Interrupted)
	return code
}

// Root is the command tree, for one run.
func (p *Program) Root() *ffcli.Command { return p.Tree(p) }

// Execute parses the arguments and runs the command they name.
func (p *Program) Execute(ctx context.Context, args []string) error {
	root := p.Root()
	err := root.Parse(asFlags(args))
	var group ffcli.NoExecError
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, err = fmt.Fprintln(p.Stdout, help.Of(p.parsed, help.WidthOf(p.Stdout)))
		return err
	case errors.As(err, &group):
		return p.incomplete(group.Command)
	case err != nil:
		return help.Misused(p.parsed, err)
	}
	return root.Run(ctx)
}

// incomplete answers a group of commands that was called without one of them.
func (p *Program) incomplete(group *ffcli.Command) error {
	full, _ := strings.CutSuffix(group.ShortUsage, help.GroupUsage)
	names := Names(group)
	if rest := group.FlagSet.Args(); len(rest) > 0 {
		if meant := p.meant(group, full, rest[0]); meant != "" {
			return exit.Usagef("there is no command %q; is it `%s`?", rest[0], meant)
		}
		return exit.Usagef("there is no command %q: see `%s -h`", rest[0], full)
	}
	fmt.Fprintf(p.Stderr, "%s\n\n", help.Of(group, help.WidthOf(p.Stderr)))
	return exit.Usagef("%s needs a command: %s", full, strings.Join(names, ", "))
}

// meant is the command that a word means which a group has none for: one of the group's,
// or the only one of that name in another; "" where there is none.
func (p *Program) meant(group *ffcli.Command, full, word string) string {
	if meant, ok := nearest.Meant(word, Names(group)); ok {
		return full + " " + meant
	}
	var found []string
	var look func(c *ffcli.Command)
	look = func(c *ffcli.Command) {
		for _, sub := range c.Subcommands {
			if sub.Name == word && (group.Name == "svc" || group.Name == c.Name) {
				found = append(found, help.Words(sub))
			}
			look(sub)
		}
	}
	look(p.Root())
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// Names are the words of a group's commands.
func Names(group *ffcli.Command) []string {
	return sliced.Map(group.Subcommands, func(c *ffcli.Command) string { return c.Name })
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
func (p *Program) report(ctx context.Context, err error, interrupted bool) {
	if p.Drawing != nil {
		p.Drawing.Close()
	}
	var own *exit.Error
	if err == nil || errors.As(err, &own) && own.Err == nil {
		return
	}
	name := "svc:"
	if p.colours(p.Stderr) {
		name = paint(name, bold+";"+red)
	}
	if interrupted {
		said := ": " + plainly.Error(err) // what was being done, if that is known
		for _, stop := range []error{cmp.Or(context.Cause(ctx), context.Canceled), context.Canceled} {
			said = strings.ReplaceAll(said, ": "+stop.Error(), "")
		}
		fmt.Fprintf(p.Stderr, "%s interrupted%s. %s\n", name, visible.Lines(said), p.left())
		return
	}
	fmt.Fprintf(p.Stderr, "%s %s\n", name, visible.Lines(plainly.Error(err)))
}

// left says what an interruption leaves behind of the command that ran.
func (p *Program) left() string {
	if p.running == nil {
		return help.LeftNothing
	}
	return cmp.Or(help.Pages()[help.Words(p.running)].Left, help.LeftNothing)
}

// Group is a command that only holds others; full is all its words.
func (p *Program) Group(full, short string, commands ...*ffcli.Command) *ffcli.Command {
	name := full[strings.LastIndex(full, " ")+1:]
	return &ffcli.Command{
		Name: name, ShortHelp: short, ShortUsage: full + help.GroupUsage,
		FlagSet: p.FlagSet(name), UsageFunc: p.keepUsage, Subcommands: commands,
	}
}

// keepUsage keeps the command whose help is asked for, or whose flags did not parse.
// It prints nothing: run does, once.
func (p *Program) keepUsage(c *ffcli.Command) string {
	p.parsed = c
	return ""
}

// Command is a command that does something. Its flags may stand before and
// after its arguments; run gets the arguments.
func (p *Program) Command(fs *flag.FlagSet, usage, short string, run func(ctx context.Context, args []string) error, sub ...*ffcli.Command) *ffcli.Command {
	c := &ffcli.Command{Name: fs.Name(), ShortUsage: usage, ShortHelp: short, FlagSet: fs, UsageFunc: p.keepUsage, Subcommands: sub}
	c.Exec = func(ctx context.Context, args []string) error {
		args, err := interspersed(fs, args)
		if errors.Is(err, flag.ErrHelp) {
			_, err = fmt.Fprintln(p.Stdout, help.Of(p.parsed, help.WidthOf(p.Stdout)))
			return err
		}
		if err != nil {
			return help.Misused(p.parsed, err)
		}
		if len(args) > 0 {
			if meant, ok := nearest.Meant(args[0], Names(c)); ok {
				return exit.Usagef("there is no command %q; is it `%s %s`? Nothing was done", args[0], help.Words(c), meant)
			}
		}
		if err := p.resolveSettings(); err != nil {
			return err
		}
		p.running = c
		return help.AsTyped(c, run(ctx, args))
	}
	return c
}

// NoArgs refuses arguments that a command does not take.
func NoArgs(run func(ctx context.Context) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		if len(args) > 0 {
			return help.Surplus(args[0])
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

// FlagSet is a flag set with the settings of every command.
func (p *Program) FlagSet(name string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // run prints help and errors, once
	p.Settings.common(fs, p.Paths)
	p.sets = append(p.sets, fs)
	return fs
}

// AppendTo is a flag that may be given again.
func AppendTo(list *[]string) func(string) error {
	return func(value string) error {
		*list = append(*list, value)
		return nil
	}
}

// Logger writes to stderr: text for people, JSON where a program reads it.
func (p *Program) Logger() *slog.Logger {
	level := slog.LevelWarn
	if p.Settings.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: level}))
}

// Note says on stderr what is no result and no error.
func (p *Program) Note(format string, args ...any) {
	if p.Settings.Quiet {
		return
	}
	p.ClearLine()
	fmt.Fprintf(p.Stderr, "svc: "+format+"\n", args...)
}
