package deb

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"
	"github.com/matryer/is"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

const stanzas = `Package: ntp
Source: ntpsec (1.2.2+dfsg1-1)
Version: 1:4.2.8p15+dfsg-2~1.2.2+dfsg1-1
Section: contrib/oldlibs
Depends: ntpsec (>= 1.2) | ntpsec-ntpdate, libc6:any [amd64] <!nocheck>
Description: Network Time Protocol daemon/utilities (transitional package)
 This continues the description.
Tag: role::dummy,
 use::synchronizing

# a comment

Package: base-files
Version: 12.4
Essential: yes
Priority: required
Provides: base (= 12.4), base2
`

func collect(t *testing.T, text string) ([]Package, error) {
	t.Helper()
	var all []Package
	for p, err := range Packages(strings.NewReader(text)) {
		if err != nil {
			return all, err
		}
		all = append(all, p)
	}
	return all, nil
}

func TestPackagesKeepsWhatTheIndexNeeds(t *testing.T) {
	is := is.New(t)
	all, err := collect(t, stanzas)
	is.NoErr(err)
	is.Equal(len(all), 2)
	is.Equal(all[0].Source, "ntpsec")
	is.Equal(all[0].Section, "oldlibs")
	is.True(all[0].Transitional())
	is.Equal(slices.Collect(Groups(all[0].Depends)), [][]string{{"ntpsec", "ntpsec-ntpdate"}, {"libc6"}})
	is.Equal(all[1].Source, "base-files") // the binary's own name
	is.Equal(slices.Collect(Names(all[1].Provides)), []string{"base", "base2"})
}

func TestPackagesRefusesWhatIsNoStanza(t *testing.T) {
	for name, text := range map[string]string{
		"no field":   "Package: a\nVersion: 1\nnonsense\n",
		"no version": "Package: a\n\nPackage: b\nVersion: 1\n",
		"no name":    "Version: 1\n",
		"endless":    "Package: " + strings.Repeat("a", maxLine+1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := collect(t, text)
			is.New(t).True(err != nil)
		})
	}
}

func TestTransitionalMarks(t *testing.T) {
	for summary, want := range map[string]bool{
		"transitional dummy package for rng-tools": true,
		"Transition Package, ess to elpa-ess":      true,
		"parser toolkit [dummy package]":           true,
		"XSL module for PHP (dummy)":               true,
		"GNU R empirical transition matrix":        false,
		"bridge double dummy solver":               false,
		"X.Org X server -- dummy display driver":   false,
	} {
		is.New(t).Equal(Package{Summary: summary}.Transitional(), want)
	}
}

func TestContentsKeepsConfigurationAndUnits(t *testing.T) {
	is := is.New(t)
	text := `FILE                                                    LOCATION
bin/true                                                utils/coreutils
etc/a b/with blanks.conf                                net/one,contrib/net/two
lib/systemd/system/one.service                          net/one
usr/lib/sysusers.d/one.conf                             net/one
usr/lib/tmpfiles.d/one.conf                             net/one
`
	var all []File
	for f, err := range Contents(strings.NewReader(text)) {
		is.NoErr(err)
		all = append(all, f)
	}
	is.Equal(all, []File{
		{"/etc/a b/with blanks.conf", "one"},
		{"/etc/a b/with blanks.conf", "two"},
		{"/usr/lib/systemd/system/one.service", "one"},
		{"/usr/lib/sysusers.d/one.conf", "one"},
	})
}

func TestContentsRefusesAPathWithoutPackages(t *testing.T) {
	is := is.New(t)
	var failed error
	for _, err := range Contents(strings.NewReader("etc/lonely\n")) {
		failed = err
	}
	is.True(failed != nil)
}

func TestListingsFindsBothLayouts(t *testing.T) {
	is := is.New(t)
	found, err := Listings(fstest.MapFS{
		"debian-12/main/Packages.xz":                                         {},
		"debian-12/non-free-firmware/Contents-all.gz":                        {},
		"mirror.test_debian_dists_trixie_main_binary-amd64_Packages.lz4":     {},
		"mirror.test_debian_dists_trixie_main_Contents-amd64.lz4":            {},
		"mirror.test_debian_dists_trixie-updates_main_binary-amd64_Packages": {},
		".apt/debian-12/main/Packages":                                       {},
		"nosuch-1/main/Packages":                                             {},
		"debian-12/README":                                                   {},
	})
	is.NoErr(err)
	is.Equal(found, []Listing{
		{"debian-12/main/Packages.xz", "debian-12", "main", false},
		{"debian-12/non-free-firmware/Contents-all.gz", "debian-12", "non-free-firmware", true},
		{"mirror.test_debian_dists_trixie_main_Contents-amd64.lz4", "debian-13", "main", true},
		{"mirror.test_debian_dists_trixie_main_binary-amd64_Packages.lz4", "debian-13", "main", false},
	})
}

func TestOpenUnpacks(t *testing.T) {
	is := is.New(t)
	packers := map[string]func(io.Writer) (io.WriteCloser, error){
		".gz":  func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		".xz":  func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
		".lz4": func(w io.Writer) (io.WriteCloser, error) { return lz4.NewWriter(w), nil },
		".zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
	}
	root := fstest.MapFS{"Packages": {Data: []byte(stanzas)}}
	for ext, packer := range packers {
		var b bytes.Buffer
		w, err := packer(&b)
		is.NoErr(err)
		_, err = io.WriteString(w, stanzas)
		is.NoErr(err)
		is.NoErr(w.Close())
		root["Packages"+ext] = &fstest.MapFile{Data: b.Bytes()}
	}
	for name := range root {
		f, err := Open(context.Background(), root, name)
		is.NoErr(err)
		text, err := io.ReadAll(f)
		is.NoErr(err)
		is.NoErr(f.Close())
		is.Equal(string(text), stanzas)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	f, err := Open(ended, root, "Packages")
	is.NoErr(err)
	_, err = io.ReadAll(f)
	is.Equal(err, context.Canceled)
}

func FuzzPackages(f *testing.F) {
	f.Add(stanzas)
	f.Add("Package: a\nVersion:\n\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		for p, err := range Packages(strings.NewReader(text)) {
			if err == nil && (p.Name == "" || p.Version == "" || p.Source == "" && !strings.Contains(text, "Source")) {
				t.Errorf("a package without its name, version or source: %+v", p)
			}
			for group := range Groups(p.Depends) {
				if len(group) == 0 || slices.Contains(group, "") {
					t.Errorf("an empty name in %q", p.Depends)
				}
			}
		}
	})
}

func FuzzContents(f *testing.F) {
	f.Add("etc/a b  net/one,two\nlib/systemd/system/x.service\tnet/x\n")
	f.Fuzz(func(t *testing.T, text string) {
		for file, err := range Contents(strings.NewReader(text)) {
			if err == nil && !strings.HasPrefix(file.Path, "/") {
				t.Errorf("a path that is not absolute: %q", file.Path)
			}
		}
	})
}

func FuzzOpen(f *testing.F) {
	for i, ext := range extensions {
		f.Add(uint8(i), []byte(stanzas))
		f.Add(uint8(i), []byte(ext))
	}
	f.Fuzz(func(t *testing.T, which uint8, packed []byte) {
		name := "Packages" + extensions[int(which)%len(extensions)]
		r, err := Open(context.Background(), fstest.MapFS{name: &fstest.MapFile{Data: packed}}, name)
		if err != nil {
			return
		}
		defer r.Close()
		for range Packages(io.LimitReader(r, 1<<20)) {
		}
	})
}

var extensions = []string{"", ".gz", ".xz", ".lz4", ".zst", ".bz2"}
