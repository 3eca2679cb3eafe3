package lazyregexp_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/lazyregexp"
)

func TestRegexpIsThatOfRegexp(t *testing.T) {
	is := is.New(t)
	const text = "a1 b22 c"
	lazy, eager := lazyregexp.New(`([a-z])([0-9]+)`), regexp.MustCompile(`([a-z])([0-9]+)`)
	is.Equal(lazy.Match([]byte(text)), eager.Match([]byte(text)))
	is.Equal(lazy.MatchString("!"), eager.MatchString("!"))
	is.Equal(lazy.FindString(text), eager.FindString(text))
	is.Equal(lazy.FindSubmatch([]byte(text)), eager.FindSubmatch([]byte(text)))
	is.Equal(lazy.FindStringSubmatch(text), eager.FindStringSubmatch(text))
	is.Equal(lazy.FindAll([]byte(text), 1), eager.FindAll([]byte(text), 1))
	is.Equal(lazy.FindAllSubmatch([]byte(text), -1), eager.FindAllSubmatch([]byte(text), -1))
	is.Equal(lazy.FindAllString(text, -1), eager.FindAllString(text, -1))
	is.Equal(lazy.FindAllStringIndex(text, -1), eager.FindAllStringIndex(text, -1))
	is.Equal(lazy.FindAllStringSubmatch(text, 1), eager.FindAllStringSubmatch(text, 1))
	is.Equal(lazy.ReplaceAllString(text, "$2$1"), eager.ReplaceAllString(text, "$2$1"))
	is.Equal(lazy.ReplaceAllStringFunc(text, strings.ToUpper), eager.ReplaceAllStringFunc(text, strings.ToUpper))
}

func TestWholeMatchesAllOfAText(t *testing.T) {
	is := is.New(t)
	whole := lazyregexp.Whole("a|ab")
	is.True(whole.MatchString("ab"))
	is.True(!whole.MatchString("abc"))
	is.True(!whole.MatchString("ca"))
}

// TestEveryPatternOfTheProgramCompiles reads the sources of the program: what
// is compiled at its first use is not found wrong by starting.
func TestEveryPatternOfTheProgramCompiles(t *testing.T) {
	is := is.New(t)
	found := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, argument := range patterns(file) {
			found++
			pattern, ok := literal(argument)
			if !ok {
				t.Errorf("%s: a pattern is not written out", path)
			}
			if _, err := regexp.Compile(pattern); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		return nil
	})
	is.NoErr(err)
	is.True(found > 100) // the sources are there
}

// patterns are the arguments of calls of New and Whole.
func patterns(file *ast.File) (arguments []ast.Expr) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); ok {
			if p, ok := f.X.(*ast.Ident); ok && p.Name == "lazyregexp" {
				arguments = append(arguments, call.Args...)
			}
		}
		return true
	})
	return arguments
}

// literal is the value of a literal, or of several that are added up; a letter stands
// for what has a name, or stands in a table.
func literal(e ast.Expr) (value string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		value, err := strconv.Unquote(e.Value)
		return value, err == nil
	case *ast.Ident, *ast.IndexExpr:
		return "x", true
	case *ast.BinaryExpr:
		left, isLeft := literal(e.X)
		right, isRight := literal(e.Y)
		return left + right, isLeft && isRight && e.Op == token.ADD
	}
	return "", false
}
