package visible

import (
	"fmt"
	"strings"
)

// Word makes one word of bash of any bytes but NUL, which no path has: nothing in
// it is run. Where some are not seen, it is the form that spells them out.
func Word(s string) string {
	if Text(s) == s {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7F:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'"
}
