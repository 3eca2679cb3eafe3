package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestEveryFindingHasARow in its package's findings.tsv: one that is made of a seldom thing
// would else be missed at a person's machine.
func TestEveryFindingHasARow(t *testing.T) {
	made := regexp.MustCompile(`\bfound\("([a-z-]+\.[a-z.-]*[a-z])"`)
	for _, dir := range []string{"../../assess/judge", "../../tools/migration"} {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			is := is.New(t)
			rows, err := os.ReadFile(filepath.Join(dir, "findings.tsv"))
			is.NoErr(err)
			files, err := filepath.Glob(filepath.Join(dir, "*.go"))
			is.NoErr(err)
			n := 0
			for _, file := range files {
				text, err := os.ReadFile(file)
				is.NoErr(err)
				for _, m := range made.FindAllStringSubmatch(string(text), -1) {
					n++
					if !strings.Contains("\n"+string(rows), "\n"+m[1]+"\t") {
						t.Errorf("%s makes %s, which has no row", file, m[1])
					}
				}
			}
			is.True(n > 10)
		})
	}
}
