// Package shipped knows files that packages of a family ship, and by which its services do
// what those of other families do not: as they are, nobody wrote them, and the machine's
// functions hang on them nevertheless.
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
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

//go:embed shipped.tsv
var rows string

// row is what files of a line's packages do that another line's do not.
type row struct {
	source  release.Line
	targets []release.Line
	file    string
	why     string
}

var table = tsv.List(rows, 4, func(c []string) row {
	return row{release.Line(c[0]), sliced.Map(strings.Fields(c[1]), func(line string) release.Line { return release.Line(line) }), c[2], c[3]}
})

// Machine is the source that files are of. Described gives a file's owner and mode.
type Machine struct {
	*assess.Assessment
	Read      func(file string) ([]byte, error)
	Described func(file string) (f assess.Folder, folder, ok bool)
}

// File is a file as its package ships it, with why it comes along.
type File struct {
	assess.ConfigFile
	Why string
}

// Files are those of the table that a move to a release has to carry, where they are there.
func (m Machine) Files(target release.Release) (all []File) {
	source, ok := release.Lookup(m.Release)
	if !ok {
		return nil
	}
	from, to := source.Family.Conventions().Line, target.Family.Conventions().Line
	for _, r := range table() {
		if r.source == from && slices.Contains(r.targets, to) {
			all = append(all, m.file(r.file, r.why)...)
		}
	}
	return all
}

// Dropped are those which the target's packages have no more and texts that come along name,
// and what these name themselves. Gone reports of a file whether it is of the former; carried
// are the files that come along.
func (m Machine) Dropped(target release.Release, gone func(file string) bool, carried []string) (all []File) {
	left := slices.DeleteFunc(slices.Sorted(maps.Keys(m.AsShipped)), func(file string) bool { return !gone(file) })
	for ; len(left) > 0 && len(carried) > 0; carried = carried[1:] {
		named := sliced.Filter(left, func(file string) bool { return program(file) == program(carried[0]) })
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
			all = append(all, m.file(file, fmt.Sprintf("%s names it, and %s of %s has it no more.", carried[0], m.AsShipped[file], target.Slug))...)
		}
	}
	return all
}

// program is the folder of /etc that is a program's own.
func program(file string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(file, "/etc/"), "/")
	return first
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
	return []File{{assess.ConfigFile{
		Path: name, Package: m.AsShipped[name], Mode: on.Mode, UID: on.UID, GID: on.GID, Owner: on.Owner, Group: on.Group,
		Size: int64(len(text)), SHA256: hex.EncodeToString(digest[:]),
	}, why}}
}
