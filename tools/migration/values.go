package migration

import (
	"fmt"
	"strings"

	"svc/assess"
	"svc/backend/lazyregexp"
)

// What a system takes. A machine may say anything; what none would take is left
// out, and said.
var (
	zoneName    = lazyregexp.New(`^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$`)
	localeName  = lazyregexp.New(`^[A-Za-z]+(_[A-Za-z0-9]+)?([.][A-Za-z0-9-]+)?(@[A-Za-z]+)?$`)
	hostName    = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,62}[A-Za-z0-9])?$`)
	accountName = lazyregexp.New(`^[A-Za-z0-9_.][A-Za-z0-9_.@-]{0,31}[$]?$`)
	unitName    = lazyregexp.New(`^[A-Za-z0-9:_.@\\-]{1,255}$`)
	field       = lazyregexp.New(`^[^:\x00-\x1f\x7f\x{85}\x{2028}\x{2029}]*$`) // of /etc/passwd
	modeOctal   = lazyregexp.New(`^[0-7]{3,4}$`)
)

// invalid collects what a machine says that no system takes.
type invalid struct{ values []string }

// take is a value, or nothing where it does not fit.
func (v *invalid) take(what, value string, fits *lazyregexp.Regexp) string {
	if value == "" || fits.MatchString(value) {
		return value
	}
	v.add(what, value)
	return ""
}

func (v *invalid) add(what, value string) {
	v.values = append(v.values, fmt.Sprintf("%s %.60q", what, value))
}

// finding says what was left out because no system takes it.
func (v *invalid) finding() []assess.Finding {
	if len(v.values) == 0 {
		return nil
	}
	return []assess.Finding{found("source.invalid-values", fmt.Sprintf("%d values can't be what they are said to be, and are left out: %s.", len(v.values), strings.Join(v.values[:min(5, len(v.values))], ", ")), nil)}
}

// AccountName reports whether a user or group can be called so.
func AccountName(name string) bool { return accountName.MatchString(name) }
