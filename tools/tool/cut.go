package tool

import (
	"cmp"
	"strconv"
)

// Cut says what a result leaves out, and where that is. Results are cut only
// where the environment keeps Resources: a model reads them, and pays for each
// word.
type Cut struct {
	Truncated bool   `json:"truncated,omitempty"`
	Resource  string `json:"resource,omitempty"` // has the whole
}

// Rest keeps the whole of a result that was cut.
func (e *Env) Rest(name string, whole any) Cut {
	return Cut{true, e.Resources.Put(name, Encoded(whole))}
}

// TooBig reports whether a result must be cut.
func (e *Env) TooBig(result any) bool {
	return e.Resources != nil && len(Encoded(result)) > SummaryBudget-summaryRoom
}

// Fitting is how many entries of a list a result has room for.
func Fitting[T any](list []T) int {
	room := SummaryBudget - summaryRoom
	for i, entry := range list {
		if room -= len(Encoded(entry)) + len(","); room < 0 {
			return i
		}
	}
	return len(list)
}

// Few is how many things of a kind stand in one line.
const Few = 3

// Excerpt is the beginning of a text.
func Excerpt(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most-1]) + "…"
}

// Paging is a list's input: how much of it, and from where.
type Paging struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"at most 100; 50"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor"`
}

// Page is what the service is asked for.
func (p Paging) Page(tool string) (limit, offset int, err error) {
	limit = p.Limit
	limit = cmp.Or(limit, defaultPage)
	if limit < 1 || limit > maxPage {
		return 0, 0, InputErrorf(tool, "limit must be 1 to %d, not %d", maxPage, limit)
	}
	if p.Cursor != "" {
		offset, err = strconv.Atoi(p.Cursor)
		if err != nil || offset < 0 {
			return 0, 0, InputErrorf(tool, "cursor must be a next_cursor that the tool gave, not %q", Excerpt(p.Cursor, 40))
		}
	}
	return limit, offset, nil
}

const (
	defaultPage = 50
	maxPage     = 100
)

// Page says how a list goes on.
type Page struct {
	Count      int    `json:"count"`
	NextCursor string `json:"next_cursor,omitempty"` // where there is more
}

// Paged cuts a page's entries to what a result has room for.
func Paged[T any](env *Env, entries []T, offset int, more bool) ([]T, Page) {
	n := len(entries)
	if env.Resources != nil {
		n = max(1, Fitting(entries))
	}
	n = min(n, len(entries))
	p := Page{Count: n}
	if more || n < len(entries) {
		p.NextCursor = strconv.Itoa(offset + n)
	}
	return entries[:n], p
}
