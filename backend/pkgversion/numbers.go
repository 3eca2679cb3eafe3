package pkgversion

import (
	"slices"
	"strings"
)

// FirstNumbers are the first numbers of a version, without what comes before them:
// of 2:8.4+96 and two numbers, 8.4.
func FirstNumbers(version string, n int) string {
	version = WithoutEpoch(version)
	all := strings.FieldsFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if version == "" || version[0] < '0' || version[0] > '9' {
		return ""
	}
	return strings.Join(slices.Clip(all[:min(n, len(all))]), ".")
}
