package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"svc/backend/nearest"
	"svc/backend/sliced"
	"svc/tools/machine"
)

// decode takes the arguments of a call; none is an empty object. What models
// send for what they mean is taken too: "42" for a number, "x" for a list of
// one, null for nothing.
func decode[In any](schema *jsonschema.Schema, args json.RawMessage) (in In, err error) {
	given := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(args)) > 0 {
		if err := json.Unmarshal(args, &given); err != nil {
			return in, fmt.Errorf("the arguments must be an object, not %s", machine.Abbreviated(string(args)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if string(given[name]) == "null" {
			delete(given, name)
			continue
		}
		property, known := schema.Properties[name]
		if !known {
			return in, unknownArgument(name, schema)
		}
		if given[name], err = coerce(property, given[name]); err != nil {
			return in, fmt.Errorf("%s must be %w", name, err)
		}
	}
	for _, name := range schema.Required {
		if _, ok := given[name]; !ok {
			return in, fmt.Errorf("%s is required: %s", name, schema.Properties[name].Description)
		}
	}
	b, err := json.Marshal(given)
	if err != nil {
		return in, err
	}
	return in, json.Unmarshal(b, &in)
}

func unknownArgument(name string, schema *jsonschema.Schema) error {
	name = machine.Abbreviated(name)
	known := slices.Sorted(maps.Keys(schema.Properties))
	if len(known) == 0 {
		return fmt.Errorf("there is no argument %q: the tool takes none", name)
	}
	said := fmt.Sprintf("there is no argument %q", name)
	if meant, ok := nearest.Meant(strings.ReplaceAll(name, "-", "_"), known); ok {
		said += fmt.Sprintf(" (did you mean %s?)", meant)
	}
	return fmt.Errorf("%s: the tool takes %s", said, strings.Join(known, ", "))
}

// coerce gives a value in the type that the schema wants, or says what is
// expected.
func coerce(s *jsonschema.Schema, v json.RawMessage) (json.RawMessage, error) {
	var text string
	quoted := json.Unmarshal(v, &text) == nil
	switch s.Type {
	case "integer":
		if quoted {
			v = json.RawMessage(strings.TrimSpace(text))
		}
		return integer(v)
	case "boolean":
		if quoted {
			v = json.RawMessage(strings.ToLower(strings.TrimSpace(text)))
		}
		if t := string(v); t != "true" && t != "false" {
			return nil, fmt.Errorf("true or false, not %s", machine.Abbreviated(string(v)))
		}
	case "array":
		if v[0] != '[' {
			return slices.Concat([]byte("["), v, []byte("]")), nil
		}
	case "string":
		if v[0] == '{' || v[0] == '[' {
			return nil, fmt.Errorf("a text, not %s", machine.Abbreviated(string(v)))
		}
		if !quoted { // a version: 13, or 10.5
			text = string(v)
		}
		if known := words(s.Enum); len(known) > 0 && !slices.Contains(known, text) {
			return nil, fmt.Errorf("one of %s, not %s", strings.Join(known, ", "), machine.Abbreviated(string(v)))
		}
		return json.Marshal(text)
	}
	return v, nil
}

// integer takes whole numbers, 1e3 and 5.0 too.
func integer(v json.RawMessage) (json.RawMessage, error) {
	f, err := strconv.ParseFloat(string(v), 64)
	n := int64(f)
	if err != nil || float64(n) != f {
		return nil, fmt.Errorf("a whole number, not %s", machine.Abbreviated(string(v)))
	}
	if exact, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		n = exact // what a float can't hold
	}
	return json.RawMessage(strconv.FormatInt(n, 10)), nil
}

// words are the values of an enumeration.
func words(enum []any) []string {
	return append([]string{}, sliced.Map(enum, func(v any) string { return fmt.Sprint(v) })...)
}
