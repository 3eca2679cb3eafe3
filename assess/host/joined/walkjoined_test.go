package joined

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/assess/host"
	"svc/assess/host/hosttest"
)

// TestWalkOfAnImageAgrees puts the tree on a disk; another file system that the
// machine mounts in it is a boundary.
func TestWalkOfAnImageAgrees(t *testing.T) {
	is := is.New(t)
	dir := hosttest.HostileTree(t)
	is.NoErr(os.Truncate(filepath.Join(dir, "top/sparse"), 1<<20))
	is.NoErr(os.MkdirAll(filepath.Join(dir, "etc"), 0o755))
	is.NoErr(os.Mkdir(filepath.Join(dir, "top/other"), 0o755))
	is.NoErr(os.WriteFile(filepath.Join(dir, "etc/os-release"), []byte("ID=debian\n"), 0o644))
	is.NoErr(os.WriteFile(filepath.Join(dir, "etc/fstab"), []byte("/dev/sda1 / ext4\n/dev/sda2 /top/other ext4\n/dev/sda9 /top/plain ext4\n"), 0o644))
	h, err := Open(newImageOf(t, dir, string(newFolder(t, map[string]string{"in": ""}))), false)
	is.NoErr(err)
	defer h.Close()
	onDisk, err := host.OpenRoot(dir)
	is.NoErr(err)
	defer onDisk.Close()
	want, got := hosttest.Walked(t, onDisk, "top"), hosttest.Walked(t, h, "top")
	is.True(got.Nodes["top/other"].Boundary)
	is.Equal(slices.Sorted(maps.Keys(got.Missed)), []string{"top/plain"}) // its disk is not on the image
	is.Equal(len(got.Nodes), len(want.Nodes)-2)                           // and so neither is its file
	for name, n := range got.Nodes {
		w := want.Nodes[name]
		is.Equal([]any{n.Dir, n.Name, n.Mode, n.UID, n.GID, n.Inode}, []any{w.Dir, w.Name, w.Mode, w.UID, w.GID, true})
		if n.Mode.IsRegular() {
			is.Equal([]any{n.Size, n.Modified, n.Links, n.Blocks*512 < n.Size}, []any{w.Size, w.Modified, w.Links, name == "top/sparse"})
		}
	}
}
