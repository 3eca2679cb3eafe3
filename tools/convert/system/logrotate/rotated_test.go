package logrotate

import (
	"path"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// Every row of rotated.tsv names a file of rules once, and logs by sound patterns.
func TestRotated(t *testing.T) {
	is := is.New(t)
	seen := map[string]bool{}
	for _, r := range allRotated() {
		is.True(strings.HasPrefix(r.file, "/etc/logrotate.d/") && !seen[r.file])
		is.True(len(r.packages) > 0 && len(r.logs) > 0)
		seen[r.file] = true
		for _, log := range r.logs {
			_, err := path.Match(log, "")
			is.NoErr(err)
			is.True(strings.HasPrefix(log, "/var/"))
		}
	}
}
