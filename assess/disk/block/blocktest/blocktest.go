// Package blocktest reads disks that tests have opened.
package blocktest

import (
	"io"
	"testing"

	"svc/assess/disk/block"
)

// Content is all that a disk holds, or why it was not opened.
func Content(d block.Device, err error) (string, error) {
	if err != nil {
		return "", err
	}
	all, err := io.ReadAll(io.NewSectionReader(d, 0, d.Size()))
	return string(all), err
}

// Sample reads a bit of a disk, where it was opened, at both ends and in its
// middle: what is short has an error.
func Sample(t testing.TB, d block.Device, err error) {
	t.Helper()
	if err != nil {
		return
	}
	p := make([]byte, 3000)
	for _, at := range []int64{0, d.Size() / 2, d.Size() - 1000} {
		if n, err := d.ReadAt(p, max(0, at)); n < len(p) && err == nil {
			t.Fatalf("%d bytes of %d without an error", n, len(p))
		}
	}
}
