package client

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
)

// address fills the fields of in that are tagged `path` and `query` into an
// endpoint's path. A query field that is zero is left out.
func address(path string, in any) (string, error) {
	v := reflect.ValueOf(in)
	query := url.Values{}
	for i := range v.NumField() {
		tag, value := v.Type().Field(i).Tag, fmt.Sprint(v.Field(i).Interface())
		if name := tag.Get("path"); name != "" {
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
		}
		if name := tag.Get("query"); name != "" && !v.Field(i).IsZero() {
			query.Set(name, value)
		}
	}
	if strings.Contains(path, "{") {
		return "", fmt.Errorf("the request has no field for every part of %s", path)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, nil
}
