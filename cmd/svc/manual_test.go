package main

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/matryer/is"

	"svc/cmd/svc/exit"
	"svc/cmd/svc/help"
	"svc/cmd/svc/program"
)

func testProgram() *program.Program {
	env := func(string) string { return "" }
	return &program.Program{Tree: root, Env: env, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Paths: program.PathsOf(env)}
}

func TestEveryPageIsOfACommand(t *testing.T) {
	is := is.New(t)
	known := map[string]bool{}
	for _, c := range withSubcommands(testProgram().Root()) {
		known[help.Words(c)] = true
	}
	for full := range help.Pages() {
		if !known[full] {
			t.Errorf("the manual has a page of %q, which is no command", full)
		}
	}
	var grouped []string
	for _, section := range help.Sections {
		grouped = append(grouped, section.Commands...)
	}
	slices.Sort(grouped)
	is.Equal(grouped, slices.Sorted(slices.Values(program.Names(testProgram().Root())))) // each stands once on the first page
}

// shellWords parts a call as a shell does that has only spaces and single quotes.
func shellWords(call string) (words []string) {
	for i, part := range strings.Split(call, "'") {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}

func TestExamplesParse(t *testing.T) {
	for full, page := range help.Pages() {
		for _, example := range page.Examples {
			call, _, _ := strings.Cut(example, " # ")
			args := shellWords(call)
			root := testProgram().Root()
			if err := root.Parse(args[1:]); err != nil {
				t.Errorf("the example %q does not parse: %v", call, err)
			}
			if full != "svc" && !strings.HasPrefix(call, full) {
				t.Errorf("%q is no example of %s", call, full)
			}
		}
	}
}

func TestHelpFitsTheTerminal(t *testing.T) {
	for _, c := range withSubcommands(testProgram().Root()) {
		for _, width := range []int{40, 80, 100} {
			for line := range strings.Lines(help.Of(c, width)) {
				line = strings.TrimRight(line, "\n")
				words := strings.Fields(line)
				if utf8.RuneCountInString(line) > width && len(words) > 1 && !strings.Contains(line, "  svc ") {
					t.Errorf("%s -h at %d: %q is too long", words, width, line)
				}
			}
		}
	}
}

func TestEveryFlagFaultIsSaidInOurWords(t *testing.T) {
	for _, args := range [][]string{
		{"assess", "--rot", "/"},
		{"assess", "--root"},
		{"assess", "--limit", "x"},
		{"assess", "--json=maybe"},
		{"assess", "--=x"},
		{"db", "upgrade", "--resume=1x"},
		{"serve", "--rate-limits", "a=b"},
		{"assess", "x", "--rot"},
	} {
		p := testProgram()
		err := p.Execute(t.Context(), args)
		var own *exit.Error
		if !errors.As(err, &own) || own.Code != exit.Usage {
			t.Fatalf("%q ends with %v", args, err)
		}
		text := err.Error()
		for _, foreign := range []string{"provided but not", "commandline", "parse error", "strconv", " -rot", "invalid boolean"} {
			if strings.Contains(text, foreign) {
				t.Errorf("%q says %q", args, text)
			}
		}
		if !strings.Contains(text, "-h`") {
			t.Errorf("%q is not told where to look: %q", args, text)
		}
	}
}

func TestFlagsHaveTheirKind(t *testing.T) {
	for _, c := range withSubcommands(testProgram().Root()) {
		c.FlagSet.VisitAll(func(f *flag.Flag) {
			if name, _ := help.FlagLine(f); strings.HasSuffix(name, " VALUE") {
				t.Errorf("%s %s: name the kind of its value", help.Words(c), name)
			}
		})
	}
}
