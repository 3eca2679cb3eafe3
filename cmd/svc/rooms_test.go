package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// A package is read as one; these are how many lines of Go without tests one may
// have, and how many methods a type.
const (
	mostLines   = 3000
	mostMethods = 60
)

func TestRoomsDoNotGrow(t *testing.T) {
	is := is.New(t)
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles", "svc/...").Output()
	is.NoErr(err)
	sizes := map[string]int{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p struct {
			ImportPath, Dir string
			GoFiles         []string
		}
		is.NoErr(d.Decode(&p))
		room := strings.TrimPrefix(p.ImportPath, "svc/")
		for _, name := range p.GoFiles {
			is.NoErr(measure(sizes, room, filepath.Join(p.Dir, name)))
		}
	}
	for what, size := range sizes {
		if most := bound(what); size > most {
			t.Errorf("%s has %d, and may have %d: give what does not belong together a room of its own", what, size, most)
		}
	}
	is.True(len(sizes) > 100) // go list found the project
}

// bound is what a package or, after a dot, a type of it may have.
func bound(what string) int {
	if strings.Contains(filepath.Base(what), ".") {
		return mostMethods
	}
	return mostLines
}

// measure adds the lines of a file to its package's, and its methods to their types'.
func measure(sizes map[string]int, room, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	sizes[room] += bytes.Count(text, []byte("\n"))
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
			sizes[room+"."+receiver(fn.Recv.List[0].Type)]++
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
