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

// tooLarge has what is above these bounds still, and what it may at most have. The
// list only shrinks: who makes one smaller writes the new bound here, and nobody
// raises one. What has come below its bound by far is reported, too.
var tooLarge = map[string]int{
	"cmd/svc": 7000,

	"cmd/svc.program": 105,
}

// slack is how far below its bound something may be before the bound has to follow.
const slack = 1000

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
		bound, known := tooLarge[what]
		if !known {
			bound = usual(what)
		}
		if size > bound {
			t.Errorf("%s has %d, and may have %d: give what does not belong together a room of its own", what, size, bound)
		}
	}
	for what, bound := range tooLarge {
		if size := sizes[what]; size <= usual(what) || size < bound-slack {
			t.Errorf("%s has %d: its bound of %d is no longer needed as it is", what, size, bound)
		}
	}
}

// usual is what a package or, after a dot, a type of it may have.
func usual(what string) int {
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
