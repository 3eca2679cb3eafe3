// Package valid says what a system takes as the name of a user, a unit, a zone and the like.
// A machine may say anything; what none would take is left out, and said.
package valid

import (
	"fmt"

	"svc/backend/lazyregexp"
)

// What a system takes.
var (
	ZoneName    = lazyregexp.New(`^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$`)
	LocaleName  = lazyregexp.New(`^[A-Za-z]+(_[A-Za-z0-9]+)?([.][A-Za-z0-9-]+)?(@[A-Za-z]+)?$`)
	HostName    = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,62}[A-Za-z0-9])?$`)
	AccountName = lazyregexp.New(`^[A-Za-z0-9_.][A-Za-z0-9_.@-]{0,31}[$]?$`)
	UnitName    = lazyregexp.New(`^[A-Za-z0-9:_.@\\-]{1,255}$`)
	Field       = lazyregexp.New(`^[^:\x00-\x1f\x7f\x{85}\x{2028}\x{2029}]*$`) // of /etc/passwd
	Mode        = lazyregexp.New(`^[0-7]{3,4}$`)                               // octal
)

// Refused collects what a machine says that no system takes.
type Refused struct{ Values []string }

// Take is a value, or nothing where it does not fit.
func (r *Refused) Take(what, value string, fits *lazyregexp.Regexp) string {
	if value == "" || fits.MatchString(value) {
		return value
	}
	r.Add(what, value)
	return ""
}

// Add notes a value that is left out.
func (r *Refused) Add(what, value string) {
	r.Values = append(r.Values, fmt.Sprintf("%s %.60q", what, value))
}
