package hazards

import (
	"strings"

	"svc/backend/lazyregexp"
)

// What lines of PHP begin: a class, and a function of a name.
var (
	classLine    = lazyregexp.New(`(?i)^(?:(?:abstract|final)\s+)*class\s+(\w+)`)
	functionLine = lazyregexp.New(`(?i)^(?:(?:public|final|var)\s+)*function\s+&?(\w+)\s*\(`)
)

// askConstructor asks for functions that are called as the class in which they stand, which
// has no __construct: PHP took them for its constructor until 8.0. In a namespace it never did.
func askConstructor(m *Machine, q *question, found *Match) {
	for _, name := range m.texts(q.args[0]) {
		if strings.Contains(m.Files.Text(name), "namespace ") {
			continue
		}
		class, old := "", 0
		tell := func() {
			if old > 0 {
				found.file(name, old)
			}
			old = 0
		}
		for _, l := range m.lines(name) {
			if c := classLine.FindStringSubmatch(l.text); c != nil {
				tell()
				class = c[1]
			}
			switch f := functionLine.FindStringSubmatch(l.text); {
			case f == nil || class == "":
			case strings.EqualFold(f[1], class):
				old = l.n
			case strings.EqualFold(f[1], "__construct"):
				class, old = "", 0
			}
		}
		tell()
	}
}
