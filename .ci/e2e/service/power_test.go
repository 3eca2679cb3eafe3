package service_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

// Sizes of file systems: the outer one holds what each cut left of the other.
const (
	outerSize = 2 << 30
	diskSize  = 256 << 20
)

// disk is a file system whose device is a file of another: a clone of that file is
// what a power cut leaves, all that the device was given, and nothing of what the
// kernel had yet to write.
type disk struct {
	dir   string // where it is mounted
	image string
	cuts  int
}

func newDisk(t *testing.T) *disk {
	outer := mountImage(t, filepath.Join(t.TempDir(), "outer.img"), "btrfs", outerSize)
	image := filepath.Join(outer, "disk.img")
	return &disk{dir: mountImage(t, image, "ext4", diskSize), image: image}
}

// mountImage makes a file system in a file and mounts it.
func mountImage(t *testing.T, image, kind string, size int64) (dir string) {
	is := is.New(t)
	is.NoErr(os.WriteFile(image, nil, 0o600))
	is.NoErr(os.Truncate(image, size))
	command(t, "mkfs."+kind, "-q", image)
	return mount(t, image)
}

// mount mounts a file system that lies in a file.
func mount(t *testing.T, image string) (dir string) {
	dir = t.TempDir()
	command(t, "mount", "-o", "loop", image, dir)
	t.Cleanup(func() { command(t, "umount", dir) })
	return dir
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// cut gives what a power cut would leave now, mounted.
func (d *disk) cut(t *testing.T) (dir string) {
	is := is.New(t)
	from, err := os.Open(d.image)
	is.NoErr(err)
	defer from.Close()
	d.cuts++
	image := fmt.Sprint(d.image, d.cuts)
	to, err := os.Create(image)
	is.NoErr(err)
	defer to.Close()
	is.NoErr(unix.IoctlFileClone(int(to.Fd()), int(from.Fd())))
	return mount(t, image)
}

// write writes a file, and has the disk keep it or not.
func (d *disk) write(t *testing.T, name string, synced bool) {
	is := is.New(t)
	f, err := os.Create(filepath.Join(d.dir, name))
	is.NoErr(err)
	defer f.Close()
	_, err = f.WriteString("something")
	is.NoErr(err)
	if synced {
		is.NoErr(f.Sync())
	}
}

// TestSQLitePowerCut cuts the power of a service on a file, in the middle of a load:
// what was acknowledged before is on the disk.
func TestSQLitePowerCut(t *testing.T) {
	is := is.New(t)
	const cuts = 5
	d := newDisk(t)
	s := start(t, "sqlite:"+filepath.Join(d.dir, "svc.db"), 1)
	l := s.startLoad(t)
	for range cuts {
		time.Sleep(time.Second)
		l.mu.Lock()
		before := &load{acked: slices.Clone(l.acked)}
		l.mu.Unlock()
		left := d.cut(t)
		l.mu.Lock()
		before.begun = maps.Clone(l.begun)
		l.mu.Unlock()
		before.audit(t, &service{dsn: "sqlite:" + filepath.Join(left, "svc.db"), dir: t.TempDir()})
	}
	d.write(t, "synced", true)
	d.write(t, "not", false)
	left := d.cut(t)
	synced, err := os.ReadFile(filepath.Join(left, "synced"))
	is.NoErr(err)
	not, _ := os.ReadFile(filepath.Join(left, "not")) // it need not be there
	check(t, len(synced) > 0 && len(not) == 0, "control: a power cut leaves what was synchronised, %d bytes, and not what was only written, %d bytes", len(synced), len(not))
	l.end(t)
	l.audit(t, s)
	_ = s.replicas[0].stop(t)
}
