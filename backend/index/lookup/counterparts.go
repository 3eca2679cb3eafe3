package lookup

import (
	"sync"

	"svc/backend/api"
	"svc/backend/index/counterpart"
	"svc/backend/index/record"
	"svc/backend/release"
)

// Foreign reports whether a release has other packages than Debian's family.
func (t *Release) Foreign() bool { return t.RPM != nil || t.Counterparts != nil }

// counterpartRelease makes the tables of a release whose packages are known by what they
// are in Debian; nil where the index has no suite of Debian that they lead to.
func (ix *Tables) counterpartRelease(r release.Release) *Release {
	if len(ix.Debian) == 0 {
		return nil
	}
	t, names := tablesOf(ix.File, r), sync.OnceValue(func() *counterpart.Names { return counterpart.Of(r) })
	t.Counterparts = &Counterparts{names, sync.OnceValue(func() map[string]string { return names().Owners(&Names{Tables: ix}) })}
	return t
}

// resolveCounterpart says what a package of such a release is.
func (ix *Tables) resolveCounterpart(t *Release, name string) (record.Record, api.Match, float64) {
	canonical, match, confidence := t.Counterparts.Names().Resolve(name, t.Counterparts.Owners(), t.Names.Has(name), &Names{Tables: ix})
	return record.Record{Name: name, Canonical: canonical}, match, confidence
}
