package eval

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"svc/backend/api"
	"svc/backend/index"
	"svc/backend/index/record"
	"svc/backend/release"
	"svc/backend/sliced"
)

// The bounds of a file of known pairs or of a machine's packages.
const (
	maxTruth     = 64 << 20
	maxTruthLine = 1 << 20
)

// question is a package whose counterpart is to be found. wants has what is
// right, any one of several; it is empty where that is not known.
type question struct {
	source, name, target string
	wants                [][]string
	relation             api.Relation // empty where it is not known
	loose                bool         // a part of what is right is right, and more than it; not where nothing is right
	method, row          string
}

// gone reports whether nothing is left of the package between releases.
func (q question) gone() bool { return len(q.wants) == 1 && len(q.wants[0]) == 0 }

// truthKinds are the kinds of files that are told apart.
const truthKinds = "known pairs between releases (release, package, target release, packages parted by blanks, none where it has nothing in its place, relation, method), " +
	"known pairs between families (package, package, relation, three counts, releases, releases, releases of Debian that have it), " +
	"verdicts on answers (direction, package, answer, relation, confidence, what is stated, verdict, files), " +
	"all with tabs between columns, or the packages of a machine, a name first in each line, below a comment \"# release-slug: RELEASE\""

// refused is the error of a file that is of none of the kinds.
func refused(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: %s; nothing was measured: expected are %s", line, fmt.Sprintf(format, args...), truthKinds)
}

// questions are what a file asks; of the packages of a machine, for each target.
// Several rows of one package between families are alternatives.
func questions(ix *index.Index, rows []row, header comments, targets []string) ([]question, error) {
	if slug, ok := header.value("release-slug:"); ok {
		return ofMachine(ix, slug, rows, targets)
	}
	if ofFamily(rows) {
		return ofFamilies(rows)
	}
	return ofReleases(rows)
}

// row is a line with columns, and its number.
type row struct {
	line int
	text string
}

func (r row) columns() []string { return strings.Split(r.text, "\t") }

// comments are the lines of a file that begin with #.
type comments []string

