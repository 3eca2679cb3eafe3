package build

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"svc/backend/api"
	"svc/backend/index/catalog"
	"svc/backend/index/data"
	"svc/backend/index/record"
	"svc/backend/index/table"
	"svc/backend/lazyregexp"
	"svc/backend/release"
)

// ofProgram are rows that are no part of an index file: an overlay can't have them.
var ofProgram = []string{"families.tsv", "family_names.tsv", "rates.tsv"}

// layers are folders of curated rows: those of the program, then an overlay,
// whose rows go before them. An overlay has any of the files.
type layers []fs.FS

// curatedLayers are the program's rows with those of a folder over them.
func curatedLayers(overlay string) (layers, error) {
	own := fs.FS(data.Rows)
	if overlay == "" {
		return layers{own}, nil
	}
	over := os.DirFS(overlay)
	names, err := fs.Glob(over, "*.tsv")
	if err != nil || len(names) == 0 {
		return nil, errors.Join(fmt.Errorf("reading curated rows: %s has no .tsv file", overlay), err)
	}
	known, err := fs.Glob(own, "*.tsv")
	known = slices.DeleteFunc(known, func(name string) bool { return slices.Contains(ofProgram, name) })
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("reading curated rows: %s is none of %s", name, strings.Join(known, ", "))
		}
	}
	return layers{own, over}, err
}

// singles reads a file that has one row of each name. What a layer says twice it
// may mean in one way or the other.
func singles(dirs layers, name string, n int) ([][]string, error) {
	var all [][]string
	for _, dir := range dirs {
		own, err := rows(layers{dir}, name, n)
		if err != nil {
			return nil, err
		}
		for i := 1; i < len(own); i++ {
			if own[i][0] == own[i-1][0] {
				return nil, fmt.Errorf("%s has more than one row of %q", name, own[i][0])
			}
		}
		all = append(all, own...)
	}
	return all, nil
}

