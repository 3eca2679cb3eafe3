package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve takes room for a file without writing to it, where the file system can.
func reserve(f *os.File, size int64) (err error) {
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Fallocate(int(f.Fd()), 0, 0, size)
	}
	if errors.Is(err, unix.EOPNOTSUPP) {
		_, err = f.Write(make([]byte, size))
	}
	return err
}
