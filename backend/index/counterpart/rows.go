// Package counterpart has families whose packages are known by what they are in Debian: by
// rows that people know for sure, a file a line of families, and by the rules of its names.
package counterpart

import (
	"embed"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/release"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

//go:embed *.tsv
var texts embed.FS

// fileOf is the name of a line's rows.
func fileOf(line release.Line) string { return string(line) + ".tsv" }

// Has reports whether a release's packages are known so.
func Has(r release.Release) bool {
	_, err := fs.Stat(texts, fileOf(r.Family.Conventions().Line))
	return err == nil
}

// Row is what a package of the family is in Debian.
type Row struct {
	Name     string // with the release's own version in the place of an asterisk
	Relation api.Relation
	Debian   []string // alternatives are parted by |; with an asterisk for any version
	releases string
}

// table is what a line's text says.
type table struct {
	rows     []Row
	versions map[string]map[string]string // software → release → version in its names
	parts    []string                     // ends of names of packages that are made of another's files
	usual    [][2]string                  // patterns of Debian's names, and the line's in their place
}

// tables are those of the lines, each read once.
var tables = sync.OnceValue(func() map[release.Line]*table {
	all := map[release.Line]*table{}
	for _, c := range release.Families() {
		if text, err := texts.ReadFile(fileOf(c.Line)); err == nil && all[c.Line] == nil {
			all[c.Line] = read(string(text))
		}
	}
	return all
})

// tableOf is that of a release; without rows where its line has none.
func tableOf(r release.Release) *table {
	if t := tables()[r.Family.Conventions().Line]; t != nil {
		return t
	}
	return &table{}
}

// read reads the rows of a line. A row is of a package; or of versions, behind an at the
// software; or of what ends the names of parts; or of usual names, each Debian's=the line's.
func read(text string) *table {
	t := &table{versions: map[string]map[string]string{}}
	for c := range tsv.Rows(text, 5) {
		cells := strings.Fields(tsv.Said(c[3]))
		switch software, versioned := strings.CutPrefix(c[0], "@"); {
		case versioned:
			t.versions[software] = maps.Collect(pairs(cells))
		case c[0] == "%parts":
			t.parts = cells
		case c[0] == "%usual":
			for was, now := range pairs(cells) {
				t.usual = append(t.usual, [2]string{was, now})
			}
		default:
			t.rows = append(t.rows, Row{c[0], api.Relation(c[2]), cells, tsv.Said(c[1])})
		}
	}
	return t
}

// pairs are the two sides of cells with an equals sign.
func pairs(cells []string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, cell := range cells {
			if left, right, _ := strings.Cut(cell, "="); !yield(left, right) {
				return
			}
		}
	}
}

// Version is the version that a release has in the names of a software's packages, or
// nothing where that is not known.
func Version(software string, r release.Release) string {
	return tableOf(r).versions[software][r.Version]
}

// VersionIn is the version in the name of a package that has one: 82 of php82-fpm.
func (n *Names) VersionIn(name string) string {
	for software := range n.versions {
		rest, ok := strings.CutPrefix(name, software)
		version, _, _ := strings.Cut(rest, "-")
		if ok && fits("*", version) {
			return version
		}
	}
	return ""
}

// Names are the rows of a release.
type Names struct {
	*table
	Rows   []Row // the surest of a name first
	byName map[string]Row
	debian map[string][]Row // by the name in Debian, without patterns
	other  []Row            // those with patterns of Debian's names
}

// Of are the rows of a release.
func Of(r release.Release) *Names {
	n := &Names{table: tableOf(r), byName: map[string]Row{}, debian: map[string][]Row{}}
	for _, row := range n.rows {
		software, rest, versioned := strings.Cut(row.Name, "*")
		if versioned {
			row.Name = software + Version(software, r) + rest
		}
		if !record.Within(r.Version, row.releases) || versioned && Version(software, r) == "" {
			continue
		}
		n.Rows = append(n.Rows, row)
		if _, known := n.byName[row.Name]; !known {
			n.byName[row.Name] = row
		}
		n.addDebian(row)
	}
	return n
}

func (n *Names) addDebian(row Row) {
	if row.Relation == api.RelationIncluded || row.Relation == api.RelationRemoved {
		return // nothing leads back
	}
	for _, name := range row.alternatives() {
		if !strings.Contains(name, "*") {
			n.debian[name] = append(n.debian[name], row)
		}
	}
	if slices.ContainsFunc(row.alternatives(), func(name string) bool { return strings.Contains(name, "*") }) {
		n.other = append(n.other, row)
	}
}

// Row is the row of a package, whatever version of the software the release has.
func (n *Names) Row(name string) (Row, bool) {
	if row, ok := n.byName[name]; ok {
		return row, true
	}
	for _, row := range n.rows {
		if strings.Contains(row.Name, "*") && fits(row.Name, name) {
			row.Name = name
			return row, true
		}
	}
	return Row{}, false
}

// Named are the packages of the release that are one of Debian, or do its work, and what
// this is called on the way from there; nothing where no row says.
func (n *Names) Named(debian string) (names []string, relation api.Relation) {
	rows := n.debian[debian]
	for _, row := range n.other {
		if len(n.debian[debian]) == 0 && slices.ContainsFunc(row.alternatives(), func(a string) bool { return fits(a, debian) }) {
			rows = append(rows, row)
		}
	}
	if same := slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Relation == api.RelationReplaced }); len(same) > 0 {
		rows = same
	}
	for _, row := range rows {
		if !slices.Contains(names, row.Name) {
			names, relation = append(names, row.Name), row.Relation
		}
	}
	switch {
	case len(names) == 0, relation == api.RelationReplaced:
	case len(names) > 1:
		relation = api.RelationSplit
	case names[0] == debian:
		relation = api.RelationSame
	default:
		relation = api.RelationRenamed
	}
	return names, relation
}

// alternatives are all names of Debian that a row has.
func (r Row) alternatives() []string {
	return sliced.FlatMap(r.Debian, func(alternatives string) []string { return strings.Split(alternatives, "|") })
}

// There are the packages of Debian that a row names, alternatives parted by |: without
// those that stand for any version.
func (r Row) There() []string {
	return sliced.Map(r.Debian, func(alternatives string) string {
		return strings.Join(slices.DeleteFunc(strings.Split(alternatives, "|"), func(name string) bool { return strings.Contains(name, "*") }), "|")
	})
}

// Whole is the package of which another is a part by its name: what it is a part of comes
// with it in other systems.
func (n *Names) Whole(name string) (string, bool) {
	for _, suffix := range n.parts {
		if whole, ok := strings.CutSuffix(name, suffix); ok && whole != "" {
			return whole, true
		}
	}
	return "", false
}

// Usual is the name that the line's rules give what Debian has under another, such as
// modules of languages. Nobody says that it is there.
func (n *Names) Usual(debian string) string {
	for _, rule := range n.usual {
		if name, ok := record.Respelt(debian, rule[0], rule[1]); ok {
			return name
		}
	}
	return debian
}

// fits reports whether a name is that of a row; an asterisk stands for numbers with dots.
func fits(pattern, name string) bool {
	version, ok := record.Stood(pattern, name)
	return ok && (!strings.Contains(pattern, "*") || record.IsDigit(version, 0) && strings.Trim(version, "0123456789.") == "")
}
