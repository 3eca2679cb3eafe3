package build

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"svc/backend/api"
	"svc/backend/index/catalog"
	"svc/backend/index/record"
	"svc/backend/index/table"
	"svc/backend/lazyregexp"
)

// slugForm is the alphabet of canonicals.
var slugForm = lazyregexp.New(`^[a-z0-9][a-z0-9.+_-]*$`)

// naming reads software.tsv and canonicals.tsv; the canonicals that packages
// have already come after those of the rows.
func naming(r *reader, already map[string]string) *catalog.Naming {
	var software []catalog.Software
	for _, dir := range slices.Backward(r.layers) { // the first row that fits counts
		for _, c := range r.layer(dir, "software.tsv", 4) {
			if !slugForm.MatchString(c[1]) || !slices.Contains(catalog.Majors, catalog.Major(c[2])) {
				r.refuse(fmt.Errorf("software.tsv: the row of %q has software %q and major %q", c[0], c[1], c[2]))
			}
			software = append(software, catalog.Software{Pattern: c[0], Name: c[1], Major: catalog.Major(c[2])})
		}
	}
	overrides := map[string]string{}
	maps.Copy(overrides, already)
	for _, c := range r.rows("canonicals.tsv", 3) {
		if !slugForm.MatchString(c[1]) {
			r.refuse(fmt.Errorf("canonicals.tsv: %q is no canonical", c[1]))
		}
		overrides[c[0]] = c[1]
	}
	return catalog.NewNaming(software, overrides)
}

// renames reads renames.tsv: step → package → trail.
func renames(r *reader) map[string]map[string]record.Trail {
	steps := map[string]map[string]record.Trail{}
	for _, c := range r.rows("renames.tsv", 6) {
		if !record.IsRelation(c[3]) {
			r.refuse(fmt.Errorf("renames.tsv: %q is no relation", c[3]))
		}
		step := record.TrailsTable(c[0], c[2])
		if steps[step] == nil {
			steps[step] = map[string]record.Trail{}
		}
		steps[step][c[1]] = record.Trail{Relation: api.Relation(c[3]), Confidence: 1, Targets: strings.Fields(c[4]), Method: record.Curated}
	}
	return steps
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
func putCurated(w *table.Writer, r *reader) {
	group(w, record.CaveatsTable, r, "caveats.tsv", 7, func(c []string) (record.CuratedCaveat, error) {
		row := record.CuratedCaveat{Span: record.Span{Since: c[1], MajorChanges: c[2] == "yes"}, Caveat: api.Caveat{Code: c[3], Severity: api.Severity(c[4]), Text: c[5]}}
		return row, errors.Join(known(c[1]), oneOf("a severity", row.Severity, api.SeverityInfo, api.SeverityWarning, api.SeverityInhibitor))
	})
	group(w, record.ConditionalsTable, r, "conditionals.tsv", 7, func(c []string) (record.CuratedConditional, error) {
		when, err := record.Condition(c[2], c[3])
		return record.CuratedConditional{Span: record.Span{Since: c[1]}, Conditional: api.Conditional{When: when, Text: c[5], Packages: strings.Fields(c[4])}}, err
	})
	group(w, record.ConfigTable, r, "config_paths.tsv", 8, func(c []string) (record.CuratedConfig, error) {
		config := api.Relocation{From: c[2], Kind: api.RelocationKind(c[4]), Action: api.RelocationAction(c[5]), Note: c[6]}
		if c[3] != "" {
			config.To = &c[3]
		}
		return record.CuratedConfig{Span: record.Span{Since: c[1]}, Relocation: config}, errors.Join(known(c[1]), relocates(config))
	})
	putEngines(w, r)
	w.PutAll(record.DerivedTable, derivations(r))
	w.PutAll(record.UbuntuNames, ownNames(r))
}
