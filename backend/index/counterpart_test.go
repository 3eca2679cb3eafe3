package index

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/index/build"
	"svc/backend/index/counterpart"
	"svc/backend/index/course"
	"svc/backend/index/lookup"
	"svc/backend/release"
)

func TestAlpine(t *testing.T) {
	ix := embeddedIndex(t)
	for _, c := range []struct {
		from, name, to, relation, names string
		sure                            bool
	}{
		{"debian-11", "nginx", "alpine-3.22", "same", "nginx", true},
		{"debian-11", "php7.4-fpm", "alpine-3.22", "renamed", "php84-fpm", true},
		{"debian-11", "php7.4-fpm", "alpine-3.23", "renamed", "php8.4-fpm", false},
		{"ubuntu-22.04", "mysql-client", "alpine-3.22", "renamed", "mariadb-client", true},
		{"almalinux-9", "httpd", "alpine-3.22", "renamed", "apache2", true},
		{"debian-13", "python3-flask", "alpine-3.22", "renamed", "py3-flask", false},
		{"alpine-3.18", "nginx", "debian-13", "same", "nginx", true},
		{"alpine-3.18", "nginx-openrc", "debian-13", "included", "nginx", true},
		{"alpine-3.18", "php82-fpm", "alpine-3.22", "renamed", "php84-fpm", true},
		{"alpine-3.18", "redis", "alpine-3.19", "same", "redis", true},
		{"alpine-3.18", "redis", "alpine-3.20", "replaced", "valkey", true},
		{"alpine-3.18", "frr", "alpine-3.19", "same", "frr", false},
		{"alpine-3.18", "frr", "debian-13", "same", "frr", false},
		{"alpine-3.18", "apache2", "almalinux-9", "renamed", "httpd", true},
		{"alpine-3.18", "dovecot", "ubuntu-24.04", "renamed", "dovecot-core", true},
		{"alpine-3.18", "alpine-base", "debian-13", "included", "base-files", true},
		{"alpine-3.18", "nobody-knows-this", "debian-13", "", "", false},
	} {
		t.Run(c.name+" to "+c.to, func(t *testing.T) {
			is := is.New(t)
			got, err := ix.Become(c.from, c.name, c.to)
			is.NoErr(err)
			is.Equal(string(got.Relation), c.relation)
			is.Equal(packageNames(got), c.names)
			is.Equal(got.Confidence >= course.SureConfidence, c.sure)
		})
	}
}

// apk names places of lists of Alpine.
func apk(places ...string) map[release.Format][]string {
	return map[release.Format][]string{release.APK: places}
}

// Nothing is claimed of Alpine but by a row: whatever else Debian has is a question.
func TestAlpineIsSureByRowsAlone(t *testing.T) {
	is := is.New(t)
	ix := embeddedIndex(t)
	target, err := ix.tables.Release("alpine-3.22")
	is.NoErr(err)
	rows := map[string]bool{}
	for _, row := range target.Counterparts.Names().Rows {
		rows[row.Name] = true
	}
	n := 0
	for name := range ix.tables.Debian[0].Names.All() {
		if n++; n%40 != 0 {
			continue // a part of them tells
		}
		got, err := ix.Become(ix.tables.Debian[0].Slug, name, "alpine-3.22")
		is.NoErr(err)
		for _, p := range got.Packages {
			if got.Confidence >= course.SureConfidence && !rows[p.Name] {
				t.Errorf("%s becomes %s for sure, and no row says so", name, p.Name)
			}
		}
		if len(got.Packages) > 0 && !slices.ContainsFunc(got.Caveats, func(c api.Caveat) bool { return c.Code == course.CaveatExistence }) {
			t.Errorf("%s: nothing says that there is no list", name)
		}
	}
}

