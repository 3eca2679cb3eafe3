package course

import (
	"fmt"

	"svc/backend/release"
)

// Conditions are the rows of conditions.tsv by canonical.
func Conditions() map[string][]conditionRow { return conditions() }

// Between reports whether a row holds for a move.
func (r conditionRow) Between(source, target release.Release) bool {
	return r.source.has(source) && r.target.has(target)
}

// Sides are the releases of a row.
func (r conditionRow) Sides() string { return fmt.Sprintf("from %s to %s", r.source, r.target) }
