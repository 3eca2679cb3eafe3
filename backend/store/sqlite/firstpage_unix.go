//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// firstPage is a store's file, open for ever: see place.
type firstPage int

func openFirstPage(file string) (firstPage, error) {
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	return firstPage(fd), err
}

func (p firstPage) read(b []byte) (int, error) { return unix.Pread(int(p), b, 0) }
