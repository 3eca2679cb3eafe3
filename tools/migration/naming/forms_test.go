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

// TestAFolderInQuotesIsReformed, where nothing else stands in them before it.
func TestAFolderInQuotesIsReformed(t *testing.T) {
	for was, want := range map[string]string{
		`export JAVA_HOME="/usr/lib/jvm/jre-17"`:             `export JAVA_HOME="/usr/lib/jvm/default-java"`,
		`JAVA_HOME='/usr/lib/jvm/java-11-openjdk/'`:          `JAVA_HOME='/usr/lib/jvm/default-java/'`,
		`JAVA_OPTS="-Dhome=/usr/lib/jvm/java-1.8.0-openjdk"`: `JAVA_OPTS="-Dhome=/usr/lib/jvm/default-java"`,
		`echo "it was /usr/lib/jvm/jre-17 here"`:             `echo "it was /usr/lib/jvm/jre-17 here"`,
	} {
		if now, _ := Reform(was, FormsOf("hazard.java.path-apt")); now != want {
			t.Errorf("%q became %q, not %q", was, now, want)
		}
	}
}
