package advisories_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"svc/.ci/e2e"
)

// valid holds the documents for other programs against the schemas of their formats,
// which two modules carry.
func valid(t *testing.T, w *e2e.Work, root, feed string) {
	t.Helper()
	for _, format := range []struct {
		name   string
		schema func(*testing.T, *e2e.Work) *jsonschema.Schema
	}{{"sarif", sarif}, {"cyclonedx-vex", cyclonedx}} {
		t.Run(format.name+" is valid by its schema", func(t *testing.T) {
			is := is.New(t)
			w := w.In(t)
			said := w.SVC(0, "cve-scan", "--root", root, "--advisories", feed, "--format", format.name)
			document, err := jsonschema.UnmarshalJSON(strings.NewReader(said.Out))
			is.NoErr(err)
			schema := format.schema(t, w)
			is.NoErr(schema.Validate(document))
			document.(map[string]any)["version"] = []any{}
			is.True(schema.Validate(document) != nil) // it does not take anything
		})
	}
}

func sarif(t *testing.T, w *e2e.Work) *jsonschema.Schema {
	is := is.New(t)
	source, err := os.ReadFile(module(w, "github.com/owenrumney/go-sarif/v3@v3.3.1") + "/pkg/report/v210/sarif/schema.go")
	is.NoErr(err)
	_, text, found := strings.Cut(string(source), "const schema = `")
	is.True(found)
	text, _, _ = strings.Cut(text, "`")
	return compile(t, "sarif.json", map[string]string{"sarif.json": text})
}

func cyclonedx(t *testing.T, w *e2e.Work) *jsonschema.Schema {
	const at = "http://cyclonedx.org/schema/"
	folder, texts := module(w, "github.com/CycloneDX/cyclonedx-go@v0.12.0")+"/schema/", map[string]string{}
	for _, name := range []string{"bom-1.6.schema.json", "spdx.schema.json", "jsf-0.82.schemax.json"} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		is.New(t).NoErr(err)
		texts[at+strings.Replace(name, ".schemax.", ".schema.", 1)] = string(text)
	}
	return compile(t, at+"bom-1.6.schema.json", texts)
}

// compile makes a schema of documents by their addresses.
func compile(t *testing.T, of string, texts map[string]string) *jsonschema.Schema {
	is := is.New(t)
	c := jsonschema.NewCompiler()
	for at, text := range texts {
		document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		is.NoErr(err)
		is.NoErr(c.AddResource(at, document))
	}
	schema, err := c.Compile(of)
	is.NoErr(err)
	return schema
}

// module downloads a module, and gives its folder.
func module(w *e2e.Work, name string) string {
	var made struct{ Dir string }
	w.Run(0, "go", "mod", "download", "-json", name).JSON(&made)
	return made.Dir
}
