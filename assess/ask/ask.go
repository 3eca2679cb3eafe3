// Package ask puts to a running machine the questions that its own services have
// for whether they take their configuration. The questions are a table; the
// machine that is asked is the user's own new one, never the source of a move.
package ask

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"svc/assess/host"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

//go:embed checks.tsv
var checksTSV string

// ErrNotRoot means that the machine is not read as root, as most programs must be
// to see their own settings.
var ErrNotRoot = errors.New("programs are asked as root alone, who may see all that they read")

// Bounds of what is asked, and of what is kept of an answer.
const (
	maxQuestions = 300
	maxLines     = 5
	maxLine      = 300
)

// Answer is what a service's own check says.
type Answer struct {
	Name    string // of the service, for people
	Command string // that was run
	File    string // that was asked about, or the program
	Status  int    // 0 where it takes its configuration
	Text    string // of one that does not: a few lines of what it printed
	Err     error  // why it could not be asked
}

// OK reports whether the service takes its configuration.
func (a Answer) OK() bool { return a.Err == nil && a.Status == 0 }

// check is a row of checks.tsv.
type check struct {
	name, prints, file        string
	units, program, arguments []string
}

var checks = tsv.List(checksTSV, 7, func(c []string) check {
	return check{c[0], c[5], c[4], strings.Split(c[1], ","), strings.Split(c[2], ","), strings.Fields(c[3])}
})

// All asks for each service of the table that wanted has a unit of. Nothing is
// asked on a machine that does not run, or is not read as root.
func All(ctx context.Context, h host.Host, wanted func(unit string) bool) ([]Answer, error) {
	who, err := host.Ask(ctx, h, host.Question{Words: []string{"/usr/bin/id", "-u"}})
	switch {
	case err != nil:
		return nil, err
	case strings.TrimSpace(string(who.Text)) != "0":
		return nil, ErrNotRoot
	}
	all, asked := []Answer{}, map[string]bool{}
	for _, c := range checks() {
		if asked[c.name] {
			continue
		}
		for _, q := range c.questions(h.FS(), wanted) {
			if len(all) >= maxQuestions {
				return all, nil
			}
			asked[c.name] = true
			all = append(all, q.ask(ctx, h))
			if err := errors.Join(ctx.Err(), host.Lost(h)); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// question is a row of the table with what its stars stand for.
type question struct {
	check
	program   string
	arguments []string
	file      string
	about     string // only lines that name it count; empty where all do
}

// questions are those of a row that fit the machine.
func (c check) questions(fsys host.FS, wanted func(unit string) bool) (all []question) {
	for _, m := range c.matches(fsys) {
		units := m.fillAll(c.units)
		if units[0] != "" && !slices.ContainsFunc(units, wanted) {
			continue
		}
		for _, program := range m.fillAll(c.program) {
			if info, err := fsys.Stat(program[1:]); err == nil && info.Mode().IsRegular() {
				q := question{check: c, program: program, arguments: m.fillAll(c.arguments), file: m[0]}
				if about, ok := strings.CutPrefix(c.prints, "about "); ok {
					q.about = m.fill(about)
				}
				all = append(all, q)
				break
			}
		}
	}
	return all
}

// match is a file, and what the stars of its pattern stand for.
type match []string

func (m match) fill(s string) string {
	for i, value := range m {
		s = strings.ReplaceAll(s, "{"+strconv.Itoa(i)+"}", value)
	}
	return s
}

func (m match) fillAll(all []string) []string {
	return sliced.Map(all, m.fill)
}

// plain is what a star may stand for: no option, no folder, nothing of a shell.
const plain = `([A-Za-z0-9][A-Za-z0-9._@:-]*)`

// matches are the files of a row, or one nameless where it needs none.
func (c check) matches(fsys host.FS) (all []match) {
	if c.file == "" {
		return []match{{""}}
	}
	names, _ := fs.Glob(fsys, c.file[1:]) // the patterns of the table are sound
	pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(c.file), `\*`, plain) + "$")
	for _, name := range names {
		info, err := fsys.Stat(name)
		if m := pattern.FindStringSubmatch("/" + name); m != nil && err == nil && (info.Mode().IsRegular() || info.IsDir()) {
			all = append(all, m)
		}
	}
	return all
}

func (q question) ask(ctx context.Context, h host.Host) Answer {
	words := append([]string{q.program}, q.arguments...)
	a := Answer{Name: q.name, Command: strings.Join(words, " "), File: q.file}
	a.File = cmp.Or(a.File, q.program)
	said, err := host.Ask(ctx, h, host.Question{Words: words, ErrorsAlone: q.prints == "errors"})
	if err != nil {
		a.Err = err
		return a
	}
	lines := readable(said.Text)
	if q.about != "" {
		lines = slices.DeleteFunc(lines, func(l string) bool { return !strings.Contains(l, q.about) })
	}
	if said.Status != 0 && (q.about == "" || len(lines) > 0) { // else it is about other things
		a.Status, a.Text = said.Status, strings.Join(telling(lines), "; ")
	}
	return a
}

// readable are the lines of a program's words without what is no text.
func readable(text []byte) (all []string) {
	for line := range strings.Lines(strings.ToValidUTF8(string(text), "")) {
		line = strings.TrimSpace(strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) && r != '\t' {
				return -1
			}
			return r
		}, line))
		if line != "" {
			all = append(all, string([]rune(line)[:min(len([]rune(line)), maxLine)]))
		}
	}
	return all
}

// failing are words of lines that say what is wrong.
var failing = []string{"error", "fail", "fatal", "invalid", "unknown", "cannot", "can't", "could not", "unable", "no such", "not found", "not allowed", "denied", "missing", "emerg", "alert", "undefined"}

// telling are the first lines that say what is wrong, or the last ones.
func telling(lines []string) (some []string) {
	for _, l := range lines {
		low := strings.ToLower(l)
		if len(some) < maxLines && slices.ContainsFunc(failing, func(word string) bool { return strings.Contains(low, word) }) {
			some = append(some, l)
		}
	}
	if some == nil {
		some = lines[max(0, len(lines)-maxLines):]
	}
	return some
}

// Services is what systemd knows of a machine's services, by name; nil where the
// machine has no systemd that could be asked.
func Services(ctx context.Context, h host.Host) map[string]Service {
	b, err := host.Run(ctx, h, host.ShowServices)
	if err != nil {
		return nil
	}
	all := map[string]Service{}
	for paragraph := range strings.SplitSeq(string(b), "\n\n") {
		values := map[string]string{}
		for line := range strings.Lines(paragraph) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			values[key] = value
		}
		if name := values["Id"]; name != "" && path.Ext(name) == ".service" {
			all[name] = Service{
				Active: values["ActiveState"], Type: values["Type"], Loaded: values["LoadState"] == "loaded",
				Triggered: values["TriggeredBy"] != "", Refused: values["ConditionResult"] == "no" && values["ConditionTimestampMonotonic"] != "0",
			}
		}
	}
	return all
}

// Service is what systemd knows of a service.
type Service struct {
	Active    string // active, inactive, failed, …
	Type      string // simple, forking, oneshot, …
	Loaded    bool   // it has a unit
	Triggered bool   // a socket, timer or path starts it
	Refused   bool   // a condition of its unit was not met when it was last started
}

// Dead reports whether a service that is enabled should run, and does not.
func (s Service) Dead() bool {
	return s.Loaded && s.Active == "inactive" && s.Type != "oneshot" && !s.Triggered
}
