// Package inodetest checks a file system that is read from an image against the
// folder that it was made of: the one tree, and the one comparison.
package inodetest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/assess/disk/inode"
	"svc/assess/host"
)

// Fact is what can be known of a file from the outside.
type Fact struct {
	Mode     fs.FileMode
	UID, GID int
	Size     int64 // but of folders, which each file system has as it likes
	Links    int   // but of folders
	Modified int64 // ns since 1970; seconds only where the maker of the image drops the rest
	Target   string
	Sum      string // of regular files: of pieces of large ones
	Blocks   int64  // of 512 bytes; 0 where it is not compared
}

// hashAll is up to which size a file is compared as a whole. Of larger ones there
// are pieces of 128 KiB, evenly spread, the start and the end among them.
const (
	hashAll    = 32 << 20
	hashPieces = 20
)

// sum reads a file in pieces that are no multiple of any block.
func sum(r io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	parts := []*io.SectionReader{io.NewSectionReader(r, 0, size)}
	if size > hashAll {
		parts = nil
		for i := range int64(hashPieces + 1) {
			parts = append(parts, io.NewSectionReader(r, max(size/hashPieces*i-1<<17, 0), 1<<17))
		}
	}
	for _, part := range parts {
		if _, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{part}, make([]byte, 250_001)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// FactsOfFolder describes all below a folder of this machine.
func FactsOfFolder(t testing.TB, root string) map[string]Fact {
	t.Helper()
	is := is.New(t)
	facts := map[string]Fact{}
	is.NoErr(filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if name == "lost+found" {
			return fs.SkipDir
		}
		facts[name], err = factOfFile(path)
		return err
	}))
	return facts
}

func factOfFile(path string) (Fact, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return Fact{}, err
	}
	st := info.Sys().(*syscall.Stat_t)
	x := Fact{
		Mode: info.Mode(), UID: int(st.Uid), GID: int(st.Gid), Size: info.Size(), Links: int(st.Nlink),
		Modified: info.ModTime().UnixNano(), Blocks: st.Blocks,
	}
	switch {
	case info.IsDir():
		x.Size, x.Links = 0, 0
	case info.Mode()&fs.ModeSymlink != 0:
		x.Target, err = os.Readlink(path)
	case info.Mode().IsRegular():
		var f *os.File
		if f, err = os.Open(path); err == nil {
			defer f.Close()
			x.Sum, err = sum(f, x.Size)
		}
	}
	return x, err
}

// Facts describes all of a file system, to the first error.
func Facts(f inode.FS) (map[string]Fact, error) {
	facts := map[string]Fact{}
	return facts, Walk(f, func(name string, x Fact) { facts[name] = x })
}

// FactsOf describes all of a file system, which must be sound.
func FactsOf(t testing.TB, f inode.FS) map[string]Fact {
	t.Helper()
	facts, err := Facts(f)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

// Walk describes all of a file system, to the first error.
func Walk(f inode.FS, visit func(name string, x Fact)) error { return walk(f, ".", visit) }

func walk(f inode.FS, name string, visit func(string, Fact)) error {
	info, err := f.Lstat(name)
	if err != nil {
		return err
	}
	x, err := factOf(f, name, info)
	if err != nil {
		return err
	}
	if visit(name, x); !info.IsDir() {
		return nil
	}
	entries, err := f.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		child := path.Join(name, e.Name())
		if child == "lost+found" {
			continue
		}
		if err := walk(f, child, visit); err != nil {
			return err
		}
		if info, err = f.Lstat(child); err != nil || e.Type() != info.Mode().Type() || e.IsDir() != info.IsDir() {
			return errors.Join(err, fmt.Errorf("%s is listed as %v", child, e))
		}
	}
	return nil
}

func factOf(f inode.FS, name string, info fs.FileInfo) (Fact, error) {
	st := info.(host.Entry).Status
	x := Fact{
		Mode: info.Mode(), UID: int(st.UID), GID: int(st.GID), Size: info.Size(), Links: st.Links,
		Modified: info.ModTime().UnixNano(), Blocks: st.Blocks,
	}
	var err error
	switch {
	case info.IsDir():
		x.Size, x.Links = 0, 0
	case info.Mode()&fs.ModeSymlink != 0:
		x.Target, err = f.ReadLink(name)
	case info.Mode().IsRegular():
		var opened fs.File
		if opened, err = f.Open(name); err == nil {
			x.Sum, err = sum(opened.(io.ReaderAt), x.Size)
		}
	}
	return x, err
}

