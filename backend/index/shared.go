package index

import (
	"strconv"
	"sync"

	"svc/backend/index/table"
)

// shared are the tables of all releases, by the names that they have in the file.
type shared struct {
	caveats, conditionals, config *table.Table

	vendors, modules, kinPackages, libraries, rpmDebian, rpmReverse *table.Table
	rpmRows, kinRows, debianRows                                    namedRows

	levels map[string][]namedRows // what becomes of rpms after a level, by line and level
	rpmOwn *table.Table
}

func sharedTables(file *table.File) shared {
	return shared{
		caveats: file.Table(caveatsTable), conditionals: file.Table(conditionalsTable), config: file.Table(configTable),
		vendors: file.Table(vendorsTable), modules: file.Table(modulesTable), kinPackages: file.Table(kinPackages),
		libraries: file.Table(rpmLibraries), rpmDebian: file.Table(rpmDebian), rpmReverse: file.Table(rpmReverse),
		rpmRows: rowsOf(file.Table(rpmRows)), kinRows: rowsOf(file.Table(kinRows)), debianRows: rowsOf(file.Table(debianRows)),
		levels: map[string][]namedRows{"el": levelRows(file, "el"), "suse": levelRows(file, "suse")},
		rpmOwn: file.Table(rpmOwn),
	}
}

// maxLevel is above the levels of all lines.
const maxLevel = 20

// levelRows are the trails after each level of a line.
func levelRows(file *table.File, line string) []namedRows {
	rows := make([]namedRows, maxLevel)
	for n := range rows {
		rows[n] = rowsOf(file.Table(rpmTrails + line + "-" + strconv.Itoa(n)))
	}
	return rows
}

// namedRows are the rows of a table: those of names, and those of patterns,
// which are read once they are asked for.
type namedRows struct {
	*table.Table
	patterns func() *globs
}

func rowsOf(t *table.Table) namedRows {
	return namedRows{t, sync.OnceValue(func() *globs {
		patterns := &globs{}
		for key, value := range t.With('*') {
			patterns.add(key, value)
		}
		return patterns
	})}
}

// of is the row of a name, else that of the longest pattern.
func (r namedRows) of(name string) (value string, ok bool, err error) {
	if value, ok, err = r.Get(name); !ok && err == nil {
		value, ok = r.patterns().match(name)
	}
	return value, ok, err
}
