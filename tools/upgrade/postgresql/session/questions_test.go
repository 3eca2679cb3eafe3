package session

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// names are what the first group of a pattern finds, each once.
func names(pattern, text string) (all []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestEveryQuestionIsAsked(t *testing.T) {
	is := is.New(t)
	sources, err := filepath.Glob("*.go")
	is.NoErr(err)
	var code strings.Builder
	for _, name := range sources {
		text, err := os.ReadFile(name)
		is.NoErr(err)
		code.Write(text)
	}
	written := names(`(?m)^-- name: (.+)$`, questionsText)
	is.Equal(written, names(`\bquestion\("([^"]+)"\)`, code.String()))
	for _, name := range written {
		script := question(name)
		is.True(script != "" && !strings.HasPrefix(script, "--") && !strings.Contains(script, "-- name:") && strings.TrimSpace(script) == script)
	}
}