// Same compares all facts, and says what differs.
func Same(t testing.TB, got, want map[string]Fact) {
	t.Helper()
	for name, w := range want {
		g, ok := got[name]
		switch {
		case !ok:
			t.Errorf("%q is missing", name)
		case g != w:
			t.Errorf("%q:\n got %+v\nwant %+v", name, g, w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

// WriteTree makes a folder of all that a file system may hold: it takes less
// than 20 MB.
func WriteTree(t testing.TB, root string) {
	t.Helper()
	w := &tree{is.New(t), Maker(t, root), rand.NewChaCha8([32]byte{4})}
	for _, size := range []int{0, 1, 59, 60, 61, 100, 130, 156, 800, 1023, 1024, 4095, 4096, 4097, 65536, 65537, 5_000_001} {
		w.file(fmt.Sprintf("sizes/%d", size), size)
	}
	w.sparse()
	w.compressible()
	w.links()
	w.folders()
	w.names()
	w.owners()
	w.times()
}

// WriteMany makes a folder of 20,000 names of 40 files.
func WriteMany(t testing.TB, root string) {
	t.Helper()
	is, path := is.New(t), Maker(t, root)
	name := func(i int) string { return path(fmt.Sprintf("more/%d", i)) }
	for i := range 20_000 {
		if first := i / 500 * 500; i != first {
			is.NoErr(os.Link(name(first), name(i)))
			continue
		}
		is.NoErr(os.WriteFile(name(i), nil, 0o644))
	}
}

// Maker gives the places of files below a folder that are to be made: it makes
// the folders that they lie in.
func Maker(t testing.TB, root string) func(name string) string {
	last := ""
	return func(name string) string {
		t.Helper()
		path := filepath.Join(root, name)
		if dir := filepath.Dir(path); dir != last {
			is.New(t).NoErr(os.MkdirAll(dir, 0o755))
			last = dir
		}
		return path
	}
}

type tree struct {
	is     *is.I
	path   func(name string) string
	random *rand.ChaCha8
}

func (w *tree) bytes(n int) []byte {
	b := make([]byte, n)
	_, err := w.random.Read(b)
	w.is.NoErr(err)
	return b
}

func (w *tree) file(name string, size int) {
	w.is.NoErr(os.WriteFile(w.path(name), w.bytes(size), 0o644))
}

// piecewise writes pieces of a file that has nothing elsewhere.
func (w *tree) piecewise(name string, size int64, piece int, offsets ...int64) {
	f, err := os.Create(w.path(name))
	w.is.NoErr(err)
	defer f.Close()
	w.is.NoErr(f.Truncate(size))
	for _, off := range offsets {
		_, err := f.WriteAt(w.bytes(piece), off)
		w.is.NoErr(err)
	}
}

func (w *tree) sparse() {
	w.piecewise("sparse/hole", 1<<20, 0)
	w.piecewise("sparse/start", 1<<20, 5000, 0)
	w.piecewise("sparse/middle", 1<<20, 5000, 400_000)
	w.piecewise("sparse/end", 1<<20, 5000, 1<<20-5000)
	// 1 KiB blocks: single, double and triple indirect.
	w.piecewise("sparse/far", 80<<20, 4096, 8<<10, 12<<10, 100<<10, 250<<10, 300<<10, 60<<20-4096, 64<<20-4096, 68<<20-8192, 79<<20, 80<<20-5000)
	w.piecewise("sparse/beyond 4 GiB", 5<<30, 4096, 0, 5<<30-4096)
	// Extents of two levels below the inode, at 4 KiB as at 1.
	var every []int64
	for i := range int64(1500) {
		every = append(every, i*8192)
	}
	w.piecewise("sparse/fragments", 1500*8192, 4096, every...)
}

// compressible writes what a file system that compresses will, in part.
func (w *tree) compressible() {
	for _, size := range []int{10, 500, 2000, 5000, 131_072, 131_073, 1_000_000} {
		b := []byte(strings.Repeat("Package: svc\nStatus: install ok installed\n", size/40+1))[:size]
		w.is.NoErr(os.WriteFile(w.path(fmt.Sprintf("compressible/%d", size)), b, 0o600))
	}
	mixed := []byte(strings.Repeat(strings.Repeat("x", 100_000)+string(w.bytes(50_000)), 5))
	w.is.NoErr(os.WriteFile(w.path("compressible/mixed"), mixed, 0o600))
}

func (w *tree) links() {
	targets := map[string]string{"absolute": "/etc/passwd", "relative": "../sizes/1", "nowhere": "no such file", "self": "self", "folder": "../deep"}
	for _, n := range []int{1, 58, 59, 60, 61, 100, 156, 1000} {
		targets[fmt.Sprint(n)] = strings.Repeat("x", n)
	}
	for name, target := range targets {
		w.is.NoErr(os.Symlink(target, w.path("links/"+name)))
	}
	w.file("links/file", 10)
	w.is.NoErr(os.Link(w.path("links/file"), w.path("links/hard")))
	w.is.NoErr(syscall.Mkfifo(w.path("links/pipe"), 0o600))
}

func (w *tree) folders() {
	for i := range 1000 {
		w.file(fmt.Sprintf("many/%0150d", i), 0)
	}
	w.file("deep/"+strings.Repeat("folder/", 100)+"file", 100)
	w.is.NoErr(os.MkdirAll(w.path("empty/folder"), 0o755))
	for i := range 12 { // more than an inline folder has room for in its inode
		w.file(fmt.Sprintf("few/%02d", i), 3)
	}
}

func (w *tree) names() {
	for _, name := range []string{"\xff\xfe\x80", "new\nline", "ünïcödé", " ", "'\"\\", "-", "...", "Case", "\x01", strings.Repeat("n", 255), strings.Repeat("é", 127)} {
		w.file("names/"+name, 7)
	}
}

func (w *tree) owners() {
	for _, mode := range []fs.FileMode{0, 0o777, 0o4755 &^ 0o4000, 0o640} {
		name := fmt.Sprintf("modes/%o", mode)
		w.file(name, 5)
		w.is.NoErr(os.Chmod(w.path(name), mode))
	}
	for name, mode := range map[string]fs.FileMode{"setuid": 0o755 | fs.ModeSetuid, "setgid": 0o755 | fs.ModeSetgid, "sticky": 0o755 | fs.ModeSticky} {
		w.file("modes/"+name, 5)
		w.is.NoErr(os.Chmod(w.path("modes/"+name), mode))
	}
	if os.Geteuid() != 0 {
		return
	}
	w.file("owners/32 bits", 5)
	w.is.NoErr(os.Lchown(w.path("owners/32 bits"), 3_000_000_000, 70_000))
	w.is.NoErr(syscall.Mknod(w.path("owners/null"), syscall.S_IFCHR|0o666, 0x103))
	w.is.NoErr(syscall.Mknod(w.path("owners/disk"), syscall.S_IFBLK|0o660, 0x801))
}

func (w *tree) times() {
	for name, at := range map[string]int64{"epoch": 0, "before": -1_000_000_000, "2004": 1_100_000_000} {
		w.file("times/"+name, 5)
		w.is.NoErr(os.Chtimes(w.path("times/"+name), time.Time{}, time.Unix(at, 0)))
	}
}

// Needs skips a test where a program is missing, or fails it where none may be.
func Needs(t testing.TB, programs ...string) {
	t.Helper()
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			Missing(t, program)
		}
	}
}

// Thorough says that no test may be skipped, and that all cases are to be run
// rather than those that differ most: that takes minutes.
func Thorough() bool { return os.Getenv("SVC_TEST_REQUIRE_FILESYSTEMS") == "1" }

// Missing skips or fails a test as Needs does.
func Missing(t testing.TB, what string) {
	t.Helper()
	if Thorough() {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("%s is missing", what)
}

// Command runs a program, which must succeed, and gives what it writes.
func Command(t testing.TB, program string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command(program, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, &stderr)
	}
	return stdout.String()
}

// Case skips what is not the default of a matrix, unless all of it is asked for.
func Case(t testing.TB, name string) {
	t.Helper()
	if name != "default" && !Thorough() {
		t.Skip("SVC_TEST_REQUIRE_FILESYSTEMS=1 makes the whole matrix")
	}
}

// Mounted runs a function on an image that this machine's kernel has mounted by
// way of a loop device, and takes it off again.
func Mounted(t testing.TB, image, options string, use func(root string)) {
	t.Helper()
	Needs(t, "mount", "umount")
	root := t.TempDir()
	if out, err := exec.Command("mount", "-o", "loop,"+options, image, root).CombinedOutput(); err != nil {
		Missing(t, fmt.Sprintf("a kernel that mounts it (%s)", out))
	}
	defer Command(t, "umount", root)
	use(root)
	Command(t, "sync", "--file-system", root) // a namespace that something else made meanwhile keeps it mounted
}

// Scratch is a folder for images: in memory where there is a place for that, as
// to mount and unmount waits for the disk.
func Scratch(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "svc-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Image makes an empty file.
func Image(t testing.TB, size int64) string {
	t.Helper()
	is := is.New(t)
	image := filepath.Join(Scratch(t), "image")
	is.NoErr(os.WriteFile(image, nil, 0o600))
	is.NoErr(os.Truncate(image, size))
	return image
}
