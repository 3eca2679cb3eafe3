package software

import (
	"bytes"
	elfreader "debug/elf"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/host"
)

// FuzzLinkedWith: a foreign file may say anything, and is read within its end; what is
// given is a name of a file.
func FuzzLinkedWith(f *testing.F) {
	for _, file := range []string{"/bin/ls", "/bin/sh", "/usr/bin/env"} {
		if b, err := os.ReadFile(file); err == nil {
			f.Add(b[:min(len(b), 1<<20)])
		}
	}
	f.Add([]byte("\x7fELF\x02\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, name := range linkedWith(b).names {
			if name == "" || filepath.Base(name) != name {
				t.Fatalf("%q", name)
			}
		}
	})
}

// header is what says of a file of ELF for which processor it is.
func header(machine byte) []byte {
	return append([]byte("\x7fELF\x02\x01\x01         \x03\x00"), machine, 0)
}

// TestLibrariesOfPrograms reads a real program of this machine, where it has one.
func TestLibrariesOfPrograms(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	for _, dir := range []string{"opt/a/bin", "usr/lib/x86_64-linux-gnu"} {
		is.NoErr(os.MkdirAll(filepath.Join(root, dir), 0o755))
	}
	is.NoErr(os.WriteFile(filepath.Join(root, "opt/a/bin/script"), []byte("#!/bin/sh\n"), 0o755))
	is.NoErr(os.WriteFile(filepath.Join(root, "opt/a/bin/broken"), []byte("\x7fELF and no more"), 0o755))
	is.NoErr(os.WriteFile(filepath.Join(root, "usr/lib/x86_64-linux-gnu/libc.so.6"), header(62), 0o644))
	h, err := host.OpenRoot(root)
	is.NoErr(err)
	defer h.Close()
	is.Equal(len(needed(h.FS(), "opt/a/bin/script").names)+len(needed(h.FS(), "opt/a/bin/broken").names)+len(needed(h.FS(), "opt/a/bin/none").names), 0)
	kind := kindOf(header(62))
	is.Equal(libraryAt(h.FS(), usualFolders, "libc.so.6", kind), "/usr/lib/x86_64-linux-gnu/libc.so.6")
	is.Equal(libraryAt(h.FS(), usualFolders, "libc.so.6", kindOf(header(183))), "")
	is.Equal(libraryAt(h.FS(), usualFolders, "libnone.so.1", kind), "")
	b, err := os.ReadFile("/bin/ls")
	if err != nil || string(b[:4]) != "\x7fELF" {
		t.Skip("this machine has no program of ELF")
	}
	is.NoErr(os.WriteFile(filepath.Join(root, "opt/a/bin/ls"), b, 0o755))
	f, err := elfreader.NewFile(bytes.NewReader(b))
	is.NoErr(err)
	want, err := f.ImportedLibraries()
	is.NoErr(err)
	is.Equal(needed(h.FS(), "opt/a/bin/ls").names, want)
}

// TestCustomersProgramsAreLookedAt: what people had compiled for a site is linked with the
// release's libraries as what stands in a folder of programs.
func TestCustomersProgramsAreLookedAt(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	want := []string{"srv/a/bin/b", "srv/www/a/cgi-bin/b.cgi", "var/www/a/cgi-bin/b.cgi"}
	for _, name := range append(want, "srv/www/a/htdocs/b.cgi") {
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(root, name), header(62), 0o755))
	}
	h, err := host.OpenRoot(root)
	is.NoErr(err)
	defer h.Close()
	is.Equal(linkable(&assess.Machine{FS: h.FS()}), want)
	is.Equal(found(&assess.Machine{FS: h.FS()}, builtHere), want)
}

// TestScriptsAmongDataAreLookedAt beside what sets pages.
func TestScriptsAmongDataAreLookedAt(t *testing.T) {
	is := is.New(t)
	root := t.TempDir()
	want := []string{"srv/backup.sh", "srv/www/a/.htaccess", "srv/www/a/b/x.cgi", "var/www/a/x.py"}
	for _, name := range append(want, "srv/www/a/b/c/deep.sh", "srv/www/a/index.php", "var/lib/a/x.sh") {
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		is.NoErr(os.WriteFile(filepath.Join(root, name), nil, 0o755))
	}
	h, err := host.OpenRoot(root)
	is.NoErr(err)
	defer h.Close()
	got := found(&assess.Machine{FS: h.FS()}, besideData())
	slices.Sort(got)
	is.Equal(got, want)
}
