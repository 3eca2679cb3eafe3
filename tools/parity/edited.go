package parity

import (
	"svc/assess"
	"svc/backend/sliced"
)

// notEdited is the value of a file that its package may have brought, and nobody
// changed.
const notEdited = "not edited"

// edits says of files that one machine has edited what it means that the other lists
// nothing of them, where their packages are installed there too: not that they are
// missing.
func edits(changed []change, before, after *assess.Assessment) []change {
	now, once := edited(after, before), edited(before, after)
	for i := range changed {
		c := &changed[i]
		switch {
		case c.Before == "" && now[c.Subject]:
			c.Before, c.Why, c.Added = notEdited, editedWhy[c.Why], false
		case c.After == "" && once[c.Subject]:
			c.After, c.Why = notEdited, "It is as its package brought it again."
		}
	}
	return changed
}

// editedWhy is what is said of a file that was edited, by what is said of one that
// was added.
var editedWhy = map[string]string{
	notThere:     "It is not as its package brought it any more.",
	notAnnounced: "It is not as its package brought it: the source has no such change, and the plan makes none.",
}

// edited are the files that a machine has edited, of packages that the other has too,
// which lists nothing of them.
func edited(a, other *assess.Assessment) map[string]bool {
	installed := sliced.SetOf(other.Packages, func(p assess.Package) string { return p.Name })
	listed := sliced.SetOf(other.Configuration, func(c assess.ConfigFile) string { return c.Path })
	return sliced.Index(a.Configuration, func(c assess.ConfigFile) (string, bool) {
		return c.Path, (c.State == assess.ConfigChanged || c.State == assess.ConfigMissing) && installed[c.Package] && !listed[c.Path]
	})
}
