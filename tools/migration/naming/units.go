package naming

import (
	"path"
	"slices"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// Needed are the settings of a unit that name what has to be there before it
// starts.
var Needed = lazyregexp.New(`(?m)^\s*(?:Exec[A-Za-z]*|EnvironmentFile|WorkingDirectory|RootDirectory|LoadCredential)\s*=(.*)$`)

// ofData are the absolute paths in such a setting that no package brings, nor the
// role: they move with the data.
var ofData = lazyregexp.New(`(?:^|[\s='":@+!])(/(?:srv|opt|home|usr/local|var/lib|var/www|var/opt|mnt|media|data)/[A-Za-z0-9._/+-]+)`)

// runs are the programs that a unit runs.
var runs = lazyregexp.New(`(?m)^\s*Exec[A-Za-z]*\s*=\s*[-@:+!|]*"?([^\s"]*)`)

// WaitsFor are the paths that a unit needs and the role does not bring.
func WaitsFor(unit string) (paths []string) {
	for _, line := range Needed.FindAllStringSubmatch(unit, -1) {
		paths = append(paths, sliced.Map(ofData.FindAllStringSubmatch(line[1], -1), func(m []string) string { return m[1] })...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// RunsOnly reports whether a unit runs some programs alone.
func RunsOnly(unit string, some func(program string) bool) bool {
	programs := runs.FindAllStringSubmatch(unit, -1)
	return len(programs) > 0 && !slices.ContainsFunc(programs, func(m []string) bool { return !some(path.Clean(m[1])) })
}

// Comes reports whether a program is surely on the target: it moves with the data, or a row
// says where packages have it there.
func (p Places) Comes(program string) bool {
	_, to, moved := p.File(program)
	return IsOwn(program) || moved && OfSystem(program) && OfSystem(to)
}
