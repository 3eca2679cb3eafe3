// Package pgfile reads the forms of PostgreSQL's own files: what a cluster's pg_control
// states, the rows in the pages of a table, and which file a table has. It is pure.
package pgfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Control is what a cluster's global/pg_control states.
type Control struct {
	Version   uint32 // of the file's form: 1300 is PostgreSQL 13 to 17
	Catalog   uint32 // of the system catalogs: 202209061
	State     string
	WALLevel  string // empty where the form is not known to have one
	BlockSize uint32 // of data pages; 0 where the form is not known
	Checksums string // on, off; empty where the form is not known
	Checked   bool   // the file's own checksum was right
	Order     binary.ByteOrder
}

// clusterStates are PostgreSQL's DBState.
var clusterStates = []string{"starting up", "shut down", "shut down in recovery", "shutting down", "in crash recovery", "in archive recovery", "in production"}

// layout says where fields of a form of the file stand on machines of 64 bits;
// 0 is a field that it does not have.
type layout struct{ from, to, walLevel, blockSize, checksums, crc int }

// layouts are of PostgreSQL 9.5 on: before, the checksum was made another way.
var layouts = []layout{
	{960, 960, 172, 216, 252, 256},
	{1002, 1002, 172, 216, 252, 288},
	{1100, 1100, 164, 208, 244, 280},
	{1201, 1300, 172, 216, 252, 288},
	{1700, 1700, 172, 216, 252, 288},
	{1800, 1800, 172, 216, 252, 292},
}

var walLevels = []string{"minimal", "replica", "logical"}

// ErrControl means that a pg_control is none.
var ErrControl = errors.New("not a pg_control of PostgreSQL")

// ParseControl reads a pg_control.
func ParseControl(b []byte) (c Control, err error) {
	if len(b) < 300 {
		return c, fmt.Errorf("%w: it has only %d bytes", ErrControl, len(b))
	}
	c.Order = binary.LittleEndian
	if c.Version = c.Order.Uint32(b[8:]); c.Version > 0xffff {
		c.Order = binary.BigEndian
		c.Version = c.Order.Uint32(b[8:])
	}
	c.Catalog = c.Order.Uint32(b[12:])
	if c.Version < 800 || c.Version > 9999 || c.Catalog < 200_000_000 || c.Catalog > 210_000_000 {
		return c, fmt.Errorf("%w: form %d, catalog %d", ErrControl, c.Version, c.Catalog)
	}
	if state := c.Order.Uint32(b[16:]); state < uint32(len(clusterStates)) {
		c.State = clusterStates[state]
	}
	for _, l := range layouts {
		if uint32(l.from) <= c.Version && c.Version <= uint32(l.to) {
			return c, c.fields(b, l)
		}
	}
	return c, nil
}

// fields reads what only a known form tells, after a look at the checksum.
func (c *Control) fields(b []byte, l layout) error {
	if got, want := crc32.Checksum(b[:l.crc], crc32.MakeTable(crc32.Castagnoli)), c.Order.Uint32(b[l.crc:]); got != want {
		return fmt.Errorf("pg_control is damaged: its checksum is %08x, not %08x", got, want)
	}
	c.Checked = true
	if level := c.Order.Uint32(b[l.walLevel:]); level < uint32(len(walLevels)) {
		c.WALLevel = walLevels[level]
	}
	c.BlockSize = c.Order.Uint32(b[l.blockSize:])
	c.Checksums = "off"
	if c.Order.Uint32(b[l.checksums:]) != 0 {
		c.Checksums = "on"
	}
	return nil
}
