package lookup

import (
	"strconv"
	"sync"

	"svc/backend/index/record"
	"svc/backend/index/table"
)

// shared are the tables of all releases, by the names that they have in the file.
type shared struct {
	Caveats, Conditionals, Config *table.Table

	Vendors, modules, DerivativePackages, libraries, rpmNames, RpmReverse, spellings *table.Table
	rpmRows, DerivativeRows, DebianRows                                              NamedRows

	Levels map[string][]NamedRows // what becomes of rpms after a level, by line and level
	RpmOwn *table.Table
}

func sharedTables(file *table.File) shared {
	return shared{
		Caveats: file.Table(record.CaveatsTable), Conditionals: file.Table(record.ConditionalsTable), Config: file.Table(record.ConfigTable),
		Vendors: file.Table(record.VendorsTable), modules: file.Table(record.ModulesTable), DerivativePackages: file.Table(record.DerivativePackages),
		libraries: file.Table(record.RPMLibraries), rpmNames: file.Table(record.RPMNames), RpmReverse: file.Table(record.RPMReverse), spellings: file.Table(record.RPMSpellings),
		rpmRows: rowsOf(file.Table(record.RPMRows)), DerivativeRows: rowsOf(file.Table(record.DerivativeRows)), DebianRows: rowsOf(file.Table(record.DebianRows)),
		Levels: map[string][]NamedRows{"el": levelRows(file, "el"), "suse": levelRows(file, "suse")},
		RpmOwn: file.Table(record.RPMOwn),
	}
}

// MaxLevel is above the levels of all lines.
const MaxLevel = 20

// levelRows are the trails after each level of a line.
func levelRows(file *table.File, line string) []NamedRows {
	rows := make([]NamedRows, MaxLevel)
	for n := range rows {
		rows[n] = rowsOf(file.Table(record.RPMTrails + line + "-" + strconv.Itoa(n)))
	}
	return rows
}

// NamedRows are the rows of a table: those of names, and those of patterns,
// which are read once they are asked for.
type NamedRows struct {
	*table.Table
	Patterns func() *record.Globs
}

func rowsOf(t *table.Table) NamedRows {
	return NamedRows{t, sync.OnceValue(func() *record.Globs {
		patterns := &record.Globs{}
		for key, value := range t.With('*') {
			patterns.Add(key, value)
		}
		return patterns
	})}
}

// Of is the row of a name, else that of the longest pattern.
func (r NamedRows) Of(name string) (value string, ok bool, err error) {
	if value, ok, err = r.Get(name); !ok && err == nil {
		value, ok = r.Patterns().Match(name)
	}
	return value, ok, err
}
