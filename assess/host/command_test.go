package host

import (
	"context"
	"errors"
	"testing"

	"github.com/matryer/is"
)

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
