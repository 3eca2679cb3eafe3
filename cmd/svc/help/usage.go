package help

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/peterbourgon/ff/v3/ffcli"
	"golang.org/x/term"

	"svc/backend/sliced"
)

// Widths of help, in characters.
const (
	PlainWidth = 80 // where the terminal's is not known
	MinWidth   = 40
	maxWidth   = 100 // longer lines are hard to read
	MinText    = 24  // of the second of two columns: narrower, it goes below the first
)

// WidthOf is how wide a text for w may be.
func WidthOf(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return min(max(width, MinWidth), maxWidth)
		}
	}
	return PlainWidth
}

// Of is what `svc COMMAND -h` prints, in lines of at most width characters.
func Of(c *ffcli.Command, width int) string {
	t := &helpText{width: width}
	Write(t, c)
	return strings.TrimSpace(t.String())
}

// Document is what a command's page of help is written into.
type Document interface {
	Section(title string)
	Paragraph(indent, text string)
	Columns(column int, name, text string)
	Example(line string)
}

// Write writes the page of a command.
func Write(t Document, c *ffcli.Command) {
	full := Words(c)
	page := Pages()[full]
	t.Section("DESCRIPTION")
	t.Paragraph("  ", Capital(c.ShortHelp)+".")
	if page.about != "" {
		t.Paragraph("  ", page.about)
	}
	t.Section("USAGE")
	for use := range strings.SplitSeq(c.ShortUsage, ", or ") {
		t.Paragraph("  ", use)
	}
	describeSubcommands(t, c)
	if len(page.Examples) > 0 {
		t.Section("EXAMPLES")
		for _, example := range page.Examples {
			t.Example(example)
		}
	}
	describeFlags(t, c.FlagSet)
	if c.Exec != nil || full == "svc" {
		t.Section("EXIT CODES")
		for _, code := range codesOf(page) {
			t.Columns(8, fmt.Sprint(code), codeMeanings[code])
		}
	}
	if full == "svc" {
		t.Section("ENVIRONMENT")
		for _, variable := range environment {
			t.Columns(18, variable.name, variable.what)
		}
	}
}

// Capital begins a sentence.
func Capital(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + s[n:]
}

// helpText is a page of help that is being written.
type helpText struct {
	strings.Builder
	width int
}

func (t *helpText) Section(title string) { fmt.Fprintf(t, "\n%s\n", title) }

// Paragraph writes a text in lines that begin with an indent.
func (t *helpText) Paragraph(indent, text string) {
	for _, line := range Wrap(text, t.width-utf8.RuneCountInString(indent)) {
		fmt.Fprintln(t, indent+line)
	}
}

// Columns writes a name and, beside it from a column on, what it is.
func (t *helpText) Columns(column int, name, text string) {
	column = min(column, t.width-MinText)
	if utf8.RuneCountInString(name)+4 > column {
		fmt.Fprintln(t, "  "+name)
		t.Paragraph(strings.Repeat(" ", max(column, 6)), text)
		return
	}
	for i, line := range Wrap(text, t.width-column) {
		if i > 0 {
			name = ""
		}
		fmt.Fprintf(t, "  %-*s%s\n", column-2, name, line)
	}
}

// Example writes a call as it is typed, below what it does.
func (t *helpText) Example(line string) {
	call, what, _ := strings.Cut(line, " # ")
	if what != "" {
		t.Paragraph("  # ", what)
	}
	fmt.Fprintln(t, "  "+strings.TrimSpace(call))
}

// describeSubcommands lists those of a group; of svc itself, in the order of work.
func describeSubcommands(t Document, c *ffcli.Command) {
	if len(c.Subcommands) == 0 {
		return
	}
	line := func(sub *ffcli.Command) { t.Columns(16, sub.Name, sub.ShortHelp) }
	if Words(c) != "svc" {
		t.Section("COMMANDS")
		for _, sub := range c.Subcommands {
			line(sub)
		}
		return
	}
	for _, section := range Sections {
		t.Section(section.title)
		for _, name := range section.Commands {
			line(c.Subcommands[slices.IndexFunc(c.Subcommands, func(sub *ffcli.Command) bool { return sub.Name == name })])
		}
	}
}

