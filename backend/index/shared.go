package index

import (
	"strconv"
	"sync"

	"svc/backend/index/record"
	"svc/backend/index/table"
)

// shared are the tables of all releases, by the names that they have in the file.
type shared struct {
	caveats, conditionals, config *table.Table

	vendors, modules, kinPackages, libraries, rpmNames, rpmReverse, spellings *table.Table
	rpmRows, kinRows, debianRows                                              namedRows

	levels map[string][]namedRows // what becomes of rpms after a level, by line and level
	rpmOwn *table.Table
}

func sharedTables(file *table.File) shared {
	return shared{
		caveats: file.Table(record.CaveatsTable), conditionals: file.Table(record.ConditionalsTable), config: file.Table(record.ConfigTable),
		vendors: file.Table(record.VendorsTable), modules: file.Table(record.ModulesTable), kinPackages: file.Table(record.KinPackages),
		libraries: file.Table(record.RPMLibraries), rpmNames: file.Table(record.RPMNames), rpmReverse: file.Table(record.RPMReverse), spellings: file.Table(record.RPMSpellings),
		rpmRows: rowsOf(file.Table(record.RPMRows)), kinRows: rowsOf(file.Table(record.KinRows)), debianRows: rowsOf(file.Table(record.DebianRows)),
		levels: map[string][]namedRows{"el": levelRows(file, "el"), "suse": levelRows(file, "suse")},
		rpmOwn: file.Table(record.RPMOwn),
	}
}

// maxLevel is above the levels of all lines.
const maxLevel = 20

// levelRows are the trails after each level of a line.
func levelRows(file *table.File, line string) []namedRows {
	rows := make([]namedRows, maxLevel)
	for n := range rows {
		rows[n] = rowsOf(file.Table(record.RPMTrails + line + "-" + strconv.Itoa(n)))
	}
	return rows
}

// namedRows are the rows of a table: those of names, and those of patterns,
// which are read once they are asked for.
type namedRows struct {
	*table.Table
	patterns func() *record.Globs
}

func rowsOf(t *table.Table) namedRows {
	return namedRows{t, sync.OnceValue(func() *record.Globs {
		patterns := &record.Globs{}
		for key, value := range t.With('*') {
			patterns.Add(key, value)
		}
		return patterns
	})}
}

// of is the row of a name, else that of the longest pattern.
func (r namedRows) of(name string) (value string, ok bool, err error) {
	if value, ok, err = r.Get(name); !ok && err == nil {
		value, ok = r.patterns().Match(name)
	}
	return value, ok, err
}
