package ext4

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"svc/assess/disk/inode/inodetest"
	"svc/assess/host"
)

// needsMount skips a test that only root can run.
func needsMount(t testing.TB) {
	t.Helper()
	inodetest.Needs(t, "mke2fs", "mount", "umount")
	if os.Geteuid() != 0 {
		inodetest.Missing(t, "root, who may mount")
	}
}

// writeMore adds what only Linux writes.
func writeMore(t testing.TB, dir string) {
	t.Helper()
	is, path := is.New(t), inodetest.Maker(t, dir)
	for name, at := range map[string]time.Time{
		"now": time.Now(), "1901": time.Unix(-1<<31, 1), "2038": time.Unix(1<<31, 999_999_999), "2106": time.Unix(1<<32+5, 4), "2446": time.Unix(3<<32+1<<31-1, 0),
	} {
		made := path("times/" + name)
		is.NoErr(os.WriteFile(made, []byte(name), 0o600))
		is.NoErr(os.Chtimes(made, time.Time{}, at))
	}
	for _, n := range []int{10, 60, 90, 300} { // grows from inline to a block
		made := path(fmt.Sprintf("inline/%d", n))
		for range n / 10 {
			appendTo(t, made, []byte("0123456789"))
		}
	}
	for i := range 40 { // likewise
		is.NoErr(os.WriteFile(path(fmt.Sprintf("grown/%02d", i)), nil, 0o600))
		is.NoErr(os.WriteFile(path(fmt.Sprintf("shrunk/%02d", i)), nil, 0o600))
	}
	for i := range 39 {
		is.NoErr(os.Remove(path(fmt.Sprintf("shrunk/%02d", i))))
	}
	for i := range 500 {
		is.NoErr(os.Remove(path(fmt.Sprintf("many/%0150d", 2*i))))
	}
	is.NoErr(os.Rename(path("deep/folder"), path("empty/moved")))
	writeUnwritten(t, path("sparse/unwritten"))
	for _, name := range []string{"sizes/1", "links/1", "links/59", "links/61", "few"} {
		big := strings.Repeat("x", 3000)
		_ = unix.Lsetxattr(path(name), "trusted.big", []byte(big), 0) // ext2 of revision 0 has none
		_ = unix.Lsetxattr(path(name), "trusted.larger", []byte(strings.Repeat(big, 10)), 0)
		_ = unix.Lsetxattr(path(name), "trusted.small", []byte("x"), 0)
	}
}

func appendTo(t testing.TB, path string, b []byte) {
	t.Helper()
	is := is.New(t)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	is.NoErr(err)
	_, err = f.Write(b)
	is.NoErr(err)
	is.NoErr(f.Close())
}

// writeUnwritten makes a file with space that is allocated and not written,
// where something else was before, and writes a part of that.
func writeUnwritten(t testing.TB, path string) {
	t.Helper()
	is := is.New(t)
	f, err := os.Create(path)
	is.NoErr(err)
	defer f.Close()
	if unix.Fallocate(int(f.Fd()), 0, 0, 4<<20) != nil {
		return // ext2 and ext3 can't
	}
	_, err = f.WriteAt([]byte("written"), 1<<20+123)
	is.NoErr(err)
	is.NoErr(unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 2<<20, 1<<19))
	is.NoErr(unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, 4<<20, 1<<20)) // beyond its end
}

// TestLinuxWrote compares file systems that Linux wrote with what it says of them.
func TestLinuxWrote(t *testing.T) {
	needsMount(t)
	names := []string{"ext4", "ext2, 1k", "inline_data", "bigalloc", "ea_inode"}
	if inodetest.Thorough() {
		names = append(names, "ext3", "ext2", "ext2, revision 0", "1k", "2k", "128", "512", "gdt_csum", "not 64bit", "inline_data, 1024", "inline_data, 1k",
			"meta_bg, 1k", "bigalloc, 1k", "large_dir", "orphan_file", "metadata_csum_seed", "no extra_isize", "no filetype")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			image := mkfs(t, matrix[name])
			var want map[string]inodetest.Fact
			inodetest.Mounted(t, image, "", func(dir string) {
				inodetest.WriteTree(t, dir)
				writeMore(t, dir)
			})
			// Mounted again, Linux has forgotten what the disk has no room for.
			inodetest.Mounted(t, image, "ro", func(dir string) { want = inodetest.FactsOfFolder(t, dir) })
			got, err := inodetest.Facts(openImage(t, image))
			is.NoErr(err)
			inodetest.Same(t, got, want)
		})
	}
}

