// Package rpm reads rpm's database of installed packages in each of its forms:
// the Berkeley DB hash of EL 5 to 8, the ndb of SUSE, and SQLite, with what
// still stands in its write-ahead log. It needs neither rpm nor a database
// library, writes nothing, and takes the database for hostile: every read,
// chain and total is bounded by the size of the file.
package rpm

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"svc/assess/packages/pages"
)

// Bounds of a database: some times those of the largest real ones.
const (
	maxSize     = 1 << 30   // bytes of the file
	maxLog      = 256 << 20 // of its log
	maxHeader   = 32 << 20
	maxPackages = 100_000
)

// ErrForm means that the file is in none of the forms that rpm has.
var ErrForm = errors.New("not a database of rpm: its first bytes are those of no form that is known")

// Database is an open database file.
type Database struct {
	File io.ReaderAt
	Size int64
	// Log is the write-ahead log beside a SQLite file; nil where there is none.
	Log     io.ReaderAt
	LogSize int64
}

// Each calls do for every installed package, in the order of the file. A
// package is valid until do returns. What is damaged is passed over: the error
// then says what is first, and how much more there is.
func (d Database) Each(do func(*Package)) error {
	if d.Size > maxSize || d.LogSize > maxLog {
		return fmt.Errorf("%d bytes with a log of %d: larger than any real database", d.Size, d.LogSize)
	}
	read, err := d.form()
	if err != nil {
		return err
	}
	var faults Faults
	count := 0
	faults.Add(read(d, &faults, func(blob []byte) {
		if count++; count > maxPackages {
			faults.Add(fmt.Errorf("more than %d packages", maxPackages))
			return
		}
		p, err := Parse(blob)
		if err != nil {
			faults.Add(fmt.Errorf("package %d of the file: %w", count, err))
			return
		}
		do(p)
	}))
	return faults.Err()
}

// reader reads the headers of one form. It adds what is damaged to the faults;
// the error is that which ended it.
type reader func(d Database, faults *Faults, do func(blob []byte)) error

// form tells the form by the first bytes of the file.
func (d Database) form() (reader, error) {
	head, err := pages.New(d.File, d.Size).Bytes(0, int(min(d.Size, 512)))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the first bytes: %w", err)
	case bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		return readSQLite, nil
	case bytes.HasPrefix(head, []byte("RpmP")):
		return readNDB, nil
	case isHash(head):
		return readHash, nil
	}
	return nil, ErrForm
}

// Faults collects what is damaged: the first in words, the rest as a count.
type Faults struct {
	first error
	count int
}

// Add takes a fault; nil is none.
func (f *Faults) Add(err error) {
	if err == nil {
		return
	}
	if f.count++; f.first == nil {
		f.first = err
	}
}

// Err is nil where nothing is damaged.
func (f *Faults) Err() error {
	if f.count > 1 {
		return fmt.Errorf("%w (and %d more faults)", f.first, f.count-1)
	}
	return f.first
}