func (c comments) value(key string) (string, bool) {
	for _, line := range c {
		if _, value, ok := strings.Cut(line, key); ok {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// readTruth parts the comments of a file from its rows.
func readTruth(r io.Reader) (rows []row, header comments, err error) {
	whole := &io.LimitedReader{R: r, N: maxTruth + 1}
	s := bufio.NewScanner(whole)
	s.Buffer(nil, maxTruthLine)
	line := 1
	for ; s.Scan(); line++ {
		switch text := s.Text(); {
		case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
			return nil, nil, refused(line, "it is not text")
		case strings.HasPrefix(text, "#"):
			header = append(header, text)
		case text != "":
			rows = append(rows, row{line, text})
		}
	}
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, nil, refused(line, "it has more than %d bytes", maxTruthLine)
	case err != nil:
		return nil, nil, fmt.Errorf("reading known pairs: %w", err)
	case whole.N <= 0:
		return nil, nil, refused(line, "the file goes on after %d bytes", maxTruth)
	case len(rows) == 0:
		return nil, nil, refused(line, "the file ends without a row")
	}
	return rows, header, nil
}

// ofFamily reports whether the third column is a relation.
func ofFamily(rows []row) bool {
	c := rows[0].columns()
	return len(c) > 2 && isFamilyRelation(c[2])
}

// isFamilyRelation reports whether a text is a relation, or the word for that of
// whole install lists.
func isFamilyRelation(text string) bool { return record.IsRelation(text) || text == "set" }

// ofReleases makes one question of all rows that ask the same and say no relation:
// those are alternatives, of which one in part makes an answer right.
func ofReleases(rows []row) ([]question, error) {
	var all []question
	asked := map[[3]string]int{}
	for _, r := range rows {
		q, err := ofRelease(r)
		if err != nil {
			return nil, err
		}
		key := [3]string{q.source, q.name, q.target}
		if i, again := asked[key]; again && q.loose && all[i].loose {
			all[i].wants = append(all[i].wants, q.wants...)
			continue
		}
		asked[key], all = len(all), append(all, q)
	}
	return all, nil
}

func ofRelease(r row) (question, error) {
	c := r.columns()
	if len(c) < 5 {
		return question{}, refused(r.line, "it has %d columns", len(c))
	}
	for _, slug := range []string{c[0], c[2]} {
		if _, ok := release.Lookup(slug); !ok {
			return question{}, refused(r.line, "%.80q is no release that is known", slug)
		}
	}
	if c[4] != "" && !record.IsRelation(c[4]) {
		return question{}, refused(r.line, "%.80q is no relation", c[4])
	}
	return question{
		source: c[0], name: c[1], target: c[2], wants: [][]string{strings.Fields(c[3])}, relation: api.Relation(c[4]),
		loose: c[4] == "" && c[3] != "", method: method(append(c, "")[5]), row: r.text,
	}, nil
}

// method is what a file says of its pair, unless that is where it is from.
func method(text string) string {
	if strings.ContainsAny(text, "#0123456789") && !strings.HasPrefix(text, "t64") {
		return "recorded"
	}
	return text
}

// ofFamilies makes one question of all rows of a package: from the newest
// release of EL that they name to the newest of Debian.
func ofFamilies(rows []row) ([]question, error) {
	byName := map[string]*question{}
	var order []string
	for _, r := range rows {
		c := r.columns()
		if err := r.checkFamilies(c); err != nil {
			return nil, err
		}
		q := byName[c[0]]
		if q == nil {
			q = &question{source: newestEL(c[6]), name: c[0], method: across, row: c[0]}
			byName[c[0]], order = q, append(order, c[0])
		}
		q.wants = append(q.wants, strings.Fields(c[1]))
		if there := strings.Fields(c[8]); len(there) > 0 {
			q.target = max(q.target, there[len(there)-1])
		}
	}
	all := sliced.FilterMap(order, func(name string) (question, bool) { return *byName[name], byName[name].target != "" })
	if len(all) == 0 {
		return nil, refused(rows[len(rows)-1].line, "neither it nor a row before it names a release of Debian")
	}
	return all, nil
}

// checkFamilies looks whether a row's columns are those of a pair between families.
func (r row) checkFamilies(c []string) error {
	switch {
	case len(c) < 9:
		return refused(r.line, "it has %d columns", len(c))
	case !isFamilyRelation(c[2]):
		return refused(r.line, "%.80q is no relation", c[2])
	}
	for _, count := range c[3:6] {
		if _, err := strconv.Atoi(count); err != nil {
			return refused(r.line, "%.80q is no count", count)
		}
	}
	for slug := range strings.FieldsSeq(c[8]) {
		if _, ok := release.Lookup(slug); !ok {
			return refused(r.line, "%.80q is no release that is known", slug)
		}
	}
	return nil
}

// across is the method of pairs between families: install lists, of which one
// name in common makes an answer right.
const across = "across"

// newestEL is the newest release of EL among slugs such as rhel-9, el8 or el.
func newestEL(slugs string) string {
	newest := ""
	for slug := range strings.FieldsSeq(slugs) {
		if version, ok := strings.CutPrefix(slug, "el"); ok && version != "" {
			slug = "rhel-" + version
		}
		if r, ok := release.Lookup(slug); ok && r.Family == release.EL {
			newest = cmp.Or(newest, r.Slug)
			if n, _ := release.Lookup(newest); n.ID == r.ID && n.Older(r) {
				newest = r.Slug
			}
		}
	}
	return cmp.Or(newest, "rhel-8")
}

func ofMachine(ix *index.Index, slug string, rows []row, targets []string) ([]question, error) {
	for _, end := range append([]string{slug}, targets...) {
		if err := ix.Check(end); err != nil {
			return nil, err
		}
	}
	var all []question
	for _, target := range targets {
		for _, r := range rows {
			name, _, _ := strings.Cut(r.text, "\t")
			if name == "" || strings.ContainsFunc(name, unicode.IsSpace) {
				return nil, refused(r.line, "%.80q is no name of a package", name)
			}
			all = append(all, question{source: slug, name: name, target: target, row: name})
		}
	}
	return all, nil
}
