package deb

import (
	"errors"
	"io"

	"github.com/mikelolasagasti/xz"
)

// maxWindow is the largest window of xz that is taken, in bytes: twice that of
// `xz -9`. The reader makes room for what a header claims, up to this.
const maxWindow = 128 << 20

var errWindow = errors.New("its window is larger than 128 MiB")

// newXZ unpacks xz whose windows are bounded.
func newXZ(packed io.Reader) (io.Reader, error) {
	r, err := xz.NewReader(packed, maxWindow)
	return windows{r}, ofWindow(err)
}

// windows says which bound an error of the reader is about.
type windows struct{ *xz.Reader }

func (w windows) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	return n, ofWindow(err)
}

func ofWindow(err error) error {
	if errors.Is(err, xz.ErrMemlimit) {
		return errWindow
	}
	return err
}
