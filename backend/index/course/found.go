package course

import (
	"strings"

	"svc/backend/index/lookup"
)

// How a course that ends at rpms was found.
const (
	ByRow         = "row"              // a curated row
	ByVendor      = "vendor"           // another vendor's row
	ByMetapackage = "metapackage"      // what stands for all versions
	ByCanonical   = "canonical"        // an rpm has the canonical
	ByReverse     = "reverse"          // an rpm is the package of Debian
	ByPart        = "part"             // an rpm has a part of it
	ByGuess       = "guess"            // the name that rules make
	BySpelling    = "spelling"         // that name, as the target's lists spell it
	ByName        = "name"             // its own name
	ByList        = "list"             // its own name, which the target's list has against what is said of it
	ByEvent       = "event"            // what became of it between releases
	ByAbsence     = "absence"          // a list lacks it
	ByBoth        = "both"             // both lines have the name
	ByDebian      = "over Debian"      // the package of Debian that it is
	ByDebianRow   = "row over Debian"  // the row of that
	ByDebianName  = "name over Debian" // what the rules make of the name of that
)

// Removed is in the place of a presence where an answer names nothing.
const Removed lookup.Presence = "removed"

// Evidence is how a course was found, and how the index knows that the target has its names.
func Evidence(found string, known lookup.Presence) string { return found + ", " + string(known) }

// IsOutside reports whether evidence is of names that the target's own list lacks.
func IsOutside(evidence string) bool {
	_, known, _ := strings.Cut(evidence, ", ")
	switch lookup.Presence(known) {
	case lookup.InNear, lookup.InLater, lookup.Nowhere:
		return true
	}
	return false
}
