package joined

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"svc/assess/host"
)

// hostFolder is a file system as those of disks are, on a folder of this host.
type hostFolder string

func (f hostFolder) path(name string) (string, error) {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) { // no link in the middle is followed
		if info, err := os.Lstat(filepath.Join(string(f), dir)); err == nil && !info.IsDir() {
			return "", &fs.PathError{Op: "walk", Path: name, Err: fs.ErrNotExist}
		}
	}
	return filepath.Join(string(f), name), nil
}

func (f hostFolder) Lstat(name string) (fs.FileInfo, error) {
	p, err := f.path(name)
	if err != nil {
		return nil, err
	}
	info, err := os.Lstat(p)
	if err != nil {
		return nil, err
	}
	st := info.Sys().(*syscall.Stat_t)
	return host.Entry{Base: info.Name(), Status: host.Status{Mode: uint32(st.Mode), UID: 7, GID: 8, Size: st.Size, Modified: info.ModTime().Unix(), Nanoseconds: int64(info.ModTime().Nanosecond()), Links: int(st.Nlink)}}, nil
}

func (f hostFolder) ReadLink(name string) (string, error) {
	p, err := f.path(name)
	if err != nil {
		return "", err
	}
	return os.Readlink(p)
}

func (f hostFolder) ReadDir(name string) ([]fs.DirEntry, error) {
	p, err := f.path(name)
	if err != nil {
		return nil, err
	}
	return os.ReadDir(p)
}

func (f hostFolder) Open(name string) (fs.File, error) {
	p, err := f.path(name)
	if err != nil {
		return nil, err
	}
	return os.Open(p)
}

func (f hostFolder) Attributes(name string) ([]string, error) {
	p, err := f.path(name)
	if err != nil {
		return nil, err
	}
	list := make([]byte, 4096)
	n, err := unix.Llistxattr(p, list)
	return strings.FieldsFunc(string(list[:max(n, 0)]), func(r rune) bool { return r == 0 }), err
}

// newFolder makes a file system of files and, where the content begins with an
// arrow, links.
func newFolder(t *testing.T, files map[string]string) hostFolder {
	t.Helper()
	is := is.New(t)
	dir := t.TempDir()
	for name, content := range files {
		p := filepath.Join(dir, name)
		is.NoErr(os.MkdirAll(filepath.Dir(p), 0o755))
		if target, ok := strings.CutPrefix(content, "→"); ok {
			is.NoErr(os.Symlink(target, p))
			continue
		}
		is.NoErr(os.WriteFile(p, []byte(content), 0o640))
	}
	return hostFolder(dir)
}

// newMachine has /var and /srv on file systems of their own, the latter being a
// folder of one, and /home on a disk that is not there.
func newMachine(t *testing.T) *joined {
	t.Helper()
	root := newFolder(t, map[string]string{
		".hidden": "hidden", "etc/file": "root's", "etc/absolute": "→/var/lib/file", "etc/climbing": "→../../../../var/lib/file",
		"lib": "→usr/lib", "usr/lib/os-release": "ID=x", "etc/os-release": "→../usr/lib/os-release", "loop1": "→loop2", "loop2": "→/loop1",
		"var/under": "hidden by the mount", "home/x": "hidden too", "data": "→srv", "self": "→.", "etc/nowhere": "→/none", "slash": "→/", "srv/under": "",
	})
	whole := newJoined(mount{fs: root, dir: "."})
	whole.add("var", mount{fs: newFolder(t, map[string]string{"lib/file": "var's", "back": "→../etc/file", "lib/.dot": "dot"}), dir: "."})
	whole.add("data", mount{fs: newFolder(t, map[string]string{"sub/@srv/www/index": "srv's"}), dir: "sub/@srv"})
	whole.add("home", mount{missing: elsewhere{"/dev/sdb1", "is not on this image"}})
	return whole
}

