package inspect

import (
	"encoding/binary"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/host"
)

// elfFile is a file of ELF that is linked with libraries, as one that a linker wrote: a part
// that is loaded, and in it the linker's.
func elfFile(machine uint16, runPath string, needed ...string) []byte {
	table := []byte{0}
	var dynamic []uint64
	text := func(tag uint64, s string) {
		dynamic = append(dynamic, tag, uint64(len(table)))
		table = append(append(table, s...), 0)
	}
	for _, name := range needed {
		text(1, name)
	}
	if runPath != "" {
		text(29, runPath)
	}
	const base, parts = 0x1000, 64
	at := uint64(parts + 2*56)
	size := uint64(len(dynamic)+4) * 8
	dynamic = append(dynamic, 5, base+at+size, 0, 0)
	order := binary.LittleEndian
	b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	b = order.AppendUint16(order.AppendUint16(b, 3), machine)
	b = order.AppendUint64(order.AppendUint64(append(b, 1, 0, 0, 0), 0), parts)
	b = append(b, make([]byte, parts-len(b))...)
	order.PutUint16(b[54:], 56)
	order.PutUint16(b[56:], 2)
	part := func(kind uint32, offset, length uint64) {
		b = order.AppendUint32(order.AppendUint32(b, kind), 0)
		for _, v := range []uint64{offset, base + offset, base + offset, length, length, 8} {
			b = order.AppendUint64(b, v)
		}
	}
	part(1, 0, at+size+uint64(len(table)))
	part(2, at, size)
	for _, v := range dynamic {
		b = order.AppendUint64(b, v)
	}
	return append(b, table...)
}

// TestLibrariesAreFollowed from a program to what its libraries need, by the linker's own
// places, links and kinds.
func TestLibrariesAreFollowed(t *testing.T) {
	is := is.New(t)
	const amd64, arm64 = 62, 183
	root := t.TempDir()
	write := func(name string, b []byte) {
		is.NoErr(os.MkdirAll(filepath.Join(root, path.Dir(name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(root, name), b, 0o755))
	}
	write("etc/ld.so.conf", []byte("include /etc/ld.so.conf.d/*.conf\n"))
	write("etc/ld.so.conf.d/b.conf", []byte("# ours\n/srv/lib dir\n/srv/lib # x\n"))
	write("usr/local/bin/a", elfFile(amd64, "$ORIGIN/../part", "libone.so.1", "libpart.so.1", "libmissing.so.1", "libc.so.6"))
	write("usr/local/part/libpart.so.1", elfFile(amd64, "", "libconf.so.1"))
	write("srv/lib/libconf.so.1", elfFile(amd64, ""))
	write("usr/lib/aarch64-linux-gnu/libone.so.1", elfFile(arm64, ""))
	write("usr/lib/x86_64-linux-gnu/one/libone.so.1.2", elfFile(amd64, "", "libtwo.so.2"))
	write("usr/lib/x86_64-linux-gnu/libtwo.so.2", elfFile(amd64, "", "libone.so.1"))
	write("usr/lib/x86_64-linux-gnu/libc.so.6", elfFile(amd64, ""))
	is.NoErr(os.Symlink("/etc/alternatives/one", filepath.Join(root, "usr/lib/x86_64-linux-gnu/libone.so.1")))
	is.NoErr(os.MkdirAll(filepath.Join(root, "etc/alternatives"), 0o755))
	is.NoErr(os.Symlink("/usr/lib/x86_64-linux-gnu/one/libone.so.1.2", filepath.Join(root, "etc/alternatives/one")))
	is.NoErr(os.Symlink("usr/lib", filepath.Join(root, "lib")))
	write("var/lib/dpkg/status", []byte("Package: libone1\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1\n\nPackage: libtwo2\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1\n\nPackage: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1\n"))
	write("var/lib/dpkg/info/libone1.list", []byte("/usr/lib/x86_64-linux-gnu/one/libone.so.1.2\n"))
	write("var/lib/dpkg/info/libtwo2.list", []byte("/lib/x86_64-linux-gnu/libtwo.so.2\n"))
	write("var/lib/dpkg/info/libc6.list", []byte("/lib/x86_64-linux-gnu/libc.so.6\n"))
	write("etc/os-release", []byte("ID=debian\nVERSION_ID=12\n"))
	h, err := host.OpenRoot(root)
	is.NoErr(err)
	defer h.Close()
	a, err := Assess(t.Context(), h, assess.Options{})
	is.NoErr(err)
	var got []string
	for _, f := range a.Facts {
		if f.Area == "library" || f.Area == "linked" {
			got = append(got, f.Area+" "+f.Key+" "+f.Value+" "+f.Evidence.Path)
		}
	}
	slices.Sort(got)
	is.Equal(got, []string{
		"library libone.so.1 libone1 /usr/local/bin/a",
		"linked /srv/lib/libconf.so.1  /usr/local/part/libpart.so.1",
		"linked /usr/lib/x86_64-linux-gnu/libtwo.so.2 libtwo2 /usr/lib/x86_64-linux-gnu/one/libone.so.1.2",
		"linked /usr/lib/x86_64-linux-gnu/one/libone.so.1.2 libone1 /usr/lib/x86_64-linux-gnu/libtwo.so.2",
		"linked /usr/lib/x86_64-linux-gnu/one/libone.so.1.2 libone1 /usr/local/bin/a",
		"linked /usr/local/part/libpart.so.1  /usr/local/bin/a",
	})
}
