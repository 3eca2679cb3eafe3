package record

import (
	"strings"

	"svc/backend/pkgversion"
)

// Obsolete says that a package takes the place of another, of the versions that
// Flags and Version tell; of all where Flags is empty.
type Obsolete struct{ Name, Flags, Version string }

// Covers reports whether a version is obsoleted. A version that is not known
// counts as an old one.
func (o Obsolete) Covers(version string) bool {
	if o.Flags == "" || version == "" {
		return true
	}
	order := pkgversion.Compare(pkgversion.RPM, withoutRelease(version, o.Version), o.Version)
	switch o.Flags {
	case "LT":
		return order < 0
	case "LE":
		return order <= 0
	case "EQ":
		return order == 0
	case "GE":
		return order >= 0
	case "GT":
		return order > 0
	}
	return false
}

// withoutRelease drops the release of a version where the bound has none, as
// rpm compares them.
func withoutRelease(version, bound string) string {
	if strings.Contains(bound, "-") {
		return version
	}
	version, _, _ = strings.Cut(version, "-")
	return version
}
