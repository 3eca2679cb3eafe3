package remote

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"sync"

	"svc/assess/host"
	"svc/backend/sliced"
)

// Bounds of contents, in bytes.
const (
	smallFile = 1 << 20  // a file that is fetched whole
	maxBatch  = 1 << 20  // files that are fetched together
	sibling   = 64 << 10 // a file that is fetched with others because it stands beside them
	maxStored = 16 << 20 // files that are kept
	maxGrowth = 4 << 20  // how much files may grow while they are read
	maxProc   = 16 << 20 // a file that states no size
	maxWords  = 64 << 10 // names in one question: a program's arguments are limited
	maxSpool  = 2 << 30  // a file that is read in parts
)

// batchFiles is how many files are fetched together.
const batchFiles = 200

// content is a small file of the machine, or a question for it.
type content struct {
	ready chan struct{} // closed when the rest is set
	info  host.Entry
	body  []byte
	ok    bool
}

// isSmall reports whether a file can be fetched with others: what the kernel
// makes up has not the size that it states.
func (k known) isSmall(name string) bool {
	return !k.bare && k.info.Mode().IsRegular() && k.info.Size() <= smallFile && !host.MadeUp(name)
}

// Open opens a regular file.
func (r *remote) Open(name string) (fs.File, error) {
	k, found, err := r.known("open", name)
	switch {
	case err != nil:
		return nil, err
	case found && !k.isLink() && !k.info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "open", Path: name, Err: host.ErrNotRegular}
	case host.MadeUp(name) && !host.Readable(name):
		_, err := r.Stat(name)
		return nil, cmp.Or(err, error(&fs.PathError{Op: "open", Path: name, Err: host.ErrNotRegular}))
	}
	if c := r.content(name, found && k.isSmall(name)); c != nil {
		return &remoteFile{info: c.info, head: c.body, whole: true}, nil
	}
	return r.begin(name)
}

// content is a small file from the store, or, where fetch says so, from the
// machine together with those that are likely to be read next. It is nil where
// the file could not be had that way.
func (r *remote) content(name string, fetch bool) *content {
	r.storeMu.Lock()
	c := r.store[name]
	r.storeMu.Unlock()
	if c == nil && fetch {
		batch, _ := r.claim(r.followers(name))
		r.fetch(batch)
		r.storeMu.Lock()
		c = r.store[name]
		r.storeMu.Unlock()
	}
	if c == nil {
		return nil
	}
	<-c.ready
	if !c.ok {
		return nil
	}
	return c
}

// claim puts questions for the first of names into the store, as many as go
// together, and gives those that nobody had asked for, and the rest. Whoever
// calls fetches them.
func (r *remote) claim(names []string) (batch, rest []string) {
	r.storeMu.Lock()
	defer r.storeMu.Unlock()
	size, words := 0, 0
	for i, name := range names {
		k, found, _ := r.known("open", name)
		size, words = size+int(k.info.Size()), words+len(name)+4
		if len(batch) > 0 && (size > maxBatch || words > maxWords || len(batch) == batchFiles) {
			return batch, names[i:]
		}
		if found && r.store[name] == nil {
			r.store[name] = &content{ready: make(chan struct{})}
			batch = append(batch, name)
		}
	}
	return batch, nil
}

// followers are name and the small files that are likely to be read after it:
// in a tree that is read whole the next ones, elsewhere those beside it of its
// kind.
func (r *remote) followers(name string) []string {
	if i, found := slices.BinarySearch(r.order, name); found {
		return r.order[i:]
	}
	l := r.ready(path.Dir(name))
	if l == nil || l.err != nil {
		return nil // forgotten meanwhile
	}
	i, _ := slices.BinarySearch(l.names, path.Base(name))
	names := []string{}
	for _, n := range l.names[i:] {
		if next := path.Join(path.Dir(name), n); next == name || path.Ext(n) == path.Ext(name) && l.files[n].isSmall(next) && l.files[n].info.Size() <= sibling {
			names = append(names, next)
		}
	}
	return names
}

// fetch asks for files that were claimed, and fills the store.
func (r *remote) fetch(names []string) {
	if len(names) == 0 {
		return
	}
	got := map[string]content{}
	answer, err := r.shell.ask(line("c", sliced.Map(names, absolute)...), maxListing, maxBatch+smallFile+maxGrowth, maxListing)
	if err == nil {
		got = cut(names, answer)
	}
	r.storeMu.Lock()
	defer r.storeMu.Unlock()
	for _, name := range names {
		c := r.store[name]
		g, ok := got[name]
		c.info, c.body, c.ok = g.info, g.body, ok
		close(c.ready)
		if ok {
			r.stored, r.weight = append(r.stored, name), r.weight+len(c.body)
		} else {
			delete(r.store, name) // it is asked for alone
		}
	}
	r.evict()
}

// put keeps a file that was fetched alone.
func (r *remote) put(name string, c content) {
	r.storeMu.Lock()
	defer r.storeMu.Unlock()
	if r.store[name] == nil {
		c.ready, c.ok = make(chan struct{}), true
		close(c.ready)
		r.store[name], r.stored, r.weight = &c, append(r.stored, name), r.weight+len(c.body)
		r.evict()
	}
}

// evict forgets the oldest files where there are too many. The store's lock is
// held.
func (r *remote) evict() {
	for r.weight > maxStored && len(r.stored) > 0 {
		r.weight -= len(r.store[r.stored[0]].body)
		delete(r.store, r.stored[0])
		r.stored = r.stored[1:]
	}
}

