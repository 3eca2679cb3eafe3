package rpm

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rpmdb "github.com/anchore/go-rpmdb/pkg"
	"github.com/matryer/is"
	_ "modernc.org/sqlite" // the library reads through a driver of this name
)

// realDatabases are those of the library's own tests: of CentOS 5 to 8, UBI 8
// of a big-endian machine, SLE 15, EL 9, Fedora, Mariner.
func realDatabases(tb testing.TB) (files []string) {
	tb.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/anchore/go-rpmdb").Output()
	if err != nil {
		tb.Skip("no go command, or no module cache")
	}
	for _, name := range []string{"Packages", "Packages.db", "rpmdb.sqlite"} {
		found, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "pkg", "testdata", "*", name))
		is.New(tb).NoErr(err)
		files = append(files, found...)
	}
	is.New(tb).True(len(files) >= 18)
	return files
}

// open opens a database file with its log.
func open(tb testing.TB, file string) Database {
	tb.Helper()
	f, err := os.Open(file)
	is.New(tb).NoErr(err)
	tb.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	is.New(tb).NoErr(err)
	d := Database{File: f, Size: info.Size()}
	if log, err := os.ReadFile(file + "-wal"); err == nil {
		d.Log, d.LogSize = bytes.NewReader(log), int64(len(log))
	}
	return d
}

// nevra is what tells packages apart.
func nevra(epoch int, parts ...string) string {
	return fmt.Sprintf("%d:%s", epoch, strings.Join(parts, " "))
}

// trimmed leaves out the empty digests of the last files: the library does.
func trimmed(digests []string) string { return strings.TrimRight(strings.Join(digests, " "), " ") }

func TestRealDatabasesReadAsTheLibraryReadsThem(t *testing.T) {
	for _, file := range realDatabases(t) {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			is := is.New(t)
			library, err := rpmdb.Open(file)
			is.NoErr(err)
			packages, err := library.ListPackages()
			is.NoErr(err)
			var want, got []string
			for _, p := range packages {
				epoch := 0
				if p.Epoch != nil {
					epoch = *p.Epoch
				}
				names, err := p.InstalledFileNames()
				is.NoErr(err)
				want = append(want, nevra(epoch, p.Name, p.Version, p.Release, p.Arch, p.SourceRpm, p.Vendor, p.Modularitylabel, fmt.Sprint(p.InstallTime), fmt.Sprint(names), trimmed(p.FileDigests)))
			}
			err = open(t, file).Each(func(p *Package) {
				var names []string
				wanted := map[int]string{}
				is.NoErr(p.Paths(func([]byte) bool { return true }, func(i int, path string) {
					names = append(names, path)
					wanted[i] = path
				}))
				files, err := p.Files(wanted)
				is.NoErr(err)
				var digests []string
				for _, f := range files {
					digests = append(digests, f.Digest)
				}
				got = append(got, nevra(p.Epoch, p.Name, p.Version, p.Release, p.Arch, p.SourceRPM, p.Vendor, p.Module, fmt.Sprint(p.Installed.Unix()), fmt.Sprint(names), trimmed(digests)))
			})
			is.NoErr(err)
			slices.Sort(want)
			slices.Sort(got)
			is.Equal(len(got), len(want))
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("got  %.500s\nwant %.500s", got[i], want[i])
				}
			}
		})
	}
}

// TestCapabilities of programs stand in headers.
func TestCapabilities(t *testing.T) {
	is := is.New(t)
	rights := map[string]string{}
	for _, file := range realDatabases(t) {
		if filepath.Base(filepath.Dir(file)) != "rockylinux-9" {
			continue
		}
		is.NoErr(open(t, file).Each(func(p *Package) {
			wanted := map[int]string{}
			is.NoErr(p.Paths(func([]byte) bool { return true }, func(i int, path string) { wanted[i] = path }))
			files, err := p.Files(wanted)
			is.NoErr(err)
			for _, f := range files {
				if f.Rights != "" {
					rights[f.Path] = f.Rights
				}
			}
		}))
	}
	is.Equal(rights, map[string]string{"/usr/bin/newgidmap": "cap_setgid=ep", "/usr/bin/newuidmap": "cap_setuid=ep"})
}

// BenchmarkEach reads whole databases, without their files.
func BenchmarkEach(b *testing.B) {
	for _, file := range realDatabases(b) {
		b.Run(filepath.Base(filepath.Dir(file)), func(b *testing.B) {
			d := open(b, file)
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				is.New(b).NoErr(d.Each(func(*Package) { n++ }))
				is.New(b).True(n > 0)
			}
		})
	}
}

// BenchmarkLibrary reads the same with the library.
func BenchmarkLibrary(b *testing.B) {
	for _, file := range realDatabases(b) {
		b.Run(filepath.Base(filepath.Dir(file)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				library, err := rpmdb.Open(file)
				is.New(b).NoErr(err)
				packages, err := library.ListPackages()
				is.New(b).NoErr(err)
				is.New(b).True(len(packages) > 0)
			}
		})
	}
}
