// Package schema has the JSON Schemas that are published: of attestations'
// statements and predicates, and of the artifacts that svc writes. They are printed
// from the Go types that make these documents; TestSchemasAreAsPublished of package
// tools does so, with -update.
package schema

import (
	"embed"
	"io/fs"
	"slices"
	"strings"

	"svc/backend/sliced"
)

//go:embed *.json
var files embed.FS

// Get is a schema by its name, such as parity-predicate.
func Get(name string) (schema []byte, ok bool) {
	b, err := files.ReadFile(name + ".json")
	return b, err == nil
}

// Names are the names of all schemas, in their order.
func Names() []string {
	entries, _ := files.ReadDir(".") // of what is built in
	names := sliced.Map(entries, func(e fs.DirEntry) string { return strings.TrimSuffix(e.Name(), ".json") })
	slices.Sort(names)
	return names
}
