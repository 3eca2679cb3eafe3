package naming

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

// formRows are forms that a release note gives another one for, which both versions or
// the target's alone read.
//
//go:embed forms.tsv
var formRows string

// Form is what a line has, and what stands in its place.
type Form struct {
	findings string // a pattern of the keys of hazards that find such lines
	was      *lazyregexp.Regexp
	now      string
	origin   string
}

var forms = tsv.List(formRows, 6, func(c []string) Form { return Form{c[0], lazyregexp.New(c[1]), c[2], c[3]} })

// FormsOf are those whose lines a hazard finds, by its key.
func FormsOf(key string) []Form {
	return slices.DeleteFunc(slices.Clone(forms()), func(f Form) bool { ok, _ := path.Match(f.findings, key); return !ok })
}

// document begins a text of several lines in a program of a shell, PHP, Perl or Ruby.
var document = lazyregexp.New(`<<[<~-]? ?["']?[A-Za-z_]{2,}`)

// Reform writes a text in other forms, and says what was changed of which line. A text with
// documents in it stays: what stands in these may be no program.
func Reform(text string, forms []Form) (now string, all []Mention) {
	if document.MatchString(text) {
		return text, nil
	}
	lines := strings.Split(text, "\n")
	for n, line := range lines {
		for _, f := range forms {
			for _, at := range f.was.FindAllStringSubmatchIndex(line, -1) {
				m := Mention{Line: n + 1, Name: line[at[0]:at[1]], Why: fmt.Sprintf("The target reads it in this form (%s).", f.origin)}
				if m.Now = f.was.ReplaceAllString(m.Name, f.now); Silent(n, line) || quoted(line[:at[0]]) || slices.Contains(all, m) {
					continue
				}
				lines[n], all = strings.ReplaceAll(lines[n], m.Name, m.Now), append(all, m)
			}
		}
	}
	return strings.Join(lines, "\n"), all
}

// quoted reports whether what follows stands in a text between quotes.
func quoted(before string) bool {
	return strings.Count(before, `"`)%2 == 1 || strings.Count(before, "'")%2 == 1
}

// SystemPaths are the paths that texts name, below the folders of packages, and where those of
// a family put pages' programs.
func SystemPaths(texts []string) (all []string) {
	for _, text := range texts {
		all = append(all, sliced.Filter(Paths.FindAllString(text, -1), func(name string) bool { return OfSystem(name) || strings.HasPrefix(name, "/var/www/cgi-bin/") })...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
