package main

import (
	"encoding/json"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// ground is what any room may stand on: facts and small tools without a state, which
// import nothing of the project but each other.
var ground = []string{"backend/deb822", "backend/firstuse", "backend/lazyregexp", "backend/nearest", "backend/osfile", "backend/pkgversion", "backend/plainly", "backend/release", "backend/sliced", "backend/tsv", "backend/wire"}

// mayImport says which folders of the project the packages below a folder may
// import: the house's doors. The longest folder that matches a package counts;
// a folder may always import itself.
var mayImport = map[string][]string{
	"backend/api":            {"backend/secret"},
	"backend/license":        {"backend/api"},
	"backend/download":       {},
	"backend/visible":        {},
	"backend/index":          {"backend/api", "backend/download"},
	"backend/index/record":   {"backend/api", "backend/index/table"},
	"backend/index/data":     {"backend/index/record", "backend/index/table"},
	"backend/pristine":       {"backend/api", "backend/index/archive", "backend/index/deb", "backend/index/repomd"},
	"backend/advisory":       {"backend/api", "backend/download"},
	"backend/store":          {"backend/api", "backend/license"},
	"backend/client":         {"backend/api"},
	"backend/server":         {"backend/api", "backend/license", "backend/index", "backend/advisory", "backend/store"},
	"backend/secret":         {},
	"backend":                {},
	"assess":                 {"backend/api", "backend/secret", "backend/visible"},
	"assess/conf":            {},
	"assess/hazards":         {"backend/api", "backend/visible"},
	"tools":                  {"backend/api", "backend/secret", "backend/visible", "backend/client", "backend/pristine", "assess"},
	"tools/machine":          {"assess"},
	"tools/tool":             {"backend/api", "backend/client", "assess", "tools/database", "tools/listing", "tools/machine", "tools/register"},
	"tools/evidence":         {"backend/api", "backend/client", "backend/visible", "tools/artifact", "tools/rehearsal", "tools/tool"},
	"tools/job":              {"backend/api", "backend/client", "assess", "tools/artifact", "tools/machine", "tools/migration", "tools/tool"},
	"tools/account":          {"backend/api", "tools/job", "tools/machine", "tools/tool"},
	"tools/collaboration":    {"backend/api", "backend/client", "tools/guide", "tools/tool"},
	"tools/assessment":       {"assess", "tools/artifact", "tools/job", "tools/machine", "tools/tool"},
	"tools/cvescan":          {"backend/api", "backend/client", "assess", "tools/exposure", "tools/job", "tools/machine", "tools/migration", "tools/tool"},
	"tools/dataplan":         {"backend/api", "backend/visible", "assess", "tools/artifact", "tools/data", "tools/evidence", "tools/job", "tools/machine", "tools/tool"},
	"tools/dbplan":           {"backend/api", "backend/client", "assess", "tools/database", "tools/job", "tools/machine", "tools/tool", "tools/upgrade"},
	"tools/convert":          {"backend/api", "backend/secret", "assess/conf", "assess/hazards"},
	"tools/merge":            {},
	"tools/migration":        {"backend/api", "backend/secret", "backend/visible", "backend/pristine", "assess", "tools/convert", "tools/merge", "tools/database"},
	"tools/migration/naming": {"backend/api", "assess"},
	"tools/role":             {"backend/api", "backend/secret", "backend/visible", "assess", "tools/migration"},
	"tools/fixes":            {"tools/role"},
	"tools/listing":          {},
	"tools/parity":           {"backend/api", "backend/secret", "backend/visible", "assess", "tools/migration", "tools/data"},
	"tools/report":           {"backend/api", "backend/secret", "backend/visible", "assess", "tools/database", "tools/convert", "tools/migration", "tools/parity", "tools/exposure", "tools/rehearsal", "tools/page"},
	"tools/artifact":         {"backend/api"},
	"tools/data":             {"backend/api", "backend/secret", "backend/visible", "assess", "tools/artifact", "tools/convert", "tools/database"},
	"tools/exposure":         {"backend/api", "backend/secret"},
	"tools/fleet":            {"assess", "tools/page"},
	"tools/page":             {"backend/visible"},
	"tools/fleet/folder":     {"backend/visible", "tools/fleet"},
	"tools/several":          {"backend/api", "backend/client", "assess", "tools"},
	"tools/register":         {},
	"tools/guide":            {"backend/api"},
	"tools/database":         {"backend/api", "backend/secret", "assess"},
	"tools/upgrade":          {"backend/api", "backend/secret", "tools/database", "tools/artifact", "assess"},
	"tools/upgrade/engine":   {"tools/database", "tools/upgrade/safefile"},
	"tools/upgrade/setsum":   {},
	"tools/upgrade/tree":     {"tools/artifact", "tools/upgrade/safefile"},
	"tools/sandbox":          {},
	"tools/rehearsal":        {"backend/api", "backend/secret", "assess", "tools/migration", "tools/sandbox"},
	"agent":                  {"backend/api", "backend/secret", "backend/visible", "backend/client", "assess", "tools"},
	"cmd":                    {"backend", "assess", "tools", "agent"},

	"backend/index/lookup":     {"backend/api", "backend/index/counterpart", "backend/index/record", "backend/index/rpm", "backend/index/table"},
	"backend/index/course":     {"backend/api", "backend/index/data", "backend/index/lookup", "backend/index/record", "backend/index/rpm"},
	"backend/index/torpm":      {"backend/api", "backend/index/course", "backend/index/lookup", "backend/index/record", "backend/index/rpm"},
	"backend/index/relocation": {"backend/api", "backend/index/counterpart", "backend/index/course", "backend/index/data", "backend/index/lookup", "backend/index/record"},
	"backend/index/translate":  {"backend/api", "backend/index/course", "backend/index/lookup", "backend/index/record", "backend/index/rpm", "backend/index/table", "backend/index/torpm"},
}

// mustNotImport says which packages below its own folder or its doors one does
// nevertheless not import: what answers knows no importer, and what judges a machine has
// no way to it.
var mustNotImport = map[string][]string{
	"assess/judge":  {"assess/host"},
	"backend/index": {"backend/index/counterpartindex", "backend/index/archive", "backend/index/build", "backend/index/catalog", "backend/index/deb", "backend/index/eval", "backend/index/pes", "backend/index/repomd"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

// onlyIn are packages of others that one room alone may import, or none: what it makes
// of them is safe, and what they cost is known. The templates of Go call methods by
// their names, for which the linker keeps every exported method: 3 MB of the program.
var onlyIn = map[string]string{"maragu.dev/gomponents": "tools/page", "html/template": "none", "text/template": "none"}

func TestImportsOnlyGoLeft(t *testing.T) {
	is := is.New(t)
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "svc/...").Output()
	is.NoErr(err)
	checked := 0
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); checked++ {
		var p goPackage
		is.NoErr(d.Decode(&p))
		for _, imported := range p.Imports {
			from, to := strings.TrimPrefix(p.ImportPath, "svc/"), strings.TrimPrefix(imported, "svc/")
			if to != imported && (!allowed(from, to) || slices.Contains(mustNotImport[from], to)) {
				t.Errorf("%s imports %s", from, to)
			}
			if room := onlyIn[imported]; room != "" && room != from {
				t.Errorf("%s imports %s, which is for %s", from, imported, room)
			}
		}
	}
	is.True(checked > 10) // go list found the project
}

func allowed(from, to string) bool {
	if slices.Contains(ground, from) || slices.Contains(ground, to) {
		return slices.Contains(ground, to)
	}
	room := roomOf(from)
	return slices.ContainsFunc(append(mayImport[room], room), func(door string) bool {
		return to == door || strings.HasPrefix(to, door+"/")
	})
}

// roomOf is the longest folder of the table that holds the package.
func roomOf(pkg string) string {
	for dir := pkg; dir != "."; dir = path.Dir(dir) {
		if _, ok := mayImport[dir]; ok {
			return dir
		}
	}
	return pkg
}
