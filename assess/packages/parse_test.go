package packages

import (
	"testing"

	"svc/assess/packages/repositories"
)

// parsers are all that read text of the machine here; none may fail on any input.
var parsers = []func(string){
	func(s string) { repositories.ParseSourceLine(s) },
	func(s string) { eachListed([]byte(s), func(string) {}) },
}

func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		"deb [ a=b c ] x y z",
		"\n/etc/x\n/lib/systemd/system/y",
		"[a]\nbaseurl=b\n c\nenabled=0\n",
		"@x https://a/b/c",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		for _, parse := range parsers {
			parse(s)
		}
	})
}