// rows reads a file in all layers, the overlay's rows last.
func rows(dirs layers, name string, n int) ([][]string, error) {
	var all [][]string
	for _, dir := range dirs {
		if _, err := fs.Stat(dir, name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		own, err := layerRows(dir, name, n)
		if err != nil {
			return nil, err
		}
		all = append(all, own...)
	}
	return all, nil
}

// Rows reads a file of the program's rows, which must be sorted and of n columns.
func Rows(name string, n int) ([][]string, error) { return rows(layers{data.Rows}, name, n) }

// maxRow bounds a row, in bytes.
const maxRow = 1 << 20

// layerRows reads a file of sorted rows of n columns.
func layerRows(dir fs.FS, name string, n int) (all [][]string, err error) {
	err = eachRow(dir, name, n, func(_ int, columns []string) { all = append(all, columns) })
	return all, err
}

// eachRow gives the rows of such a file with their lines; those that begin with #
// are comments, and a dash is an empty column.
func eachRow(dir fs.FS, name string, n int, take func(line int, columns []string)) error {
	f, err := dir.Open(name)
	if err != nil {
		return fmt.Errorf("opening curated rows: %w", err)
	}
	defer f.Close()
	previous := ""
	s := bufio.NewScanner(f)
	s.Buffer(nil, maxRow)
	for line := 1; s.Scan(); line++ {
		text := s.Text()
		if !utf8.ValidString(text) || strings.HasPrefix(text, "\ufeff") {
			return fmt.Errorf("%s:%d is not UTF-8 without a byte order mark", name, line)
		}
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		columns := strings.Split(text, "\t")
		if len(columns) != n {
			return fmt.Errorf("%s:%d has %d columns, not %d", name, line, len(columns), n)
		}
		if text < previous {
			return fmt.Errorf("%s:%d is not in order", name, line)
		}
		previous = text
		for i, c := range columns {
			if c == "-" {
				columns[i] = ""
			}
		}
		take(line, columns)
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("reading %s: a line has more than %d bytes", name, maxRow)
	} else if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}

// slugForm is the alphabet of canonicals.
var slugForm = lazyregexp.New(`^[a-z0-9][a-z0-9.+_-]*$`)

// naming reads software.tsv and canonicals.tsv; the canonicals that packages
// have already come after those of the rows.
func naming(dir layers, already map[string]string) (*catalog.Naming, error) {
	first := slices.Clone(dir)
	slices.Reverse(first) // the first row that fits counts
	software, err := rows(first, "software.tsv", 4)
	if err != nil {
		return nil, err
	}
	var all []catalog.Software
	for _, c := range software {
		if !slugForm.MatchString(c[1]) || !slices.Contains(catalog.Majors, catalog.Major(c[2])) {
			return nil, fmt.Errorf("software.tsv: the row of %q has software %q and major %q", c[0], c[1], c[2])
		}
		all = append(all, catalog.Software{Pattern: c[0], Name: c[1], Major: catalog.Major(c[2])})
	}
	canonicals, err := rows(dir, "canonicals.tsv", 3)
	if err != nil {
		return nil, err
	}
	overrides := maps.Clone(already)
	if overrides == nil {
		overrides = map[string]string{}
	}
	for _, c := range canonicals {
		if !slugForm.MatchString(c[1]) {
			return nil, fmt.Errorf("canonicals.tsv: %q is no canonical", c[1])
		}
		overrides[c[0]] = c[1]
	}
	return catalog.NewNaming(all, overrides), nil
}

// renames reads renames.tsv: step → package → trail.
func renames(dir layers) (map[string]map[string]record.Trail, error) {
	all, err := rows(dir, "renames.tsv", 6)
	if err != nil {
		return nil, err
	}
	steps := map[string]map[string]record.Trail{}
	for _, c := range all {
		t := record.Trail{Relation: api.Relation(c[3]), Confidence: 1, Targets: strings.Fields(c[4]), Method: record.Curated}
		if !slices.Contains(api.Relations, t.Relation) {
			return nil, fmt.Errorf("renames.tsv: %q is no relation", c[3])
		}
		step := record.TrailsTable(c[0], c[2])
		if steps[step] == nil {
			steps[step] = map[string]record.Trail{}
		}
		steps[step][c[1]] = t
	}
	return steps, nil
}

// relocates checks that a row says what a relocation can.
func relocates(r api.Relocation) error {
	err := errors.Join(
		oneOf("a kind", r.Kind, api.RelocateFile, api.RelocateDir, api.RelocateService, api.RelocateUser, api.RelocateGroup),
		oneOf("an action", r.Action, api.ActionCopy, api.ActionConvert, api.ActionManual, api.ActionDrop))
	isPath := r.Kind == api.RelocateFile || r.Kind == api.RelocateDir
	if isPath && (!path.IsAbs(r.From) || r.To != nil && !path.IsAbs(*r.To)) {
		err = errors.Join(err, fmt.Errorf("%q is moved as a %s, but a path here is not absolute", r.From, r.Kind))
	}
	if !isPath && r.Kind != api.RelocateService && (r.From == "root" || r.To != nil && *r.To == "root") {
		err = errors.Join(err, errors.New("root is root in every release: it has no row"))
	}
	if (r.To == nil) != (r.Action == api.ActionDrop) {
		err = errors.Join(err, fmt.Errorf("%q needs a path to go to, unless it is dropped", r.From))
	}
	return err
}

// oneOf checks a word of a row.
func oneOf[T ~string](what string, word T, words ...T) error {
	if slices.Contains(words, word) {
		return nil
	}
	return fmt.Errorf("%q is not %s: one of %v", word, what, words)
}

// putCurated stores the rows that answers are given from.
func putCurated(w *table.Writer, dir layers) error {
	caveats, err := group(dir, "caveats.tsv", 7, func(c []string) (record.CuratedCaveat, error) {
		row := record.CuratedCaveat{Span: record.Span{Since: c[1], MajorChanges: c[2] == "yes"}, Caveat: api.Caveat{Code: c[3], Severity: api.Severity(c[4]), Text: c[5]}}
		return row, errors.Join(known(c[1]), oneOf("a severity", row.Severity, api.SeverityInfo, api.SeverityWarning, api.SeverityInhibitor))
	})
	if err != nil {
		return err
	}
	conditionals, err := group(dir, "conditionals.tsv", 7, func(c []string) (record.CuratedConditional, error) {
		when, err := record.Condition(c[2], c[3])
		return record.CuratedConditional{Span: record.Span{Since: c[1]}, Conditional: api.Conditional{When: when, Text: c[5], Packages: strings.Fields(c[4])}}, err
	})
	if err != nil {
		return err
	}
	config, err := group(dir, "config_paths.tsv", 8, func(c []string) (record.CuratedConfig, error) {
		r := api.Relocation{From: c[2], Kind: api.RelocationKind(c[4]), Action: api.RelocationAction(c[5]), Note: c[6]}
		if c[3] != "" {
			r.To = &c[3]
		}
		return record.CuratedConfig{Span: record.Span{Since: c[1]}, Relocation: r}, errors.Join(known(c[1]), relocates(r))
	})
	if err != nil {
		return err
	}
	engines, err := engineTables(dir)
	if err != nil {
		return err
	}
	derived, err := derivations(dir)
	if err != nil {
		return err
	}
	ubuntu, err := ownNames(dir)
	if err != nil {
		return err
	}
	maps.Copy(engines, map[string]map[string]string{
		record.CaveatsTable: caveats, record.ConditionalsTable: conditionals, record.ConfigTable: config, record.DerivedTable: derived, record.UbuntuNames: ubuntu,
	})
	return putAll(w, engines)
}

func putAll(w *table.Writer, tables map[string]map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		for key, value := range tables[name] {
			if err := w.Put(name, key, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// group reads rows whose first column is their key and makes a JSON array of
// the rows of each key.
func group[T any](dir layers, name string, columns int, parse func([]string) (T, error)) (map[string]string, error) {
	all, err := rows(dir, name, columns)
	if err != nil {
		return nil, err
	}
	groups := map[string][]T{}
	for _, c := range all {
		row, err := parse(c)
		if err != nil {
			return nil, fmt.Errorf("%s: row %q: %w", name, c[0], err)
		}
		groups[c[0]] = append(groups[c[0]], row)
	}
	values := map[string]string{}
	for key, rows := range groups {
		text, err := json.Marshal(rows)
		if err != nil {
			return nil, fmt.Errorf("%s: row %q: %w", name, key, err)
		}
		values[key] = string(text)
	}
	return values, nil
}

func known(slug string) error {
	if _, ok := release.Lookup(slug); slug != "" && !ok {
		return fmt.Errorf("release %q is not known", slug)
	}
	return nil
}
