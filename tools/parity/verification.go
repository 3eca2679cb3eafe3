package parity

import (
	"slices"

	"svc/assess"
	"svc/assess/ask"
	"svc/assess/baseline"
	"svc/backend/sliced"
	"svc/tools/migration"
)

// Input is all that a comparison depends on.
type Input struct {
	Plan       *migration.Plan
	PlanDigest string
	Before     *assess.Assessment // the source
	After      *assess.Assessment // the migrated machine
	// Files are what stands on the migrated machine at the places that the plan
	// names, by path.
	Files map[string]File
	// Written is what the role writes, by path on the target; nil where only the
	// assessment of the source is there.
	Written map[string][]byte
	// Base is what the migrated machine's own packages account for; nil where
	// nobody looked.
	Base *baseline.Baseline
	// Places are those of a data plan; nil where none is named.
	Places []Place
	// Asked is what the migrated machine says while it runs.
	Asked    Asked
	Accepted Acceptances
}

// File is what stands at a path of the migrated machine.
type File struct {
	Exists  bool
	Err     string // why it could not be read; empty where it could
	Content []byte
	SHA256  string
	Mode    string // octal: 0644
	Owner   string
	Group   string
	Link    string // where it leads, if it is a link
}

// Asked is what the migrated machine says while it runs; nothing where it was not asked.
type Asked struct {
	Answers  []ask.Answer           // of its services' own checks
	Why      string                 // why these were not asked; empty where they were
	Services map[string]ask.Service // nil where systemd does not run
}

// verification is a comparison while it is made.
type verification struct {
	Input
	running bool
	after   map[[2]string]subject // the inventory of the migrated machine
	unseen  map[string]bool       // files of the migrated machine that could not be read
	files   map[string]outcome    // what became of the source's files, by path
	named   map[string]bool       // packages that the plan names
}

// outcome is what the plan does with a file of the source, all rows together.
type outcome struct {
	differs bool // something that the role was to do was not done
	rows    []migration.Config
}

// unitFile is where a unit of the source stood.
func (v verification) unitFile(name string) []assess.Evidence {
	return in(sliced.First(slices.Concat(v.Before.Services, v.Before.Timers), func(u assess.Unit) bool { return u.Name == name }).Path)
}
