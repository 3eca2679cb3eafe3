package store

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// position is the head of a SQLite wal-index: WalIndexHdr of
// https://sqlite.org/walformat.html#the_wal_index_file_format. Every commit, of
// whichever process, writes another one there before anybody sees what it did.
type position [48]byte

// The wal-index of https://sqlite.org/walformat.html: its version, in the machine's
// byte order, where it counts transactions, and where it says that it is valid.
const (
	walIndexVersion = 3007000
	walIndexChange  = 8
	walIndexValid   = 12
)

// commits counts the transactions that changed the file, and begins again after the
// greatest number.
func (p position) commits() uint32 { return binary.NativeEndian.Uint32(p[walIndexChange:]) }

// Limits of a recall: the tokens, and the positions it knows, as a search may end
// some commits after it began.
const (
	maxRecalled = 100_000
	maxPassed   = 16
)

// recall remembers the tokens that were looked for since the last commit to the
// file that may have changed one. While the file is at a position that it knows,
// nothing of them can have changed: so what an operator's process changes holds from
// the next request on.
type recall struct {
	index []byte // the file that SQLite shares between processes, mapped; nil where that failed

	mu    sync.Mutex
	known []position // the last ones, in order: between them no token was changed
	found map[[32]byte]Principal
}

// newRecall begins to watch a file that has a connection. The wal-index is never
// closed: POSIX would take SQLite's own locks on it, too.
func newRecall(file string) *recall {
	r := &recall{}
	fd, err := unix.Open(file+"-shm", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return r
	}
	if index, err := unix.Mmap(fd, 0, len(position{}), unix.PROT_READ, unix.MAP_SHARED); err == nil {
		r.index = index
	}
	return r
}

// position is where the file is; known says whether it can be told.
func (r *recall) position() (p position, known bool) {
	if copy(p[:], r.index) < len(p) {
		return p, false
	}
	return p, binary.NativeEndian.Uint32(p[:]) == walIndexVersion && p[walIndexValid] == 1
}

// find is what was found and is so at this position.
func (r *recall) find(at position, hash [32]byte) (who Principal, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(r.known, at) {
		who, ok = r.found[hash]
	}
	return who, ok
}

// keep remembers what was found by a search that began at the position.
func (r *recall) keep(at position, hash [32]byte, who Principal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.known, at) || len(r.found) >= maxRecalled {
		r.known, r.found = []position{at}, map[[32]byte]Principal{}
	}
	r.found[hash] = who
}

// pass takes what is remembered over a commit that wrote something, and nothing of
// it, if there was no other.
func (r *recall) pass(before, after position) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.known); n > 0 && r.known[n-1] == before && after.commits() == before.commits()+1 {
		r.known = append(r.known[max(0, n+1-maxPassed):], after)
	}
}

// Authenticate implements Store. A store that is closed may not be told of commits.
func (s *sqlite) Authenticate(ctx context.Context, hash [32]byte) (Principal, error) {
	at, known := s.recall.position()
	if !known || s.tokens.closed() {
		return s.ledger.Authenticate(ctx, hash)
	}
	if who, ok := s.recall.find(at, hash); ok {
		return who, nil
	}
	who, err := s.ledger.Authenticate(ctx, hash)
	if err == nil {
		s.recall.keep(at, hash, who)
	}
	return who, err
}
