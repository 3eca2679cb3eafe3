package naming

import (
	"path"
	"slices"
	"testing"

	"svc/assess/hazards"
	"svc/backend/tsv"
)

// TestRowsOfFormsAreOfHazards: each belongs to what hazards find, and does what its example
// says.
func TestRowsOfFormsAreOfHazards(t *testing.T) {
	for row := range tsv.Rows(formRows, 6) {
		if !slices.ContainsFunc(hazards.Curated(), func(r *hazards.Row) bool { ok, _ := path.Match(row[0], r.Key); return ok }) {
			t.Error("no hazard", row[0])
		}
		own := slices.DeleteFunc(slices.Clone(forms()), func(f Form) bool { return f.findings != row[0] })
		now, _ := Reform(row[4], own)
		if _, again := Reform(now, own); now != row[5] || len(again) > 0 {
			t.Errorf("%s: %s becomes %s", row[0], row[4], now)
		}
	}
}
