package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/agent"
	"svc/backend/api"
	"svc/backend/index"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/help"
	"svc/tools"
	"svc/tools/tool"
)

// The scripts of the shells ask `svc completion words -- WORD…` what may stand for
// the last word: they know nothing of svc themselves.
//
//go:embed completion
var completionScripts embed.FS

// shells are those that have a script, in the folder of scripts.
var shells = []string{"bash", "zsh", "fish"}

func (p commands) completionCommand() *ffcli.Command {
	fs := p.FlagSet("completion")
	c := p.Command(fs, "svc completion SHELL", "print the script by which bash, zsh or fish completes commands, flags and their values", func(_ context.Context, args []string) error {
		if len(args) != 1 || !slices.Contains(shells, args[0]) {
			return exit.Usagef("completion takes one of %s", strings.Join(shells, ", "))
		}
		script, err := completionScripts.ReadFile("completion/svc." + args[0])
		if err != nil {
			return err
		}
		_, err = p.Stdout.Write(script)
		return err
	})
	print := c.Exec
	c.Exec = func(ctx context.Context, args []string) error {
		if len(args) >= 2 && args[0] == "words" && args[1] == "--" { // what is typed may not parse
			return p.printWords(args[2:])
		}
		return print(ctx, args)
	}
	return c
}

// What a script is told in place of words.
const (
	completeFiles   = ":files"
	completeFolders = ":folders"
)

// printWords prints what may stand for the last of the words that were typed after
// svc: a word a line, with what it means after a tab.
func (p commands) printWords(typed []string) error {
	if len(typed) == 0 {
		typed = []string{""}
	}
	for _, w := range p.complete(typed[:len(typed)-1], typed[len(typed)-1]) {
		if _, err := io.WriteString(p.Stdout, w+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// complete gives the words that go on from what was typed of the last one.
func (p commands) complete(before []string, last string) []string {
	c, pending := walkTyped(p.Root(), before)
	name, prefix, valued := strings.Cut(last, "=")
	switch {
	case pending != nil:
		return startingWith(flagWords(c, pending, before), last)
	case strings.HasPrefix(last, "-") && valued:
		f := c.FlagSet.Lookup(strings.TrimLeft(name, "-"))
		if f == nil {
			return nil
		}
		words := startingWith(flagWords(c, f, before), prefix)
		for i := range words {
			if !strings.HasPrefix(words[i], ":") {
				words[i] = name + "=" + words[i]
			}
		}
		return words
	case strings.HasPrefix(last, "-"):
		var all []string
		c.FlagSet.VisitAll(func(f *flag.Flag) {
			_, usage := help.FlagLine(f)
			all = append(all, "--"+f.Name+"\t"+usage)
		})
		return startingWith(all, last)
	}
	all := sliced.Map(c.Subcommands, func(sub *ffcli.Command) string { return sub.Name + "\t" + sub.ShortHelp })
	if c.Name == "completion" {
		all = shells
	}
	return startingWith(all, last)
}

// walkTyped finds the command that the words lead to, and the flag whose value is
// still to come.
func walkTyped(c *ffcli.Command, typed []string) (_ *ffcli.Command, pending *flag.Flag) {
	for _, w := range typed {
		if pending != nil {
			pending = nil
			continue
		}
		if strings.HasPrefix(w, "-") {
			f := c.FlagSet.Lookup(strings.TrimLeft(w, "-"))
			if f != nil && !isSwitch(f) {
				pending = f
			}
			continue
		}
		if i := slices.IndexFunc(c.Subcommands, func(sub *ffcli.Command) bool { return sub.Name == w }); i >= 0 {
			c = c.Subcommands[i]
		}
	}
	return c, pending
}

// isSwitch reports whether a flag takes no value.
func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// startingWith are the words that begin with a prefix; what a script is told stays.
func startingWith(words []string, prefix string) []string {
	return sliced.Filter(words, func(w string) bool { return strings.HasPrefix(w, prefix) || strings.HasPrefix(w, ":") })
}

// flagWords are the values that a flag of a command may take: by what help calls the
// value, or by the flag's own name.
func flagWords(c *ffcli.Command, f *flag.Flag, typed []string) []string {
	switch help.Values[f.Name] {
	case "DIR":
		return []string{completeFolders}
	case "FILE", "PATH", "DIR|URL", "FILE|DIR|URL":
		return []string{completeFiles}
	case "RELEASE", "RELEASE,…":
		return releaseWords()
	case "ENGINE":
		return engineWords()
	case "VERSION":
		return versionWords(valueOf(typed, "engine"))
	case "PLAN":
		return named(api.Plans)
	}
	switch {
	case f.Name == "client":
		return agent.Clients()
	case f.Name == "tools":
		return toolWords()
	}
	// Where the help lists the values of a flag, they are what may stand there.
	_, usage := help.FlagLine(f)
	if list, ok := enumerated(usage); ok {
		return list
	}
	return nil
}

// enumerated takes "a, b or c" out of what help says of a flag.
func enumerated(usage string) (list []string, ok bool) {
	if _, after, found := strings.Cut(usage, ": "); found {
		usage = after
	}
	usage, _, _ = strings.Cut(usage, " (default ")
	for part := range strings.SplitSeq(strings.ReplaceAll(usage, " or ", ", "), ", ") {
		if part == "" || strings.ContainsAny(part, " ;()") {
			return nil, false
		}
		list = append(list, part)
	}
	return list, len(list) > 1
}

// valueOf is the value that was typed for a flag.
func valueOf(typed []string, name string) string {
	for i, w := range typed {
		if value, ok := strings.CutPrefix(w, "--"+name+"="); ok {
			return value
		}
		if w == "--"+name && i+1 < len(typed) {
			return typed[i+1]
		}
	}
	return ""
}

func named[T ~string](all []T) []string {
	return sliced.Map(all, func(one T) string { return string(one) })
}

// releaseWords are the releases that a machine may move to, or from.
func releaseWords() []string {
	return sliced.Map(release.All(), func(r release.Release) string { return fmt.Sprintf("%s\t%s", r.Slug, r.Name) })
}

// engineWords are the engines of databases of which the index knows a way.
func engineWords() []string {
	ix, err := index.Embedded()
	if err != nil {
		return nil
	}
	return ix.Engines()
}

// versionWords are the series of an engine that the index knows.
func versionWords(engine string) []string {
	ix, err := index.Embedded()
	if err != nil {
		return nil
	}
	answer, err := ix.UpgradeEdges(engine)
	if err != nil {
		return nil
	}
	return sliced.Map(answer.Series, func(s api.EngineSeries) string { return s.Series })
}

// toolWords are the tools of agents.
func toolWords() []string {
	return sliced.Map(tools.All(), func(t tool.Tool) string { return t.Name })
}
