package lazyregexp_test

import (
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"svc/backend/lazyregexp"
)

// kinds are patterns of each kind of part.
var kinds = []string{
	`\bopen\([^)]*,\s*(mode=)?['"](rU|Ur|rbU|U)['"]`, `self\.(assertEquals|assertNotEquals|assert_|failIf)\(`, `(?i)\b(\w*engine|eng|e)\.execute\(`,
	`(ab|cd)+x?`, `(ab)*`, `(ab|c*)d`, `a{2,3}b`, `x|`, `^$`, `(?i)ab|cd`, `[a-c]d|ef`, "\uFFFD", `(a|b|c|d|e|f|g|h|i|j|k|l|m|n)o`, `\.(un)?taint\b`, `a(?:b(?i)c)`,
}

func TestWhatLacksATextHasNoMatch(t *testing.T) {
	for _, pattern := range kinds {
		lazy, eager := lazyregexp.New(pattern), regexp.MustCompile(pattern)
		t.Run(pattern, rapid.MakeCheck(func(t *rapid.T) {
			s := rapid.OneOf(rapid.String(), rapid.StringMatching(pattern), rapid.StringMatching(`[abcdeo.(x\x{FFFD}]*`)).Draw(t, "s")
			if got, want := lazy.MatchString(s), eager.MatchString(s); got != want {
				t.Fatalf("%q: %v, want %v", s, got, want)
			}
			if got, want := lazy.FindStringSubmatch(s), eager.FindStringSubmatch(s); !slices.Equal(got, want) {
				t.Fatalf("%q: %v, want %v", s, got, want)
			}
		}))
	}
	if !lazyregexp.New("\uFFFD").MatchString("a\xff") {
		t.Fatal("a broken letter is matched by its mark")
	}
}
