package remote

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/host"
)

// askers are the ways to ask a running machine that this host has.
func askers(t *testing.T) map[string]host.Host {
	is := is.New(t)
	here, err := host.OpenRoot("/")
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(here.Close()) })
	all := map[string]host.Host{"root": here}
	for name, argv := range shells(t) {
		all[name] = localShell(t, argv...)
	}
	return all
}

func TestAskSaysWhatAndHow(t *testing.T) {
	for name, h := range askers(t) {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			if _, err := host.Ask(t.Context(), h, host.Question{Words: []string{"/bin/sh", "-c", "exit"}}); errors.Is(err, fs.ErrNotExist) {
				t.Skip("it has no timeout, or no shell by that name")
			}
			ask := func(q host.Question) host.Answer {
				a, err := host.Ask(t.Context(), h, q)
				is.NoErr(err)
				return a
			}
			script := []string{"/bin/sh", "-c", `cat; echo "out $1"; echo err >&2; exit 3`, "sh", `a 'quoted' $(word)`}
			a := ask(host.Question{Words: script})
			is.Equal(a.Status, 3)
			is.True(strings.Contains(string(a.Text), `out a 'quoted' $(word)`) && strings.Contains(string(a.Text), "err"))
			a = ask(host.Question{Words: script, ErrorsAlone: true})
			is.Equal(strings.TrimSpace(string(a.Text)), "err")
			a = ask(host.Question{Words: []string{"/bin/sh", "-c", "yes | head -c 1000000"}})
			is.Equal(a.Status, 0)
			is.True(len(a.Text) <= host.MaxAnswer && len(a.Text) >= host.MaxAnswer-2)
			_, err := host.Ask(t.Context(), h, host.Question{Words: []string{"/usr/sbin/no such program"}})
			is.True(errors.Is(err, fs.ErrNotExist))
		})
	}
}
