package lookup

import (
	"strings"

	"svc/backend/index/record"
	"svc/backend/index/rpm"
)

// Names answers the rules from the tables.
type Names struct {
	Tables *Tables
	Line   string // of the release that the names are of
}

// Package is the canonical of a package that any suite of Debian has, or a derivative.
func (x *Names) Package(name string) (string, bool) {
	for _, t := range x.Tables.Debian {
		if value, ok := t.Names.Get(name); ok {
			return record.DecodeRecord(name, value).Canonical, true
		}
	}
	value, ok := x.Tables.DerivativePackages.Get(name)
	canonical, _, isName := strings.Cut(value, "\t")
	return canonical, ok && isName
}

// Canonical is the package that a canonical names in the newest suite that has one.
func (x *Names) Canonical(canonical string) (string, bool) {
	for _, t := range x.Tables.Debian {
		if r, ok := t.ByCanonical(canonical); ok {
			return r.Name, true
		}
	}
	return "", false
}

// Provided is the one package that provides a virtual one, in the newest suite.
func (x *Names) Provided(virtual string) (string, bool) {
	for _, t := range x.Tables.Debian {
		if name, ok := t.Provides.Get(virtual); ok {
			return name, true
		}
	}
	return "", false
}

// Library is the canonical of a library by the stem of its name: openssl--lib of libssl.
func (x *Names) Library(stem string) (string, bool) {
	return x.Tables.libraries.Get(stem)
}

// Row is what the rows say of an rpm by its name.
func (x *Names) Row(name string) (rpm.Guess, bool) {
	return x.ofLine(name, func(key string) (string, bool) {
		value, ok := x.Tables.rpmNames.Get(key)
		trail := DecodeRPM(key, value).Trail
		return trail, ok && trail != ""
	})
}

// Pattern is what the longest pattern of the rows that fits an rpm says.
func (x *Names) Pattern(name string) (rpm.Guess, bool) {
	return x.ofLine(name, x.Tables.rpmRows.Patterns().Match)
}

// Vendor is the vendor of whose packages the longest pattern that fits an rpm tells;
// empty where it tells of none.
func (x *Names) Vendor(name string) string {
	if _, ok := x.Tables.vendorRows.Patterns().Match(name); !ok {
		return "" // as of most, which costs less to see
	}
	if g, ok := x.Pattern(name); ok && rpm.IsVendor(g.Method) {
		return strings.TrimPrefix(g.Method, rpm.Vendor)
	}
	return ""
}

// ofLine is the row of a name, that of its line first.
func (x *Names) ofLine(name string, row func(key string) (string, bool)) (rpm.Guess, bool) {
	if x.Line == "suse" {
		if value, ok := row(record.SuseKey + name); ok {
			return x.Guess(value, ok)
		}
	}
	return x.Guess(row(name))
}

// Derivative finds the row of a package that only derivatives of Debian have, or the longest of
// its patterns.
func (x *Names) Derivative(name string) (rpm.Guess, bool) {
	return x.Guess(x.Tables.DerivativeRows.Of(name))
}

// Guess is the guess of a row's text.
func (x *Names) Guess(value string, ok bool) (rpm.Guess, bool) {
	if !ok {
		return rpm.Guess{}, false
	}
	return record.DecodeTrail(value), true
}
