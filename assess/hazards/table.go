// Package hazards is what is known beforehand of trouble in a move: a table of
// rows, each of which says towards which releases or versions it holds, on which
// machines, what happens there, and what to do. It is pure: a machine's facts and
// texts in, the rows that it meets out.
//
// A row is a line of a table, of eleven cells between tabs:
//
//	key       hazard.sshd-tcp-wrappers; distinct among all tables
//	towards   openssh>=10, el>=9, debian, rpm: any of them, which the target has
//	          and the source has not; * is every move, - needs no target
//	when      what the machine has: see Condition
//	severity  high, medium, low or info
//	stops     why it stops the move, or -: see Stop
//	title     a few words
//	text      what happens; {} stands for what was found
//	do        what to do about it; a command begins with "$ " or "$data ": see isCommand
//	origin    the document that says so
//	shows     a machine that meets it; see Example
//	quiet     one that does not; - is one that has nothing
package hazards

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
)

// Stop is why a hazard stops a move until a person has acted. There is no other
// reason: the rule is what the hazard does, not how often it occurs.
type Stop string

// The reasons to stop.
const (
	None    Stop = ""
	Entry   Stop = "entry"   // it keeps people out: nobody, or not those who should, can log in
	Data    Stop = "data"    // it loses data, or leaves them where nothing reads them
	Boot    Stop = "boot"    // the target does not start, or can't be reached when it has
	Service Stop = "service" // a service that the machine has does not start, or has nothing on the target to run it
)

// Says is the reason in words.
func (s Stop) Says() string {
	return map[Stop]string{
		Entry: stops + "it keeps people out.", Data: stops + "data would be lost or left behind.",
		Boot: stops + "the target would not start or could not be reached.", Service: stops + "a service of the machine would not start.",
	}[s]
}

const stops = "It stops the move, as "

// UnderWay is a summary as a step of a move has it, which goes on nevertheless.
func UnderWay(summary string) string {
	return strings.Replace(summary, stops, "Until it is mended, ", 1)
}

// Row is one hazard.
type Row struct {
	Key      string
	Towards  Towards
	When     Condition
	Severity string // high, medium, low or info
	Stops    Stop
	Title    string
	Text     string
	Do       string
	Origin   string
	Shows    Example
	Quiet    Example
	setting  bool // made of settings.tsv
}

// Table is a list of hazards, by key.
type Table []*Row

// Bounds of tables.
const (
	maxTable = 4 << 20
	maxRows  = 10_000
)

// ErrTable means that a table of hazards can't be used. Nothing of it is.
var ErrTable = errors.New("the table of hazards can't be used")

var keyForm = lazyregexp.Whole(`[a-z0-9]+([.-][a-z0-9]+)+`)

// Parse reads a table and checks each row against its own examples. Lines that
// begin with # say nothing. An error wraps ErrTable and names the file and the line.
func Parse(name, text string) (Table, error) {
	if len(text) > maxTable {
		return nil, fmt.Errorf("%w: %s has over %d bytes", ErrTable, name, maxTable)
	}
	var t Table
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimRight(line, "\r\n"); line == "" || line[0] == '#' {
			continue
		}
		row, err := parseRow(strings.Split(line, "\t"))
		if err == nil && len(t) == maxRows {
			err = fmt.Errorf("there are over %d rows", maxRows)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s, line %d: %w", ErrTable, name, n, err)
		}
		t = append(t, row)
	}
	return t, t.distinct(name)
}

// columns of a row.
const columns = 11

func parseRow(c []string) (*Row, error) {
	if len(c) != columns {
		return nil, fmt.Errorf("it has %d cells between tabs, not %d: key, towards, when, severity, stops, title, text, do, origin, shows, quiet", len(c), columns)
	}
	r := &Row{Key: c[0], Severity: c[3], Title: c[5], Text: c[6], Do: c[7], Origin: c[8]}
	if c[4] != "-" {
		r.Stops = Stop(c[4])
	}
	switch {
	case !keyForm.MatchString(r.Key):
		return nil, fmt.Errorf("%q is no key: write it like hazard.sshd-protocol", r.Key)
	case !slices.Contains([]string{"high", "medium", "low", "info"}, r.Severity):
		return nil, fmt.Errorf("%s: severity %q is none of high, medium, low and info", r.Key, r.Severity)
	case r.Stops != None && r.Stops.Says() == "":
		return nil, fmt.Errorf("%s: stops %q is none of entry, data, boot, service and -", r.Key, c[4])
	case slices.Contains([]string{r.Title, r.Text, r.Do, r.Origin}, ""):
		return nil, fmt.Errorf("%s: title, text, do and origin each say something", r.Key)
	}
	var err error
	if r.Towards, err = parseTowards(c[1]); err != nil {
		return nil, fmt.Errorf("%s: towards: %w", r.Key, err)
	}
	if r.When, err = ParseCondition(c[2]); err != nil {
		return nil, fmt.Errorf("%s: when: %w", r.Key, err)
	}
	if r.Shows, err = parseExample(c[9]); err == nil {
		r.Quiet, err = parseExample(c[10])
	}
	if err != nil {
		return nil, fmt.Errorf("%s: example: %w", r.Key, err)
	}
	return r, nil
}

// distinct refuses keys that stand twice.
func (t Table) distinct(name string) error {
	slices.SortStableFunc(t, func(a, b *Row) int { return strings.Compare(a.Key, b.Key) })
	for i := 1; i < len(t); i++ {
		if t[i].Key == t[i-1].Key {
			return fmt.Errorf("%w: %s: %s stands there twice", ErrTable, name, t[i].Key)
		}
	}
	return nil
}

// Check runs the examples of every row: the first must meet it, the other must not.
func (t Table) Check() error {
	for _, r := range t {
		shown := r.Shows.machine()
		match, ok := r.When.met(shown)
		switch {
		case !ok:
			return fmt.Errorf("%w: %s: the example that shows it does not meet its condition", ErrTable, r.Key)
		case isCommand(r.Do) && strings.Contains(r.Do, filesMark) && len(shown.words(match.Places)) == 0:
			return fmt.Errorf("%w: %s: its command has %s, and the example that shows it meets its condition by no file", ErrTable, r.Key, filesMark)
		}
		if _, ok := r.When.met(r.Quiet.machine()); ok {
			return fmt.Errorf("%w: %s: the example that is quiet meets its condition", ErrTable, r.Key)
		}
	}
	return nil
}

// Read reads all tables of a folder, the files that end in .tsv, and checks them
// as the program's own are: by their form and by their examples.
func Read(dir fs.FS) (Table, error) {
	names, err := fs.Glob(dir, "*.tsv")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTable, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: there is no file there that ends in .tsv", ErrTable)
	}
	var all Table
	for _, name := range names {
		t, err := readFile(dir, name)
		if err != nil {
			return nil, err
		}
		all = append(all, t...)
	}
	if err := all.distinct("the folder"); err != nil {
		return nil, err
	}
	return all, nil
}

func readFile(dir fs.FS, name string) (Table, error) {
	info, err := fs.Stat(dir, name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxTable) {
		err = fmt.Errorf("it is no file, or has over %d bytes", maxTable)
	}
	var b []byte
	if err == nil {
		b, err = fs.ReadFile(dir, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTable, path.Base(name), err)
	}
	return Parse(path.Base(name), string(b))
}

// With adds an operator's table, whose keys must be others.
func (t Table) With(more Table) (Table, error) {
	all := slices.Concat(t, more)
	return all, all.distinct("beside the program's own")
}
