// Package deb reads the metadata of Debian archives: Packages and Contents
// files, as a stream, with bounds on what one line or one file may hold.
package deb

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"svc/backend/deb822"
	"svc/backend/lazyregexp"
)

// Package is what a stanza of a Packages file says. The relations are kept as
// they stand; Names and Groups read them.
type Package struct {
	Name, Source, Version, Section string
	Component                      string // main, contrib, …; set by the caller
	Provides, Replaces             string
	Breaks, Conflicts, Depends     string
	Summary                        string // first line of the description
}

// Packages yields the stanzas of a Packages file in their order. It ends with
// the first error: a line that is no field, one that is too long, or a stanza
// without a name or version.
func Packages(r io.Reader) iter.Seq2[Package, error] {
	return func(yield func(Package, error) bool) {
		for in := deb822.NewReader(r); ; {
			stanza, err := in.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			p := packageOf(stanza)
			if err == nil && (p.Name == "" || p.Version == "") {
				err = fmt.Errorf("line %d: %w", stanza.Line, errStanza)
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

var errStanza = errors.New("a stanza has no Package or no Version")

// packageOf keeps what the index uses of a stanza.
func packageOf(s deb822.Paragraph) Package {
	p := Package{
		Name: s.Get("Package"), Version: s.Get("Version"), Provides: s.Get("Provides"), Replaces: s.Get("Replaces"), Breaks: s.Get("Breaks"),
		Conflicts: s.Get("Conflicts"), Depends: s.Get("Depends"),
	}
	p.Source, _, _ = strings.Cut(s.Get("Source"), " ")
	p.Source = cmp.Or(p.Source, p.Name)
	p.Section = s.Get("Section")
	p.Section = p.Section[strings.LastIndexByte(p.Section, '/')+1:]
	p.Summary, _, _ = strings.Cut(s.Get("Description"), "\n")
	return p
}

// transitional is how maintainers mark a package that only leads to others.
var transitional = lazyregexp.New(`(?i)\btransitionn?al\b|\btransition package\b|\bdummy( empty)? package\b|[\[(]dummy[\])]`)

// Transitional reports whether the package only leads to others.
func (p Package) Transitional() bool { return transitional.MatchString(p.Summary) }

// Groups yields the groups of a relation field: each has the names of its
// alternatives, without versions, architectures and profiles.
func Groups(relation string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for group := range strings.SplitSeq(relation, ",") {
			var names []string
			for alternative := range strings.SplitSeq(group, "|") {
				if name := relationName(alternative); name != "" {
					names = append(names, name)
				}
			}
			if len(names) > 0 && !yield(names) {
				return
			}
		}
	}
}

// Names yields the first name of each group of a relation field.
func Names(relation string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for group := range Groups(relation) {
			if !yield(group[0]) {
				return
			}
		}
	}
}

func relationName(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, " ([<:"); i >= 0 {
		s = s[:i]
	}
	return s
}
