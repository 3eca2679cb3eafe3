package role

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"
	"go.yaml.in/yaml/v4"
)

// TestLongListsAreEncodedAsOne: that they are encoded in parts does not show.
func TestLongListsAreEncodedAsOne(t *testing.T) {
	for _, n := range []int{0, 1, atOnce, atOnce + 1, 3*atOnce + 7} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			is := is.New(t)
			all := list{}
			for i := range n {
				all = append(all, record{{"src", text(strings.Repeat("\n- x: ", i%3) + strconv.Itoa(i))}, {"mode", text("0644")}})
			}
			v := record{{"role_hostname", text("a")}, {"role_files", all}, {"role_on", boolean(true)}}
			got, err := encode(v)
			is.NoErr(err)
			var whole bytes.Buffer
			e := yaml.NewEncoder(&whole)
			e.SetIndent(2)
			is.NoErr(e.Encode(v.node()))
			_, body, _ := strings.Cut(string(got), "---\n")
			is.Equal(body, whole.String())
		})
	}
}
