package sqlite

import "os"

// firstPage is a store's file, open as long as the store is in use.
type firstPage struct{ *os.File }

func openFirstPage(file string) (firstPage, error) {
	f, err := os.Open(file)
	return firstPage{f}, err
}

func (p firstPage) read(b []byte) (int, error) { return p.ReadAt(b, 0) }
