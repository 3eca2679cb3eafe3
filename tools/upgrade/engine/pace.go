package engine

import (
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// sampleBytes is how much is written, or read, to measure a disk: little beside a
// database, and more than the least that a disk gathers before it writes.
const sampleBytes = 64 << 20

// writePace measures how fast the disk of a directory takes data, in bytes per
// second, by a file without a name, of which nothing is left. Zero where that can't
// be had.
func writePace(dir string) float64 {
	f, err := nameless(dir)
	if err != nil {
		return 0
	}
	defer f.Close()
	block := make([]byte, 1<<20)
	_, _ = rand.Read(block) // a disk may press zeros; it never fails
	begin := time.Now()
	for range sampleBytes / len(block) {
		if _, err := f.Write(block); err != nil {
			return 0
		}
	}
	if err := f.Sync(); err != nil {
		return 0
	}
	return sampleBytes / time.Since(begin).Seconds()
}

// readPace measures how fast a file is read from its disk, and not from memory, in
// bytes per second. Zero where it is too short to tell, or can't be read.
func readPace(f *os.File) float64 {
	const least = 4 << 20
	_ = unix.Fadvise(int(f.Fd()), 0, sampleBytes, unix.FADV_DONTNEED) // where it isn't done, the figure is too good
	begin := time.Now()
	n, err := io.Copy(io.Discard, io.LimitReader(f, sampleBytes))
	if err != nil || n < least {
		return 0
	}
	return float64(n) / time.Since(begin).Seconds()
}

// Paces is how fast files are read, how fast the disk of the data to come takes
// them, and how fast that of the backup: in bytes per second, as a sample of this
// host's disks had it; 0 where there was none.
type Paces struct {
	ReadPace, WritePace, BackupPace float64
}

// Measure takes the sample: of the largest file of an account's data, which it
// gives too, and of the disks of two directories.
func Measure(account, data, fresh, backup string) (p Paces, sample *os.File, err error) {
	err = Acting(account, data, func() (err error) {
		sample, err = os.OpenFile(largest(data), os.O_RDONLY|unix.O_NONBLOCK, 0)
		return err
	})
	if err != nil {
		return p, nil, fmt.Errorf("measuring the disks: %w", err)
	}
	return Paces{readPace(sample), writePace(fresh), writePace(backup)}, sample, nil
}

// nameless makes a file that is gone when it is closed.
func nameless(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return os.NewFile(uintptr(fd), filepath.Join(dir, "nameless")), nil
}

// Clones reports whether the file system lets a file in a directory share the
// blocks of another one.
func Clones(from *os.File, dir string) bool {
	to, err := nameless(dir)
	if err != nil {
		return false
	}
	defer to.Close()
	return unix.IoctlFileClone(int(to.Fd()), int(from.Fd())) == nil
}

// ClonesWithin reports whether files of a directory can share blocks.
func ClonesWithin(dir string) bool {
	from, err := nameless(dir)
	if err != nil {
		return false
	}
	defer from.Close()
	_, err = from.Write(make([]byte, 1<<16))
	return err == nil && Clones(from, dir)
}

// Slowest is the least of the paces that are known.
func Slowest(paces ...float64) float64 {
	least := math.Inf(1)
	for _, p := range paces {
		if p > 0 {
			least = min(least, p)
		}
	}
	return least
}

// Lasts is a time for people: to the second, the minute or the half hour, as
// exact as an estimate can be.
func Lasts(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Second:
		return "a second"
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f seconds", math.Ceil(d.Seconds()))
	case d < 3*time.Hour:
		return fmt.Sprintf("%.0f minutes", math.Ceil(d.Minutes()))
	}
	return fmt.Sprintf("%.1f hours", d.Hours())
}

// largest is the largest file of a directory; empty where it has none.
func largest(dir string) (name string) {
	var most int64
	dir, _ = filepath.EvalSymlinks(dir)
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // it is a sample: what can't be seen is passed over
		}
		if info, err := e.Info(); err == nil && info.Size() > most {
			name, most = path, info.Size()
		}
		return nil
	})
	return name
}
