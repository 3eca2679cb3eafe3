package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"svc/assess/host"
	"svc/assess/host/hosttest"
)

func TestWalkMeetsEverythingOnce(t *testing.T) {
	is := is.New(t)
	dir := hosttest.HostileTree(t)
	h, err := host.OpenRoot(dir)
	is.NoErr(err)
	defer h.Close()
	s := hosttest.Walked(t, h, "top")
	is.Equal(len(s.Missed), 0)
	is.Equal(len(s.Nodes), 1+6*2+4+6)
	is.Equal(s.Nodes["top/plain/file"].Links, 2)
	is.Equal(s.Nodes["top/plain/file"].Number, s.Nodes["top/hard"].Number)
	is.True(s.Nodes["top/sparse"].Size == 1<<30 && s.Nodes["top/sparse"].Blocks < 1<<20)
	is.Equal(s.Nodes["top/pipe"].Mode&os.ModeNamedPipe, os.ModeNamedPipe)
	_, in := s.Nodes["top/closed/in"]
	is.True(!in) // the visitor said no
	_, out := s.Nodes["top/out/secret"]
	is.True(!out) // a link is no way
	is.True(s.Nodes["top/plain/file"].Attributes&host.AttributesKnown != 0)
}

func TestWalkByListingsAgrees(t *testing.T) {
	is := is.New(t)
	dir := hosttest.HostileTree(t)
	h, err := host.OpenRoot(dir)
	is.NoErr(err)
	defer h.Close()
	fast, slow := hosttest.Walked(t, h, "top"), hosttest.Walked(t, struct{ host.Host }{h}, "top")
	is.Equal(len(slow.Missed), 0)
	is.Equal(len(fast.Nodes), len(slow.Nodes))
	for name, n := range fast.Nodes {
		n.Attributes, n.Changed = slow.Nodes[name].Attributes, 0 // a listing has none
		is.Equal(n, slow.Nodes[name])
	}
}

func TestWalkSaysWhatItCouldNotRead(t *testing.T) {
	is := is.New(t)
	h, err := host.OpenRoot(hosttest.HostileTree(t))
	is.NoErr(err)
	defer h.Close()
	s := hosttest.Walked(t, h, "absent", "top/out", "top/plain")
	is.True(os.IsNotExist(s.Missed["absent"]))
	is.Equal(s.Nodes["top/out"].Mode.Type(), os.ModeSymlink) // and not walked
	is.Equal(s.Nodes["top/plain/file"].Top, 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	is.True(errors.Is(host.Walk(ctx, h, []string{"top"}, s), context.Canceled))
}

// uninterested wants no attributes.
type uninterested struct{ *hosttest.Seen }

func (uninterested) Plain() {}

func TestAPlainVisitorMeetsAllElseOfFiles(t *testing.T) {
	is := is.New(t)
	h, err := host.OpenRoot(hosttest.HostileTree(t))
	is.NoErr(err)
	defer h.Close()
	all, plain := hosttest.Walked(t, h, "top/plain"), uninterested{&hosttest.Seen{Nodes: map[string]host.Node{}, Missed: map[string]error{}}}
	is.NoErr(host.Walk(t.Context(), h, []string{"top/plain"}, plain))
	met := all.Nodes["top/plain/file"]
	is.Equal(met.Attributes, host.AttributesKnown)
	met.Attributes = 0
	is.Equal(plain.Nodes["top/plain/file"], met)
}

// counter counts, as cheaply as can be.
type counter struct {
	files [64]struct{ n, _, _, _, _, _, _, _ int }
}

func (c *counter) Visit(worker int, _ *host.Node) bool { c.files[worker].n++; return true }
func (*counter) Unread(int, int, string, error)        {}

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
	h, err := host.OpenRoot(bigTree(b))
	is.New(b).NoErr(err)
	defer h.Close()
	for b.Loop() {
		var c counter
		is.New(b).NoErr(host.Walk(b.Context(), h, []string{"."}, &c))
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
