package report

import (
	"fmt"
	"path"
	"strings"

	"svc/assess"
	"svc/assess/ledger"
	"svc/backend/lazyregexp"
	"svc/tools/migration"
)

// BeforeDatabases are the commands that have to be done before databases are loaded:
// clusters that nothing else makes, and people's files in the folders of a server's
// version, which a load asks for. Some reach the source by $SOURCE_SSH.
func BeforeDatabases(p *migration.Plan, a *assess.Assessment) (commands []string) {
	commands = clusters(p, a)
	if p.Files == nil {
		return commands
	}
	for _, f := range p.Files.Nobody {
		if now, ok := versioned(p, f); ok {
			commands = append(commands, fmt.Sprintf(`mkdir -p %[2]s && rsync -a --ignore-existing "$SOURCE_SSH":%[1]s %[2]s/`, word(f.Path), word(path.Dir(now))))
		}
	}
	return commands
}

// withVersion are packages that are called after what they have, and its version:
// postgresql-15.
var withVersion = lazyregexp.New(`^([a-z][a-z+.-]*?)-?([0-9]+(?:\.[0-9]+)*)$`)

// versioned is where the target looks for a file that fits any version and stands in the
// folder that a package has for its own: the extensions and dictionaries of a server in
// /usr/share/postgresql/15.
func versioned(p *migration.Plan, f ledger.Path) (now string, ok bool) {
	if !strings.HasPrefix(f.Path, "/usr/share/") {
		return "", false
	}
	for _, row := range p.Packages {
		was := withVersion.FindStringSubmatch(row.Name)
		if was == nil || row.Confidence < migration.Sure {
			continue
		}
		for _, t := range row.Targets {
			is := withVersion.FindStringSubmatch(t.Name)
			if folder := "/" + was[1] + "/" + was[2] + "/"; is != nil && is[1] == was[1] && is[2] != was[2] && strings.Contains(f.Path, folder) {
				return strings.Replace(f.Path, folder, "/"+is[1]+"/"+is[2]+"/", 1), true
			}
		}
	}
	return "", false
}
