package lookup

import (
	"strconv"
	"strings"
	"sync"

	"svc/backend/index/record"
	"svc/backend/index/rpm"
	"svc/backend/index/table"
)

// shared are the tables of all releases, by the names that they have in the file.
type shared struct {
	Caveats, Conditionals, Config *table.Table

	Vendors, modules, DerivativePackages, libraries, rpmNames, rpmCanonicals, rpmLists, rpmReverse, spellings *table.Table
	rpmRows, vendorRows, DerivativeRows, DebianRows                                                           *NamedRows // vendorRows are those of rpmRows that tell of a vendor

	Levels map[string][]NamedRows // what becomes of rpms after a level, by line and level
	RpmOwn *table.Table
}

func sharedTables(file *table.File) shared {
	return shared{
		Caveats: file.Table(record.CaveatsTable), Conditionals: file.Table(record.ConditionalsTable), Config: file.Table(record.ConfigTable),
		Vendors: file.Table(record.VendorsTable), modules: file.Table(record.ModulesTable), DerivativePackages: file.Table(record.DerivativePackages),
		libraries: file.Table(record.RPMLibraries), rpmNames: file.Table(record.RPMNames), rpmCanonicals: file.Table(record.RPMCanonicals), rpmLists: file.Table(record.RPMLists), rpmReverse: file.Table(record.RPMReverse), spellings: file.Table(record.RPMSpellings),
		rpmRows: &NamedRows{Table: file.Table(record.RPMRows)}, vendorRows: &NamedRows{Table: file.Table(record.RPMRows), with: rpm.Vendor},
		DerivativeRows: &NamedRows{Table: file.Table(record.DerivativeRows)}, DebianRows: &NamedRows{Table: file.Table(record.DebianRows)},
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
		rows[n].Table = file.Table(record.RPMTrails + line + "-" + strconv.Itoa(n))
	}
	return rows
}

// NamedRows are the rows of a table: those of names, and those of patterns,
// which are read once they are asked for.
type NamedRows struct {
	*table.Table
	with     string // a text that the rows of patterns have in them
	once     sync.Once
	patterns *record.Globs
}

// Patterns are the rows of patterns.
func (r *NamedRows) Patterns() *record.Globs {
	r.once.Do(func() {
		r.patterns = new(record.Globs)
		for key, value := range r.With('*') {
			if strings.Contains(value, r.with) {
				r.patterns.Add(key, value)
			}
		}
	})
	return r.patterns
}

// Of is the row of a name, else that of the longest pattern.
func (r *NamedRows) Of(name string) (value string, ok bool) {
	if value, ok = r.Get(name); !ok {
		value, ok = r.Patterns().Match(name)
	}
	return value, ok
}
