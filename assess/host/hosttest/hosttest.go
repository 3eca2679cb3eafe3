// Package hosttest has what the tests of all ways to a machine share: a tree that upsets
// walkers, and what a walk met.
package hosttest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"svc/assess/host"
)

// Seen collects what a walk meets.
type Seen struct {
	mu     sync.Mutex
	Nodes  map[string]host.Node
	Missed map[string]error
}

// Visit keeps what is met, and goes into all folders but those named closed.
func (s *Seen) Visit(_ int, n *host.Node) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Nodes[n.Path()] = *n
	return n.Name != "closed"
}

// Unread keeps what could not be read.
func (s *Seen) Unread(_, _ int, name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Missed[name] = err
}

// Walked is what a walk of a machine meets.
func Walked(t *testing.T, h host.Host, tops ...string) *Seen {
	t.Helper()
	s := &Seen{Nodes: map[string]host.Node{}, Missed: map[string]error{}}
	is.New(t).NoErr(host.Walk(t.Context(), h, tops, s))
	return s
}

// HostileTree is a folder with all that upsets walkers.
func HostileTree(t *testing.T) string {
	t.Helper()
	is := is.New(t)
	dir := t.TempDir()
	outside := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(outside, "secret"), []byte("x"), 0o600))
	for _, name := range []string{"plain", "with space", "new\nline", "-rf", "qu'o\"te", "\xff\xfe", "deep/er/still"} {
		is.NoErr(os.MkdirAll(filepath.Join(dir, "top", name), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(dir, "top", name, "file"), []byte(name), 0o644))
	}
	is.NoErr(os.Link(filepath.Join(dir, "top/plain/file"), filepath.Join(dir, "top/hard")))
	is.NoErr(os.Symlink(outside, filepath.Join(dir, "top/out")))
	is.NoErr(os.Symlink("..", filepath.Join(dir, "top/loop")))
	is.NoErr(unix.Mkfifo(filepath.Join(dir, "top/pipe"), 0o600))
	is.NoErr(os.MkdirAll(filepath.Join(dir, "top/closed/in"), 0o755))
	f, err := os.Create(filepath.Join(dir, "top/sparse"))
	is.NoErr(err)
	is.NoErr(f.Truncate(1 << 30))
	is.NoErr(f.Close())
	return dir
}
