package tool

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"svc/assess"
	"svc/backend/api"
	"svc/tools/database"
	"svc/tools/machine"
)

// Enums gives closed string types their values, so that every schema that uses one says
// them.
type Enums map[reflect.Type][]any

// enums are those of what several tools have.
var enums = Enums{
	reflect.TypeFor[database.Gap]():           {database.GapNone, database.GapMinor, database.GapMajor, database.GapEngineChange, database.GapNotOffered, database.GapUnknown},
	reflect.TypeFor[Detail]():                 {DetailSummary, DetailFull},
	reflect.TypeFor[api.Plan]():               {api.PlanFree, api.PlanOnDemand, api.PlanPro, api.PlanFleet, api.PlanInternal},
	reflect.TypeFor[assess.FindingSeverity](): {assess.High, assess.Medium, assess.Low, assess.Info},
	reflect.TypeFor[assess.SourceState]():     {assess.SourceOK, assess.SourceAbsent, assess.SourceUnreadable, assess.SourceCorrupt},
	reflect.TypeFor[assess.ConfigState]():     {assess.ConfigChanged, assess.ConfigUnowned, assess.ConfigMissing, assess.ConfigUnreadable},
}

// SchemaOf is the schema of T in the form that every known client takes: no
// unions with null, no schema that is just true.
func SchemaOf[T any](own Enums) *jsonschema.Schema {
	s := Inferred[T](own)
	clean(s)
	return s
}

// Inferred is the schema of T as its type has it.
func Inferred[T any](own Enums) *jsonschema.Schema {
	types := map[reflect.Type]*jsonschema.Schema{}
	for _, of := range []Enums{enums, own} {
		for t, values := range of {
			types[t] = &jsonschema.Schema{Type: "string", Enum: values}
		}
	}
	types[reflect.TypeFor[machine.Machines]()] = machinesSchema()
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: types})
	if err != nil {
		panic(fmt.Sprintf("schema of %v: %v", reflect.TypeFor[T](), err)) // a type that no JSON can hold: a fault of this program, seen by every test
	}
	return s
}

// machinesSchema has each machine as a tool takes one. What its members are is said
// there.
func machinesSchema() *jsonschema.Schema {
	members := map[string]*jsonschema.Schema{}
	for _, name := range []string{"root", "image", "ssh"} {
		members[name] = &jsonschema.Schema{Type: "string"}
	}
	return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{Type: "object", Properties: members}}
}

// Requiring shows an argument as required that a call may do without where another
// has it: models that are told so never leave it out.
func Requiring(name string, t Tool) Tool {
	shown := *t.Input
	shown.Required = append([]string{name}, shown.Required...)
	t.Input = &shown
	return t
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

// maxOutput bounds what a tool's output schema takes of the list of tools, in
// bytes of JSON: clients read it, and models do not.
const maxOutput = 450

// prune makes an output schema small and open: what a later version adds fits
// it too. While it is too big its deepest level goes, of whose objects is left
// that they are objects; and then the list of what is always there.
func prune(s *jsonschema.Schema) *jsonschema.Schema {
	Open(s)
	for depth := depthOf(s); depth > 1 && size(s) > maxOutput; depth-- {
		flatten(s, depth)
	}
	if size(s) > maxOutput {
		s.Required = nil
	}
	return s
}

// Open lets objects have more members than are named.
func Open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if len(s.Properties) > 0 {
		s.AdditionalProperties = nil
	}
	Open(s.Items)
	for _, p := range s.Properties {
		Open(p)
	}
}

// size is roughly how many bytes a schema has as JSON. Encoding it to see would
// take longer than all else that a server does before its first answer.
func size(s *jsonschema.Schema) int {
	if s == nil {
		return 0
	}
	n := len(`{"type":"string"},`) + len(s.Description) + size(s.Items) + size(s.AdditionalProperties)
	for name, p := range s.Properties {
		n += len(`"":`) + len(name) + size(p)
	}
	for _, name := range s.Required {
		n += len(`"",`) + len(name)
	}
	for _, value := range words(s.Enum) {
		n += len(`"",`) + len(value)
	}
	return n
}

// depthOf is how many objects are inside each other.
func depthOf(s *jsonschema.Schema) int {
	if s == nil {
		return 0
	}
	below := max(depthOf(s.Items), depthOf(s.AdditionalProperties))
	for _, p := range s.Properties {
		below = max(below, depthOf(p))
	}
	if s.Type == "object" {
		below++
	}
	return below
}

// flatten empties the objects of the given depth, the outermost being 1.
func flatten(s *jsonschema.Schema, depth int) {
	if s == nil {
		return
	}
	if s.Type == "object" {
		depth--
		if depth == 0 {
			*s = jsonschema.Schema{Type: "object", Description: s.Description}
			return
		}
	}
	flatten(s.Items, depth)
	flatten(s.AdditionalProperties, depth)
	for _, p := range s.Properties {
		flatten(p, depth)
	}
}
