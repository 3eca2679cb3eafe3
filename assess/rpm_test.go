package assess

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

// realRPM copies a real database of the library's test data into a machine.
func realRPM(tb testing.TB, data, place, osRelease string, files map[string]string) string {
	tb.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/anchore/go-rpmdb").Output()
	if err != nil {
		tb.Skip("no go command, or no module cache")
	}
	db, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "pkg", "testdata", data, filepath.Base(place)))
	is.New(tb).NoErr(err)
	all := map[string]string{"etc/os-release": osRelease, "etc/machine-id": testID, place: string(db)}
	for name, content := range files {
		all[name] = content
	}
	return writeRoot(tb, all)
}

func find(t *testing.T, a *Assessment, name string) Package {
	t.Helper()
	i := slices.IndexFunc(a.Packages, func(p Package) bool { return p.Name == name })
	is.New(t).True(i >= 0) // the package is there
	return a.Packages[i]
}

const (
	osCentOS7 = "ID=\"centos\"\nID_LIKE=\"rhel fedora\"\nVERSION_ID=\"7\"\n"
	osAlma8   = "ID=\"almalinux\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"8.4\"\n"
	osRocky9  = "ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\nVERSION_ID=\"9.3\"\n"
	osSLES15  = "ID=\"sles\"\nID_LIKE=\"suse\"\nVERSION_ID=\"15.3\"\n"
)

func TestRPMInEachOfItsForms(t *testing.T) {
	for _, c := range []struct {
		data, place, osRelease, release, arch string
		packages                              int
	}{
		{"centos7-many", "var/lib/rpm/Packages", osCentOS7, "centos-7", "x86_64", 395},
		{"centos8-modularitylabel", "var/lib/rpm/Packages", osAlma8, "almalinux-8", "x86_64", 517},
		{"rockylinux-9", "var/lib/rpm/rpmdb.sqlite", osRocky9, "rocky-9", "aarch64", 142},
		{"sle15-bci", "usr/lib/sysimage/rpm/Packages.db", osSLES15, "sles-15", "x86_64", 35},
		{"fedora35", "usr/share/rpm/rpmdb.sqlite", "ID=fedora\nVERSION_ID=35\n", "fedora-35", "x86_64", 137},
	} {
		t.Run(c.data, func(t *testing.T) {
			is := is.New(t)
			a := mustAssess(t, realRPM(t, c.data, c.place, c.osRelease, nil))
			is.Equal(a.Release, c.release)
			is.Equal(a.System.Architecture, c.arch)
			is.Equal(source(a, "packages.rpm"), SourceOK)
			is.Equal(len(a.Packages), c.packages) // rpm -qa, less its keys
			is.True(!slices.ContainsFunc(a.Packages, func(p Package) bool { return p.Name == "gpg-pubkey" }))
		})
	}
}

func TestWhatRPMSaysOfAPackage(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, realRPM(t, "centos8-modularitylabel", "var/lib/rpm/Packages", osAlma8, nil))
	p := find(t, a, "npm")
	is.Equal(p.Version, "1:6.14.4-1.10.21.0.3.module_el8.2.0+391+8da3adc6")
	is.Equal(p.Source+" "+p.SourceVersion, "nodejs 10.21.0-3.module_el8.2.0+391+8da3adc6")
	is.Equal(p.Origin, "CentOS")
	is.Equal(p.Module, "nodejs:10")
	is.Equal(p.InstalledAt.Location(), time.UTC)
	is.Equal(find(t, a, "bash").Module, "")
}

func TestADamagedRPMDatabase(t *testing.T) {
	is := is.New(t)
	dir := realRPM(t, "centos7-plain", "var/lib/rpm/Packages", osCentOS7, nil)
	is.NoErr(os.Truncate(filepath.Join(dir, "var/lib/rpm/Packages"), 8<<20))
	a, err := assessDir(t, dir)
	is.True(errors.Is(err, ErrCorrupt))
	is.True(len(a.Packages) > 20)
	is.Equal(source(a, "packages.rpm"), SourceCorrupt)
	is.True(strings.Contains(err.Error(), "cut off"))
	is.NoErr(os.Remove(filepath.Join(dir, "var/lib/rpm/Packages")))
	a, err = assessDir(t, dir)
	is.True(errors.Is(err, ErrCorrupt))
	is.Equal(source(a, "packages.rpm"), SourceAbsent)
}
