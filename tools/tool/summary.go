package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"

	"github.com/go-json-experiment/json/jsontext"
)

// Detail says how much of a long document a result carries.
type Detail string

// The details: everything, or long lists cut.
const (
	DetailSummary Detail = "summary"
	DetailFull    Detail = "full"
)

// Limits of a summary.
const (
	DefaultLimit  = 20      // entries of a list
	maxLimit      = 1000    // entries of a list that a caller may ask for
	SummaryBudget = 8 << 10 // bytes of JSON, so that no client cuts it
	summaryRoom   = 256     // bytes of these for where the rest can be read
)

// CheckShown looks at how much of a long document a call asks for.
func CheckShown(tool string, detail *Detail, limit int) error {
	switch *detail {
	case "":
		*detail = DetailSummary
	case DetailSummary, DetailFull:
	default:
		return InputErrorf(tool, "detail must be %s or %s, not %q", DetailSummary, DetailFull, *detail)
	}
	if limit < 0 || limit > maxLimit {
		return InputErrorf(tool, "limit must be 1 to %d, not %d", maxLimit, limit)
	}
	return nil
}

// Bounds are those of a summary: a limit that was asked for holds as it is,
// without one the whole has a budget too.
type Bounds struct{ Limit, Budget int }

// BoundsOf are those that a limit, or none, asks for.
func BoundsOf(limit int) Bounds {
	if limit > 0 {
		return Bounds{limit, math.MaxInt}
	}
	return Bounds{DefaultLimit, SummaryBudget - summaryRoom}
}

// Fit cuts every list to the limit, and then the longest lists until the whole
// fits the budget.
func Fit(whole func() any, lists []List, most Bounds, total map[string]int) {
	for _, l := range lists {
		l.Cut(most.Limit, total)
	}
	for len(Encoded(whole())) > most.Budget {
		longest := lists[0]
		for _, l := range lists[1:] {
			if l.weight() > longest.weight() {
				longest = l
			}
		}
		if longest.value.Len() == 0 {
			return
		}
		longest.Cut(longest.value.Len()/2, total)
	}
}

// WithoutCut is an object without those of its lists, and of the objects in it,
// that are empty only because they were cut; prefix stands before their names in
// total.
func WithoutCut(object []byte, prefix string, total map[string]int) ([]byte, error) {
	var b bytes.Buffer
	in, out := jsontext.NewDecoder(bytes.NewReader(object)), jsontext.NewEncoder(&b)
	if _, err := in.ReadToken(); err != nil {
		return nil, err
	}
	err := out.WriteToken(jsontext.BeginObject)
	for err == nil && in.PeekKind() == '"' {
		var name jsontext.Token
		if name, err = in.ReadToken(); err != nil {
			break
		}
		key := name.String()
		value, readErr := in.ReadValue()
		switch {
		case readErr != nil:
			err = readErr
		case string(value) == "[]" && total[prefix+key] > 0:
		default:
			if prefix == "" && value.Kind() == '{' {
				if value, err = WithoutCut(value, key+".", total); err != nil {
					break
				}
			}
			err = errors.Join(out.WriteToken(jsontext.String(key)), out.WriteValue(value))
		}
	}
	err = errors.Join(err, out.WriteToken(jsontext.EndObject))
	return bytes.TrimSpace(b.Bytes()), err
}

// List is one list of an assessment under its JSON name.
type List struct {
	name  string
	value reflect.Value
}

// ListOf is the list that pointer leads to.
func ListOf(name string, pointer any) List { return List{name, reflect.ValueOf(pointer).Elem()} }

// ListsOf are the lists of the struct that pointer leads to; prefix goes before their
// names.
func ListsOf(prefix string, pointer any) []List {
	var lists []List
	v := reflect.ValueOf(pointer).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Slice {
			lists = append(lists, List{prefix + v.Type().Field(i).Tag.Get("json"), f})
		}
	}
	return lists
}

// Cut shortens the list and notes its first length.
func (l List) Cut(n int, total map[string]int) {
	if l.value.Len() <= n {
		return
	}
	if _, noted := total[l.name]; !noted {
		total[l.name] = l.value.Len()
	}
	l.value.Set(l.value.Slice(0, n))
}

// weight is the list's size as JSON; findings are the last to go.
func (l List) weight() int {
	if l.name == "findings" {
		return len("[]")
	}
	return len(Encoded(l.value.Interface()))
}

// Encoded is a value as JSON.
func Encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return nil // values of this package always encode
	}
	return b
}
