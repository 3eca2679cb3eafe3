package deb822

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestParagraphs(t *testing.T) {
	is := is.New(t)
	r := NewReader(strings.NewReader("\n# a comment\nPackage: a\nDepends: b,\n c\n# inside\nDescription: first\n .\n second\n\n\nPackage: z\nEmpty:"))
	p, err := r.Next()
	is.NoErr(err)
	is.Equal(p.Line, 3)
	is.Equal(p.Get("package"), "a")
	is.Equal(p.Get("Depends"), "b,\n c")
	is.Equal(p.Get("Description"), "first\n .\n second")
	is.Equal(p.Get("Nothing"), "")
	p, err = r.Next()
	is.NoErr(err)
	is.Equal(p.Get("Package"), "z")
	_, err = r.Next()
	is.Equal(err, io.EOF)
}

func TestBadInputIsAnError(t *testing.T) {
	for name, input := range map[string]string{
		"no colon":            "Package a\n",
		"starts with a space": " x: y\n",
		"only a colon":        ": y\n",
		"binary":              "\x00\x01\x02\n",
		"endless":             "A: " + strings.Repeat("x", MaxParagraph+1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewReader(strings.NewReader(input)).Next()
			is.New(t).True(errors.Is(err, ErrSyntax))
		})
	}
}

func FuzzReader(f *testing.F) {
	f.Add("Package: a\nVersion: 1\n\nPackage: b\n")
	f.Add("#\n\nA:\n b\n")
	f.Fuzz(func(t *testing.T, input string) {
		r := NewReader(strings.NewReader(input))
		for {
			p, err := r.Next()
			if err != nil {
				return
			}
			if len(p.fields) == 0 || p.Line == 0 {
				t.Fatalf("an empty paragraph from %q", input)
			}
		}
	})
}
