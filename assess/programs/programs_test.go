package programs

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"svc/assess/host"
)

func TestFind(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	for name, mode := range map[string]fs.FileMode{
		"usr/bin/ls": 0o755, "usr/bin/README": 0o644, "usr/bin/su": 0o755 | fs.ModeSetuid,
		"usr/local/bin/own": 0o700, "usr/local/lib/own.so.1": 0o644, "usr/local/lib/own.py": 0o644, "usr/local/share/own": 0o755,
		"usr/lib/x/plain": 0o755, "usr/lib/x/text": 0o644, "usr/lib/x/own.so": 0o755, "usr/lib/node_modules/x/plain": 0o755, "usr/lib/x/helper": 0o755 | fs.ModeSetgid,
		"tmp/a/near": 0o755 | fs.ModeSetuid, "tmp/a/b/far": 0o755 | fs.ModeSetuid,
	} {
		file := filepath.Join(root, name)
		is.NoErr(os.MkdirAll(filepath.Dir(file), 0o755))
		is.NoErr(os.WriteFile(file, nil, 0o644))
		is.NoErr(os.Chmod(file, mode))
	}
	is.NoErr(os.Symlink("/etc/passwd", filepath.Join(root, "usr/bin/link")))
	is.NoErr(os.Symlink("usr/bin", filepath.Join(root, "bin"))) // its files are met where they stand
	h, err := host.OpenRoot(root)
	is.NoErr(err)
	defer h.Close()
	all := Find(t.Context(), h)
	is.Equal(len(all.Unread), 0)
	is.Equal(all.Helpers, []string{"/usr/lib/x/helper", "/usr/lib/x/plain"})
	got, privileged := []string{}, []string{}
	for _, f := range all.Files {
		got = append(got, f.Path)
		if f.Privileged {
			privileged = append(privileged, f.Path)
		}
	}
	is.Equal(got, []string{"/tmp/a/near", "/usr/bin/link", "/usr/bin/ls", "/usr/bin/su", "/usr/lib/x/helper", "/usr/local/bin/own", "/usr/local/lib/own.so.1"})
	is.Equal(privileged, []string{"/tmp/a/near", "/usr/bin/su", "/usr/lib/x/helper"})
}
