package record

import (
	"slices"
	"strings"
)

// IsFact reports whether a table has what archives say: those of answers every
// build makes anew from the curated rows, and which packages have units from what they ship.
// Which libraries Debian has, by their stems, is a fact.
func IsFact(table string) bool {
	return table == RPMLibraries || !slices.ContainsFunc([]string{"curated/", "rpm/", "kin/", UbuntuNames, VendorsTable, UnitsTable}, func(prefix string) bool { return strings.HasPrefix(table, prefix) })
}
