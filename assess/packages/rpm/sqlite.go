package rpm

import (
	"svc/assess/packages/sqlite"
)

// readSQLite reads the headers in the order of their numbers.
func readSQLite(d Database, faults *Faults, do func([]byte)) error {
	db, err := sqlite.Open(d.File, d.Size, d.Log, d.LogSize)
	if db == nil {
		return err
	}
	faults.Add(err)
	return db.Each("Packages", []string{"blob"}, faults.Add, func(row []sqlite.Value) { do(row[0].Bytes) })
}