// everyFlag are the settings that all commands have: they stand last.
var everyFlag = []string{"json", "server", "config", "verbose", "quiet"}

// describeFlags lists a command's own flags, and then those that all have.
func describeFlags(t Document, fs *flag.FlagSet) {
	var own []*flag.Flag
	fs.VisitAll(func(f *flag.Flag) {
		if !slices.Contains(everyFlag, f.Name) {
			own = append(own, f)
		}
	})
	list := func(title string, flags []*flag.Flag) {
		if len(flags) == 0 {
			return
		}
		t.Section(title)
		for _, f := range flags {
			name, usage := FlagLine(f)
			t.Columns(24, name, usage)
		}
	}
	list("FLAGS", own)
	every := sliced.Map(everyFlag, fs.Lookup)
	list("FLAGS OF EVERY COMMAND", every)
}

// Wrap parts a text into lines of at most width characters, but for longer words.
func Wrap(text string, width int) (lines []string) {
	line, used := "", 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		if used > 0 && used+1+n > width {
			lines, line, used = append(lines, line), "", 0
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	return append(lines, line)
}

// Values are what help shows for the values of flags, by the flag's name.
var Values = map[string]string{
	"root": "DIR", "images": "DIR", "roots": "DIR", "image": "FILE", "ssh": "HOST", "hosts": "FILE", "out": "PATH", "source": "PATH", "target": "RELEASE", "data": "DIR", "accept": "FILE", "fixes": "DIR", "fleet": "FILE", "hazards": "DIR", "checks": "DIR", "rehearsal": "DIR", "base": "PATH", "archive": "URL",
	"backup-dir": "DIR", "target-archive": "DIR|URL", "source-archive": "DIR|URL", "keyring": "FILE", "account": "ID", "cursor": "CURSOR", "since": "TAG|TIME", "config": "FILE", "server": "URL", "db": "STORE", "index": "FILE", "advisories": "FILE", "signing-key": "FILE",
	"tls-cert": "FILE", "tls-key": "FILE", "listen": "ADDRESS", "metrics-listen": "ADDRESS", "key": "FILE", "engine": "ENGINE", "from": "VERSION", "to": "VERSION",
	"until": "DAY", "format": "FORMAT", "tools": "NAME,…", "note": "TEXT", "notes": "TEXT", "client": "NAME", "before": "DAY", "fail-on": "SEVERITY", "detail": "LEVEL", "name": "NAME", "plan": "PLAN", "kind": "KIND", "title": "TEXT", "body": "TEXT",
	"mirror": "URL", "apt": "DIR|URL", "rpm-md": "DIR|URL", "apk": "DIR|URL", "osv": "FILE|DIR|URL", "pes": "FILE", "curated": "DIR", "release": "RELEASE", "tag": "TAG", "channel": "CHANNEL",
}

// kinds are what it shows for others, by Go's name of the value's type.
var kinds = map[string]string{"": "", "value": "VALUE", "string": "TEXT", "int": "N", "duration": "TIME", "float": "N"}

// FlagLine shows a flag: with its value, what it does, and what holds without it.
func FlagLine(f *flag.Flag) (name, usage string) {
	kind, usage := flag.UnquoteUsage(f)
	value, plain := kinds[kind]
	switch {
	case !plain:
		value = " " + kind // what the flag itself says in back quotes
	case value != "":
		value = " " + cmp.Or(Values[f.Name], value)
	}
	switch f.DefValue {
	case "", "0", "false":
		return "--" + f.Name + value, usage
	}
	return "--" + f.Name + value, fmt.Sprintf("%s (default %s)", usage, f.DefValue)
}
