package host

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"
)

func TestAttributesAreNamed(t *testing.T) {
	is := is.New(t)
	is.Equal(ParseAttributes("security.selinux\x00user.a\x00system.posix_acl_access\x00security.capability\x00"), AttributesKnown|SELinux|UserAttributes|ACL|Capabilities)
	is.Equal(ParseAttributes("trusted.overlay.opaque\x00"), AttributesKnown)
}

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
