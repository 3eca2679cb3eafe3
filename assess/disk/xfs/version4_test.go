package xfs

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess/disk/inode/inodetest"
)

// TestVersion4 reads file systems of version 4, which mkfs.xfs alone fills: new
// kernels don't mount them.
func TestVersion4(t *testing.T) {
	for _, options := range []string{"", "-n ftype=1", "-b size=1024", "-n size=65536", "-i size=512", "-i attr=1"} {
		is := is.New(t)
		inodetest.Needs(t, "mkfs.xfs")
		source := t.TempDir()
		want := map[string]string{}
		var proto strings.Builder
		proto.WriteString("/dev/null\n0 0\nd--755 0 0\n")
		file := func(name, base string, size int) {
			content := strings.Repeat(fmt.Sprintf("%s\n", name), size/(len(name)+1)+1)[:size]
			at := filepath.Join(source, fmt.Sprint(len(want)))
			is.NoErr(os.WriteFile(at, []byte(content), 0o600))
			want[name] = content
			fmt.Fprintf(&proto, "%s ---644 7 8 %s\n", base, at)
		}
		file("empty", "empty", 0)
		file("small", "small", 100)
		file("large", "large", 3_000_000)
		long := strings.Repeat("long/", 200)
		fmt.Fprintf(&proto, "short l--777 0 0 target\nlong l--777 0 0 %s\n", long)
		for folder, count := range map[string]int{"one": 3, "block": 40, "leaf": 150, "node": 1200} {
			fmt.Fprintf(&proto, "%s d--755 0 0\n", folder)
			for i := range count {
				base := fmt.Sprintf("%050d", i)
				file(folder+"/"+base, base, i%3)
			}
			proto.WriteString("$\n")
		}
		proto.WriteString("$\n")
		list := filepath.Join(source, "proto")
		is.NoErr(os.WriteFile(list, []byte(proto.String()), 0o600))
		image := inodetest.Image(t, 400<<20)
		args := append([]string{"-q", "-m", "crc=0", "-p", list}, strings.Fields(options)...)
		inodetest.Command(t, "mkfs.xfs", append(args, image)...)
		f := openImage(t, image)
		is.True(!f.v5)
		got := map[string]string{}
		is.NoErr(inodetest.Walk(f, func(name string, x inodetest.Fact) {
			if x.Mode.IsRegular() {
				b, err := fs.ReadFile(f, name)
				is.NoErr(err)
				got[name] = string(b)
			}
		}))
		is.Equal(len(got), len(want))
		for name := range want {
			is.True(got[name] == want[name])
		}
		for name, want := range map[string]string{"short": "target", "long": long} {
			target, err := f.ReadLink(name)
			is.NoErr(err)
			is.Equal(target, want)
		}
	}
}
