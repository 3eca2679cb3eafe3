package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"
)

// seen collects what a walk meets.
type seen struct {
	mu     sync.Mutex
	nodes  map[string]Node
	unread map[string]error
}

func (s *seen) Visit(_ int, n *Node) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nodes[n.Path()] = *n
	return n.Name != "closed"
}

func (s *seen) Unread(_, _ int, name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread[name] = err
}

func walked(t *testing.T, h Host, tops ...string) *seen {
	t.Helper()
	s := &seen{nodes: map[string]Node{}, unread: map[string]error{}}
	is.New(t).NoErr(Walk(t.Context(), h, tops, s))
	return s
}

// hostileTree is a folder with all that upsets walkers.
func hostileTree(t *testing.T) string {
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

func TestWalkMeetsEverythingOnce(t *testing.T) {
	is := is.New(t)
	dir := hostileTree(t)
	h, err := OpenRoot(dir)
	is.NoErr(err)
	defer h.Close()
	s := walked(t, h, "top")
	is.Equal(len(s.unread), 0)
	is.Equal(len(s.nodes), 1+6*2+4+6)
	is.Equal(s.nodes["top/plain/file"].Links, 2)
	is.Equal(s.nodes["top/plain/file"].Number, s.nodes["top/hard"].Number)
	is.True(s.nodes["top/sparse"].Size == 1<<30 && s.nodes["top/sparse"].Blocks < 1<<20)
	is.Equal(s.nodes["top/pipe"].Mode&os.ModeNamedPipe, os.ModeNamedPipe)
	_, in := s.nodes["top/closed/in"]
	is.True(!in) // the visitor said no
	_, out := s.nodes["top/out/secret"]
	is.True(!out) // a link is no way
	is.True(s.nodes["top/plain/file"].Attributes&AttributesKnown != 0)
}

func TestWalkByListingsAgrees(t *testing.T) {
	is := is.New(t)
	dir := hostileTree(t)
	h, err := OpenRoot(dir)
	is.NoErr(err)
	defer h.Close()
	fast, slow := walked(t, h, "top"), walked(t, struct{ Host }{h}, "top")
	is.True(slow.unread["top/\xff\xfe"] != nil) // io/fs has no such names; a walk says so
	is.Equal(len(fast.nodes), len(slow.nodes)+2)
	for name, n := range fast.nodes {
		if !utf8.ValidString(name) {
			continue
		}
		n.Attributes = slow.nodes[name].Attributes // a listing has none
		is.Equal(n, slow.nodes[name])
	}
}

func TestWalkSaysWhatItCouldNotRead(t *testing.T) {
	is := is.New(t)
	h, err := OpenRoot(hostileTree(t))
	is.NoErr(err)
	defer h.Close()
	s := walked(t, h, "absent", "top/out", "top/plain")
	is.True(os.IsNotExist(s.unread["absent"]))
	is.Equal(s.nodes["top/out"].Mode.Type(), os.ModeSymlink) // and not walked
	is.Equal(s.nodes["top/plain/file"].Top, 2)
	r := h.(*root)
	_, err = r.openFolder(pendingFolder{name: "top/plain", device: 1, number: 2})
	is.True(errors.Is(err, errMoved))
	_, err = r.openFolder(pendingFolder{name: "top/loop/top"})
	is.True(err != nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	is.True(errors.Is(Walk(ctx, h, []string{"top"}, s), context.Canceled))
}

func TestAttributesAreNamed(t *testing.T) {
	is := is.New(t)
	is.Equal(parseAttributes("security.selinux\x00user.a\x00system.posix_acl_access\x00security.capability\x00"), AttributesKnown|SELinux|UserAttributes|ACL|Capabilities)
	is.Equal(parseAttributes("trusted.overlay.opaque\x00"), AttributesKnown)
}

// counter counts, as cheaply as can be.
type counter struct {
	files [64]struct{ n, _, _, _, _, _, _, _ int }
}

func (c *counter) Visit(worker int, _ *Node) bool { c.files[worker].n++; return true }
func (*counter) Unread(int, int, string, error)   {}

// bigTree has many files in folders of a hundred; SVC_WALK_TREE names another.
func bigTree(b *testing.B) string {
	b.Helper()
	if dir := os.Getenv("SVC_WALK_TREE"); dir != "" {
		return dir
	}
	dir := b.TempDir()
	for d := range 500 {
		in := filepath.Join(dir, fmt.Sprint(d%20), fmt.Sprint(d))
		is.New(b).NoErr(os.MkdirAll(in, 0o755))
		for f := range 100 {
			is.New(b).NoErr(os.WriteFile(filepath.Join(in, fmt.Sprintf("file-%d.data", f)), nil, 0o644))
		}
	}
	return dir
}

// BenchmarkWalk and BenchmarkDu look at the same files.
func BenchmarkWalk(b *testing.B) {
	h, err := OpenRoot(bigTree(b))
	is.New(b).NoErr(err)
	defer h.Close()
	for b.Loop() {
		var c counter
		is.New(b).NoErr(Walk(b.Context(), h, []string{"."}, &c))
		total := 0
		for _, f := range c.files {
			total += f.n
		}
		b.ReportMetric(float64(total), "files")
	}
}

func BenchmarkDu(b *testing.B) {
	dir := bigTree(b)
	for b.Loop() {
		is.New(b).NoErr(exec.Command("du", "-x", "-s", dir).Run())
	}
}
