package shipped

import (
	"cmp"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/tools/migration/naming"
	"svc/tools/migration/valid"
)

// Temporary is a folder of /run that a package has made at each start (tmpfiles.d(5)).
type Temporary struct {
	File        string // that says so
	Mode        string // octal
	User, Group string
}

// belowRun is a path in a folder of /run that a text names.
var belowRun = lazyregexp.New(`(?:^|[^\w/.-])(?:/var)?/run/([A-Za-z0-9_-]+)/`)

// NamedInRun are the folders of /run that the lines of a text name, below it, each once.
func NamedInRun(text string) (names []string) {
	for n, line := range strings.Split(text, "\n") {
		if naming.Silent(n, line) || !strings.Contains(line, "/run/") {
			continue
		}
		for _, m := range belowRun.FindAllStringSubmatch(line, -1) {
			if !slices.Contains(names, m[1]) {
				names = append(names, m[1])
			}
		}
	}
	return names
}

// Temporary is what makes a folder of /run on the source: in a file of tmpfiles.d of the
// folder's name, or of the package's that names it.
func (m Machine) Temporary(name, pkg string) (t Temporary, ok bool) {
	for _, file := range slices.Compact([]string{name, pkg}) {
		file = "/usr/lib/tmpfiles.d/" + file + ".conf"
		for line := range strings.Lines(m.text(file)) {
			f := strings.Fields(line)
			if len(f) < 5 || f[0] != "d" && f[0] != "D" || strings.TrimSuffix(strings.TrimPrefix(f[1], "/var"), "/") != "/run/"+name {
				continue
			}
			t = Temporary{file, f[2], cmp.Or(strings.TrimLeft(f[3], "-"), "root"), cmp.Or(strings.TrimLeft(f[4], "-"), "root")}
			if valid.Mode.MatchString(t.Mode) && valid.AccountName.MatchString(t.User) && valid.AccountName.MatchString(t.Group) {
				return t, true
			}
		}
	}
	return t, false
}
