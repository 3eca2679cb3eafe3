package server

import (
	rawjson "encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"svc/backend/api"
	"svc/backend/api/schema"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// object is a JSON object of the document.
type object map[string]any

// document prints the OpenAPI 3.1 description of the routes.
func document(routes []route) ([]byte, error) {
	p := &printer{schemas: object{}}
	paths := map[string]object{}
	for _, r := range routes {
		if paths[r.path] == nil {
			paths[r.path] = object{}
		}
		operation, err := p.operation(r)
		if err != nil {
			return nil, fmt.Errorf("describing %s %s: %w", r.method, r.path, err)
		}
		paths[r.path][strings.ToLower(r.method)] = operation
	}
	failure, err := p.schema(reflect.TypeFor[api.Error](), true)
	if err != nil {
		return nil, err
	}
	return json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "svc", "version": "1",
			"description": "Package lookup, instance licensing and accounts for the migration of virtual machines.",
		},
		"paths": paths,
		"components": object{
			"schemas":         p.schemas,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
			"responses":       object{"Error": response(refusals(), failure)},
		},
	}, json.Deterministic(true), jsontext.Multiline(true), jsontext.WithIndent("  "))
}

// printer collects the schemas that operations refer to.
type printer struct{ schemas object }

func (p *printer) operation(r route) (object, error) {
	out, err := p.schema(r.out, true)
	if err != nil {
		return nil, err
	}
	success := response("Success.", out)
	if r.in == reflect.TypeFor[api.StatementRequest]() {
		success["content"].(object)[csvType] = object{"schema": object{"type": "string"}}
	}
	operation := object{
		"operationId": operationID(r),
		"summary":     r.doc,
		"responses":   object{strconv.Itoa(r.status): success, "default": object{"$ref": "#/components/responses/Error"}},
	}
	if parameters := parameters(r); len(parameters) > 0 {
		operation["parameters"] = parameters
	}
	if r.auth != api.Public {
		operation["security"] = []object{{"token": []string{}}}
	}
	if r.auth == api.Internal {
		operation["description"] = "For accounts whose plan is internal; 403 for all others."
	}
	if r.method == http.MethodPost {
		in, err := p.schema(r.in, false)
		if err != nil {
			return nil, err
		}
		operation["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": in}}}
	}
	return operation, nil
}

// refusals says which code comes with which status.
func refusals() string {
	text := "A refusal: error is a sentence for people, code is for programs. Codes:"
	for _, code := range api.Codes() {
		text += fmt.Sprintf(" %s (%d)", code, api.Errorf(code, "").Status())
	}
	return text + "."
}

var notLetters = lazyregexp.New(`[^a-z]+`)

// operationID is the method and path as one word: get-account-usage.
func operationID(r route) string {
	return strings.Trim(notLetters.ReplaceAllString(strings.ToLower(r.method+strings.TrimPrefix(r.path, "/v1")), "-"), "-")
}

func response(description string, schema any) object {
	return object{
		"description": description,
		"headers":     object{"X-Request-Id": object{"schema": object{"type": "string"}}},
		"content":     object{"application/json": object{"schema": schema}},
	}
}

// parameters are the tagged fields of the input, and the Idempotency-Key.
func parameters(r route) []object {
	var all []object
	for i := range r.in.NumField() {
		tag := r.in.Field(i).Tag
		if name := tag.Get("path"); name != "" {
			all = append(all, object{"name": name, "in": "path", "required": true, "schema": pathSchema(r.in.Field(i).Type)})
		}
		if name := tag.Get("query"); name != "" {
			all = append(all, object{"name": name, "in": "query", "required": !optional(tag), "schema": querySchema(r.in.Field(i))})
		}
	}
	if r.replay {
		all = append(all, object{
			"name": "Idempotency-Key", "in": "header",
			"description": "A repeat with the same key and body within 24 hours gets the first answer and records nothing; while the first is being answered it gets IDEMPOTENCY_IN_FLIGHT (409).",
			"schema":      object{"type": "string", "minLength": 1, "maxLength": api.MaxKey},
		})
	}
	return all
}

// optional reports whether a parameter has a default.
func optional(tag reflect.StructTag) bool {
	_, ok := tag.Lookup("default")
	return ok
}

func pathSchema(t reflect.Type) any {
	if s := enums[t]; s != nil {
		return s
	}
	return object{"type": "integer", "minimum": 1}
}

func querySchema(f reflect.StructField) object {
	if s := enums[f.Type]; s != nil {
		return object{"type": "string", "enum": s.Enum, "default": f.Tag.Get("default")}
	}
	if f.Type.Kind() == reflect.String {
		return object{"type": "string"}
	}
	return object{
		"type": "integer", "default": number(f.Tag, "default"),
		"description": fmt.Sprintf("Clamped to %s to %s.", f.Tag.Get("minimum"), f.Tag.Get("maximum")),
	}
}

