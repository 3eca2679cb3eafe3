package engine

import (
	"sync/atomic"
)

// Reach is how far a step has read, for those who wait.
type Reach struct {
	Tables, AllTables atomic.Int64
	Bytes, AllBytes   atomic.Int64
}

// Begin says how much there is to read.
func (r *Reach) Begin(tables, bytes int64) {
	r.Tables.Store(0)
	r.Bytes.Store(0)
	r.AllTables.Store(tables)
	r.AllBytes.Store(bytes)
}
