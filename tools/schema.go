package tools

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"svc/assess"
	"svc/backend/api"
)

// enums gives the closed string types their values, so that every schema that
// uses one says them.
var enums = map[reflect.Type][]any{
	reflect.TypeFor[Detail]():                 {DetailSummary, DetailFull},
	reflect.TypeFor[api.Plan]():               {api.PlanFree, api.PlanOnDemand, api.PlanPro, api.PlanFleet, api.PlanInternal},
	reflect.TypeFor[assess.FindingSeverity](): {assess.High, assess.Medium, assess.Low, assess.Info},
	reflect.TypeFor[assess.SourceState]():     {assess.SourceOK, assess.SourceAbsent, assess.SourceUnreadable, assess.SourceCorrupt},
	reflect.TypeFor[assess.ConfigState]():     {assess.ConfigChanged, assess.ConfigUnowned, assess.ConfigMissing, assess.ConfigUnreadable},
}

// schemaOf is the schema of T in the form that every known client takes: no
// unions with null, no schema that is just true.
func schemaOf[T any]() *jsonschema.Schema {
	types := map[reflect.Type]*jsonschema.Schema{}
	for t, values := range enums {
		types[t] = &jsonschema.Schema{Type: "string", Enum: values}
	}
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		panic(fmt.Sprintf("schema of %v: %v", reflect.TypeFor[T](), err)) // a type that no JSON can hold: a fault of this program, seen by every test
	}
	clean(s)
	return s
}

// clean takes the unions with null out of a schema and all below it.
func clean(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Types) > 0 {
		s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
	}
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	clean(s.Items)
	if s.Type == "object" && s.Properties == nil {
		clean(s.AdditionalProperties)
	}
	for _, p := range s.Properties {
		clean(p)
	}
}
