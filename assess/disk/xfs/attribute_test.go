package xfs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/sys/unix"

	"svc/assess/disk/inode/inodetest"
)

// TestAttributes reads the names of attributes as the kernel lists them: in the
// inode, and in one, a few and many blocks of a fork of their own.
func TestAttributes(t *testing.T) {
	for _, options := range []string{"", "-b size=1024", "-i size=1024"} {
		image := mkfs(t, options)
		want := map[string][]string{}
		inodetest.Mounted(t, image, "", func(root string) {
			is := is.New(t)
			attributed := func(name string, count, size int, key func(int) string) string {
				file := filepath.Join(root, name)
				is.NoErr(os.WriteFile(file, nil, 0o644))
				for i := range count {
					is.NoErr(unix.Setxattr(file, key(i), []byte(strings.Repeat("v", size)), 0))
				}
				want[name] = nil
				return file
			}
			spaces := []string{"user.", "trusted.", "security."}
			attributed("none", 0, 0, nil)
			attributed("few", 3, 4, func(i int) string { return fmt.Sprintf("%skey %d", spaces[i], i) })
			attributed("leaf", 20, 40, func(i int) string { return fmt.Sprintf("%skey %d", spaces[i%3], i) })
			attributed("many", 900, 20, func(i int) string { return fmt.Sprintf("%skey %d", spaces[i%3], i) })
			attributed("large", 12, 30_000, func(i int) string { return fmt.Sprintf("user.large %d", i) })
			attributed("long", 200, 1, func(i int) string { return "user." + strings.Repeat(fmt.Sprintf("%04d", i), 62) })
			thinned := attributed("thinned", 400, 50, func(i int) string { return fmt.Sprintf("user.%d", i) })
			for i := 0; i < 400; i += 2 {
				is.NoErr(unix.Removexattr(thinned, fmt.Sprintf("user.%d", i)))
			}
			for name := range want {
				list := make([]byte, 1<<16)
				n, err := unix.Listxattr(filepath.Join(root, name), list)
				is.NoErr(err)
				want[name] = strings.FieldsFunc(string(list[:n]), func(r rune) bool { return r == 0 })
			}
		})
		f := openImage(t, image)
		for name, names := range want {
			t.Run(name+" "+options, func(t *testing.T) {
				is := is.New(t)
				got, err := f.Attributes(name)
				is.NoErr(err)
				slices.Sort(got)
				slices.Sort(names)
				is.True(slices.Equal(got, names))
			})
		}
	}
}
