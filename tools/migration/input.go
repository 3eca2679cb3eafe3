package migration

import (
	"time"

	"svc/assess"
	"svc/assess/hazards"
	"svc/assess/ledger"
	"svc/backend/api"
	"svc/backend/pristine"
	"svc/backend/release"
	"svc/tools/migration/inits"
)

// Input is all that a plan depends on.
type Input struct {
	Assessment   *assess.Assessment
	Target       release.Release
	Day          time.Time // on which the target's support is judged; zero judges none
	IndexVersion string
	Resolutions  []api.Resolution            // one for each package of the assessment
	Translations map[string]api.Translation  // by canonical
	Relocations  map[string][]api.Relocation // by canonical
	Units        map[string][]string         // that the target's packages ship, by canonical; nil where the index does not know
	// Hazards are the tables of known trouble, and Machine what they ask; nil asks nothing.
	Hazards hazards.Table
	Machine *hazards.Machine
	// PathExists looks at the machine, for conditions of the index.
	PathExists func(path string) bool
	// Mentions looks for text in a file of the machine.
	Mentions func(path, text string) bool
	// Read gives a file of the machine, for what has to be converted.
	Read func(path string) ([]byte, error)
	// Described gives mode and owner of a regular file or a folder of the machine, by names.
	Described func(path string) (f assess.Folder, folder, ok bool)
	// Owners tells the packages of the machine to which paths belong.
	Owners func(paths []string) map[string]string
	// SourceFile and TargetFile give files as packages of the releases ship them;
	// nil where no packages were named. Without TargetFile nothing is merged.
	SourceFile, TargetFile Shipped
	// Files is everything on the machine's disk; nil where it was not counted.
	Files *ledger.Sum
	// IncludeSecrets carries keys and files that others may not read.
	IncludeSecrets bool
}

// Shipped gives a file of /etc as one of some packages ships it, the newest that
// fits, or nil.
type Shipped func(packages []string, file string, fits func(text []byte) bool) *pristine.File

// inits are what starts services on both sides.
func (in Input) inits() inits.Move {
	source, _ := release.Lookup(in.Assessment.Release)
	return inits.Move{Source: source, Target: in.Target, Ships: in.Units, Read: in.Read}
}

// sameLine reports whether packages of source and target have the same files, and enable
// their units alike (Debian's start what they bring, others what the distribution lists).
func sameLine(in Input) bool {
	source, ok := release.Lookup(in.Assessment.Release)
	return !ok || source.Family.Conventions().Line == in.Target.Family.Conventions().Line
}

// saysNeeded reports whether the source's package manager says which packages
// others depend on.
func (in Input) saysNeeded() bool {
	source, _ := release.Lookup(in.Assessment.Release)
	return source.Family.Conventions().Format == release.Deb
}
