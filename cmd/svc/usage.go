package main

import (
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"
)

// keepUsage keeps the help of a command for when it is asked for, or where its
// flags did not parse.
func (p *program) keepUsage(c *ffcli.Command) string {
	p.usage = helpOf(c)
	return p.usage
}

// helpOf is what `svc COMMAND -h` prints.
func helpOf(c *ffcli.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "DESCRIPTION\n  %s\n\nUSAGE\n  %s\n", c.ShortHelp, c.ShortUsage)
	w := tabwriter.NewWriter(&b, 0, 2, 2, ' ', 0)
	if len(c.Subcommands) > 0 {
		fmt.Fprintf(w, "\nSUBCOMMANDS\n")
		for _, sub := range c.Subcommands {
			fmt.Fprintf(w, "  %s\t%s\n", sub.Name, sub.ShortHelp)
		}
		w.Flush()
	}
	fmt.Fprintf(w, "\nFLAGS\n")
	c.FlagSet.VisitAll(func(f *flag.Flag) { fmt.Fprintf(w, "  %s\n", flagLine(f)) })
	w.Flush()
	return strings.TrimSpace(b.String())
}

// placeholders are what help shows for a flag's value, by Go's name of its type.
var placeholders = map[string]string{"": "", "value": " VALUE", "string": " VALUE", "int": " N", "duration": " TIME", "float": " N"}

// flagLine shows a flag: its value, what it does, and what holds without it.
func flagLine(f *flag.Flag) string {
	kind, usage := flag.UnquoteUsage(f)
	value, found := placeholders[kind]
	if !found {
		value = " " + kind
	}
	switch f.DefValue {
	case "", "0", "false":
		return "--" + f.Name + value + "\t" + usage
	}
	return fmt.Sprintf("--%s%s\t%s (default %s)", f.Name, value, usage, f.DefValue)
}
