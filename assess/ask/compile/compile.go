// Package compile asks the interpreters of a machine whether they take people's programs:
// whether each compiles, and whether what it loads is there. The questions are a table, and
// each interpreter is asked of many programs at once. Nothing of the programs is run, but
// for what compiling Perl runs, which is asked in a sandbox alone.
package compile

import (
	"cmp"
	"context"
	"embed"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"svc/assess/host"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

//go:embed languages.tsv
var languageRows string

//go:embed probes
var probes embed.FS

// language is a row of languages.tsv.
type language struct {
	name         string
	endings      []string
	runner       *lazyregexp.Regexp // of the name of the interpreter
	interpreters []string
	words        []string
	probe        string
	input        bool // the probe is read from standard input
	runs         bool
}

var languages = tsv.List(languageRows, 9, func(c []string) language {
	probe, _ := probes.ReadFile("probes/" + c[5]) // a test reads all
	return language{c[0], strings.Split(c[1], ","), lazyregexp.New("^(" + c[2] + ")$"), strings.Split(c[3], ","), strings.Fields(c[4]), string(probe), c[6] == "input", c[7] == "yes"}
})

// Program is a program of people.
type Program struct {
	Path        string
	Language    string
	Interpreter string // that its first line names, by its path; empty where it names none
}

// Trouble is a line of a program that an interpreter does not take, or that needs what is
// not there.
type Trouble struct {
	Kind   string // syntax, module, name, use, command, interpreter
	Name   string // of what is not there; empty for syntax
	Line   int    // 0 where it is not known
	Text   string // the interpreter's own words
	Unsure bool   // nobody knows whether it is there
}

// Place is a line of a program.
type Place struct {
	Path string
	Line int
}

// Answers are what the interpreters of a machine say.
type Answers struct {
	Asked    map[string]bool      // programs that were looked at to their end
	Troubles map[string][]Trouble // by program
	// Uses are functions and classes of an interpreter itself that programs name, with
	// what of it has them: "function imap_open" of "extension imap".
	Uses map[string]Use
	// Files are those that programs load, by the program's language and what they call it.
	Files map[string]string
	Left  []string // what was not asked, for people
}

// Use is what programs use of an interpreter itself.
type Use struct {
	Of     string // the part that has it; empty where that is its core
	Places []Place
}

// Asker has a machine run a program to its end, and reads what it prints.
type Asker func(ctx context.Context, words []string) (said []byte, err error)

// Bounds of one question: files, the bytes of their names; and of all answers.
const (
	maxFiles = 150
	maxNames = 64 << 10
	maxText  = 400
	maxTold  = 20_000
	maxTime  = 90 * time.Second
)

// Ask asks a machine about programs that are there. Runs says that compiling may run
// parts of them, as only a sandbox lets it.
func Ask(ctx context.Context, fsys host.FS, ask Asker, all []Program, runs bool) *Answers {
	a := &Answers{Asked: map[string]bool{}, Troubles: map[string][]Trouble{}, Uses: map[string]Use{}, Files: map[string]string{}}
	type group struct{ language, interpreter string }
	groups := map[group][]string{}
	for _, p := range all {
		text, there := beginning(fsys, p.Path)
		if own, ok := Of(p.Path, text); ok && own.Interpreter != "" {
			p = own // as this machine has it
		}
		with := p.interpreter(fsys)
		if there && with == "" {
			a.Troubles[p.Path] = append(a.Troubles[p.Path], Trouble{Kind: "interpreter", Name: languageNamed(p.Language).interpreters[0], Line: 1, Text: "no interpreter of " + p.Language})
		}
		if !there || with == "" {
			continue
		}
		if p.Interpreter != "" && with != p.Interpreter {
			a.Troubles[p.Path] = append(a.Troubles[p.Path], Trouble{Kind: "interpreter", Name: p.Interpreter, Line: 1, Text: "no interpreter " + p.Interpreter})
		} else if p.Interpreter != "" {
			a.Files[p.Language+" "+p.Interpreter] = resolved(fsys, p.Interpreter)
		}
		g := group{p.Language, with}
		groups[g] = append(groups[g], p.Path)
	}
	until := time.Now().Add(maxTime)
	for _, g := range slices.SortedFunc(maps.Keys(groups), func(a, b group) int {
		return cmp.Or(cmp.Compare(a.language, b.language), cmp.Compare(a.interpreter, b.interpreter))
	}) {
		l := languageNamed(g.language)
		for _, some := range batches(groups[g]) {
			if time.Now().After(until) || ctx.Err() != nil {
				a.leave(l.name, some, "there was no time left")
				continue
			}
			said, err := ask(ctx, l.question(g.interpreter, some, runs))
			if err != nil {
				a.leave(l.name, some, err.Error())
				continue
			}
			a.read(l.name, some, said)
		}
	}
	for _, p := range all {
		if p.Language == "sh" && a.Asked[p.Path] {
			a.commands(fsys, p.Path)
		}
	}
	return a
}

func languageNamed(name string) language {
	return sliced.First(languages(), func(l language) bool { return l.name == name })
}

// interpreter is the one that is asked about a program on a machine: that of its first
// line or, where the machine has none such, the language's own there.
func (p Program) interpreter(fsys host.FS) string {
	for _, at := range append([]string{p.Interpreter}, languageNamed(p.Language).interpreters...) {
		if at == "" {
			continue
		}
		if info, err := fsys.Stat(strings.TrimPrefix(at, "/")); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return at
		}
	}
	return ""
}

