package hazards

import (
	_ "embed"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"sync"

	"svc/backend/tsv"
)

// Setting is a setting that a newer version of a program has no more.
type Setting struct {
	Program string // of programs.tsv; those with sections have them after a slash
	Name    string
	Now     string // what takes its place; empty where nothing does
	Why     string // empty where there is no more to say
	Since   string // version of the program; empty is long ago, debian is on Debian alone
	Warned  bool   // the program starts with it still, and says that it does nothing
}

//go:embed settings.tsv
var settingRows string

//go:embed programs.tsv
var programRows string

// Settings are all that are known. Converters mend files by them.
func Settings() iter.Seq[Setting] {
	return func(yield func(Setting) bool) {
		for c := range tsv.Rows(settingRows, 5) {
			now := strings.ReplaceAll(tsv.Said(c[2]), `\n`, "\n")
			since, warned := strings.CutPrefix(tsv.Said(c[4]), "~")
			if !yield(Setting{c[0], c[1], now, tsv.Said(c[3]), since, warned}) {
				return
			}
		}
	}
}

// settingTable is a hazard for each setting that went with a version.
var settingTable = sync.OnceValue(func() (t Table) {
	programs := map[string][]string{}
	for c := range tsv.Rows(programRows, 7) {
		programs[c[0]] = c
	}
	seen := map[string]bool{}
	for s := range Settings() {
		c := programs[s.Program]
		if c == nil || s.Since == "" || s.Since == "debian" {
			continue
		}
		r := settingRow(s, c)
		if !seen[r.Key] {
			t = append(t, r)
		}
		seen[r.Key] = true
	}
	return t
})

// settingRow is the hazard of a setting, of a program of programs.tsv.
func settingRow(s Setting, c []string) *Row {
	software, files, effect, name, check, origin := c[1], c[2], c[3], c[4], c[5], c[6]
	slug := strings.NewReplacer("_", "-", " ", "-", ".", "-").Replace(strings.ToLower(s.Name))
	r := &Row{
		setting: true,
		Key:     "hazard." + strings.ReplaceAll(s.Program, "/", "-") + "." + slug, Severity: effect, Title: fmt.Sprintf("%s has %s no more", name, s.Name),
		Towards: Towards{any: []bound{{software, ">=", s.Since}}}, Origin: origin,
		Text: fmt.Sprintf("%s is gone since %s %s.", s.Name, name, s.Since), Do: "Remove the line; check by " + check + ".",
	}
	switch {
	case s.Warned:
		r.Severity = "low"
		r.Text += " " + name + " starts with it still, and only says that it does nothing."
	case effect == string(Service):
		r.Severity, r.Stops = "high", Service
		r.Text += " " + name + " refuses a setting that it does not know."
	}
	if s.Why != "" {
		r.Text += " " + s.Why
	}
	if s.Now != "" {
		first, _, _ := strings.Cut(s.Now, "\n")
		r.Do = fmt.Sprintf("Write %s in its place; check by %s.", first, check)
	}
	setting := regexp.QuoteMeta(settingName(s.Name))
	r.When = Condition{text: fmt.Sprintf("set(%q, %q)", files, setting)}
	r.When.root = &question{args: []string{files, setting}, rx: []*pattern{nil, {text: "(?i)^(?:" + setting + ")$"}}, ask: askSet}
	file, _, _ := strings.Cut(strings.Join(patterns(files), " "), " ")
	if file = strings.NewReplacer("*", "a", "[78]", "8").Replace(file); file == "" {
		return r
	}
	r.Shows = Example{[]part{{partFile, file, s.Name + " = x\n"}}}
	r.Quiet = Example{[]part{{partFile, file, "# " + s.Name + " = x\n"}}}
	return r
}
