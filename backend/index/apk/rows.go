// Package apk has the rules of Alpine's names: what its packages are in Debian, by rows
// that people know for sure, and which packages are parts of others.
package apk

import (
	_ "embed" // the rows
	"slices"
	"strings"
	"sync"

	"svc/backend/api"
	"svc/backend/index/record"
	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/tsv"
)

//go:embed packages.tsv
var text string

// Row is what a package of Alpine is in Debian.
type Row struct {
	Name     string // with the release's own version in the place of an asterisk
	Relation api.Relation
	Debian   []string // alternatives are parted by |; with an asterisk for any version
	releases string
}

// table is the text, read once.
var table = sync.OnceValue(func() (t struct {
	rows     []Row
	versions map[string]map[string]string // software → release → version in its names
},
) {
	t.versions = map[string]map[string]string{}
	for c := range tsv.Rows(text, 5) {
		software, versioned := strings.CutPrefix(c[0], "@")
		if !versioned {
			t.rows = append(t.rows, Row{c[0], api.Relation(c[2]), strings.Fields(strings.TrimPrefix(c[3], "-")), c[1]})
			continue
		}
		t.versions[software] = map[string]string{}
		for pair := range strings.FieldsSeq(c[3]) {
			on, version, _ := strings.Cut(pair, "=")
			t.versions[software][on] = version
		}
	}
	return t
})

// Version is the version that a release has in the names of a software's packages, or
// nothing where that is not known.
func Version(software string, r release.Release) string { return table().versions[software][r.Version] }

// VersionIn is the version in the name of a package that has one: 82 of php82-fpm.
func VersionIn(name string) string {
	for software := range table().versions {
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
	Rows   []Row // the surest of a name first
	byName map[string]Row
	debian map[string][]Row // by the name in Debian, without patterns
	other  []Row            // those with patterns of Debian's names
}

// Of are the rows of a release.
func Of(r release.Release) *Names {
	n := &Names{byName: map[string]Row{}, debian: map[string][]Row{}}
	for _, row := range table().rows {
		software, rest, versioned := strings.Cut(row.Name, "*")
		if versioned {
			row.Name = software + Version(software, r) + rest
		}
		if !within(row.releases, r) || versioned && Version(software, r) == "" {
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
	for _, row := range table().rows {
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
func (r Row) alternatives() (names []string) {
	for _, alternatives := range r.Debian {
		names = append(names, strings.Split(alternatives, "|")...)
	}
	return names
}

// There are the packages of Debian that a row names, alternatives parted by |: without
// those that stand for any version.
func (r Row) There() (targets []string) {
	for _, alternatives := range r.Debian {
		names := slices.DeleteFunc(strings.Split(alternatives, "|"), func(name string) bool { return strings.Contains(name, "*") })
		targets = append(targets, strings.Join(names, "|"))
	}
	return targets
}

// parts end the names of packages that Alpine makes of another's files: what they are
// parts of comes with them in other systems.
var parts = []string{"-openrc", "-doc", "-lang", "-bash-completion", "-zsh-completion", "-fish-completion", "-pyc", "-static", "-dbg", "-udev", "-logrotate"}

// Whole is the package of which another is a part by its name.
func Whole(name string) (string, bool) {
	for _, suffix := range parts {
		if whole, ok := strings.CutSuffix(name, suffix); ok && whole != "" {
			return whole, true
		}
	}
	return "", false
}

// Usual is the name that Alpine's rules give what Debian has under another: modules of
// languages have the language first. Nobody says that it is there.
func Usual(debian string) string {
	if module, ok := strings.CutPrefix(debian, "python3-"); ok {
		return "py3-" + module
	}
	if module, ok := strings.CutSuffix(strings.TrimPrefix(debian, "lib"), "-perl"); ok && strings.HasPrefix(debian, "lib") {
		return "perl-" + module
	}
	return debian
}

// fits reports whether a name is that of a row; an asterisk stands for numbers with dots.
func fits(pattern, name string) bool {
	before, after, versioned := strings.Cut(pattern, "*")
	if !versioned {
		return pattern == name
	}
	if len(name) <= len(before)+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return false
	}
	version := name[len(before) : len(name)-len(after)]
	return record.IsDigit(version, 0) && strings.Trim(version, "0123456789.") == ""
}

// within reports whether a release is one of from..to.
func within(span string, r release.Release) bool {
	from, to, _ := strings.Cut(span, "..")
	if span == "-" {
		return true
	}
	return (from == "" || pkgversion.Compare(pkgversion.Apk, r.Version, from) >= 0) && (to == "" || pkgversion.Compare(pkgversion.Apk, r.Version, to) <= 0)
}
