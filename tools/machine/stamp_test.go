package machine

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"
)

// TestStamp changes with whatever becomes of a root, and with each file of an image.
func TestStamp(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	write := func(name, text string) {
		is.NoErr(os.MkdirAll(filepath.Dir(name), 0o755))
		is.NoErr(os.WriteFile(name, []byte(text), 0o600))
	}
	hosts := filepath.Join(root, "etc/hosts")
	write(hosts, "127.0.0.1 a\n")
	write(filepath.Join(root, "var/lib/db/data"), "rows")
	seen := map[string]string{}
	note := func(what string, m Machine) {
		s := Stamp(t.Context(), m)
		is.True(s != "")
		is.Equal(Stamp(t.Context(), m), s)
		if other, known := seen[s]; known {
			t.Errorf("%s left the stamp as it was with %s", what, other)
		}
		seen[s] = what
	}
	note("nothing", Machine{Root: root})
	was, err := os.Stat(hosts)
	is.NoErr(err)
	time.Sleep(20 * time.Millisecond) // a kernel's clock ticks no finer
	write(hosts, "127.0.0.1 b\n")
	is.NoErr(os.Chtimes(hosts, was.ModTime(), was.ModTime())) // as copies have it
	note("another text of the same length and time", Machine{Root: root})
	is.NoErr(os.Chmod(hosts, 0o644))
	note("another mode", Machine{Root: root})
	write(filepath.Join(root, "srv/new"), "")
	note("a new file", Machine{Root: root})
	is.NoErr(os.Remove(filepath.Join(root, "srv/new")))
	note("one less", Machine{Root: root})

	image := filepath.Join(root, "a.vmdk")
	write(image, "descriptor")
	note("an image", Machine{Image: image})
	write(filepath.Join(root, "a-s001.vmdk"), "extent")
	note("an extent of it", Machine{Image: image})
	write(filepath.Join(root, "a-s001.vmdk"), "written to")
	note("what is in that", Machine{Image: image})

	is.Equal(Stamp(t.Context(), Machine{Root: "/"}), "")
	is.Equal(Stamp(t.Context(), Machine{SSH: "web1"}), "")
	is.Equal(Stamp(t.Context(), Machine{Root: filepath.Join(root, "nowhere")}), "")
}
