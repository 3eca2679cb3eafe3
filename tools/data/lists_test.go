package data

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/tsv"
)

// Each list that the program or its table of parents names has words, and each that has
// words is named: of a name that is mistyped no word would be listed.
func TestListsAreNamed(t *testing.T) {
	is := is.New(t)
	named := map[string]bool{}
	files, err := filepath.Glob("*.go")
	is.NoErr(err)
	calls := regexp.MustCompile(`\blist(?:s|Of)\("([^"]+)"[,)]`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		is.NoErr(err)
		for _, m := range calls.FindAllStringSubmatch(string(text), -1) {
			named[m[1]] = true
		}
	}
	for c := range tsv.Rows(parentRows, 4) {
		for _, name := range strings.Fields(c[2]) {
			if list, at := strings.CutPrefix(name, "@"); at && list != "managers" {
				named[list] = true
			}
		}
	}
	is.Equal(slices.Sorted(maps.Keys(named)), slices.Sorted(maps.Keys(words())))
	for name, of := range words() {
		if len(of) == 0 {
			t.Errorf("%s has no words", name)
		}
	}
}
