package database

import (
	"os"
	"path"
	"slices"
	"strings"

	"svc/assess"
	"svc/assess/datadir"
	"svc/assess/services"
)

// invocation is what a unit starts that people wrote, changed, or made an instance
// of; where only its settings are known, there are no words.
type invocation struct {
	unit        string
	evidence    assess.Evidence // where the command stands, else its environment
	words       []string
	environment map[string]string
}

// Bounds of the units that are read for their commands: how many, how long a line
// may be, and what variables may add to a command.
const (
	maxCommands  = 500
	maxUnitLine  = 16 << 10
	maxVariables = 64 << 10
)

// invocations are those of the machine's own units, in the order of their names.
func invocations(m *assess.Machine) (all []invocation) {
	for _, unit := range ownUnits(m) {
		c := invocation{unit: unit, environment: map[string]string{}}
		for _, file := range unitParts(m, unit) {
			c.read(m, file)
		}
		all = append(all, c)
	}
	return all
}

// ownUnits are the names of services with a file or a drop-in in the machine's own
// folders, and of enabled instances.
func ownUnits(m *assess.Machine) (names []string) {
	names = m.Glob("/etc/systemd/system/*.service", "/usr/local/lib/systemd/system/*.service", "/etc/systemd/system/*.wants/*@?*.service")
	for _, dropins := range m.Glob("/etc/systemd/system/*.service.d") {
		names = append(names, strings.TrimSuffix(dropins, ".d"))
	}
	for i := range names {
		names[i] = path.Base(names[i])
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "@.") })
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), maxCommands)]
}

// unitParts are the files that make a unit: the last of its folders that has one,
// and its drop-ins. An instance has those of its template too.
func unitParts(m *assess.Machine, unit string) (files []string) {
	var own string
	var dropins []string
	for _, name := range slices.Compact([]string{services.Template(unit), unit}) {
		for _, f := range services.UnitFolders {
			if file := "/" + path.Join(f.Dir, name); m.Exists(file[1:]) {
				own = file
			}
		}
		dropins = append(dropins, m.Glob("/"+path.Join(services.LocalUnits, name+".d/*.conf"))...)
	}
	if own != "" {
		files = append(files, own)
	}
	return append(files, dropins...)
}

// read takes what a file of the unit says. An empty ExecStart takes back those
// before; of several the first is the server, or what starts it.
func (c *invocation) read(m *assess.Machine, file string) {
	text := strings.ReplaceAll(m.Peek(file[1:]), "\\\n", "")
	for n, line := range assess.NumberedLines(text) {
		if len(line) > maxUnitLine {
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		value = c.specified(strings.TrimSpace(value))
		switch strings.TrimSpace(key) {
		case "Environment":
			c.assign(quotedWords(value), assess.Evidence{Path: file, Line: n})
		case "EnvironmentFile":
			c.assign(strings.Split(m.Peek(datadir.Inside(strings.TrimPrefix(value, "-"))), "\n"), assess.Evidence{Path: file, Line: n})
		case "ExecStart":
			if words := quotedWords(value); len(words) == 0 || len(c.words) == 0 {
				c.words, c.evidence = words, assess.Evidence{Path: file, Line: n}
			}
		}
	}
}

// specified is a value with the instance for systemd's specifiers.
func (c *invocation) specified(value string) string {
	name := strings.TrimSuffix(c.unit, path.Ext(c.unit))
	prefix, instance, _ := strings.Cut(name, "@")
	return strings.NewReplacer("%%", "%", "%i", instance, "%I", strings.ReplaceAll(instance, "-", "/"), "%p", prefix, "%n", c.unit, "%N", name).Replace(value)
}

func (c *invocation) assign(assignments []string, at assess.Evidence) {
	for _, a := range assignments {
		if key, value, ok := strings.Cut(strings.TrimSpace(a), "="); ok && !strings.HasPrefix(key, "#") {
			c.environment[key] = assess.Unquote(value)
		}
	}
	if len(c.words) == 0 {
		c.evidence = at
	}
}

// quotedWords are the words of a line of systemd: quotes hold one together.
func quotedWords(line string) (words []string) {
	var word strings.Builder
	var quote rune
	for _, r := range line + " " {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case quote == 0 && (r == ' ' || r == '\t'):
			if word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
		default:
			word.WriteRune(r)
		}
	}
	return words
}

// of is what follows the first of these programs in the command, and whether one
// is there: others may start it.
func (c *invocation) of(programs ...string) (arguments, bool) {
	for i, w := range c.words {
		if slices.Contains(programs, path.Base(strings.TrimLeft(w, "-@:+!|"))) {
			var rest arguments
			room := maxVariables
			value := func(name string) string {
				if room -= len(c.environment[name]); room < 0 {
					return ""
				}
				return c.environment[name]
			}
			for _, w := range c.words[i+1:] {
				expanded := os.Expand(w, value)
				if strings.HasPrefix(w, "$") && !strings.HasPrefix(w, "${") {
					rest = append(rest, quotedWords(expanded)...)
				} else {
					rest = append(rest, expanded)
				}
			}
			return rest, true
		}
	}
	return nil, false
}

// arguments are those of a program.
type arguments []string

// option is the value of the first of these options that is there: as --key=value,
// --key value or, of one letter, -kvalue.
func (a arguments) option(names ...string) string {
	for i, w := range a {
		for _, name := range names {
			switch rest, ok := strings.CutPrefix(w, name); {
			case !ok:
			case rest == "" && i+1 < len(a):
				return a[i+1]
			case strings.HasPrefix(rest, "="):
				return rest[1:]
			case len(name) == 2:
				return rest
			}
		}
	}
	return ""
}
