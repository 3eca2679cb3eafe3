package assess

import (
	"strings"
	"testing"

	"svc/backend/pkgversion"
)

// FuzzLines: what every reader stands on fails on no input.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{"ID=debian\nX=\"a\\\"b\"", "Port 22\n", "[a]\nb=c", "1:2-3+x", "[packages.\"a.b\"]\nreason = \"User\"\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ParseAssignments(s)
		for _, sep := range []string{"", "="} {
			for range ParseSettings("f", s, sep) {
			}
		}
		IniValues(s)
		pkgversion.Upstream(s)
		if CompareNatural(s, strings.Clone(s)) != 0 {
			t.Fatalf("%q differs from itself", s)
		}
	})
}