// What a row leads to in Debian is there.
func TestRowsOfAlpineLeadToDebian(t *testing.T) {
	x := &lookup.Names{Tables: embeddedIndex(t).tables}
	for _, r := range release.All() {
		if r.Family != release.Alpine {
			continue
		}
		for _, row := range counterpart.Of(r).Rows {
			for _, alternatives := range row.There() {
				there := false
				for name := range strings.SplitSeq(alternatives, "|") {
					_, ok := x.Package(name)
					there = there || ok
				}
				if !there {
					t.Errorf("%s: Debian has none of %s", row.Name, alternatives)
				}
			}
		}
	}
}

// apkMirror is a folder as a mirror of Alpine has it.
func apkMirror(t *testing.T, text string) string {
	is := is.New(t)
	dir := t.TempDir()
	folder := filepath.Join(dir, "v3.22", "main", "x86_64")
	is.NoErr(os.MkdirAll(folder, 0o755))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)
	is.NoErr(w.WriteHeader(&tar.Header{Name: "APKINDEX", Mode: 0o644, Size: int64(len(text))}))
	_, err := w.Write([]byte(text))
	is.NoErr(err)
	is.NoErr(w.Close())
	is.NoErr(z.Close())
	is.NoErr(os.WriteFile(filepath.Join(folder, "APKINDEX.tar.gz"), packed.Bytes(), 0o600))
	return dir
}

// A list of Alpine's makes sure what it has, and what it lacks doubtful.
func TestListOfAlpine(t *testing.T) {
	is := is.New(t)
	out := filepath.Join(t.TempDir(), "index.bin")
	_, err := build.Build(t.Context(), build.Sources{Lists: apk(apkMirror(t, "P:nginx\nV:1.28.0-r3\n\nP:frr\nV:10.3-r0\n\nP:py3-flask\nV:3.1-r0\n")), Out: out})
	is.NoErr(err)
	ix, err := Open(out)
	is.NoErr(err)
	for _, c := range []struct {
		name, names, version string
		sure                 bool
	}{
		{"nginx", "nginx", "1.28.0-r3", true},
		{"frr", "frr", "10.3-r0", true},
		{"python3-flask", "py3-flask", "3.1-r0", true},
		{"sudo", "sudo", "", false}, // a row has it, the list not
		{"tcllib", "", "", false},
	} {
		got, err := ix.Become("debian-13", c.name, "alpine-3.22")
		is.NoErr(err)
		is.Equal(packageNames(got), c.names)
		is.Equal(got.Confidence >= course.SureConfidence, c.sure)
		if c.version != "" {
			is.Equal(got.Packages[0].Version, c.version)
			is.Equal(got.Packages[0].Repository, "main")
			is.Equal(len(got.Caveats), 0)
		}
	}
	again := filepath.Join(t.TempDir(), "again.bin") // another list takes the place of the first
	_, err = build.Build(t.Context(), build.Sources{Base: out, Lists: apk(apkMirror(t, "P:sudo\nV:1-r0\n")), Out: again})
	is.NoErr(err)
	ix, err = Open(again)
	is.NoErr(err)
	infos := ix.Releases()
	i := slices.IndexFunc(infos, func(r api.ReleaseInfo) bool { return r.Slug == "alpine-3.22" })
	is.Equal(infos[i].List, api.ListWhole)
	is.Equal(*infos[i].Packages, 1)
}

func TestListOfAlpineRefuses(t *testing.T) {
	out := filepath.Join(t.TempDir(), "index.bin")
	for name, c := range map[string]struct {
		s    build.Sources
		says string
	}{
		"no release": {build.Sources{Lists: apk("https://example.org/alpine/main")}, "--release"},
		"no list":    {build.Sources{Lists: apk(t.TempDir())}, "has no APKINDEX.tar.gz"},
		"two":        {build.Sources{Lists: apk("x"), Releases: []string{"alpine-3.21", "alpine-3.22"}}, "one release"},
	} {
		c.s.Out = out
		_, err := build.Build(t.Context(), c.s)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
