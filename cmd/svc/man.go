package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/sliced"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/help"
	"svc/cmd/svc/program"
)

func (p commands) manualCommand() *ffcli.Command {
	fs := p.FlagSet("manual")
	out := fs.String("out", "", "folder to write the pages into")
	return p.Command(fs, "svc manual --out DIR", "write the manual as man pages, one a command", program.NoArgs(func(context.Context) error {
		if *out == "" {
			return exit.Usagef("manual needs --out: a folder for the man pages, such as /usr/local/share/man/man1; nothing was written")
		}
		if err := os.MkdirAll(*out, 0o755); err != nil {
			return fmt.Errorf("writing the manual: %w", err)
		}
		for _, c := range withSubcommands(p.Root()) {
			if err := os.WriteFile(filepath.Join(*out, manName(c)+".1"), []byte(manPage(c)), 0o644); err != nil {
				return fmt.Errorf("writing the manual: %w", err)
			}
		}
		return nil
	}))
}

// withSubcommands are a command and all below it.
func withSubcommands(c *ffcli.Command) []*ffcli.Command {
	return append([]*ffcli.Command{c}, sliced.FlatMap(c.Subcommands, withSubcommands)...)
}

// manName is what man calls the page of a command: svc-db-plan.
func manName(c *ffcli.Command) string { return strings.ReplaceAll(help.Words(c), " ", "-") }

// manPage is the page of a command in the language of man(7).
func manPage(c *ffcli.Command) string {
	t := &manText{}
	fmt.Fprintf(t, ".TH %s 1 \"\" \"svc %s\" \"User Commands\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(roff(manName(c))), roff(version()), roff(manName(c)), roff(c.ShortHelp))
	help.Write(t, c)
	t.Section("SEE ALSO")
	t.see(c)
	return t.String()
}

// see names the pages above and below a command.
func (t *manText) see(c *ffcli.Command) {
	var names []string
	if i := strings.LastIndexByte(manName(c), '-'); i > 0 && help.Words(c) != "svc" {
		names = append(names, strings.ReplaceAll(help.Words(c)[:strings.LastIndexByte(help.Words(c), ' ')], " ", "-"))
	}
	names = append(names, sliced.Map(c.Subcommands, manName)...)
	for i, name := range names {
		if names[i] = ".BR " + roff(name) + " (1)"; i < len(names)-1 {
			names[i] += " ,"
		}
	}
	fmt.Fprintln(t, strings.Join(names, "\n"))
}

// manText is a page for man that is being written.
type manText struct{ strings.Builder }

func (t *manText) Section(title string) { fmt.Fprintf(t, ".SH %s\n", roff(title)) }

func (t *manText) Paragraph(_, text string) { fmt.Fprintf(t, ".PP\n%s\n", roff(text)) }

func (t *manText) Columns(_ int, name, text string) {
	fmt.Fprintf(t, ".TP\n\\fB%s\\fR\n%s\n", roff(name), roff(text))
}

func (t *manText) Example(line string) {
	call, what, _ := strings.Cut(line, " # ")
	if what != "" {
		t.Paragraph("", help.Capital(strings.TrimSpace(what))+":")
	}
	fmt.Fprintf(t, ".PP\n.RS 4\n.nf\n%s\n.fi\n.RE\n", roff(strings.TrimSpace(call)))
}

// roff has a text say itself: no escape, no dash that may be set as a hyphen, and
// nothing that is a request since it begins a line.
var roffEscapes = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `…`, `\&...`, `→`, `\(->`, `≤`, `\(<=`, `"`, `\(dq`, "'", `\(aq`, "\n", " ")

func roff(text string) string {
	text = roffEscapes.Replace(text)
	if strings.HasPrefix(text, ".") {
		return `\&` + text
	}
	return text
}
