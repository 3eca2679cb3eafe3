package lookup

import (
	"svc/backend/index/record"
	"svc/backend/index/table"
)

// Line is the place of a release among those of its line.
type Line struct {
	Line  string
	Level int
	Known bool // the index has a list of its packages, if not a complete one

	list   string                 // the word of its list among those of rpmLists; empty for EL, whose lists are levels
	others func() map[string]bool // names that SUSE gives to other packages than EL, of a release of SUSE

	shared          *table.Table // rpmLists
	rpms, Obsoletes *table.Table // of the release's own repositories; empty where they were not imported
}

// Lists reports whether the release's own list is known.
func (l *Line) Lists() bool { return l.rpms.Len() > 0 }

// Own is what the release's list says of a package.
func (l *Line) Own(name string) (record.Listed, bool) {
	value, ok := l.rpms.Get(name)
	if !ok {
		return record.Listed{}, false
	}
	return record.DecodeListed(value), true
}

// MayHaveLost reports whether levels of EL before the release's own are known to have an rpm,
// and this one not.
func (l *Line) MayHaveLost(r *RPM) bool {
	return l.Line == "el" && !l.Lists() && r.NewestBefore(l.Level) > 0 && !r.Has(l) && !l.At(r) && !r.InEPEL(l)
}

// FromEPEL reports whether EPEL has an rpm for the release, and the release not.
func (l *Line) FromEPEL(r *RPM) bool { return l.Known && r.InEPEL(l) }

// Listed reports whether a level is one of EL whose list is nearly whole, and all that is
// known of the release's.
func (l *Line) Listed(level int) bool { return l.Known && !l.Lists() && level >= record.WholeLists }

// Drops reports whether the lists say that EL has a package no more: that of a level
// before the next has it, neither that of the next nor the release's does, and EPEL has
// not taken it.
func (l *Line) Drops(r *RPM, next int) bool {
	return l.Listed(next) && !l.At(r) && !r.InEPEL(l) && r.NewestBefore(next) > 0
}
