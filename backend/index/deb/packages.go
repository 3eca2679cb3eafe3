// Package deb reads the metadata of Debian archives: Packages and Contents
// files, as a stream, with bounds on what one line or one file may hold.
package deb

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strings"
)

// maxLine bounds one line; the longest of the real archive has about 100 kB.
const maxLine = 4 << 20

// Package is what a stanza of a Packages file says. The relations are kept as
// they stand; Names and Groups read them.
type Package struct {
	Name, Source, Version, Section string
	Component                      string // main, contrib, …; set by the caller
	Provides, Replaces             string
	Breaks, Conflicts, Depends     string
	Summary                        string // first line of the description
	Essential                      bool
	Priority                       string
}

// Packages yields the stanzas of a Packages file in their order. It ends with
// the first error: a line that is no field, one that is too long, or a stanza
// without a name or version.
func Packages(r io.Reader) iter.Seq2[Package, error] {
	return func(yield func(Package, error) bool) {
		s := bufio.NewScanner(r)
		s.Buffer(make([]byte, 64<<10), maxLine)
		var p Package
		line, open := 0, false
		for s.Scan() {
			line++
			text := s.Bytes()
			switch {
			case len(bytes.TrimSpace(text)) == 0:
				if open && !emit(p, line, yield) {
					return
				}
				p, open = Package{}, false
			case text[0] == ' ' || text[0] == '\t': // continues a field; none of ours goes over lines
			case text[0] == '#':
			default:
				key, value, ok := bytes.Cut(text, []byte(":"))
				if !ok {
					yield(Package{}, fmt.Errorf("line %d is no field of a stanza: %.60q", line, text))
					return
				}
				p.set(key, bytes.TrimSpace(value))
				open = true
			}
		}
		if err := s.Err(); err != nil {
			yield(Package{}, fmt.Errorf("reading after line %d: %w", line, err))
			return
		}
		if open {
			emit(p, line, yield)
		}
	}
}

var errStanza = errors.New("a stanza has no Package or no Version")

// emit yields a finished stanza and reports whether to go on.
func emit(p Package, line int, yield func(Package, error) bool) bool {
	if p.Name == "" || p.Version == "" {
		yield(Package{}, fmt.Errorf("before line %d: %w", line, errStanza))
		return false
	}
	if p.Source == "" {
		p.Source = p.Name
	}
	return yield(p, nil)
}

// set keeps a field that the index uses. Only those are copied out of the line.
func (p *Package) set(key, value []byte) {
	switch string(key) {
	case "Package":
		p.Name = string(value)
	case "Source":
		name, _, _ := bytes.Cut(value, []byte(" "))
		p.Source = string(name)
	case "Version":
		p.Version = string(value)
	case "Section":
		section := value[bytes.LastIndexByte(value, '/')+1:]
		p.Section = string(section)
	case "Provides":
		p.Provides = string(value)
	case "Replaces":
		p.Replaces = string(value)
	case "Breaks":
		p.Breaks = string(value)
	case "Conflicts":
		p.Conflicts = string(value)
	case "Depends":
		p.Depends = string(value)
	case "Description":
		p.Summary = string(value)
	case "Essential":
		p.Essential = string(value) == "yes"
	case "Priority":
		p.Priority = string(value)
	}
}

// transitional is how maintainers mark a package that only leads to others.
var transitional = regexp.MustCompile(`(?i)\btransitionn?al\b|\btransition package\b|\bdummy( empty)? package\b|[\[(]dummy[\])]`)

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