// TestLargeFolder looks names up in a folder too large to be kept.
func TestLargeFolder(t *testing.T) {
	needsMount(t)
	is := is.New(t)
	const count = 30_000
	name := func(i int) string { return fmt.Sprintf("%0200d", i) }
	image := mkfs(t, matrix["large_dir"])
	inodetest.Mounted(t, image, "", func(dir string) {
		is.NoErr(os.Mkdir(filepath.Join(dir, "large"), 0o755))
		file := filepath.Join(dir, "file")
		is.NoErr(os.WriteFile(file, []byte("content"), 0o600))
		for i := range count {
			is.NoErr(os.Link(file, filepath.Join(dir, "large", name(i))))
		}
	})
	f := openImage(t, image)
	entries, err := f.ReadDir("large")
	is.NoErr(err)
	is.Equal(len(entries), count)
	for i := 0; i < count; i += 999 {
		is.Equal(entries[i].Name(), name(i))
		info, err := f.Lstat("large/" + name(i))
		is.NoErr(err)
		is.Equal(info.(host.Entry).Status.Links, count+1)
	}
	n, err := f.resolve("large")
	is.NoErr(err)
	is.True(n.Size > maxKept)
	_, err = f.Lstat("large/no")
	is.True(errors.Is(err, fs.ErrNotExist))
}

// TestHashTree reads folders that e2fsck has indexed.
func TestHashTree(t *testing.T) {
	inodetest.Needs(t, "mke2fs", "e2fsck", "debugfs")
	is := is.New(t)
	source := inodetest.Scratch(t)
	inodetest.WriteTree(t, source)
	want := carried(inodetest.FactsOfFolder(t, source), "")
	for _, name := range []string{"ext4", "1k", "ext3, 1k", "gdt_csum"} {
		image := mkfs(t, matrix[name], "-d", source)
		_ = exec.Command("e2fsck", "-fyD", image).Run() // 1: changed
		is.True(strings.Contains(inodetest.Command(t, "debugfs", "-R", "htree_dump /many", image), "Number of entries"))
		got, err := inodetest.Facts(openImage(t, image))
		is.NoErr(err)
		inodetest.Same(t, carried(got, ""), want)
	}
}

// TestEncrypted meets folders that Linux has encrypted by itself.
func TestEncrypted(t *testing.T) {
	needsMount(t)
	is := is.New(t)
	image := mkfs(t, matrix["encrypt"])
	inodetest.Mounted(t, image, "", func(dir string) {
		is.NoErr(os.Mkdir(filepath.Join(dir, "secret"), 0o700))
		encrypt(t, filepath.Join(dir, "secret"))
		is.NoErr(os.WriteFile(filepath.Join(dir, "secret", "file"), []byte("content"), 0o600))
		is.NoErr(os.Symlink("target", filepath.Join(dir, "secret", "link")))
		is.NoErr(os.WriteFile(filepath.Join(dir, "open"), []byte("content"), 0o600))
	})
	f := openImage(t, image)
	_, err := f.Lstat("secret")
	is.NoErr(err)
	for _, err := range []error{second(f.ReadDir("secret")), second(f.Lstat("secret/file")), second(f.Open("secret/file")), second(f.ReadLink("secret/link"))} {
		is.True(err != nil)
		is.True(strings.Contains(err.Error(), ErrEncrypted.Error()))
	}
	_, err = f.Open("open")
	is.NoErr(err)
}

func second[T any](_ T, err error) error { return err }

// encrypt gives an empty folder a key of its own.
func encrypt(t testing.TB, dir string) {
	t.Helper()
	is := is.New(t)
	d, err := os.Open(dir)
	is.NoErr(err)
	defer d.Close()
	key := sha256.Sum256([]byte("key"))
	arg := struct {
		unix.FscryptAddKeyArg
		key [64]byte
	}{FscryptAddKeyArg: unix.FscryptAddKeyArg{Key_spec: unix.FscryptKeySpecifier{Type: unix.FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER}, Raw_size: 64}}
	copy(arg.key[:], key[:])
	copy(arg.key[32:], key[:])
	ioctl(t, d, unix.FS_IOC_ADD_ENCRYPTION_KEY, unsafe.Pointer(&arg))
	policy := unix.FscryptPolicyV2{
		Version: 2, Contents_encryption_mode: unix.FSCRYPT_MODE_AES_256_XTS, Filenames_encryption_mode: unix.FSCRYPT_MODE_AES_256_CTS, Flags: unix.FSCRYPT_POLICY_FLAGS_PAD_32,
	}
	copy(policy.Master_key_identifier[:], arg.Key_spec.U[:])
	ioctl(t, d, unix.FS_IOC_SET_ENCRYPTION_POLICY, unsafe.Pointer(&policy))
}

func ioctl(t testing.TB, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), request, uintptr(arg)); errno != 0 {
		inodetest.Missing(t, fmt.Sprintf("encryption (%v)", errno))
	}
}
