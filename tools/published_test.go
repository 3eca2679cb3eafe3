package tools

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/matryer/is"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/api/schema"
	"svc/tools/cvescan"
	"svc/tools/data"
	"svc/tools/dataplan"
	"svc/tools/dbplan"
	"svc/tools/evidence"
	"svc/tools/exposure"
	"svc/tools/fleet"
	"svc/tools/machine"
	"svc/tools/migration"
	"svc/tools/parity"
	"svc/tools/rehearsal"
	"svc/tools/tool"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const schemas = "../backend/api/schema"

// published are the schemas that the service gives out, by name.
func published() map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{
		"assessment":          documentOf[assess.Assessment](assess.Schema),
		"plan":                documentOf[migration.Plan](migration.Schema),
		"parity":              documentOf[parity.Report](parity.Schema),
		"exposure":            documentOf[exposure.Document](exposure.Schema),
		"data":                documentOf[data.Discovery](data.Schema),
		"data-plan":           documentOf[data.Plan](data.PlanSchema),
		"db-plan":             documentOf[dbplan.PlanResult](dbplan.PlanSchema),
		"db-upgrade-path":     documentOf[dbplan.UpgradePathResult](dbplan.UpgradePathSchema),
		"cve-scan":            documentOf[cvescan.Result](cvescan.Schema),
		"fleet":               documentOf[fleet.Document](fleet.Schema),
		"envelope":            tool.SchemaOf[api.Envelope](nil),
		"migration-predicate": tool.SchemaOf[attest.MigrationPredicate](nil),
		"parity-predicate":    tool.SchemaOf[attest.ParityPredicate](nil),
		"data-plan-predicate": tool.SchemaOf[attest.DataPlanPredicate](nil),
		"rehearsal":           documentOf[rehearsal.Document](rehearsal.Schema),
		"rehearsal-predicate": tool.SchemaOf[attest.RehearsalPredicate](nil),
		"statement":           statementSchema(),
	}
	for name, s := range all {
		s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", name
	}
	return all
}

// documentOf is the schema of an artifact: it names its form, and a later version
// may have more members.
func documentOf[T any](form string) *jsonschema.Schema {
	s := tool.Inferred[T](nil)
	tool.Open(s)
	settle(s)
	s.Properties["schema"].Enum = []any{form}
	return s
}

// settle takes null from lists and tables: they are never null in what svc writes.
func settle(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if slices.Contains(s.Types, "array") || s.AdditionalProperties != nil {
		s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
	}
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	settle(s.Items)
	settle(s.AdditionalProperties)
	for _, p := range s.Properties {
		settle(p)
	}
}

// statementSchema is that of what attest/sign takes: one subject, the manifest, and
// the predicate that the type names.
func statementSchema() *jsonschema.Schema {
	s := tool.SchemaOf[attest.Statement](nil)
	s.Properties["_type"].Enum = []any{attest.StatementType}
	subject := s.Properties["subject"]
	subject.MinItems, subject.MaxItems = jsonschema.Ptr(1), jsonschema.Ptr(1)
	subject.Items.Properties["name"].Enum = []any{attest.Manifest}
	subject.Items.Properties["digest"].Properties["sha256"].Pattern = "^[0-9a-f]{64}$"
	s.Properties["predicate"] = &jsonschema.Schema{Type: "object"}
	for _, p := range []struct{ uri, name string }{
		{attest.MigrationType, "migration-predicate"}, {attest.ParityType, "parity-predicate"}, {attest.DataPlanType, "data-plan-predicate"},
	} {
		s.OneOf = append(s.OneOf, &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{
			"predicateType": {Enum: []any{p.uri}}, "predicate": {Ref: p.name},
		}})
	}
	return s
}

