package job

import (
	"fmt"
	"os"

	"svc/assess/hazards"
)

// HazardTables are the tables of known trouble by which a machine is looked at: the
// program's own, and those of a folder where one is named.
func HazardTables(folder string) (hazards.Table, error) {
	if folder == "" {
		return hazards.Curated(), nil
	}
	own, err := hazards.Read(os.DirFS(folder))
	if err == nil {
		err = own.Check()
	}
	var all hazards.Table
	if err == nil {
		all, err = hazards.Curated().With(own)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the tables of %s: %w; nothing was done: mend the table and repeat", folder, err)
	}
	return all, nil
}
