package convert

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"svc/backend/lazyregexp"
	"svc/backend/tsv"
)

//go:embed words.tsv
var wordRows string

// Word is what takes the place of a name on the target, if anything does, and why.
type Word struct{ Now, Why string }

var words = sync.OnceValue(func() map[string]map[string]Word {
	all := map[string]map[string]Word{}
	for row := range tsv.Rows(wordRows, 4) {
		if all[row[0]] == nil {
			all[row[0]] = map[string]Word{}
		}
		all[row[0]][row[1]] = Word{tsv.Said(row[2]), tsv.Said(row[3])}
	}
	return all
})

//go:embed lists.tsv
var listRows string

var lists = sync.OnceValue(func() map[string][]string { return tsv.Words(listRows) })

// ListOf are the names of a table.
func ListOf(table string) []string { return lists()[table] }

// Lists reports whether a table has a name.
func Lists(table, name string) bool { return slices.Contains(ListOf(table), name) }

// WordsOf are those of a table, by name.
func WordsOf(table string) map[string]Word { return words()[table] }

//go:embed rewordings.tsv
var rewordingRows string

// Rewording is what a line of another family's says on the target.
type Rewording struct {
	Line     *lazyregexp.Regexp
	Now, Why string
}

var rewordings = sync.OnceValue(func() map[string][]Rewording {
	all := map[string][]Rewording{}
	for row := range tsv.Rows(rewordingRows, 4) {
		table, pattern := row[0], row[1]
		all[table] = append(all[table], Rewording{lazyregexp.New(pattern), strings.ReplaceAll(tsv.Said(row[2]), `\n`, "\n"), tsv.Said(row[3])})
	}
	return all
})

// RewordingsOf are those of a table, in their order.
func RewordingsOf(table string) []Rewording { return rewordings()[table] }

// Reword writes a line by the first rule that is about it, and reports whether there is
// one. What a rule has no word for is dropped.
func (p *Page) Reword(i int, line string, rules []Rewording) bool {
	for _, rule := range rules {
		if !rule.Line.MatchString(line) {
			continue
		}
		if rule.Now == "" {
			p.Drop(i, rule.Why)
		} else {
			p.Replace(i, rule.Now, rule.Why)
		}
		return true
	}
	return false
}

// Substitute writes of a line what each rule has in the place of a part of it.
func (p *Page) Substitute(i int, rules []Rewording) {
	for _, rule := range rules {
		p.Replace(i, rule.Line.ReplaceAllString(strings.TrimSpace(p.Lines[i]), rule.Now), rule.Why)
	}
}

// Logs are where the lines of families keep the logs of services.
var Logs = HomesOf("logs")

// Authorities are where the lines of families keep the authorities that all programs trust, in one file.
var Authorities = HomesOf("authorities")

// LogPlaces are where Debian keeps the logs of services.
var LogPlaces = Logs.Debian()
