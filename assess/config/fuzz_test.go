package config

import "testing"

// parsers are all that read text of the machine here; none may fail on any input.
var parsers = []func(string){
	func(s string) { parseUser(s) },
	func(s string) { aptSetting(s, aptRecommends) },
}

func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		"a:b:1:2:c:d:e",
		"APT { Install-Recommends no; };",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		for _, parse := range parsers {
			parse(s)
		}
	})
}
