package store

import (
	"fmt"
	"strconv"
	"strings"

	"svc/backend/api"
)

// Page is a part of a list: limit and offset are in range.
type Page struct {
	Limit, Offset int
	// From is the instant, in microseconds, from whose entries on the offset counts; nil
	// is where the list begins. So a page costs the same wherever in the list it is.
	From *int64
}

// Start is the instant that a page counts from, or what stands before all.
func (p Page) Start(before int64) int64 {
	if p.From == nil {
		return before
	}
	return *p.From
}

// Next is the page after entries of these instants.
func (p Page) Next(instants []int64) Page {
	last, same := instants[len(instants)-1], 0
	for same < len(instants) && instants[len(instants)-1-same] == last {
		same++
	}
	if same == len(instants) && p.From != nil && *p.From == last {
		same += p.Offset
	}
	return Page{Limit: p.Limit, Offset: same, From: &last}
}

// Cursor is a page's beginning as one text, which names no machine.
func (p Page) Cursor() string { return fmt.Sprintf("%d.%d", p.Start(0), p.Offset) }

// PageAt is the page that begins at a cursor.
func PageAt(cursor string, limit int) (Page, error) {
	at, same, ok := strings.Cut(cursor, ".")
	from, err := strconv.ParseInt(at, 10, 64)
	offset, wrong := strconv.ParseUint(same, 10, 31)
	if !ok || err != nil || wrong != nil {
		return Page{}, api.Errorf(api.MalformedRequest, "cursor must be a next_cursor of this list, as it came; nothing was read")
	}
	return Page{Limit: limit, Offset: int(offset), From: &from}, nil
}
