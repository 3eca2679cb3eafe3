package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/release"
)

// ofFamilies are the rooms that are about families themselves: what they are, and the
// rules of each format's names.
var ofFamilies = []string{"backend/release", "backend/index"}

// namesFamilies are the files that ask which family or line a release is of, and why no
// question of release.Conventions would do. A new family touches none of them: what they
// say holds for the one that they name. The list only shrinks.
var namesFamilies = map[string]string{
	"assess/database/databases.go":                 "EL calls the client of MariaDB as others call its server",
	"assess/hazards/settings.go":                   "the word debian of a table, in the place of a version",
	"assess/packages/repositories/repositories.go": "EPEL, and how EL's repositories name releases",
	"tools/convert/family.go":                      "the ways between Debian's, EL's and SUSE's lines",
	"tools/convert/homes.go":                       "the ways between these three, and sentences on them",
	"tools/convert/settings.go":                    "the word debian of a table, in the place of a version",
	"tools/convert/ways.go":                        "the three lines from which all others stand apart",
	"tools/convert/firewall/firewall.go":           "what loads rules on EL 8",
	"tools/convert/network/network.go":             "netplan is Ubuntu's",
	"tools/convert/services/nfs_rpm.go":            "where NFS of EL 8 reads",
	"tools/database/graph.go":                      "distributions made of EL's sources",
	"tools/migration/archives.go":                  "EPEL, and packages of locales by EL and SUSE",
	"tools/migration/configuration.go":             "Debian makes its locales on the machine",
	"tools/migration/system.go":                    "Debian makes its locales on the machine",
	"tools/report/next.go":                         "commands of Debian's packages",
}

// TestFamiliesAreAsked: whoever wants to know what a family has asks its Conventions, or
// has a row for it; which one it is, next to nobody asks. A constant of a family that is the
// key of a row is one.
func TestFamiliesAreAsked(t *testing.T) {
	is := is.New(t)
	rooms, err := listed("svc/...")
	is.NoErr(err)
	is.True(len(rooms) > 100) // go list found the project
	found := map[string]bool{}
	for _, room := range rooms {
		name := strings.TrimPrefix(room.ImportPath, "svc/")
		if slices.ContainsFunc(ofFamilies, func(of string) bool { return name == of || strings.HasPrefix(name, of+"/") }) {
			continue
		}
		for _, file := range room.GoFiles {
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, filepath.Join(room.Dir, file), nil, parser.SkipObjectResolution)
			is.NoErr(err)
			for _, at := range familiesIn(f) {
				if found[name+"/"+file] = true; namesFamilies[name+"/"+file] == "" {
					t.Errorf("%s/%s:%d names a family: ask its Conventions, or make a row of it", name, file, set.Position(at).Line)
				}
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(namesFamilies)) {
		if !found[file] {
			t.Errorf("%s names no family any more: take it off the list", file)
		}
	}
}

// familiesIn are the places in a file that name a family or a line by its constant, other
// than as the key of a row, or compare with its name.
func familiesIn(f *ast.File) (all []token.Pos) {
	keys := map[ast.Node]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			keys[n.Key] = true
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "release" && !keys[n] && isFamily(constant(n.Sel.Name)) {
				all = append(all, n.Pos())
			}
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				all = append(all, literals(n.X, n.Y)...)
			}
		case *ast.CaseClause:
			all = append(all, literals(n.List...)...)
		}
		return true
	})
	return all
}

// literals are those of some expressions that are the name of a family, as text.
func literals(all ...ast.Expr) (at []token.Pos) {
	for _, e := range all {
		if text, ok := e.(*ast.BasicLit); ok && text.Kind == token.STRING && isFamily(strings.Trim(text.Value, "\"`")) {
			at = append(at, e.Pos())
		}
	}
	return at
}

// constant is the name of the family or line that a constant of the release package stands for.
func constant(name string) string { return strings.ToLower(strings.TrimPrefix(name, "Line")) }

// isFamily reports whether a name is that of a family or a line of them.
func isFamily(name string) bool {
	return slices.ContainsFunc(release.Families(), func(c release.Conventions) bool { return name == string(c.Family) || name == string(c.Line) })
}
