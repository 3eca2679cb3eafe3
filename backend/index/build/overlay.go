package build

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"svc/backend/index/catalog"
	"svc/backend/index/record"
)

// leads says of which package a row of a file is and to which it leads, alternatives
// parted by |, and whether they are of EL, or of Debian and its derivatives. Files whose rows
// lead to SUSE or to a distribution near EL are none of these: nobody knows all that
// those have.
type leads struct {
	columns, name int
	of            func(row []string) (names string, el bool)
}

// leading are the files of rows that lead to packages.
var leading = map[string]leads{
	"debian_rpm.tsv": {5, 0, func(row []string) (string, bool) {
		return strings.ReplaceAll(strings.TrimPrefix(row[2], record.NotSaid), "=", row[0]), true
	}},
	"el_trails.tsv":     {5, 1, func(row []string) (string, bool) { return ofWholeList(row), true }},
	"renames.tsv":       {6, 1, func(row []string) (string, bool) { return row[4], false }},
	"rpm_debian.tsv":    {4, 0, func(row []string) (string, bool) { return row[2], false }},
	"third_party.tsv":   {4, 0, func(row []string) (string, bool) { return row[3], false }},
	"ubuntu_debian.tsv": {4, 0, func(row []string) (string, bool) { return row[2], false }},
}

// ofWholeList are the packages of a row that leads to a level of EL whose list is
// nearly whole.
func ofWholeList(row []string) string {
	if n, err := strconv.Atoi(strings.TrimPrefix(row[0], "el-")); err == nil && n+1 >= record.WholeLists {
		return row[3]
	}
	return ""
}

// allLists are those of an index that is being built.
type allLists struct {
	*foreign
	releases []*catalog.Release
	base     *base
}

// has reports whether any list has one of some alternatives. Which those of a pattern
// are is not known here.
func (k allLists) has(alternatives string, el bool) bool {
	for name := range strings.SplitSeq(alternatives, "|") {
		name, _ = record.PartKey(name)
		if strings.Contains(name, "*") || el && k.ofEL(name) || !el && k.ofDebian(name) {
			return true
		}
	}
	return false
}

func (k allLists) ofEL(name string) bool { return k.levels[name] != "" || k.listed[name] }

func (k allLists) ofDebian(name string) bool {
	_, there := k.Package(name)
	return there || k.base.has(name) ||
		slices.ContainsFunc(k.releases, func(r *catalog.Release) bool { return r.Packages[name] != nil })
}

// unlisted says which rows of an overlay lead to packages that no list has, and where
// they stand: a customer's own repository may have them, or the row has a slip.
func (k allLists) unlisted(overlay fs.FS) (all []string, err error) {
	for _, file := range slices.Sorted(maps.Keys(leading)) {
		l := leading[file]
		err := eachRow(overlay, file, l.columns, func(line int, row []string) {
			names, el := l.of(row)
			for name := range strings.FieldsSeq(names) {
				if !k.has(name, el) {
					all = append(all, fmt.Sprintf("%s:%d: no list of the index has %s, to which the row of %s leads: machines need a repository that has it", file, line, name, row[l.name]))
				}
			}
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return all, nil
}