// sets are the schemas of the closed sets: an answer can have a kind that no
// request may.
func sets(answer bool) map[reflect.Type]*jsonschema.Schema {
	all := maps.Clone(enums)
	if answer {
		all[reflect.TypeFor[api.Kind]()] = enum(append([]api.Kind{api.License}, api.UsageKinds...)...)
	}
	return all
}

// enums are the closed sets of the contract.
var enums = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[api.Plan]():             enum(api.Plans...),
	reflect.TypeFor[api.Relation]():         enum(api.Relations...),
	reflect.TypeFor[api.Kind]():             enum(api.UsageKinds...),
	reflect.TypeFor[api.Severity]():         enum(api.SeverityInfo, api.SeverityWarning, api.SeverityInhibitor),
	reflect.TypeFor[api.RelocationKind]():   enum(api.RelocateFile, api.RelocateDir, api.RelocateService, api.RelocateUser, api.RelocateGroup),
	reflect.TypeFor[api.RelocationAction](): enum(api.ActionCopy, api.ActionConvert, api.ActionManual, api.ActionDrop),
	reflect.TypeFor[api.Match]():            enum(api.MatchExact, api.MatchAlias, api.MatchProvides, api.MatchSource, api.MatchHeuristic, api.MatchNone),
	reflect.TypeFor[api.HostHint]():         {Type: "string", Pattern: "^[0-9a-f]{64}$"},
	reflect.TypeFor[api.Document]():         {Type: "object"},
	reflect.TypeFor[jsontext.Value]():       {Type: "object"},
	reflect.TypeFor[rawjson.RawMessage]():   {Ref: "schemas/statement"}, // what attest/sign takes; beside this document
	reflect.TypeFor[api.SchemaName]():       enum(schema.Names()...),
	reflect.TypeFor[api.Role]():             enum(api.Roles...),
	reflect.TypeFor[api.StatementFormat]():  enum(api.StatementFormats...),
}

// checked are the members of requests whose limits no type has.
var checked = map[string]jsonschema.Schema{
	"vm_fingerprint": {Pattern: "^[0-9a-f]{64}$"},
	"packages":       {MinItems: jsonschema.Ptr(1), MaxItems: jsonschema.Ptr(api.MaxBatch)},
	"canonicals":     {MinItems: jsonschema.Ptr(1), MaxItems: jsonschema.Ptr(api.MaxBatch)},
	"kind":           {Enum: enum(api.FindingKinds...).Enum}, // of a finding; usage's has a type
	"channel":        {Enum: enum(api.Channels...).Enum},
	"title":          {MinLength: jsonschema.Ptr(1), MaxLength: jsonschema.Ptr(api.MaxTitle)},
	"body":           {MinLength: jsonschema.Ptr(1), MaxLength: jsonschema.Ptr(api.MaxText)},
	"question":       {MinLength: jsonschema.Ptr(1), MaxLength: jsonschema.Ptr(api.MaxText)},
	"answer":         {MinLength: jsonschema.Ptr(1), MaxLength: jsonschema.Ptr(api.MaxText)},
	"distro":         {Pattern: "^[A-Za-z0-9._-]{1,64}$"},
}

// limit gives the members of a request their limits.
func limit(s *jsonschema.Schema) {
	for name, property := range s.Properties {
		c := checked[name]
		if name == "version" && s.Properties["distro"] != nil {
			c = checked["distro"]
		}
		if c.Pattern != "" {
			property.Pattern = c.Pattern
		}
		if property.Enum == nil {
			property.Enum = c.Enum
		}
		property.MinItems, property.MaxItems, property.MinLength, property.MaxLength = c.MinItems, c.MaxItems, c.MinLength, c.MaxLength
		limit(property)
	}
}

func enum[T ~string](values ...T) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: sliced.Map(values, func(v T) any { return string(v) })}
}

// schema adds a type's schema to the components and refers to it.
func (p *printer) schema(t reflect.Type, answer bool) (any, error) {
	name := t.Name()
	if p.schemas[name] == nil {
		s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: sets(answer)})
		if err != nil {
			return nil, err
		}
		settle(s, answer)
		if !answer {
			limit(s)
		}
		p.schemas[name] = s
	}
	return object{"$ref": "#/components/schemas/" + name}, nil
}

// settle makes a schema say what the service does: a list is never null, what
// may be null may be so beside a closed set, and an answer may have more members
// one day.
func settle(s *jsonschema.Schema, answer bool) {
	if s == nil {
		return
	}
	if slices.Contains(s.Types, "array") {
		s.Type, s.Types = "array", nil
	}
	if s.Enum != nil && slices.Contains(s.Types, "null") {
		s.Enum = append(slices.Clip(s.Enum), nil)
	}
	if answer && s.Properties != nil {
		s.AdditionalProperties = nil
	}
	settle(s.Items, answer)
	for _, property := range s.Properties {
		settle(property, answer)
	}
}
