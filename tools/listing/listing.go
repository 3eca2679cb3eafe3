// Package listing takes a JSON object apart into its lists and the entries of these.
package listing

import (
	"encoding/json"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Entry is one entry of a list.
type Entry struct {
	List  string
	Value jsontext.Value
}

// Members goes through the members of an object, and gives the names of its lists.
func Members(object []byte, value func(name string, v jsontext.Value), each func(Entry)) (lists []string, err error) {
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
			each(Entry{name, v})
		}
	}
	return lists, nil
}
