// Package shipped knows files that packages of a family ship, and by which its services do
// what those of other families, or of later versions, do not: as they are, nobody wrote them,
// and the machine's functions hang on them nevertheless.
package shipped

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/tsv"
	"svc/tools/convert"
)

//go:embed shipped.tsv
var rows string

// row is what a file of some lines' packages does that others do not.
type row struct {
	sources, targets []release.Line
	file             string
	program, since   string             // the version that does otherwise; empty where each of the targets does
	read             *lazyregexp.Regexp // a line of a text that has the file read; nil where it is read anyway
	why              string
}

var table = tsv.List(rows, 6, func(c []string) row {
	r := row{sources: lines(c[0]), targets: lines(c[1]), file: c[2], why: c[5]}
	r.program, r.since, _ = strings.Cut(c[3], " ")
	if c[4] != "" {
		r.read = lazyregexp.New(c[4])
	}
	return r
})

func lines(words string) []release.Line {
	return sliced.Map(strings.Fields(words), func(line string) release.Line { return release.Line(line) })
}

// between reports whether a row is about a move.
func (r row) between(source, target release.Release) bool {
	if !slices.Contains(r.sources, source.Family.Conventions().Line) || !slices.Contains(r.targets, target.Family.Conventions().Line) {
		return false
	}
	had := convert.VersionOn(r.program, source)
	return r.since == "" || convert.HasSince(r.program, r.since, target) && (had == "" || !convert.HasSince(r.program, r.since, source))
}

// Machine is the source that files are of. Described gives a file's owner and mode.
type Machine struct {
	*assess.Assessment
	Read      func(file string) ([]byte, error)
	Described func(file string) (f assess.Folder, folder, ok bool)
}

// File is a file as its package ships it, with why it comes along.
type File struct {
	assess.ConfigFile
	Why   string
	Spare bool // it is written only where the target has none
}

// Fate is what is known of a package's file on the target.
type Fate int

// What there may be of it: the target's package has one, or a person decides; none has it
// any more; nobody knows.
const (
	Kept Fate = iota
	Gone
	Unknown
)

// Files are those of the table that a move to a release has to carry, where they are there;
// carried are the files of people that come along.
func (m Machine) Files(target release.Release, carried []string) (all []File) {
	source, ok := release.Lookup(m.Release)
	if !ok {
		return nil
	}
	for _, r := range table() {
		if r.between(source, target) && (r.read == nil || slices.ContainsFunc(carried, func(file string) bool {
			return program(file) == program(r.file) && says(m.text(file), r.read)
		})) {
			all = append(all, m.file(r.file, r.why)...)
		}
	}
	return all
}

// says reports whether a text has such a line outside of sections in braces.
func says(text string, line *lazyregexp.Regexp) bool {
	depth := 0
	for l := range strings.Lines(text) {
		l, _, _ = strings.Cut(l, "#")
		if l = strings.TrimSpace(l); depth == 0 && line.MatchString(l) {
			return true
		}
		depth = max(0, depth+strings.Count(l, "{")-strings.Count(l, "}"))
	}
	return false
}

// Named are those which texts that come along name, and what these name themselves, where the
// target has them no more, or may not have them. Fate says which it is; carried are the files
// that come along.
func (m Machine) Named(target release.Release, fate func(file string) Fate, carried []string) (all []File) {
	left := slices.DeleteFunc(slices.Sorted(maps.Keys(m.AsShipped)), func(file string) bool { return fate(file) == Kept })
	for ; len(left) > 0 && len(carried) > 0; carried = carried[1:] {
		named := sliced.Filter(left, func(file string) bool { return program(file) == program(carried[0]) && file != carried[0] })
		if len(named) == 0 {
			continue
		}
		text := m.text(carried[0])
		for _, file := range named {
			if !strings.Contains(text, file) {
				continue
			}
			left = slices.DeleteFunc(left, func(other string) bool { return other == file })
			carried = append(carried, file)
			all = append(all, m.named(file, carried[0], target, fate(file))...)
		}
	}
	return all
}

// named is a file that another one names.
func (m Machine) named(file, by string, target release.Release, fate Fate) []File {
	why := "%s names it, and %s of %s has it no more."
	if fate == Unknown {
		why = "%s names it. It comes along where %s of %s brings none: whether it does is not known."
	}
	all := m.file(file, fmt.Sprintf(why, by, m.AsShipped[file], target.Slug))
	for i := range all {
		all[i].Spare = fate == Unknown
	}
	return all
}

// program is whose a file is, by the folder of /etc that is a program's own, or the file.
func program(file string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(file, "/etc/"), "/")
	return strings.TrimSuffix(first, ".conf")
}

func (m Machine) text(file string) string {
	if m.Read == nil {
		return ""
	}
	text, _ := m.Read(file)
	return string(text)
}

// file is none where it can't be read.
func (m Machine) file(name, why string) []File {
	if m.Read == nil || m.Described == nil {
		return nil
	}
	text, err := m.Read(name)
	on, folder, ok := m.Described(name)
	if err != nil || folder || !ok {
		return nil
	}
	digest := sha256.Sum256(text)
	return []File{{Why: why, ConfigFile: assess.ConfigFile{
		Path: name, Package: m.AsShipped[name], Mode: on.Mode, UID: on.UID, GID: on.GID, Owner: on.Owner, Group: on.Group,
		Size: int64(len(text)), SHA256: hex.EncodeToString(digest[:]),
	}}}
}
