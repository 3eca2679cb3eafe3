package locate

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
)

func TestOpenTakesExactlyOneLocation(t *testing.T) {
	is := is.New(t)
	_, err := Open(t.Context(), Location{})
	is.Equal(err, ErrLocation)
	_, err = Open(t.Context(), Location{Root: "/", SSH: "a@b"})
	is.Equal(err, ErrLocation)
	_, err = Open(t.Context(), Location{Root: filepath.Join(t.TempDir(), "nothing")})
	is.True(errors.Is(err, fs.ErrNotExist))
	live, err := Open(t.Context(), Location{Root: "/"})
	is.NoErr(err)
	defer live.Close()
	is.True(live.Live())
}
