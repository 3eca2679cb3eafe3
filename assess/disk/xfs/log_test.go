package xfs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/block"
	"svc/assess/disk/inode/inodetest"
)

// TestUncleanShutdown reads a file system that was copied while Linux had it
// mounted: what was written last is in its log alone.
func TestUncleanShutdown(t *testing.T) {
	is := is.New(t)
	image, snapshot := mkfs(t, ""), filepath.Join(t.TempDir(), "snapshot")
	open := func(name string) error {
		r, err := os.Open(name)
		is.NoErr(err)
		defer r.Close()
		info, err := r.Stat()
		is.NoErr(err)
		_, err = Open(r, info.Size())
		return err
	}
	is.NoErr(open(image)) // never mounted
	inodetest.Mounted(t, image, "", func(root string) {
		f, err := os.Create(filepath.Join(root, "file"))
		is.NoErr(err)
		defer f.Close()
		_, err = io.WriteString(f, "content")
		is.NoErr(err)
		is.NoErr(f.Sync())
		inodetest.Command(t, "cp", "--sparse=always", image, snapshot)
	})
	err := open(snapshot)
	is.True(errors.Is(err, block.ErrUnsupported))
	is.True(strings.Contains(err.Error(), "not shut down cleanly"))
	is.NoErr(open(image))
}

// TestLogThatGoesRound shuts a file system down in several rounds of its log.
func TestLogThatGoesRound(t *testing.T) {
	inodetest.Case(t, "goes round")
	is := is.New(t)
	inodetest.Needs(t, "mkfs.xfs")
	image := inodetest.Image(t, 250<<20)
	inodetest.Command(t, "mkfs.xfs", "-q", "--unsupported", "-d", "agcount=1", "-l", "size=1566b", image)
	rounds := map[uint32]bool{}
	for i := range 12 {
		inodetest.Mounted(t, image, "", func(root string) {
			for j := range 3000 {
				is.NoErr(os.WriteFile(filepath.Join(root, fmt.Sprintf("%d-%0150d", i, j)), nil, 0o600))
			}
		})
		f := openImage(t, image)
		at, err := f.place(f.logStart, f.logBlocks)
		is.NoErr(err)
		round, err := log{f.device, at, int64(f.logBlocks) * 8}.cycle(0)
		is.NoErr(err)
		rounds[round] = true
	}
	is.True(len(rounds) > 1)
}
