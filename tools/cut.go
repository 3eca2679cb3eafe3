package tools

import "strconv"

// Cut says what a result leaves out, and where that is. Results are cut only
// where the environment keeps Resources: a model reads them, and pays for each
// word.
type Cut struct {
	Truncated bool   `json:"truncated,omitempty"`
	Resource  string `json:"resource,omitempty"` // has the whole
}

// rest keeps the whole of a result that was cut.
func (e *Env) rest(name string, whole any) Cut {
	return Cut{true, e.Resources.Put(name, encoded(whole))}
}

// tooBig reports whether a result must be cut.
func (e *Env) tooBig(result any) bool {
	return e.Resources != nil && len(encoded(result)) > summaryBudget-summaryRoom
}

// fitting is how many entries of a list a result has room for.
func fitting[T any](list []T) int {
	room := summaryBudget - summaryRoom
	for i, entry := range list {
		if room -= len(encoded(entry)) + len(","); room < 0 {
			return i
		}
	}
	return len(list)
}

// excerpt is the beginning of a text.
func excerpt(s string, most int) string {
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

// page is what the service is asked for.
func (p Paging) page(tool string) (limit, offset int, err error) {
	limit = p.Limit
	if limit == 0 {
		limit = defaultPage
	}
	if limit < 1 || limit > maxPage {
		return 0, 0, inputErrorf(tool, "limit must be 1 to %d, not %d", maxPage, limit)
	}
	if p.Cursor != "" {
		offset, err = strconv.Atoi(p.Cursor)
		if err != nil || offset < 0 {
			return 0, 0, inputErrorf(tool, "cursor must be a next_cursor that the tool gave, not %q", excerpt(p.Cursor, 40))
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

// paged cuts a page's entries to what a result has room for.
func paged[T any](env *Env, entries []T, offset int, more bool) ([]T, Page) {
	n := len(entries)
	if env.Resources != nil {
		n = max(1, fitting(entries))
	}
	n = min(n, len(entries))
	p := Page{Count: n}
	if more || n < len(entries) {
		p.NextCursor = strconv.Itoa(offset + n)
	}
	return entries[:n], p
}
