package services

import "testing"

// parsers are all that read text of the machine here; none may fail on any input.
var parsers = []func(string){
	func(s string) { parseCronLine(s, "") },
	func(s string) { parseUnit(s) },
	func(s string) { parsePreset(s).enables("a@b.service") },
	func(s string) { parseInitHeader(s) },
	func(s string) { upstartState(s, ""); upstartLevels(s) },
	func(s string) { parseAtName(s) },
}

func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		"*/5 * * * * root x",
		"[Install]\nWantedBy=a\n[Timer]\nOnCalendar=x",
		"enable a@.service b c\ndisable *",
		"# chkconfig: - 1 2\n# Default-Start: 2 3",
		"start on (a\n and runlevel [23])\nscript\nend script\nmanual",
		"a0000101c3a4e0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, s string) {
		for _, parse := range parsers {
			parse(s)
		}
	})
}
