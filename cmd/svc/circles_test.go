package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// mostCircle is how many files of a package may need one another in a circle: whoever
// changes one of them must know them all.
const mostCircle = 6

// readers is the folder of what reads disks, whose circles are for good: a file system's
// structures hold one another.
const readers = "assess/disk/"

func TestRoomsHaveNoLargeCircle(t *testing.T) {
	is := is.New(t)
	rooms, err := listed("svc/...")
	is.NoErr(err)
	is.True(len(rooms) > 100) // go list found the project
	for _, room := range rooms {
		name := strings.TrimPrefix(room.ImportPath, "svc/")
		if strings.HasPrefix(name, readers) {
			continue
		}
		uses, err := room.uses()
		is.NoErr(err)
		if circle := largest(uses); len(circle) > mostCircle {
			t.Errorf("%s has a circle of %d files, and may have one of %d:%s", name, len(circle), mostCircle, uses.among(circle))
		}
	}
}

// A room is a package as go list has it, and where all that it imports is compiled.
type room struct {
	ImportPath, Dir string
	GoFiles         []string
	Export          string
	DepOnly         bool

	IgnoredGoFiles, TestGoFiles, XTestGoFiles []string // of other systems; of tests

	imports types.Importer
}

// listed are the packages of a pattern.
func listed(pattern string) ([]room, error) {
	out, err := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Dir,GoFiles,Export,DepOnly,IgnoredGoFiles,TestGoFiles,XTestGoFiles", pattern).Output()
	if err != nil {
		return nil, err
	}
	compiled := map[string]string{}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) })
	var rooms []room
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		r := room{imports: imports}
		if err := d.Decode(&r); err == io.EOF {
			return rooms, nil
		} else if err != nil {
			return nil, err
		}
		compiled[r.ImportPath] = r.Export
		if !r.DepOnly {
			rooms = append(rooms, r)
		}
	}
}

// arrows say of each file which other files of its package have what it names, and what.
type arrows map[string]map[string][]string

// uses are the arrows between the room's files: from one that names a function, a method,
// a type, a constant or a variable to the one that declares it.
func (r room) uses() (arrows, error) {
	fset, info := token.NewFileSet(), &types.Info{Uses: map[*ast.Ident]types.Object{}}
	var files []*ast.File
	for _, name := range r.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(r.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	pkg, err := (&types.Config{Importer: r.imports}).Check(r.ImportPath, fset, files, info)
	if err != nil {
		return nil, err
	}
	rows := map[*ast.Ident]bool{}
	for _, f := range files {
		maps.Copy(rows, registered(f))
	}
	uses := arrows{}
	for _, name := range r.GoFiles {
		uses[name] = map[string][]string{}
	}
	for id, of := range info.Uses {
		fn, isFunc := of.(*types.Func)
		if of.Pkg() != pkg || !isFunc && of.Parent() != pkg.Scope() || isFunc && rows[id] {
			continue
		}
		name := of.Name()
		if isFunc && fn.Signature().Recv() != nil {
			name = "." + name
		}
		from, to := filepath.Base(fset.Position(id.Pos()).Filename), filepath.Base(fset.Position(of.Pos()).Filename)
		if from != to && !slices.Contains(uses[from][to], name) {
			uses[from][to] = append(uses[from][to], name)
		}
	}
	return uses, nil
}

// registered are the names in a file's registries that stand there as rows. A registry is
// a list or a map, as a variable of the package or as all that a function returns; a
// function that it names without calling it is one of its rows, which it does not need.
func registered(f *ast.File) map[*ast.Ident]bool {
	rows := map[*ast.Ident]bool{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					addRows(rows, v.Values)
				}
			}
		case *ast.FuncDecl:
			if d.Body != nil && len(d.Body.List) == 1 {
				if ret, ok := d.Body.List[0].(*ast.ReturnStmt); ok {
					addRows(rows, ret.Results)
				}
			}
		}
	}
	return rows
}

// addRows adds what lists among the values name and do not call.
func addRows(rows map[*ast.Ident]bool, values []ast.Expr) {
	for _, v := range values {
		list, ok := v.(*ast.CompositeLit)
		if !ok {
			continue
		}
		switch list.Type.(type) {
		case *ast.ArrayType, *ast.MapType:
		default:
			continue
		}
		called := map[*ast.Ident]bool{}
		ast.Inspect(list, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.CallExpr:
				called[last(n.Fun)] = true
			case *ast.Ident:
				rows[n] = !called[n]
			}
			return true
		})
	}
}

// last is the name of what an expression calls.
func last(of ast.Expr) *ast.Ident {
	switch of := of.(type) {
	case *ast.Ident:
		return of
	case *ast.SelectorExpr:
		return of.Sel
	case *ast.IndexExpr:
		return last(of.X)
	}
	return nil
}

// largest is the largest set of files each of which needs, directly or not, all others.
func largest(uses arrows) []string {
	var most []string
	reach := map[string]map[string]bool{}
	for from := range uses {
		reach[from] = uses.reached(from)
	}
	for _, from := range slices.Sorted(maps.Keys(uses)) {
		var circle []string
		for _, to := range slices.Sorted(maps.Keys(reach[from])) {
			if reach[to][from] {
				circle = append(circle, to)
			}
		}
		if len(circle) > len(most) {
			most = circle
		}
	}
	return most
}

// reached are the files to which arrows lead from one.
func (a arrows) reached(from string) map[string]bool {
	seen := map[string]bool{}
	for next := []string{from}; len(next) > 0; next = next[1:] {
		for to := range a[next[0]] {
			if !seen[to] {
				seen[to] = true
				next = append(next, to)
			}
		}
	}
	return seen
}

// among prints the arrows between some files, those that rest on the fewest names first.
func (a arrows) among(files []string) string {
	type arrow struct {
		from, to string
		names    []string
	}
	var all []arrow
	for _, from := range files {
		for _, to := range files {
			if names := a[from][to]; len(names) > 0 {
				all = append(all, arrow{from, to, slices.Sorted(slices.Values(names))})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y arrow) int { return cmp.Compare(len(x.names), len(y.names)) })
	var text strings.Builder
	for _, x := range all {
		fmt.Fprintf(&text, "\n\t%s -> %s: %s", x.from, x.to, strings.Join(x.names, " "))
	}
	return text.String()
}
