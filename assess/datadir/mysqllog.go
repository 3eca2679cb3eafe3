package datadir

import "encoding/binary"

// A redo log is blocks; four of them are its header.
const (
	logBlock  = 512
	logHeader = 4 * logBlock
)

// logEnd is the last checkpoint of a redo log: up to its byte the tablespaces
// have what is in the log.
type logEnd struct {
	checkpoint uint64
	file       string
	at         int64 // of the block that has the byte
}

// later is the later one of two ends, of which a log's header has its own: two
// places take turns.
func (e logEnd) later(header []byte, file string) logEnd {
	const start, first, second = 8, logBlock + 8, 3*logBlock + 8
	if len(header) < logHeader {
		return e
	}
	be := binary.BigEndian
	checkpoint := max(be.Uint64(header[first:]), be.Uint64(header[second:]))
	if checkpoint <= e.checkpoint {
		return e
	}
	return logEnd{checkpoint, file, int64(checkpoint - checkpoint%logBlock - be.Uint64(header[start:]) + logHeader)}
}

// myState tells a shutdown: MySQL then writes the number of the log's last byte
// into the system tablespace, that is the last checkpoint's, and nothing follows
// in its block. It writes on as soon as it starts.
func (r *reader) myState(end logEnd) {
	const stamp = 26
	system := r.head("ibdata1", stamp+8)
	if len(system) < stamp+8 || end.checkpoint == 0 {
		return
	}
	be := binary.BigEndian
	if be.Uint64(system[stamp:]) != end.checkpoint {
		r.s.State = inProduction
		return
	}
	log, closer, err := r.openAt(end.file)
	if err != nil {
		return
	}
	defer closer.Close()
	var block [6]byte
	if _, err := log.ReadAt(block[:], end.at); err != nil {
		return
	}
	r.s.State = inProduction
	if filled := be.Uint16(block[4:]) & 0x7fff; uint64(filled) == end.checkpoint%logBlock {
		r.s.State = shutDown
	}
}
