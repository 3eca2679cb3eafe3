package naming

import (
	"testing"

	"github.com/matryer/is"
)

// Every row makes of its example what it says, where the file is left, and nothing else.
func TestIncludes(t *testing.T) {
	for _, row := range includes() {
		is := is.New(t)
		at := row.folder + "conf.d/main"
		text := "# x\n" + row.example[0] + "\n"
		now, said := Optional(at, text, map[string]bool{row.folder + "conf.d/auth-sql.conf.ext": true})
		is.Equal(now, "# x\n"+row.example[1]+"\n")
		is.Equal(said[0].Line, 2)
		again, said := Optional(at, now, map[string]bool{row.folder + "conf.d/auth-sql.conf.ext": true})
		is.Equal(again, now)
		is.Equal(len(said), 0)
		for _, same := range []struct {
			at   string
			left map[string]bool
		}{{at, nil}, {"/etc/other/main", map[string]bool{"/etc/other/auth-sql.conf.ext": true}}} {
			now, said = Optional(same.at, text, same.left)
			is.Equal(now, text)
			is.Equal(len(said), 0)
		}
	}
}
