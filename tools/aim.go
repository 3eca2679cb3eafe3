package tools

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"svc/backend/nearest"
)

// Aim asks for lists of a long document alone, instead of a summary of all.
type Aim struct {
	Section []string `json:"section,omitempty" jsonschema:"lists to show"`
	Match   string   `json:"match,omitempty" jsonschema:"entries with this text"`
	Cursor  string   `json:"cursor,omitempty" jsonschema:"next_cursor"`
}

func (a Aim) aimed() bool { return len(a.Section) > 0 || a.Match != "" || a.Cursor != "" }

// entry is one entry of a list.
type entry struct {
	list  string
	value jsontext.Value
}

// shoot gives of a document what is no list, and the entries that are asked for: as
// many as the limit, or a result, has room for. Total has how many there are of each
// list, and next_cursor is where more go on.
func (a Aim) shoot(env *Env, tool string, document any, limit int) (map[string]any, error) {
	result, entries := map[string]any{}, []entry{}
	names, err := members(encoded(document), func(name string, value jsontext.Value) {
		if value.Kind() == '"' {
			result[name] = value
		}
	}, func(e entry) { entries = append(entries, e) })
	if err != nil {
		return nil, err
	}
	for _, s := range a.Section {
		if !slices.Contains(names, s) {
			return nil, inputErrorf(tool, "there is no section %q (did you mean %s?): these are %s", excerpt(s, 60), nearest.To(s, 1, names)[0], strings.Join(names, ", "))
		}
	}
	entries = slices.DeleteFunc(entries, func(e entry) bool { return !a.wants(e) })
	total := map[string]int{}
	for _, s := range a.Section {
		total[s] = 0
	}
	for _, e := range entries {
		total[e.list]++
	}
	result["total"] = total
	_, offset, err := Paging{Cursor: a.Cursor}.page(tool)
	if err != nil {
		return nil, err
	}
	entries = entries[min(offset, len(entries)):]
	page := entries[:a.room(env, entries, limit)]
	for _, e := range page {
		list, _ := result[e.list].([]jsontext.Value)
		result[e.list] = append(list, e.value)
	}
	if len(page) < len(entries) {
		result["next_cursor"] = strconv.Itoa(offset + len(page))
	}
	return result, nil
}

// wants reports whether an entry is asked for.
func (a Aim) wants(e entry) bool {
	if len(a.Section) > 0 && !slices.Contains(a.Section, e.list) {
		return false
	}
	return a.Match == "" || bytes.Contains(bytes.ToLower(e.value), bytes.ToLower([]byte(a.Match)))
}

// room is how many entries a page has; one, however long it is.
func (a Aim) room(env *Env, entries []entry, limit int) int {
	if limit > 0 {
		return min(limit, len(entries))
	}
	if env.Resources == nil {
		return len(entries)
	}
	left := summaryBudget - 2*summaryRoom
	for i, e := range entries {
		if left -= len(e.value) + 1; left < 0 {
			return max(1, i)
		}
	}
	return len(entries)
}

// members goes through the members of an object, and gives the names of its lists.
func members(object []byte, value func(name string, v jsontext.Value), each func(entry)) (lists []string, err error) {
	all := map[string]jsontext.Value{}
	if err := json.Unmarshal(object, &all); err != nil {
		return nil, err
	}
	for name, v := range all {
		if v.Kind() != '[' {
			value(name, v)
			continue
		}
		lists = append(lists, name)
	}
	slices.Sort(lists)
	for _, name := range lists {
		var values []jsontext.Value
		if err := json.Unmarshal(all[name], &values); err != nil {
			return nil, err
		}
		for _, v := range values {
			each(entry{name, v})
		}
	}
	return lists, nil
}
