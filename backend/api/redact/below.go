package redact

import (
	"slices"
	"strings"

	"svc/backend/lazyregexp"
)

var (
	// asks are commands whose answer is the name of the machine.
	asks = lazyregexp.New(`(?:^|[$#>%] )(?:sudo )?(?:hostname(?: +--?[a-z]+)*|uname -n|uname --nodename|cat /etc/(?:hostname|HOSTNAME|mailname|myname|nodename)|hostnamectl(?: +--?[a-z]+)*(?: hostname)?(?: +--?[a-z]+)*|scutil --get \w+|nmcli (?:-\w+ )*g\w* h\w*|echo \"?\$\{?HOST(?:NAME)?\}?\"?)$`)

	// namesOf are headings of columns in which machines stand.
	namesOf = lazyregexp.New(`^(?i:nodes?|hosts?|hostname|servers?|vms?|instance|machine|minion|member)$`)
	// named is such a column too, in a table of what runs.
	named = lazyregexp.New(`^(?i:names?)$`)
	runs  = lazyregexp.New(`^(?i:status|state|ready|power state|votes)$`)
	// serial are commands that print a machine's serial number.
	serial = lazyregexp.New(`\b(?:dmidecode -s [a-z-]*(?:serial-number|uuid|asset-tag)|cat /sys/class/dmi/id/(?:[a-z]+_serial|product_uuid))$`)
	// ruler is a line between the heading of a table and its rows.
	ruler  = lazyregexp.New(`^[-=+ ]{6,}$`)
	number = lazyregexp.New(`^\s*(?P<id>[\w-]{4,})\s*$`)
	alone  = lazyregexp.New(`^\s*(?P<host>` + name + `(?:\[[0-9a-z]+:[0-9a-z]+\])?)\s*$`)
	// group is the heading of a group of machines in an inventory of Ansible.
	group = lazyregexp.New(`^\[[\w:-]+\]$`)
)

// below replaces what names a machine because of the line above it: the answer
// to "hostname", and the column of names in a table of machines.
func below(s string, known map[string]string) string {
	lines := strings.Split(s, "\n")
	at := -1 // the column of names in the table that is being read
	inventory := strings.Contains(s, " ansible_") && slices.ContainsFunc(lines, group.MatchString)
	for i, line := range lines {
		fields := fieldsOf(line)
		switch {
		case i > 0 && asks.MatchString(strings.TrimSpace(lines[i-1])):
			lines[i] = rule{at: alone}.apply(line, known)
		case i > 0 && serial.MatchString(strings.TrimSpace(lines[i-1])):
			lines[i] = rule{at: number}.apply(line, known)
		case inventory && alone.MatchString(line):
			lines[i] = rule{at: alone}.apply(line, known)
		case at >= 0 && ruler.MatchString(line):
		case headed(fields) >= 0:
			at = headed(fields)
		case at >= len(fields) || fields[0] == "":
			at = -1
		case at >= 0:
			lines[i] = inField(line, at, known)
		}
	}
	return strings.Join(lines, "\n")
}

// headed is the column of names below a heading of three columns or more, or -1.
func headed(fields []string) int {
	if len(fields) < 3 {
		return -1
	}
	if at := slices.IndexFunc(fields, namesOf.MatchString); at >= 0 || !slices.ContainsFunc(fields, runs.MatchString) {
		return at
	}
	return slices.IndexFunc(fields, named.MatchString)
}

// inField replaces the name in one column of a line, and keeps what divides them.
func inField(line string, at int, known map[string]string) string {
	start := len(line) - len(strings.TrimLeft(line, " \t"))
	for range at {
		start += column.FindAllStringIndex(line[start:], 1)[0][1]
	}
	end := len(line)
	if gaps := column.FindAllStringIndex(line[start:], 1); gaps != nil {
		end = start + gaps[0][0]
	}
	return line[:start] + rule{at: alone}.apply(line[start:end], known) + line[end:]
}

// fieldsOf are the columns of a line.
func fieldsOf(line string) []string {
	return strings.Split(column.ReplaceAllString(strings.TrimSpace(line), "\x00"), "\x00")
}
