package hazards

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/tsv"
)

//go:embed functions.tsv
var functionRows string

// functionTable is a hazard for each version of PHP that has functions of its own by names
// that people's programs may have given theirs: PHP stops where it reads such a program.
func functionTable() (t Table) {
	for c := range tsv.Rows(functionRows, 3) {
		t = append(t, functionRow(c[0], strings.Fields(c[1]), c[2]))
	}
	return t
}

// defines begins a function.
var defines = lazyregexp.New(`(?i)^(?:<\?php\s+)?function\s+&?\s*(\w+)\s*\(`)

// inNamespace begins a program whose functions have names of their own.
var inNamespace = lazyregexp.New(`(?im)^\s*(?:<\?php\s+)?namespace\s+\w`)

func functionRow(since string, names []string, origin string) *Row {
	row := &Row{
		setting: true, Key: "hazard.php.function-" + strings.ReplaceAll(since, ".", "-"), Severity: "high", Origin: origin,
		Towards: Towards{any: []bound{{"php", ">=", since}}},
		Title:   "Scripts in PHP define functions that PHP " + since + " has of its own",
		Text:    "PHP stops where it reads a second function of a name (Cannot redeclare): pages that load the file end with error 500.",
		Do:      "Put each behind if (!function_exists('NAME')), where it does what PHP's own does, or give it another name.",
	}
	row.When = Condition{text: "scripts in PHP that define " + strings.Join(names, ", "), root: &question{ask: func(m *Machine, _ *question, found *Match) {
		for _, name := range m.texts(scripts) {
			m.redefined(name, names, found)
		}
	}}}
	text := "<?php\nfunction " + names[0] + "($a) { return $a; }\n"
	guarded := "<?php\nif (!function_exists('" + names[0] + "')) {\nfunction " + names[0] + "($a) { return $a; }\n}\n"
	row.Shows = Example{[]part{{partFile, "/var/www/a/b.php", text}}}
	row.Quiet = Example{[]part{{partFile, "/var/www/a/b.php", guarded}}}
	return row
}

// redefined finds which of some functions a program defines without asking first whether
// PHP has them.
func (m *Machine) redefined(name string, functions []string, found *Match) {
	for _, l := range m.lines(name) {
		what := defines.FindStringSubmatch(l.text)
		if what == nil || !slices.Contains(functions, strings.ToLower(what[1])) {
			continue
		}
		text := m.Files.Text(name)
		asked := regexp.MustCompile(`(?i)function_exists\s*\(\s*['"]` + what[1] + `['"]`)
		if !inNamespace.MatchString(text) && !asked.MatchString(text) {
			found.file(name, l.n)
		}
	}
}
