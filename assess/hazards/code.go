package hazards

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"svc/backend/lazyregexp"
	"svc/backend/tsv"
)

// Removal is something that a version of a language or of a library has no more.
type Removal struct {
	Language string
	Software string // of software.tsv
	Name     string // as people call the software
	Since    string // its version
	What     string // import MODULE, name MODULE.NAME, or line REGEXP
	Module   string // which a program of Python has to import for a line to be meant
	Shown    string // what is gone, as people write it
	Instead  string // what to do
	Package  string // of Debian 13, which brings it back
	Origin   string
	Shows    string // a line that uses it; empty where What says it
}

//go:embed removals.tsv
var removalRows string

var removals = tsv.List(removalRows, 11, func(c []string) Removal {
	return Removal{c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10]}
})

// Keys of hazards of what went: what they begin with, and how those end of which a
// package brings it back.
const (
	codeKey     = "hazard.code."
	packagedKey = ".packaged"
)

// removalTable is a hazard for each, two where a package of Debian brings it back, and
// those of programs which were not read.
var removalTable = sync.OnceValue(func() (t Table) {
	t = Table{unreadRow(), unreadScripts()}
	for _, r := range removals() {
		t = append(t, r.row())
		if r.Package != "" {
			back := r.row()
			back.setting, back.Key = false, back.Key+packagedKey
			back.Towards = Towards{any: []bound{{"debian", ">=", "13"}}}
			back.Severity = "medium"
			back.Do = "$data apt-get install -y " + r.Package
			back.Text += " A package brings it back; later: " + r.Instead
			t = append(t, back)
		}
	}
	return t
})

// apart is what a key does not have.
var apart = lazyregexp.New(`[^a-z0-9]+`)

// row is the hazard of a removal. What a program uses of it stops it there alone, so that
// it stops no move.
func (r Removal) row() *Row {
	where := strings.Trim(apart.ReplaceAllString(strings.ToLower(r.Software+" "+r.Since+" "+r.Shown), "-"), "-")
	row := &Row{
		setting: true, Key: codeKey + where, Severity: "high", Towards: Towards{any: []bound{{r.Software, ">=", r.Since}}}, Origin: r.Origin,
		Title: "Gone with " + r.Name + " " + r.Since + ": " + r.Shown, Do: r.Instead,
		Text: "Programs use it, and stop there.",
	}
	row.When = Condition{text: fmt.Sprintf("code(%s, %q)", r.Language, r.What)}
	kind, what, _ := strings.Cut(r.What, " ")
	uses := uses(kind, what)
	module := r.Module
	if kind != "line" {
		module, _, _ = strings.Cut(what, ".")
	}
	row.When.root = &question{ask: func(m *Machine, _ *question, found *Match) {
		for _, name := range m.code(r.Language) {
			if module != "" && m.imported(name)["import "+module] == "" {
				continue
			}
			for _, l := range m.lines(name) {
				if uses(m.imported(name), l.text) {
					found.file(name, l.n)
				}
			}
		}
	}}
	row.Shows, row.Quiet = r.example(what)
	return row
}

// uses tells whether a line of a program uses what is gone; imports are what the names in
// the program stand for.
func uses(kind, what string) func(imports map[string]string, line string) bool {
	parent, last := "", what
	if i := strings.LastIndex(what, "."); kind != "line" && i > 0 {
		parent, last = what[:i], what[i+1:]
	}
	switch kind {
	case "import":
		quoted := regexp.QuoteMeta(what)
		module := lazyregexp.New(`^(from\s+` + quoted + `(\.\w+)*\s+import\b|import\s+([\w.]+(\s+as\s+\w+)?\s*,\s*)*` + quoted + `\b)`)
		return func(_ map[string]string, line string) bool {
			return strings.Contains(line, "import") && (module.MatchString(line) || importsFrom(line, parent, last))
		}
	case "name":
		return func(imports map[string]string, line string) bool {
			return strings.Contains(line, last) && (importsFrom(line, parent, last) || namesOf(imports, what, line))
		}
	}
	rx := lazyregexp.New(what)
	return func(_ map[string]string, line string) bool { return rx.MatchString(line) }
}

var (
	fromForm   = lazyregexp.New(`^from\s+([\w.]+)\s+import\s+\(?([^#)]*)`)
	importForm = lazyregexp.New(`^import\s+([^#;]*)`)
	dottedForm = lazyregexp.New(`\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+`)
)

// importsFrom reports whether a line imports a name out of a module.
func importsFrom(line, module, name string) bool {
	m := fromForm.FindStringSubmatch(line)
	return m != nil && module != "" && m[1] == module && slices.ContainsFunc(strings.Split(m[2], ","), func(part string) bool {
		f := strings.Fields(part)
		return len(f) > 0 && f[0] == name
	})
}

// namesOf reports whether a line has a name of a module, as the program calls the module.
func namesOf(imports map[string]string, what, line string) bool {
	return slices.ContainsFunc(dottedForm.FindAllString(line, -1), func(dotted string) bool {
		first, rest, _ := strings.Cut(dotted, ".")
		full := imports[first] + "." + rest
		return full == what || strings.HasPrefix(full, what+".")
	})
}

// imported is what a program of Python calls the modules that it imports: np is numpy;
// and, after the word import, of which it imports anything.
func (m *Machine) imported(name string) map[string]string {
	return once(&m.imports, name, func() map[string]string {
		all := map[string]string{}
		for _, l := range m.lines(name) {
			if from := fromForm.FindStringSubmatch(l.text); from != nil {
				for part := range strings.SplitSeq(from[2], ",") {
					bind(all, from[1], strings.Fields(part), from[1]+".")
				}
			} else if imports := importForm.FindStringSubmatch(l.text); imports != nil {
				for part := range strings.SplitSeq(imports[1], ",") {
					f := strings.Fields(part)
					if len(f) > 0 {
						bind(all, f[0], f, "")
					}
				}
			}
		}
		return all
	})
}

// bind notes a module, and what a name of it, or the module itself, is called: name, or
// name as other.
func bind(all map[string]string, module string, called []string, prefix string) {
	top, _, _ := strings.Cut(module, ".")
	all["import "+top] = top
	switch {
	case len(called) == 3 && called[1] == "as":
		all[called[2]] = prefix + called[0]
	case len(called) == 1 && prefix == "":
		all[top] = top
	case len(called) == 1:
		all[called[0]] = prefix + called[0]
	}
}

// example is a program that uses it, and one that does not.
func (r Removal) example(what string) (shows, quiet Example) {
	text := "import " + cmp.Or(r.Module, "os") + "\n" + r.Shows + "\n"
	if r.Shows == "" {
		module := what
		if strings.HasPrefix(r.What, "name ") {
			module = what[:strings.LastIndex(what, ".")]
		}
		text = "import " + module + "\nx = " + what + "\n"
	}
	ending := map[string]string{"python": "py", "perl": "pl", "ruby": "rb"}[r.Language]
	return Example{[]part{{partFile, "/opt/a/b." + ending, text}}}, Example{[]part{{partFile, "/opt/a/b.txt", text}}}
}
