package main

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// A package is read as one; these are how many lines of Go without tests one may
// have, how many nine of ten have at most, and how many methods a type may have.
const (
	mostLines   = 3000
	usualLines  = 1500
	mostMethods = 60
)

func TestRoomsDoNotGrow(t *testing.T) {
	is := is.New(t)
	rooms, err := listed("svc/...")
	is.NoErr(err)
	is.True(len(rooms) > 100) // go list found the project
	lines, methods := map[string]int{}, map[string]int{}
	for _, room := range rooms {
		name := strings.TrimPrefix(room.ImportPath, "svc/")
		lines[name] = 0 // one of tests alone has none
		for _, file := range room.GoFiles {
			is.NoErr(measure(lines, methods, name, filepath.Join(room.Dir, file)))
		}
	}
	for room, n := range lines {
		if n > mostLines {
			t.Errorf("%s has %d lines, and may have %d: give what does not belong together a room of its own", room, n, mostLines)
		}
	}
	for of, n := range methods {
		if n > mostMethods {
			t.Errorf("%s has %d methods, and may have %d: give what does not belong together a type of its own", of, n, mostMethods)
		}
	}
	bySize := slices.SortedFunc(maps.Keys(lines), func(a, b string) int { return cmp.Compare(lines[a], lines[b]) })
	usual := (9*len(bySize) + 9) / 10 // the 90th percentile is the largest of these
	if largest := bySize[usual-1]; lines[largest] > usualLines {
		t.Errorf("%s has %d lines: of %d packages, %d at most may have more than %d, and these have: %s", largest, lines[largest], len(bySize), len(bySize)-usual, usualLines,
			strings.Join(slices.DeleteFunc(bySize, func(room string) bool { return lines[room] <= usualLines }), ", "))
	}
}

// TestNoPackageHasAnInit looks through all files, also those of tests and of other
// systems: what a package needs it makes when it is asked.
func TestNoPackageHasAnInit(t *testing.T) {
	is := is.New(t)
	rooms, err := listed("svc/...")
	is.NoErr(err)
	is.True(len(rooms) > 100) // go list found the project
	for _, room := range rooms {
		for _, file := range slices.Concat(room.GoFiles, room.IgnoredGoFiles, room.TestGoFiles, room.XTestGoFiles) {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(room.Dir, file), nil, parser.SkipObjectResolution)
			is.NoErr(err)
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					t.Errorf("%s has an init in %s: have who needs what it makes call for it", room.ImportPath, file)
				}
			}
		}
	}
}

// measure adds the lines of a file to its package's, and its methods to their types'.
func measure(lines, methods map[string]int, room, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	lines[room] += bytes.Count(text, []byte("\n"))
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
			methods[room+"."+receiver(fn.Recv.List[0].Type)]++
		}
	}
	return nil
}

// receiver is the name of a method's type.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}
