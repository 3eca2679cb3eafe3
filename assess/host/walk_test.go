package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

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
	is.Equal(len(slow.unread), 0)
	is.Equal(len(fast.nodes), len(slow.nodes))
	for name, n := range fast.nodes {
		n.Attributes, n.Changed = slow.nodes[name].Attributes, 0 // a listing has none
		is.Equal(n, slow.nodes[name])
	}
}

// TestWalkOverAShellAgrees has the machine's own programs describe a tree of
// hostile names, some with attributes.
func TestWalkOverAShellAgrees(t *testing.T) {
	is := is.New(t)
	dir := hostileTree(t)
	for _, name := range []string{"plain/file", "new\nline/file", "\xff\xfe/file", "-rf", "qu'o\"te"} {
		if err := unix.Setxattr(filepath.Join(dir, "top", name), "user.note", []byte("x"), 0); err != nil {
			t.Skip("no attributes here")
		}
	}
	is.NoErr(os.WriteFile(filepath.Join(dir, `top/back\slash*[?]`), []byte("x"), 0o644))
	h, err := OpenRoot("/")
	is.NoErr(err)
	defer h.Close()
	top := strings.TrimPrefix(dir, "/") + "/top"
	want := walked(t, h, top, top+"/new\nline", "absent", top+"/plain")
	for shell, argv := range shells(t) {
		t.Run(shell, func(t *testing.T) {
			is := is.New(t)
			r := localShell(t, argv...)
			is.Equal(r.hasFind(), shell != "busybox") // which has no find here
			got := walked(t, r, top, top+"/new\nline", "absent", top+"/plain")
			is.Equal(len(got.nodes), len(want.nodes))
			_, attributes := exec.LookPath("getfattr")
			for name, n := range want.nodes {
				if shell == "busybox" {
					n.Inode, n.Device, n.Number, n.Links, n.Blocks = false, 0, 0, 0, 0
				}
				if shell == "busybox" || attributes != nil {
					n.Attributes = 0
				}
				n.Changed = 0 // of a root folder alone
				g := got.nodes[name]
				g.Top, g.Dir, g.Name = n.Top, n.Dir, n.Name // a top in a top is met as either
				is.Equal(g, n)
			}
			is.True(errors.Is(got.unread["absent"], fs.ErrNotExist))
			is.Equal(len(got.unread), 1)
		})
	}
}

// TestADescriptionFromTheRoot is what find and stat say of the root itself, and of what
// is in it.
func TestADescriptionFromTheRoot(t *testing.T) {
	is := is.New(t)
	s := &seen{nodes: map[string]Node{}, unread: map[string]error{}}
	answer := &stream{ctx: t.Context(), v: s, name: "."}
	for _, line := range []string{"41ed|0|0|4096|1700000000|18|8|2049|2|/", "41ed|0|0|4096|1700000000|90|8|2049|5|/etc", "81a4|0|0|1200|1700000000|1|8|2049|6|/etc/passwd", "41ed|0|0|4096|1700000000|1|0|7|1|/proc", "=\n"} {
		is.NoErr(answer.take([]byte(line + "//\n")))
	}
	is.Equal(len(s.unread), 0)
	is.Equal(slices.Sorted(maps.Keys(s.nodes)), []string{".", "etc", "etc/passwd", "proc"})
	is.True(s.nodes["proc"].Boundary)
	is.True(!s.nodes["etc"].Boundary)
}

// TestWalkOverAShellSaysWhatItCouldNotRead as somebody who may not.
func TestWalkOverAShellSaysWhatItCouldNotRead(t *testing.T) {
	is := is.New(t)
	dir := hostileTree(t)
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	for p := dir; p != "/tmp" && p != "/"; p = filepath.Dir(p) {
		is.NoErr(os.Chmod(p, 0o755))
	}
	odd := filepath.Join(dir, "top", "o'dd\n\xff")
	is.NoErr(os.Mkdir(odd, 0o700))
	is.NoErr(os.Chmod(filepath.Join(dir, "top/plain"), 0o744)) // its names are seen, and no more
	r := localShell(t, setpriv, "--reuid=4242", "--clear-groups", "--regid=4242", "/bin/sh")
	s := walked(t, r, strings.TrimPrefix(dir, "/")+"/top")
	names := slices.Sorted(maps.Keys(s.unread))
	is.Equal(names, []string{strings.TrimPrefix(odd, "/"), strings.TrimPrefix(dir, "/") + "/top/plain/file"})
	for _, name := range names {
		is.True(errors.Is(s.unread[name], fs.ErrPermission))
	}
}

// TestWalkOfAnImageAgrees puts the tree on a disk; another file system that the
// machine mounts in it is a boundary.
func TestWalkOfAnImageAgrees(t *testing.T) {
	is := is.New(t)
	dir := hostileTree(t)
	is.NoErr(os.Truncate(filepath.Join(dir, "top/sparse"), 1<<20))
	is.NoErr(os.MkdirAll(filepath.Join(dir, "etc"), 0o755))
	is.NoErr(os.Mkdir(filepath.Join(dir, "top/other"), 0o755))
	is.NoErr(os.WriteFile(filepath.Join(dir, "etc/os-release"), []byte("ID=debian\n"), 0o644))
	is.NoErr(os.WriteFile(filepath.Join(dir, "etc/fstab"), []byte("/dev/sda1 / ext4\n/dev/sda2 /top/other ext4\n/dev/sda9 /top/plain ext4\n"), 0o644))
	h, err := OpenImage(newImageOf(t, dir, string(newFolder(t, map[string]string{"in": ""}))), false)
	is.NoErr(err)
	defer h.Close()
	onDisk, err := OpenRoot(dir)
	is.NoErr(err)
	defer onDisk.Close()
	want, got := walked(t, onDisk, "top"), walked(t, h, "top")
	is.True(got.nodes["top/other"].Boundary)
	is.Equal(slices.Sorted(maps.Keys(got.unread)), []string{"top/plain"}) // its disk is not on the image
	is.Equal(len(got.nodes), len(want.nodes)-2)                           // and so neither is its file
	for name, n := range got.nodes {
		w := want.nodes[name]
		is.Equal([]any{n.Dir, n.Name, n.Mode, n.UID, n.GID, n.Inode}, []any{w.Dir, w.Name, w.Mode, w.UID, w.GID, true})
		if n.Mode.IsRegular() {
			is.Equal([]any{n.Size, n.Modified, n.Links, n.Blocks*512 < n.Size}, []any{w.Size, w.Modified, w.Links, name == "top/sparse"})
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add("81a4|0|0|3|1|1|8|2049|5|/top/a//\n# file: /top/a\nuser.x\n\n=//\n", "find: '/top/b\\n': Permission denied\n")
	f.Add("41ed|0|0|3|1|1|8|2049|5|/top//\n-//\n", "stat: cannot statx '/top/c': No such file or directory")
	f.Fuzz(func(t *testing.T, text, said string) {
		v := &seen{nodes: map[string]Node{}, unread: map[string]error{}}
		s := &stream{ctx: t.Context(), v: v, name: "top"}
		for line := range strings.Lines(text) {
			_ = s.take([]byte(line)) // what is wrong ends it
		}
		s.complain([]byte(said))
		for name := range v.nodes {
			if name != "top" && !strings.HasPrefix(name, "top/") || strings.Contains(name, "/../") {
				t.Fatalf("%q is not in the folder", name)
			}
		}
	})
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
