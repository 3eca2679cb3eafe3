package upgrade

import "sync/atomic"

// reach is how far a step has read, for those who wait.
type reach struct {
	tables, allTables atomic.Int64
	bytes, allBytes   atomic.Int64
}

// begin says how much there is to read.
func (r *reach) begin(tables, bytes int64) {
	r.tables.Store(0)
	r.bytes.Store(0)
	r.allTables.Store(tables)
	r.allBytes.Store(bytes)
}
