package remote

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"svc/assess/host"
	"svc/assess/host/hosttest"
)

// TestWalkOverAShellAgrees has the machine's own programs describe a tree of
// hostile names, some with attributes.
func TestWalkOverAShellAgrees(t *testing.T) {
	is := is.New(t)
	dir := hosttest.HostileTree(t)
	for _, name := range []string{"plain/file", "new\nline/file", "\xff\xfe/file", "-rf", "qu'o\"te"} {
		if err := unix.Setxattr(filepath.Join(dir, "top", name), "user.note", []byte("x"), 0); err != nil {
			t.Skip("no attributes here")
		}
	}
	is.NoErr(os.WriteFile(filepath.Join(dir, `top/back\slash*[?]`), []byte("x"), 0o644))
	h, err := host.OpenRoot("/")
	is.NoErr(err)
	defer h.Close()
	top := strings.TrimPrefix(dir, "/") + "/top"
	want := hosttest.Walked(t, h, top, top+"/new\nline", "absent", top+"/plain")
	for shell, argv := range shells(t) {
		t.Run(shell, func(t *testing.T) {
			is := is.New(t)
			r := localShell(t, argv...)
			is.Equal(r.hasFind(), shell != "busybox") // which has no find here
			got := hosttest.Walked(t, r, top, top+"/new\nline", "absent", top+"/plain")
			is.Equal(len(got.Nodes), len(want.Nodes))
			_, attributes := exec.LookPath("getfattr")
			for name, n := range want.Nodes {
				if shell == "busybox" {
					n.Inode, n.Device, n.Number, n.Links, n.Blocks = false, 0, 0, 0, 0
				}
				if shell == "busybox" || attributes != nil {
					n.Attributes = 0
				}
				n.Changed = 0 // of a root folder alone
				g := got.Nodes[name]
				g.Top, g.Dir, g.Name = n.Top, n.Dir, n.Name // a top in a top is met as either
				is.Equal(g, n)
			}
			is.True(errors.Is(got.Missed["absent"], fs.ErrNotExist))
			is.Equal(len(got.Missed), 1)
		})
	}
}

// TestADescriptionFromTheRoot is what find and stat say of the root itself, and of what
// is in it.
func TestADescriptionFromTheRoot(t *testing.T) {
	is := is.New(t)
	s := &hosttest.Seen{Nodes: map[string]host.Node{}, Missed: map[string]error{}}
	answer := &stream{ctx: t.Context(), v: s, name: "."}
	for _, line := range []string{"41ed|0|0|4096|1700000000|18|8|2049|2|/", "41ed|0|0|4096|1700000000|90|8|2049|5|/etc", "81a4|0|0|1200|1700000000|1|8|2049|6|/etc/passwd", "41ed|0|0|4096|1700000000|1|0|7|1|/proc", "=\n"} {
		is.NoErr(answer.take([]byte(line + "//\n")))
	}
	is.Equal(len(s.Missed), 0)
	is.Equal(slices.Sorted(maps.Keys(s.Nodes)), []string{".", "etc", "etc/passwd", "proc"})
	is.True(s.Nodes["proc"].Boundary)
	is.True(!s.Nodes["etc"].Boundary)
}

// TestWalkOverAShellSaysWhatItCouldNotRead as somebody who may not.
func TestWalkOverAShellSaysWhatItCouldNotRead(t *testing.T) {
	is := is.New(t)
	dir := hosttest.HostileTree(t)
	setpriv, err := exec.LookPath("setpriv")
	if err != nil || os.Getuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	for p := dir; p != "/tmp" && p != "/"; p = filepath.Dir(p) {
		is.NoErr(os.Chmod(p, 0o755))
	}
	odd := filepath.Join(dir, "top", "o'dd\n\xff")
	is.NoErr(os.Mkdir(odd, 0o700))
	is.NoErr(os.Chmod(filepath.Join(dir, "top/plain"), 0o744)) // its names are Seen, and no more
	r := localShell(t, setpriv, "--reuid=4242", "--clear-groups", "--regid=4242", "/bin/sh")
	s := hosttest.Walked(t, r, strings.TrimPrefix(dir, "/")+"/top")
	names := slices.Sorted(maps.Keys(s.Missed))
	is.Equal(names, []string{strings.TrimPrefix(odd, "/"), strings.TrimPrefix(dir, "/") + "/top/plain/file"})
	for _, name := range names {
		is.True(errors.Is(s.Missed[name], fs.ErrPermission))
	}
}

func FuzzStream(f *testing.F) {
	f.Add("81a4|0|0|3|1|1|8|2049|5|/top/a//\n# file: /top/a\nuser.x\n\n=//\n", "find: '/top/b\\n': Permission denied\n")
	f.Add("41ed|0|0|3|1|1|8|2049|5|/top//\n-//\n", "stat: cannot statx '/top/c': No such file or directory")
	f.Fuzz(func(t *testing.T, text, said string) {
		v := &hosttest.Seen{Nodes: map[string]host.Node{}, Missed: map[string]error{}}
		s := &stream{ctx: t.Context(), v: v, name: "top"}
		for line := range strings.Lines(text) {
			_ = s.take([]byte(line)) // what is wrong ends it
		}
		s.complain([]byte(said))
		for name := range v.Nodes {
			if name != "top" && !strings.HasPrefix(name, "top/") || strings.Contains(name, "/../") {
				t.Fatalf("%q is not in the folder", name)
			}
		}
	})
}
