package several

import (
	"testing"

	"github.com/matryer/is"
)

func TestEachWarningIsSaidOnce(t *testing.T) {
	is := is.New(t)
	var w Warnings
	is.Equal(len(w.Lines()), 0)
	w.Add("web2", []string{"old", "cut"})
	w.Add("web1", []string{"old"})
	w.Add("web3", nil)
	is.Equal(w.Lines(), []string{"web2: cut", "web1 and 1 more: old"})
}
