package host

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// askers are the ways to ask a running machine that this host has.
func askers(t *testing.T) map[string]Host {
	is := is.New(t)
	here, err := OpenRoot("/")
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(here.Close()) })
	all := map[string]Host{"root": here}
	for name, argv := range shells(t) {
		all[name] = localShell(t, argv...)
	}
	return all
}

func TestAskSaysWhatAndHow(t *testing.T) {
	for name, h := range askers(t) {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			if _, err := Ask(t.Context(), h, Question{Words: []string{"/bin/sh", "-c", "exit"}}); errors.Is(err, fs.ErrNotExist) {
				t.Skip("it has no timeout, or no shell by that name")
			}
			ask := func(q Question) Answer {
				a, err := Ask(t.Context(), h, q)
				is.NoErr(err)
				return a
			}
			script := []string{"/bin/sh", "-c", `cat; echo "out $1"; echo err >&2; exit 3`, "sh", `a 'quoted' $(word)`}
			a := ask(Question{Words: script})
			is.Equal(a.Status, 3)
			is.True(strings.Contains(string(a.Text), `out a 'quoted' $(word)`) && strings.Contains(string(a.Text), "err"))
			a = ask(Question{Words: script, ErrorsAlone: true})
			is.Equal(strings.TrimSpace(string(a.Text)), "err")
			a = ask(Question{Words: []string{"/bin/sh", "-c", "yes | head -c 1000000"}})
			is.Equal(a.Status, 0)
			is.True(len(a.Text) <= maxAnswer && len(a.Text) >= maxAnswer-2)
			_, err := Ask(t.Context(), h, Question{Words: []string{"/usr/sbin/no such program"}})
			is.True(errors.Is(err, fs.ErrNotExist))
		})
	}
}

func TestAskOnlyWhatRuns(t *testing.T) {
	is := is.New(t)
	h, err := OpenRoot(t.TempDir())
	is.NoErr(err)
	defer h.Close()
	_, err = Ask(t.Context(), h, Question{Words: []string{"/bin/true"}})
	is.True(errors.Is(err, ErrNotRunning))
	here, err := OpenRoot("/")
	is.NoErr(err)
	defer here.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Ask(ctx, here, Question{Words: []string{"/bin/true"}})
	is.True(errors.Is(err, context.Canceled))
}
