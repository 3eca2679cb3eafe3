package btrfs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/inode/inodetest"
)

// openImage opens the file system of an image file.
func openImage(t testing.TB, image string) *FS {
	t.Helper()
	is := is.New(t)
	r, err := os.Open(image)
	is.NoErr(err)
	t.Cleanup(func() { _ = r.Close() })
	info, err := r.Stat()
	is.NoErr(err)
	f, err := Open(r, info.Size())
	is.NoErr(err)
	return f
}

const label = "a label"

// mkfs makes an image; its UUID is new, as mkfs.btrfs wants no other.
func mkfs(t testing.TB, options string) (image, id string) {
	t.Helper()
	b, err := os.ReadFile("/proc/sys/kernel/random/uuid")
	if err != nil {
		t.Fatal(err)
	}
	id = strings.TrimSpace(string(b))
	inodetest.Needs(t, "mkfs.btrfs")
	image = inodetest.Image(t, 1<<30)
	args := append([]string{"-q", "-L", label, "-U", id}, strings.Fields(options)...)
	inodetest.Command(t, "mkfs.btrfs", append(args, image)...)
	return image, id
}

// matrix has the options of mkfs.btrfs and of mount that change the format.
var matrix = map[string]struct{ mkfs, mount string }{
	"default":          {},
	"single":           {"-m single", ""},
	"mixed":            {"--mixed", ""},
	"nodes of 4k":      {"-n 4096", ""},
	"nodes of 64k":     {"-n 65536", ""},
	"xxhash":           {"--csum xxhash", ""},
	"sha256":           {"--csum sha256", ""},
	"blake2":           {"--csum blake2", ""},
	"holes":            {"-O ^no-holes", ""},
	"fat metadata":     {"-O ^skinny-metadata,^extref", ""},
	"no space tree":    {"-R ^free-space-tree", ""},
	"zlib":             {"", "compress-force=zlib"},
	"lzo":              {"", "compress-force=lzo"},
	"zstd":             {"", "compress-force=zstd"},
	"zstd, 15":         {"", "compress=zstd:15"},
	"lzo, nodes of 4k": {"-n 4096", "compress-force=lzo"},
	"no inline":        {"", "max_inline=0"},
	"quota":            {"-R quota", ""},
}

func TestMatrix(t *testing.T) {
	for name, options := range matrix {
		t.Run(name, func(t *testing.T) {
			inodetest.Case(t, name)
			image, id := mkfs(t, options.mkfs)
			var want map[string]inodetest.Fact
			inodetest.Mounted(t, image, options.mount, func(root string) {
				inodetest.WriteTree(t, root)
				inodetest.WriteMany(t, root)
			})
			inodetest.Mounted(t, image, "ro", func(root string) { want = inodetest.FactsOfFolder(t, root) })
			f := openImage(t, image)
			is := is.New(t)
			is.Equal(f.UUID(), id)
			is.Equal(f.Label(), label)
			inodetest.Same(t, inodetest.FactsOf(t, f), want)
		})
	}
}

func TestSubvolumes(t *testing.T) {
	is := is.New(t)
	inodetest.Needs(t, "btrfs")
	image, _ := mkfs(t, "")
	var top, inner, snapshot map[string]inodetest.Fact
	write := func(root, name string) {
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(root, name), []byte(name), 0o600))
	}
	inodetest.Mounted(t, image, "", func(root string) {
		btrfs := func(args ...string) {
			for i, arg := range args {
				args[i] = strings.ReplaceAll(arg, "ROOT", root)
			}
			inodetest.Command(t, "btrfs", args...)
		}
		btrfs("subvolume", "create", "ROOT/@")
		write(root, "@/etc/fstab")
		is.NoErr(os.Mkdir(root+"/@/var", 0o755))
		btrfs("subvolume", "create", "ROOT/@/var/lib")
		write(root, "@/var/lib/dpkg/status")
		btrfs("subvolume", "snapshot", "-r", "ROOT/@", "ROOT/snapshot")
		write(root, "@/etc/later")
		btrfs("subvolume", "set-default", "ROOT/@")
		top = inodetest.FactsOfFolder(t, root)
		inner = inodetest.FactsOfFolder(t, root+"/@/var/lib")
		snapshot = inodetest.FactsOfFolder(t, root+"/snapshot")
	})
	f := openImage(t, image)
	_, err := f.Lstat("etc/later")
	is.NoErr(err) // the default subvolume
	at := func(name string) map[string]inodetest.Fact {
		s, err := f.Subvolume(name)
		is.NoErr(err)
		return inodetest.FactsOf(t, s)
	}
	// The folder that stands for a subvolume in a snapshot has no time of its own.
	undated := func(facts map[string]inodetest.Fact, name string) map[string]inodetest.Fact {
		empty := facts[name]
		empty.Modified = 0
		facts[name] = empty
		return facts
	}
	inodetest.Same(t, undated(at("/"), "snapshot/var/lib"), undated(top, "snapshot/var/lib"))
	inodetest.Same(t, at("@/var/lib"), inner)
	inodetest.Same(t, undated(at("/snapshot"), "var/lib"), undated(snapshot, "var/lib"))
	_, err = f.Subvolume("@/var")
	is.True(err != nil) // a folder
	_, err = f.Subvolume("none")
	is.True(err != nil)
	_, err = f.SubvolumeID(9999)
	is.True(err != nil)
	s, err := f.SubvolumeID(5)
	is.NoErr(err)
	inodetest.Same(t, undated(inodetest.FactsOf(t, s), "snapshot/var/lib"), top)
}
