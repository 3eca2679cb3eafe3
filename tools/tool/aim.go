package tool

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"svc/backend/nearest"
	"svc/tools/listing"
)

// Aim asks for lists of a long document alone, instead of a summary of all.
type Aim struct {
	Section []string `json:"section,omitempty" jsonschema:"lists to show"`
	Match   string   `json:"match,omitempty" jsonschema:"entries with this text"`
	Cursor  string   `json:"cursor,omitempty" jsonschema:"next_cursor"`
}

// Aimed reports whether lists are asked for.
func (a Aim) Aimed() bool { return len(a.Section) > 0 || a.Match != "" || a.Cursor != "" }

// Shoot gives of a document what is no list, and the entries that are asked for: as
// many as the limit, or a result, has room for. Total has how many there are of each
// list, and next_cursor is where more go on.
func (a Aim) Shoot(env *Env, tool string, document any, limit int) (map[string]any, error) {
	result, entries := map[string]any{}, []listing.Entry{}
	names, err := listing.Members(Encoded(document), func(name string, value jsontext.Value) {
		if value.Kind() == '"' {
			result[name] = value
		}
	}, func(e listing.Entry) { entries = append(entries, e) })
	if err != nil {
		return nil, err
	}
	for _, s := range a.Section {
		if !slices.Contains(names, s) {
			return nil, InputErrorf(tool, "there is no section %q (did you mean %s?): these are %s", Excerpt(s, 60), nearest.To(s, 1, names)[0], strings.Join(names, ", "))
		}
	}
	entries = slices.DeleteFunc(entries, func(e listing.Entry) bool { return !a.wants(e) })
	total := map[string]int{}
	for _, s := range a.Section {
		total[s] = 0
	}
	for _, e := range entries {
		total[e.List]++
	}
	result["total"] = total
	_, offset, err := Paging{Cursor: a.Cursor}.Page(tool)
	if err != nil {
		return nil, err
	}
	entries = entries[min(offset, len(entries)):]
	page := entries[:a.room(env, entries, limit)]
	for _, e := range page {
		list, _ := result[e.List].([]jsontext.Value)
		result[e.List] = append(list, e.Value)
	}
	if len(page) < len(entries) {
		result["next_cursor"] = strconv.Itoa(offset + len(page))
	}
	return result, nil
}

// wants reports whether an entry is asked for.
func (a Aim) wants(e listing.Entry) bool {
	if len(a.Section) > 0 && !slices.Contains(a.Section, e.List) {
		return false
	}
	return a.Match == "" || bytes.Contains(bytes.ToLower(e.Value), bytes.ToLower([]byte(a.Match)))
}

// room is how many entries a page has; one, however long it is.
func (a Aim) room(env *Env, entries []listing.Entry, limit int) int {
	if limit > 0 {
		return min(limit, len(entries))
	}
	if env.Resources == nil {
		return len(entries)
	}
	left := SummaryBudget - 2*summaryRoom
	for i, e := range entries {
		if left -= len(e.Value) + 1; left < 0 {
			return max(1, i)
		}
	}
	return len(entries)
}
