package lookup

import (
	"sync"

	"svc/backend/api"
	"svc/backend/index/apk"
	"svc/backend/index/record"
	"svc/backend/release"
)

// IsAPK reports whether a release is one of Alpine.
func IsAPK(r release.Release) bool { return r.Family.Conventions().Format == release.APK }

// Foreign reports whether a release has other packages than Debian's family.
func (t *Release) Foreign() bool { return t.RPM != nil || t.APK != nil }

// apkRelease makes the tables of a release of Alpine; nil where the index has no suite of
// Debian that they lead to.
func (ix *Tables) apkRelease(r release.Release) *Release {
	if len(ix.Debian) == 0 {
		return nil
	}
	t, names := tablesOf(ix.File, r), sync.OnceValue(func() *apk.Names { return apk.Of(r) })
	t.APK = &APKNames{names, sync.OnceValues(func() (map[string]string, error) {
		x := &Names{Tables: ix}
		return names().Owners(x), x.Err
	})}
	return t
}

// resolveAPK says what a package of Alpine is.
func (ix *Tables) resolveAPK(t *Release, name string) (record.Record, api.Match, float64, error) {
	owners, err := t.APK.Owners()
	if err != nil {
		return record.Record{}, api.MatchNone, 0, err
	}
	_, listed, err := t.Names.Get(name)
	if err != nil {
		return record.Record{}, api.MatchNone, 0, err
	}
	x := &Names{Tables: ix}
	canonical, match, confidence := t.APK.Names().Resolve(name, owners, listed, x)
	return record.Record{Name: name, Canonical: canonical}, match, confidence, x.Err
}