func TestJoinedFileSystems(t *testing.T) {
	is := is.New(t)
	m := newMachine(t)
	for name, want := range map[string]string{
		"etc/file": "root's", "etc/absolute": "var's", "etc/climbing": "var's", "var/lib/file": "var's", "var/back": "root's",
		"self/self/var/back": "root's", "slash/etc/file": "root's", "lib/os-release": "ID=x", "etc/os-release": "ID=x",
		"srv/www/index": "srv's", "data/www/index": "srv's", ".hidden": "hidden", "var/lib/.dot": "dot",
	} {
		b, err := host.ReadFile(m, name, 100)
		is.NoErr(err)
		is.Equal(string(b), want)
		info, err := m.Stat(name)
		is.NoErr(err)
		is.Equal(info.Name(), filepath.Base(name))
		uid, gid, ok := host.Owner(info)
		is.Equal([]int{uid, gid}, []int{7, 8})
		is.True(ok)
	}
	for name, want := range map[string]error{
		"var/under": fs.ErrNotExist, "none": fs.ErrNotExist, "etc/nowhere": fs.ErrNotExist, "etc/file/x": syscall.ENOTDIR,
		"etc/absolute/x": syscall.ENOTDIR, "loop1": syscall.ELOOP, "loop1/x": syscall.ELOOP, "etc": host.ErrNotRegular,
		"home/x": fs.ErrPermission, "..": fs.ErrInvalid, "/etc/file": fs.ErrInvalid,
	} {
		_, err := m.Open(name)
		is.True(errors.Is(err, want))
	}
	_, err := m.Open("home/x")
	is.Equal(err.Error(), "open home/x: it is on /dev/sdb1, which is not on this image")
	entries, err := m.ReadDir("srv")
	is.NoErr(err)
	is.Equal(len(entries), 1)
	info, err := entries[0].Info()
	is.NoErr(err)
	is.True(info.IsDir())
	_, err = m.ReadDir("etc/file")
	is.True(errors.Is(err, syscall.ENOTDIR))
	target, err := m.ReadLink("lib")
	is.NoErr(err)
	is.Equal(target, "usr/lib")
	_, err = m.ReadLink("etc/file")
	is.True(errors.Is(err, syscall.EINVAL))
	f, err := m.Open("etc/absolute")
	is.NoErr(err)
	defer f.Close()
	info, err = f.Stat()
	is.NoErr(err)
	is.True(info.Mode().IsRegular())
}

// TestJoinedAsARoot holds the paths of a machine against those of a root folder.
func TestJoinedAsARoot(t *testing.T) {
	is := is.New(t)
	files := newFolder(t, map[string]string{
		"etc/file": "content", "etc/link": "→file", "etc/up": "→../../etc/./file", "etc/deep": "→link/", "bin": "→/usr/bin", "usr/bin/tool": "x",
		"etc/dangling": "→/a/b", "etc/through": "→file/..", "a/1": "→/a/2", "a/2": "→/a/1",
	})
	whole := newJoined(mount{fs: files, dir: "."})
	h, err := host.OpenRoot(string(files))
	is.NoErr(err)
	defer h.Close()
	for _, name := range []string{
		".", "etc", "etc/file", "etc/link", "etc/up", "bin/tool", "bin", "usr/bin/tool", "etc/dangling", "etc/through",
		"a/1", "a/1/x", "etc/file/x", "x", "x/y", "etc/link/x",
	} {
		is.Equal(toldOf(whole, name), toldOf(h.FS(), name))
	}
}

// toldOf is all that a file system says of a name.
func toldOf(fsys host.FS, name string) string {
	text := ""
	add := func(what string, err error) {
		if text += what + "\n"; err != nil {
			text += err.Error() + "\n"
		}
	}
	b, err := host.ReadFile(fsys, name, 100)
	add(string(b), err)
	for _, describe := range []func(string) (fs.FileInfo, error){fsys.Stat, fsys.Lstat} {
		info, err := describe(name)
		if err == nil {
			add(info.Name()+" "+info.Mode().String()+" "+info.ModTime().String(), nil)
			continue
		}
		add("", err)
	}
	target, err := fsys.ReadLink(name)
	add(target, err)
	entries, err := fsys.ReadDir(name)
	for _, e := range entries {
		add(e.Name()+" "+e.Type().String(), nil)
	}
	add("", err)
	return text
}

func TestFstab(t *testing.T) {
	is := is.New(t)
	lines := parseFstab(`# comment
UUID=AB / ext4 defaults 0 1
/dev/sdb1 /srv/my\040data/sub xfs nofail
/dev/mapper/vg--0-srv /srv ext4
/dev/sr0 /media/cdrom udf,iso9660 user,noauto 0 0
/dev/sda3 none swap sw 0 0
short line`)
	var paths []string
	for _, l := range lines {
		paths = append(paths, l.path)
	}
	is.Equal(paths, []string{".", "srv", "srv/my data/sub"})
	for device, want := range map[string]string{
		`UUID="0A-0B"`: "UUID=0a-0b", "LABEL=Root": "LABEL=Root", `/dev/disk/by-label/the\x20var`: "LABEL=the var",
		"/dev/disk/by-uuid/AB": "UUID=ab", "/dev/vda2": "/dev/vda2", "PARTUUID=CAFE-01": "PARTUUID=cafe-01",
	} {
		name, ok := deviceName(device)
		is.True(ok)
		is.Equal(name, want)
	}
	for _, device := range []string{"tmpfs", "//nas/share", "nas:/share", "proc", "none", "ID=x"} {
		_, ok := deviceName(device)
		is.True(!ok)
	}
	is.Equal(mapperName("vg-0", "a-b"), "vg--0-a--b")
}

