//go:build !linux

package sqlite

import "os"

// reserve takes room for a file by writing it: not every system has another way.
func reserve(f *os.File, size int64) error {
	_, err := f.Write(make([]byte, size))
	return err
}
