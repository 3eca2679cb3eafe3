package convert

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/matryer/is"
)

// Each table that a converter names has rows, and each that has rows is named: a name that
// is mistyped would find nothing.
func TestTablesAreNamed(t *testing.T) {
	is := is.New(t)
	calls := regexp.MustCompile(`(WordsOf|RewordingsOf|HomesOf|ListOf|Lists)\("([^"]+)"[,)]`)
	named := map[string]map[string]bool{"WordsOf": {}, "RewordingsOf": {}, "HomesOf": {}, "ListOf": {}, "Lists": {}}
	is.NoErr(filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range calls.FindAllStringSubmatch(string(text), -1) {
			named[m[1]][m[2]] = true
		}
		return err
	}))
	sorted := func(names map[string]bool) []string { return slices.Sorted(maps.Keys(names)) }
	is.Equal(sorted(named["WordsOf"]), slices.Sorted(maps.Keys(words())))
	is.Equal(sorted(named["RewordingsOf"]), slices.Sorted(maps.Keys(rewordings())))
	is.Equal(sorted(named["HomesOf"]), slices.Sorted(maps.Keys(homes())))
	maps.Copy(named["Lists"], named["ListOf"])
	is.Equal(sorted(named["Lists"]), slices.Sorted(maps.Keys(lists())))
	for _, rules := range rewordings() {
		for _, rule := range rules {
			rule.Line.MatchString("") // or else it panics
		}
	}
}