func TestSchemasAreAsPublished(t *testing.T) {
	is := is.New(t)
	all := published()
	for name, s := range all {
		file := filepath.Join(schemas, name+".json")
		got, err := json.MarshalIndent(s, "", "  ")
		is.NoErr(err)
		got = append(got, '\n')
		if *update {
			is.NoErr(os.WriteFile(file, got, 0o644))
		}
		want, err := os.ReadFile(file)
		is.NoErr(err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s is another: go test ./tools -run Published -update", file)
		}
	}
	is.Equal(schema.Names(), slices.Sorted(maps.Keys(all)))
}

// holds checks a document against a published schema.
func holds(t *testing.T, name string, document []byte) error {
	t.Helper()
	is := is.New(t)
	load := func(name string) (*jsonschema.Schema, error) {
		b, ok := schema.Get(name)
		is.True(ok)
		s := new(jsonschema.Schema)
		return s, json.Unmarshal(b, s)
	}
	s, err := load(name)
	is.NoErr(err)
	resolved, err := s.Resolve(&jsonschema.ResolveOptions{
		BaseURI: "https://svc.example/v1/schemas/" + name,
		Loader:  func(u *url.URL) (*jsonschema.Schema, error) { return load(path.Base(u.Path)) },
	})
	is.NoErr(err)
	var v any
	is.NoErr(json.Unmarshal(document, &v))
	return resolved.Validate(v)
}

// TestRealArtifactsHoldTheSchemas: a migration, its verification and a data plan of
// the fixture.
func TestRealArtifactsHoldTheSchemas(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	root, migrated, verified := verified(t, env)
	planned := filepath.Join(t.TempDir(), "data")
	_, err := dataplan.Plan(t.Context(), env, dataplan.PlanInput{Machine: machine.Machine{Root: root}, Target: "debian-13", Out: planned, Confirm: true})
	is.NoErr(err)
	for _, c := range []struct{ dir, file, schema string }{
		{migrated, evidence.AssessmentFile, "assessment"},
		{migrated, evidence.PlanFile, "plan"},
		{migrated, evidence.AttestationFile, "statement"},
		{verified, evidence.AssessmentFile, "assessment"},
		{verified, evidence.ParityFile, "parity"},
		{verified, evidence.AttestationFile, "statement"},
		{planned, evidence.PlanFile, "data-plan"},
		{planned, evidence.AttestationFile, "statement"},
	} {
		b, err := os.ReadFile(filepath.Join(c.dir, c.file))
		is.NoErr(err)
		if c.file == evidence.AttestationFile {
			is.NoErr(holds(t, "envelope", b))
			var e api.Envelope
			is.NoErr(json.Unmarshal(b, &e))
			b, err = base64.StdEncoding.DecodeString(e.Payload)
			is.NoErr(err)
		}
		if err := holds(t, c.schema, b); err != nil {
			t.Errorf("%s of %s: %v", c.file, filepath.Base(c.dir), err)
		}
		is.True(holds(t, c.schema, []byte(strings.Replace(string(b), `"schema":`, `"Schema":`, 1))) != nil || c.schema == "statement")
	}
}

// TestAnswersHoldTheSchemas: of the tools whose results are documents of their own.
func TestAnswersHoldTheSchemas(t *testing.T) {
	is := is.New(t)
	env := newEnv(t)
	discovered, err := dataplan.Discover(t.Context(), env, dataplan.DiscoverInput{Machine: machine.Machine{Root: fixture}, Detail: tool.DetailFull})
	is.NoErr(err)
	is.NoErr(holds(t, "data", tool.Encoded(discovered)))
	plan, err := dbplan.Plan(t.Context(), env, dbplan.PlanInput{Machine: machine.Machine{Root: fixture}, Target: "debian-13"})
	is.NoErr(err)
	is.NoErr(holds(t, "db-plan", tool.Encoded(plan)))
	ways, err := dbplan.UpgradePath(t.Context(), env, dbplan.UpgradePathInput{Engine: "postgresql", From: "13", To: "17"})
	is.NoErr(err)
	is.NoErr(holds(t, "db-upgrade-path", tool.Encoded(ways)))
	is.NoErr(holds(t, "exposure", tool.Encoded(exposure.Uncompared("debian-11", "debian-13", "no feed"))))
}
