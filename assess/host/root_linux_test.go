package host

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
)

// TestAFolderIsTheOneThatWasMet refuses one that was put in its place, and a way to it
// that is a link.
func TestAFolderIsTheOneThatWasMet(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	is.NoErr(os.MkdirAll(filepath.Join(dir, "top/plain"), 0o755))
	is.NoErr(os.Symlink("..", filepath.Join(dir, "top/loop")))
	h, err := OpenRoot(dir)
	is.NoErr(err)
	defer h.Close()
	r := h.(*root)
	_, err = r.openFolder(pendingFolder{name: "top/plain", device: 1, number: 2})
	is.True(errors.Is(err, errMoved))
	_, err = r.openFolder(pendingFolder{name: "top/loop/top"})
	is.True(err != nil)
}

func TestHintIsForLiveHostsAlone(t *testing.T) {
	is := is.New(t)
	h, dir := newRoot(t)
	is.NoErr(os.MkdirAll(filepath.Join(dir, "sys/class/dmi/id"), 0o755))
	is.NoErr(os.WriteFile(filepath.Join(dir, "sys/class/dmi/id/product_uuid"), []byte("ABC\n"), 0o600))
	id := "0123456789abcdef0123456789abcdef"
	is.Equal(Hint(h, id), "")
	h.(*root).dir = "/" // as if this root were the running machine's
	is.Equal(len(Hint(h, id)), 64)
	is.Equal(Hint(h, ""), "")
}