func FuzzFstab(f *testing.F) {
	f.Add("UUID=AB / ext4 defaults 0 1\n/dev/sdb1 /srv/my\\040data/../sub xfs nofail")
	f.Add("UUID=AB /../sub xfs")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range parseFstab(text) {
			if !fs.ValidPath(l.path) && strings.ToValidUTF8(l.path, "") == l.path {
				t.Fatalf("the path %q", l.path)
			}
			_, _ = deviceName(l.device)
		}
	})
}

// newImage is a disk with an MBR and two ext4, which mke2fs fills; the first is
// the root where its files have an os-release.
func newImage(t *testing.T, first, second map[string]string) string {
	t.Helper()
	return newImageOf(t, string(newFolder(t, first)), string(newFolder(t, second)))
}

// newImageOf is the same of folders.
func newImageOf(t *testing.T, folders ...string) string {
	t.Helper()
	is := is.New(t)
	if _, err := exec.LookPath("mke2fs"); err != nil {
		t.Skip("no mke2fs here")
	}
	file := filepath.Join(t.TempDir(), "disk")
	boot := make([]byte, 512)
	copy(boot[440:], "\x01\x00\xfe\xca")
	for i, start := range []uint32{2048, 18432} {
		e := boot[446+16*i:]
		e[4] = 0x83
		binary.LittleEndian.PutUint32(e[8:], start)
		binary.LittleEndian.PutUint32(e[12:], 16384)
	}
	boot[510], boot[511] = 0x55, 0xaa
	is.NoErr(os.WriteFile(file, boot, 0o600))
	is.NoErr(os.Truncate(file, 18<<20))
	for i, folder := range folders {
		offset := []string{"offset=1048576", "offset=9437184"}[i]
		out, err := exec.Command("mke2fs", "-q", "-F", "-t", "ext4", "-d", folder, "-E", offset, file, "8M").CombinedOutput()
		if err != nil {
			t.Fatalf("mke2fs: %v\n%s", err, out)
		}
	}
	return file
}

func TestImage(t *testing.T) {
	is := is.New(t)
	file := newImage(t, map[string]string{
		"etc/os-release": "ID=debian\n", "etc/fstab": "/dev/sda1 / ext4\nPARTUUID=cafe0001-02 /var ext4\n/dev/sdz9 /srv ext4\n", "var/x": "", "srv/x": "",
	}, map[string]string{"lib/state": "var's"})
	h, err := Open(file, false)
	is.NoErr(err)
	defer h.Close()
	is.True(!h.Live())
	is.Equal(h.String(), file)
	b, err := host.ReadFile(h.FS(), "var/lib/state", 100)
	is.NoErr(err)
	is.Equal(string(b), "var's")
	_, err = h.FS().Stat("srv/x")
	is.True(errors.Is(err, fs.ErrPermission))
}

func TestSeveralSystems(t *testing.T) {
	is := is.New(t)
	system := map[string]string{"etc/os-release": "ID=debian\n"}
	_, err := Open(newImage(t, system, system), false)
	is.True(errors.Is(err, ErrManyMachines))
	is.True(strings.HasSuffix(err.Error(), ": partition 1, partition 2"))
	named := map[string]string{"etc/os-release": "ID=ubuntu\n", "etc/fstab": "PARTUUID=cafe0001-02 / ext4\n"}
	h, err := Open(newImage(t, system, named), false)
	is.NoErr(err)
	defer h.Close()
	b, err := host.ReadFile(h.FS(), "etc/os-release", 100)
	is.NoErr(err)
	is.Equal(string(b), "ID=ubuntu\n")
}

func TestImagesWithoutASystem(t *testing.T) {
	is := is.New(t)
	disk := make([]byte, 1<<20)
	file := filepath.Join(t.TempDir(), "disk")
	open := func() error {
		is.NoErr(os.WriteFile(file, disk, 0o600))
		_, err := Open(file, false)
		is.True(errors.Is(err, ErrNoMachine))
		return err
	}
	is.True(strings.Contains(open().Error(), "the whole disk: no partitions and no file system that svc knows: the disk begins with zeros alone"))
	copy(disk, "LUKS\xba\xbe")
	is.True(strings.Contains(open().Error(), "the whole disk: LUKS (encrypted) (unlock it"))
	clear(disk)
	copy(disk[1024+56:], "\x53\xef")
	is.True(strings.Contains(open().Error(), "the whole disk: ext that can't be read"))
}
