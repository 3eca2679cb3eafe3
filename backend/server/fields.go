package server

import (
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"svc/backend/api"
	"svc/backend/lazyregexp"
)

var (
	integer  = lazyregexp.New(`^[+-]?[0-9]+$`)
	recordID = lazyregexp.New(`^[1-9][0-9]{0,18}$`)
)

// readFields fills the fields of the struct that in points to which are tagged
// `path` and `query`; strict refuses other parameters of the query.
func readFields(r *http.Request, in any, strict bool) error {
	v := reflect.ValueOf(in).Elem()
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return malformed("the query string is malformed")
	}
	known := []string{}
	for i := range v.NumField() {
		if name := v.Type().Field(i).Tag.Get("query"); name != "" {
			known = append(known, name)
		}
	}
	if strict {
		if err := checkQuery(query, known); err != nil {
			return err
		}
	}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if name := field.Tag.Get("path"); name != "" {
			err = setPath(v.Field(i), name, r.PathValue(name))
		} else if name := field.Tag.Get("query"); name != "" {
			err = setQuery(v.Field(i), field.Tag, name, query[name])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkQuery refuses what no field is called: a misspelt limit would go unnoticed.
func checkQuery(query url.Values, known []string) error {
	for name := range query {
		switch {
		case slices.Contains(known, name):
		case len(known) == 0:
			return malformed("%.80q is no query parameter of this route: it takes none", name)
		default:
			return malformed("%.80q is no query parameter of this route: it takes %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// setPath sets a field of the path: a name, or an id. What is no id names nothing.
func setPath(v reflect.Value, name, s string) error {
	if v.Kind() == reflect.String {
		return setString(v, name, s)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || !recordID.MatchString(s) {
		return api.Errorf(api.NotFound, "there is nothing with this id: ids are positive integers")
	}
	v.SetInt(n)
	return nil
}

// setQuery sets a field of the query string, or its default.
func setQuery(v reflect.Value, tag reflect.StructTag, name string, values []string) error {
	switch {
	case len(values) > 1:
		return malformed("%s is given more than once", name)
	case v.Kind() == reflect.String && len(values) == 1:
		return setString(v, name, values[0])
	case v.Kind() == reflect.Int && len(values) == 1:
		return setInteger(v, tag, name, values[0])
	case v.Kind() == reflect.Int:
		v.SetInt(number(tag, "default"))
	}
	return nil
}

func setString(v reflect.Value, name, s string) error {
	if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
		return malformed("%s holds invalid characters", name)
	}
	v.SetString(s)
	return nil
}

// setInteger clamps to the field's range, however long the number is.
func setInteger(v reflect.Value, tag reflect.StructTag, name, s string) error {
	if !integer.MatchString(s) {
		return malformed("%s must be an integer", name)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return malformed("%s must be an integer", name)
	}
	v.SetInt(min(max(n, number(tag, "minimum")), number(tag, "maximum")))
	return nil
}

// number reads a bound from a field's tag.
func number(tag reflect.StructTag, name string) int64 {
	// The tags are our own; a test reads each.
	n, _ := strconv.ParseInt(tag.Get(name), 10, 64)
	return n
}