// batches are names as one question may have them.
func batches(names []string) (all [][]string) {
	size := 0
	for _, name := range names {
		if n := len(all); n == 0 || len(all[n-1]) == maxFiles || size+len(name) > maxNames {
			all, size = append(all, nil), 0
		}
		all[len(all)-1] = append(all[len(all)-1], name)
		size += len(name) + 1
	}
	return all
}

// fromInput has a program read its text from its standard input.
const fromInput = `p=$1; shift; printf %s "$p" | exec "$@"`

// question are the words that ask about programs.
func (l language) question(interpreter string, names []string, runs bool) []string {
	words := []string{interpreter}
	if l.input {
		words = []string{"/bin/sh", "-c", fromInput, "sh", l.probe, interpreter}
	}
	fill := strings.NewReplacer("{probe}", l.probe, "{interpreter}", interpreter, "{runs}", map[bool]string{true: "yes", false: "no"}[runs && l.runs])
	words = append(words, sliced.Map(l.words, fill.Replace)...)
	return append(words, names...)
}

// read takes the lines of an answer: number of the program, line, kind, name, text.
func (a *Answers) read(language string, names []string, said []byte) {
	left := sliced.Set(names)
	for line := range strings.Lines(string(said)) {
		c := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(c) != 5 {
			continue
		}
		n, err := strconv.Atoi(c[0])
		if err != nil || n < 0 || n >= len(names) || len(a.Troubles)+len(a.Files)+len(a.Uses) > maxTold {
			continue
		}
		at, _ := strconv.Atoi(c[1])
		name, text := readable(c[3]), readable(c[4])
		switch program := names[n]; c[2] {
		case "asked":
			delete(left, program)
			a.Asked[program] = true
		case "has":
			a.Files[language+" "+name] = text
		case "uses":
			use := a.Uses[name]
			use.Of, use.Places = text, append(use.Places, Place{program, at})
			a.Uses[name] = use
		case "syntax", "module", "name", "unsure":
			t := Trouble{c[2], name, at, text, c[2] == "unsure"}
			if t.Unsure {
				t.Kind = "name"
			}
			a.Troubles[program] = append(a.Troubles[program], t)
		}
	}
	if len(left) > 0 {
		a.leave(language, slices.Sorted(maps.Keys(left)), "the interpreter did not come to its end")
	}
}

// leave notes what was not asked.
func (a *Answers) leave(language string, names []string, why string) {
	a.Left = append(a.Left, names[0]+" and "+strconv.Itoa(len(names)-1)+" more in "+language+": "+readable(why))
}

// readable is a text of a machine without what is no text.
func readable(s string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "")))
	return string([]rune(s)[:min(len([]rune(s)), maxText)])
}

// Of is the language of a file by its name and the beginning of its text, and the
// interpreter that the first line names.
func Of(name, text string) (Program, bool) {
	first, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(strings.TrimPrefix(first, "#!"))
	if strings.HasPrefix(first, "#!") && len(words) > 0 {
		at := words[0]
		if path.Base(at) == "env" {
			words = slices.DeleteFunc(words[1:], func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") })
			at = ""
			if len(words) > 0 {
				at = "/usr/bin/" + path.Base(words[0])
			}
		}
		l, ok := sliced.Find(languages(), func(l language) bool { return l.runner.MatchString(path.Base(at)) })
		return Program{name, l.name, at}, ok
	}
	l, ok := sliced.Find(languages(), func(l language) bool { return slices.Contains(l.endings, path.Ext(name)) })
	return Program{name, l.name, ""}, ok
}
