package inspect

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/hazards"
	"svc/assess/host"
)

// TestStrays: programs among those of packages are people's where no package has them,
// with the uppermost folder that none has; a machine without lists of files tells nothing.
func TestStrays(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		is.NoErr(os.MkdirAll(filepath.Join(root, path.Dir(name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(root, name), []byte(text), mode))
	}
	for _, name := range []string{"bin/own", "lib/own/bin/run", "lib/cups/backend/own", "lib/cups/backend/lpd", "lib/node_modules/a/run", "lib/own/a.so"} {
		write("usr/"+name, "#!/bin/sh\n", 0o755)
	}
	write("usr/lib/own/text", "#!/bin/sh\n", 0o644)
	write("var/lib/dpkg/status", "Package: cups\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1\n", 0o644)
	write("etc/os-release", "ID=debian\nVERSION_ID=12\n", 0o644)
	read := func() []hazards.Stray {
		h, err := host.OpenRoot(root)
		is.NoErr(err)
		defer h.Close()
		a, err := Assess(t.Context(), h, assess.Options{})
		is.NoErr(err)
		return a.Strays
	}
	is.Equal(len(read()), 0)
	is.NoErr(os.Symlink("usr/lib", filepath.Join(root, "lib")))
	write("var/lib/dpkg/info/cups.list", "/.\n/usr\n/usr/lib\n/lib/cups\n/usr/lib/cups/backend\n/lib/cups/backend/lpd\n", 0o644) // as packages before the merge of /usr have it
	is.Equal(read(), []hazards.Stray{{Path: "/usr/lib/cups/backend/own"}, {Path: "/usr/lib/own/bin/run", Folder: "/usr/lib/own"}, {Path: "/usr/bin/own"}})
}
