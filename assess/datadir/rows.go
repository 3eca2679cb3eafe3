package datadir

import (
	"fmt"
	"path"

	"svc/assess/datadir/pgfile"
	"svc/backend/sliced"
)

// Bounds of the system catalogs, in bytes: of one table's file, and of all that
// are read of a cluster; and of the files of the commit log.
const (
	maxCatalog  = 32 << 20
	maxCatalogs = 256 << 20
	maxSegments = 128
)

// rows reads the rows that count of a table's file.
func (c *cluster) rows(name string) []pgfile.Tuple {
	if c.catalogs > maxCatalogs {
		c.unread("/%s and further tables: over %d bytes of system catalogs", path.Join(c.dir, name), maxCatalogs)
		return nil
	}
	b, err := head(c.fs, path.Join(c.dir, name), maxCatalog)
	if err != nil {
		c.failed(path.Join(c.dir, name), err)
	}
	c.catalogs += len(b)
	var all []pgfile.Tuple
	for size := int(c.control.BlockSize); len(b) >= size; b = b[size:] {
		all = append(all, sliced.Filter(pgfile.Tuples(b[:size]), func(t pgfile.Tuple) bool { return t.Visible(c.committed) })...)
	}
	return all
}

// Transactions of a page and a segment of the commit log: two bits each.
const (
	xidsPerByte    = 4
	xidsPerSegment = 32 * 8192 * xidsPerByte
)

// committed reports whether the commit log has a transaction as committed.
func (c *cluster) committed(xid uint32) bool {
	if xid < 3 { // those of the beginning of all
		return xid > 0
	}
	name := fmt.Sprintf("%s/%04X", c.commitLog, xid/xidsPerSegment)
	if _, known := c.segments[name]; !known && len(c.segments) < maxSegments {
		c.segments[name] = c.head(name, 32*8192)
	}
	at := int(xid % xidsPerSegment / xidsPerByte)
	return at < len(c.segments[name]) && c.segments[name][at]>>(xid%xidsPerByte*2)&3 == 1
}
