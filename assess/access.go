package assess

import (
	_ "crypto/md5"
	_ "crypto/sha1"
	_ "crypto/sha3"
	_ "crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"sync"
)

// Bounds of the walk through /etc.
const (
	maxConfig = 64 << 20 // bytes of one file that is hashed
	MaxKey    = 256 << 10
	MaxFiles  = 25_000 // files below /etc
	MaxDepth  = 32
)

// reaccessed are files whose content is as shipped, but not their owner or mode.
type reaccessed struct {
	sync.Mutex
	Files []Evidence
	How   []string // in the same order
}

// Access is who may do what with a file; zero values are not known.
type Access struct {
	Mode        uint32 // as chmod takes it
	User, Group string
}

func (a Access) String() string { return fmt.Sprintf("%04o %s:%s", a.Mode, a.User, a.Group) }

// Octal is a mode as chmod takes it.
func Octal(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for flag, bit := range map[fs.FileMode]uint32{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if mode&flag != 0 {
			bits |= bit
		}
	}
	return bits
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
