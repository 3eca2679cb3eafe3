// Package data has the curated rows, which are reviewed text, and the tables that
// are built of them and of the archives' own metadata.
package data

import "embed"

// Facts are the tables of what archives say of suites of Debian: they change when a
// suite is imported. Lists has which lists of rpm distributions have a name: it changes
// when a list is taken anew. Answers are the tables of what the rows decide,
// and of which packages ship units.
var (
	//go:embed facts.bin
	Facts string
	//go:embed lists.bin
	Lists string
	//go:embed answers.bin
	Answers string
)

// Day is the day by which Facts and Lists had been taken from the archives: what a
// release got since is not in them. A test holds that it changes with them.
const Day = "2026-11-24"

// Rows of which no index file is made: no archive says them, so that they are read as
// they are.
var (
	//go:embed architectures.tsv
	Architectures string
	//go:embed conditions.tsv
	Conditions string
	//go:embed families.tsv
	Families string
	//go:embed family_names.tsv
	FamilyNames string
	//go:embed rates.tsv
	Rates string
)

// Rows are the curated rows, one file a subject.
var Rows = rowFiles{unpacked}

//go:embed [a-c]*.tsv da*.tsv der*.tsv [f-q]*.tsv ra*.tsv re*.tsv so*.tsv t*.tsv ub*.tsv upgrade_b*.tsv v*.tsv
var unpacked embed.FS