// cut takes the row of contents apart by the sizes in the descriptions, unless
// those changed meanwhile.
func cut(names []string, answer []frame) map[string]content {
	files := map[string]content{}
	descriptions, row := answer[0].body, answer[1].body
	if !bytes.Equal(descriptions, answer[2].body) {
		return nil
	}
	for _, name := range names {
		k, rest, ok := parseKnown(descriptions, absolute(name))
		if !ok || k.info.Base != "" {
			continue // it may not be read, or is gone
		}
		n := k.info.Size()
		if n > int64(len(row)) {
			return nil
		}
		k.info.Base = path.Base(name)
		files[name] = content{info: k.info, body: bytes.Clone(row[:n])}
		descriptions, row = rest, row[n:]
	}
	if len(descriptions) > 0 || len(row) > 0 {
		return nil
	}
	return files
}

// begin opens one file and fetches its beginning.
func (r *remote) begin(name string) (fs.File, error) {
	answer, err := r.shell.ask(line("o", absolute(name), strconv.Itoa(smallFile)), maxStat, maxProc)
	if err != nil {
		return nil, err
	}
	info, err := described(answer[0], "open", name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: host.ErrNotRegular}
	}
	if err := answer[1].err("open", name); err != nil {
		return nil, err
	}
	f := &remoteFile{name: name, remote: r, info: info, head: answer[1].body}
	if f.whole = len(f.head) < smallFile || info.Size() == 0; f.whole {
		r.put(name, content{info: info, body: f.head})
	}
	return f, nil
}

// remoteFile is an open file of a machine: its beginning, and what was fetched
// of the rest. The rest is kept in a file without a name on this host, so that
// it goes over the line at most once, whatever order it is read in.
type remoteFile struct {
	name   string
	remote *remote
	info   host.Entry
	head   []byte
	whole  bool // the head is all

	mu    sync.Mutex
	off   int64
	spool *os.File
	have  map[int64]bool // blocks that are in the spool
	end   int64          // where the file was found to end; 0 while that is not known
	next  int64          // block after the last one that was fetched
	ahead int            // blocks that were fetched last
}

// Blocks that are fetched: of how many bytes, in those of dd, and how many at
// once where a file is read in order.
const (
	blockSize = 256 << 10
	ddBlocks  = blockSize / (64 << 10)
	maxAhead  = 16
)

func (f *remoteFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close forgets what was fetched.
func (f *remoteFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spool == nil {
		return nil
	}
	return f.spool.Close()
}

func (f *remoteFile) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.readAt(p, f.off)
	f.off += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// ReadAt reads as io.ReaderAt says.
func (f *remoteFile) ReadAt(p []byte, off int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for n < len(p) && err == nil {
		var m int
		m, err = f.readAt(p[n:], off+int64(n))
		n += m
	}
	return n, err
}

// readAt reads as far as what is at hand goes, after it fetched what is needed.
func (f *remoteFile) readAt(p []byte, off int64) (int, error) {
	switch {
	case off < 0:
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrInvalid}
	case len(p) == 0:
		return 0, nil
	case off < int64(len(f.head)):
		return copy(p, f.head[off:]), nil
	case f.whole:
		return 0, io.EOF
	}
	block := off / blockSize
	if !f.have[block] && (f.end == 0 || off < f.end) {
		if err := f.fetch(block); err != nil {
			return 0, err
		}
	}
	limit := (block + 1) * blockSize
	if f.end > 0 {
		limit = min(limit, f.end)
	}
	if off >= limit {
		return 0, io.EOF
	}
	return f.spool.ReadAt(p[:min(int64(len(p)), limit-off)], off)
}

// fetch gets a block, and more after it the longer the file is read in order.
func (f *remoteFile) fetch(block int64) error {
	if block*blockSize >= maxSpool {
		return &fs.PathError{Op: "read", Path: f.name, Err: host.ErrTooBig}
	}
	if err := f.openSpool(); err != nil {
		return err
	}
	if block != f.next {
		f.ahead = 0
	}
	f.ahead = min(max(1, f.ahead*2), maxAhead)
	n := 1
	for n < f.ahead && !f.have[block+int64(n)] {
		n++
	}
	answer, err := f.remote.shell.ask(line("b", absolute(f.name), strconv.FormatInt(block*ddBlocks, 10), strconv.Itoa(n*ddBlocks)), n*blockSize)
	if err != nil {
		return err
	}
	if err := answer[0].err("read", f.name); err != nil {
		return err
	}
	return f.keep(block, n, answer[0].body)
}

// keep puts what was fetched into the spool. Less than was asked for means that
// the file ends there.
func (f *remoteFile) keep(block int64, n int, b []byte) error {
	if _, err := f.spool.WriteAt(b, block*blockSize); err != nil {
		return fmt.Errorf("keeping a part of %s: %w", f.name, err)
	}
	if len(b) < n*blockSize {
		f.end = block*blockSize + int64(len(b))
	}
	for i := range int64(n) {
		f.have[block+i] = true
	}
	f.next = block + int64(n)
	return nil
}

func (f *remoteFile) openSpool() error {
	if f.spool != nil {
		return nil
	}
	spool, err := os.CreateTemp("", "svc-*")
	if err != nil {
		return fmt.Errorf("keeping %s while it is read: %w", f.name, err)
	}
	if err := os.Remove(spool.Name()); err != nil {
		return errors.Join(fmt.Errorf("keeping %s while it is read: %w", f.name, err), spool.Close())
	}
	f.spool, f.have = spool, map[int64]bool{}
	return nil
}
