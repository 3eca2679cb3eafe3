package web

import "testing"

// parsers are all that read text of the machine here; none may fail on any input.
var parsers = []func(string){
	func(s string) { parseApache("f", s) },
	func(s string) { parseNginx("f", s) },
}

func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		"<VirtualHost *:80>\nServerName x\n</VirtualHost>\n</VirtualHost>\nServerName y",
		"server { } } server{ listen 1;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		for _, parse := range parsers {
			parse(s)
		}
	})
}
