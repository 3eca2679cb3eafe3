package catalog

import (
	"testing"
	"testing/fstest"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/index/deb"
	"svc/backend/index/record"
)

func TestStemDropsVersionsAlone(t *testing.T) {
	for name, want := range map[string]string{
		"libssl1.1":            "libssl",
		"libssl3t64":           "libssl",
		"libprotobuf32t64":     "libprotobuf",
		"postgresql-client-13": "postgresql-client",
		"python3.11-minimal":   "python-minimal",
		"lib32asan8":           "lib32asan",
		"linux-image-amd64":    "linux-image-amd64",
		"bash":                 "bash",
	} {
		is.New(t).Equal(stem(name), want)
	}
}

func TestRoles(t *testing.T) {
	for _, c := range []struct {
		name, source, section string
		want                  api.Role
	}{
		{"openssl", "openssl", "utils", api.RoleMain},
		{"libssl-dev", "openssl", "libdevel", api.RoleDev},
		{"libssl3", "openssl", "libs", api.RoleLib},
		{"libssl-doc", "openssl", "doc", api.RoleDoc},
		{"postgresql-client-13", "postgresql-13", "database", api.RoleClient},
		{"mariadb-server", "mariadb", "database", api.RoleMain},
		{"mysql-common", "mysql-common", "database", api.RoleMain},
		{"nginx-common", "nginx", "httpd", api.RoleCommon},
		{"libreoffice-l10n-de", "libreoffice", "localization", api.RoleLang},
		{"munin-plugins-core", "munin", "net", api.RoleMain},
		{"libapache2-mod-php8.2", "php8.2", "httpd", api.RolePlugin},
		{"python3-discogs-client", "python-discogs-client", "python", api.RoleMain},
		{"libc6-dbg", "glibc", "debug", api.RoleDebug},
	} {
		p := &Package{Package: deb.Package{Name: c.name, Source: c.source, Section: c.section}}
		is.New(t).Equal(roleOf(p), c.want)
	}
}

func TestKernelMeta(t *testing.T) {
	for name, want := range map[string]string{
		"linux-image-6.1.0-18-amd64":          "linux-image-amd64",
		"linux-image-6.1.0-18-cloud-amd64":    "linux-image-cloud-amd64",
		"linux-image-6.12.48+deb13-rt-amd64":  "linux-image-rt-amd64",
		"linux-headers-5.10.0-30-arm64":       "linux-headers-arm64",
		"linux-image-6.1.0-18-amd64-unsigned": "linux-image-amd64",
		"linux-image-amd64":                   "",
		"linux-libc-dev":                      "",
	} {
		got, ok := record.KernelMeta(name)
		is.New(t).Equal(got, want)
		is.New(t).Equal(ok, want != "")
	}
}

// The default of a software in several versions keeps its canonical; the others
// have their version in theirs, whatever comes first in the archive.
func TestSeveralVersionsInOneRelease(t *testing.T) {
	is := is.New(t)
	releases, err := Load(t.Context(), fstest.MapFS{"debian-14/main/Packages": {Data: []byte(`Package: python3
Source: python3-defaults
Version: 3.14
Depends: python3.14 (>= 3.14)

Package: python3.13
Version: 3.13.9-1

Package: python3.14
Version: 3.14.2-1

Package: gcc-14
Version: 14.2.0-19

Package: gcc-15
Version: 15.1.0-1
`)}}, nil)
	is.NoErr(err)
	n := NewNaming([]Software{{"gcc-*", "gcc", Kept}, {"python*", "python", Attribute}}, nil)
	n.Apply(releases)
	got := map[string]string{}
	for name, p := range releases[0].Packages {
		got[name] = p.Canonical + " " + p.Major
	}
	is.Equal(got, map[string]string{
		"python3": "python3 ", "python3.13": "python3.13 3.13", "python3.14": "python 3.14",
		"gcc-14": "gcc-14 14", "gcc-15": "gcc-15 15",
	})
}

// Where several libraries of a source have one stem, the next is that of the same series.
func TestLibraryOfASeries(t *testing.T) {
	is := is.New(t)
	releases, err := Load(t.Context(), fstest.MapFS{
		"debian-13/main/Packages": {Data: []byte("Package: libgnome-desktop-3-20t64\nSource: gnome-desktop\nSection: libs\nVersion: 44\n\n" +
			"Package: libgnome-desktop-4-2t64\nSource: gnome-desktop\nSection: libs\nVersion: 44\n")},
		"debian-14/main/Packages": {Data: []byte("Package: libgnome-desktop-3-21\nSource: gnome-desktop\nSection: libs\nVersion: 51\n\n" +
			"Package: libgnome-desktop-4-2t64\nSource: gnome-desktop\nSection: libs\nVersion: 51\n")},
	}, nil)
	is.NoErr(err)
	n := NewNaming(nil, nil)
	n.Apply(releases)
	next := func(from, to int, name string) []string {
		return Trails(releases[from], releases[to], n, nil)[name].Targets
	}
	is.Equal(next(0, 1, "libgnome-desktop-3-20t64"), []string{"libgnome-desktop-3-21"})
	is.Equal(next(1, 0, "libgnome-desktop-3-21"), []string{"libgnome-desktop-3-20t64"})
	_, ok := ofSeries("libllvm17t64", []string{"libllvm18", "libllvm19"})
	is.True(!ok) // two of one series
}

func TestLoadRefusesAReleaseWithoutPackages(t *testing.T) {
	_, err := Load(t.Context(), fstest.MapFS{"debian-12/main/Contents-all": {Data: []byte("etc/a  x/a\n")}}, nil)
	is.New(t).True(err != nil)
}
