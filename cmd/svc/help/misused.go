package help

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/assess/host/locate"
	"svc/backend/nearest"
	"svc/cmd/svc/exit"
	"svc/tools/tool"
)

// flagFaults are the sentences in which the flag package says what is wrong with a
// flag, and what svc says of it. %[1]s is the flag, %[2]q what was given as its value.
var flagFaults = []struct {
	said *regexp.Regexp // its groups: the flag's name, and perhaps its value
	says func(c *ffcli.Command, name, value string) string
}{
	{regexp.MustCompile(`^flag provided but not defined: -(?P<name>.+)$`), unknownFlag},
	{regexp.MustCompile(`^flag needs an argument: -(?P<name>.+)$`), func(c *ffcli.Command, name, _ string) string {
		return "--" + name + " needs a value: " + flagOf(c.FlagSet, name)
	}},
	{regexp.MustCompile(`^invalid boolean value (?P<value>".*") for -(?P<name>\S+): `), func(_ *ffcli.Command, name, value string) string {
		return fmt.Sprintf("--%s takes no value, not %s", name, value)
	}},
	{regexp.MustCompile(`(?s)^invalid value (?P<value>".*") for flag -(?P<name>\S+): (?P<why>.*)$`), func(c *ffcli.Command, name, value string) string {
		return fmt.Sprintf("--%s can't be %s: %s", name, value, takes(c.FlagSet, name))
	}},
}

// Misused says in svc's words why the flags of a command did not parse.
func Misused(c *ffcli.Command, err error) error {
	text := strings.TrimPrefix(err.Error(), "error parsing commandline arguments: ")
	for _, fault := range flagFaults {
		m := fault.said.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		group := func(name string) string {
			if i := fault.said.SubexpIndex(name); i >= 0 {
				return m[i]
			}
			return ""
		}
		said := fault.says(c, group("name"), group("value"))
		if why := group("why"); why != "" && why != "parse error" {
			said, _, _ = strings.Cut(said, ": ")
			said += ": " + why
		}
		return exit.Usagef("%s; nothing was done: see `%s -h`", said, Words(c))
	}
	return exit.Usagef("%s; nothing was done: see `%s -h`", text, Words(c))
}

// unknownFlag names the flag that was meant, if one looks like it.
func unknownFlag(c *ffcli.Command, name, _ string) string {
	name, _, _ = strings.Cut(name, "=")
	var known []string
	c.FlagSet.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
	dashes := "--"
	if len(name) == 1 {
		dashes = "-"
	}
	said := fmt.Sprintf("there is no flag %s%s", dashes, strings.TrimLeft(name, "-"))
	if meant, ok := nearest.Meant(name, known); ok {
		said += ", is it --" + meant + "?"
	}
	return said
}

// forms are what values of Go's types look like, by the kind that help shows for them.
var forms = map[string]string{"int": "a whole number", "uint": "a whole number", "float": "a number", "duration": "a time such as 30s or 5m"}

// takes is the form of a flag's value, and what its help says of it.
func takes(fs *flag.FlagSet, name string) string {
	if f := fs.Lookup(name); f != nil {
		kind, usage := flag.UnquoteUsage(f)
		if form, ok := forms[kind]; ok {
			return fmt.Sprintf("it takes %s (%s)", form, usage)
		}
	}
	return flagOf(fs, name)
}

// flagOf is what a flag's help says that it takes.
func flagOf(fs *flag.FlagSet, name string) string {
	f := fs.Lookup(name)
	if f == nil {
		return ""
	}
	line, usage := FlagLine(f)
	return line + ", " + usage
}

// GroupUsage stands after the words of a group of commands in its usage.
const GroupUsage = " COMMAND"

// Words are those of a command, as one types them.
func Words(c *ffcli.Command) string {
	before, _, _ := strings.Cut(c.ShortUsage, " -")
	before, _, _ = strings.Cut(before, " (")
	before, _, _ = strings.Cut(before, " [")
	before, _ = strings.CutSuffix(before, GroupUsage)
	for last := before; ; before = last { // what stands in capitals is an argument
		i := strings.LastIndexByte(before, ' ')
		if i < 0 || strings.ToUpper(before[i:]) != before[i:] {
			return before
		}
		last = before[:i]
	}
}

// Surplus is an argument that a command does not take.
type Surplus string

func (s Surplus) Error() string { return fmt.Sprintf("unexpected argument %q", string(s)) }

// AsTyped says what is wrong with a call in the words of its command line.
func AsTyped(c *ffcli.Command, err error) error {
	var input *tool.InputError
	var more Surplus
	see := fmt.Sprintf("nothing was done: see `%s -h`", Words(c))
	machine := "--root DIR, --image FILE or --ssh HOST"
	switch {
	case errors.As(err, &more):
		if c.FlagSet.Lookup("root") != nil {
			return exit.Usagef("%q stands alone: name the machine by %s; %s", string(more), machine, see)
		}
		return exit.Usagef("%w; %s", err, see)
	case errors.As(err, &input):
		return exit.Usagef("%s; %s", withDashes(c.FlagSet, input.Err.Error()), see)
	case errors.Is(err, locate.ErrLocation) && err.Error() == locate.ErrLocation.Error():
		return exit.Usagef("name the machine by exactly one of %s; %s", machine, see)
	}
	return err
}

// withDashes writes the input's name at the beginning of a sentence as its flag.
func withDashes(fs *flag.FlagSet, text string) string {
	name, rest, _ := strings.Cut(text, " ")
	if kebab := strings.ReplaceAll(name, "_", "-"); fs.Lookup(kebab) != nil {
		return "--" + kebab + " " + rest
	}
	return text
}
