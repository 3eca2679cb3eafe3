package assess

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"sync"

	"svc/assess/host"
)

// Bounds of the walk through /etc.
const (
	maxConfig = 64 << 20 // bytes of one file that is hashed
	MaxKey    = 256 << 10
	MaxFiles  = 25_000 // files below /etc
	MaxDepth  = 32
)

// Bounds of files that people write by hand: the bytes and lines of one, and the
// bytes of all.
const (
	MaxFile  = 2 << 20
	MaxLines = 20_000
	MaxSmall = 32 << 20
)

// ReadSmall reads a file that people write by hand.
func (m *Machine) ReadSmall(name string) ([]byte, error) {
	if m.small.Load() > MaxSmall {
		return nil, fmt.Errorf("/%s: %w: the machine's files before it have %d bytes", name, host.ErrTooBig, MaxSmall)
	}
	b, err := host.ReadFile(m.FS, name, MaxFile)
	m.small.Add(int64(len(b)))
	if err == nil && bytes.Count(b, []byte("\n")) > MaxLines {
		return nil, fmt.Errorf("/%s: %w: over %d lines", name, host.ErrTooBig, MaxLines)
	}
	return b, err
}

// Text reads a small file and notes how that ended under what.
func (m *Machine) Text(what, name string) (string, bool) {
	b, err := m.ReadSmall(name)
	m.Outcome(what, name, err)
	return string(b), err == nil
}

// Peek reads a small file of which it matters only what it says, if anything.
func (m *Machine) Peek(name string) string {
	b, err := m.ReadSmall(name)
	if err != nil {
		return ""
	}
	return string(b)
}

// Exists reports whether something stands at name.
func (m *Machine) Exists(name string) bool {
	_, err := m.FS.Stat(name)
	return err == nil
}

// listing is what a folder was found to hold.
type listing struct {
	names []string
	err   error
}

// maxListed bounds the names that are kept, in bytes.
const maxListed = 2 << 20

// Files are the names in a folder, and how the reading of it ended. A folder is
// read once, however many patterns look into it, as long as there is room.
func (m *Machine) Files(dir string) ([]string, error) {
	if l, ok := m.listings.Load(dir); ok {
		l := l.(listing)
		return l.names, l.err
	}
	entries, err := m.FS.ReadDir(dir)
	names, size := make([]string, 0, len(entries)), len(dir)
	for _, e := range entries {
		names = append(names, e.Name())
		size += len(e.Name())
	}
	if m.listed.Add(int64(size)) <= maxListed {
		m.listings.Store(dir, listing{names, err})
	}
	return names, err
}

// buffers are reused between files: a machine has hundreds.
var buffers = sync.Pool{New: func() any { b := make([]byte, 32<<10); return &b }}

// Digest is a file's digest in hex, or "" where it can't be read.
func (m *Machine) Digest(name string, h hash.Hash) string {
	f, err := m.FS.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	n, err := io.CopyBuffer(h, struct{ io.Reader }{io.LimitReader(f, maxConfig+1)}, *buf)
	if err != nil || n > maxConfig {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
}

// FolderLinks are the folders of programs that lead to others.
func (m *Machine) FolderLinks() (aliases [][2]string) {
	for _, dir := range []string{"bin", "sbin", "lib", "lib32", "lib64", "usr/sbin"} {
		target, err := m.FS.ReadLink(dir)
		if err != nil {
			continue
		}
		aliases = append(aliases, [2]string{"/" + dir + "/", LeadsTo("/"+dir, target) + "/"})
	}
	return aliases
}
