package advisory

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/wire"
)

// good is an advisory that any feed may have beside what can't be used.
var good = advisoryOf("CVE-2026-1", "2.4.9-1")

// affecting is an advisory of a package.
func affecting(ecosystem, name, fixed string) string {
	return fmt.Sprintf(`{"id":"X-1","modified":"2026-01-01T00:00:00Z","affected":[{"package":{"ecosystem":%q,"name":%q},"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":%q}]}]}]}`, ecosystem, name, fixed)
}

func TestWhatCantBeUsedIsNamed(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	for name, c := range map[string]struct{ text, why string }{
		"not JSON":                 {`{"id":`, "no OSV advisory"},
		"empty":                    {``, "no OSV advisory"},
		"a list":                   {`[]`, "no OSV advisory"},
		"not UTF-8":                {"{\"id\":\"\xff\"}", "no OSV advisory"},
		"deep":                     {strings.Repeat(`[`, 1<<20), "no OSV advisory"},
		"no id":                    {`{"modified":"2026-01-01T00:00:00Z"}`, "no id"},
		"an id of 1 MB":            {`{"id":"` + long + `","modified":"2026-01-01T00:00:00Z"}`, "no id of 1 to 256 bytes"},
		"no time":                  {`{"id":"X-1"}`, "modified is no time"},
		"a version":                {affecting("Debian:12", "apache2", "not a version"), `"not a version" is no version of deb`},
		"a version of rpm":         {affecting("AlmaLinux:8", "httpd", "1:2:3"), "no version of rpm"},
		"a version of apk":         {affecting("Alpine:v3.20", "musl", "v1"), "no version of apk"},
		"a version of 1 MB":        {affecting("Debian:12", "apache2", "1"+long), "no version of deb"},
		"no name":                  {affecting("Debian:12", "", "1"), "no name of 1 to 256 bytes"},
		"a name of 1 MB":           {affecting("Debian:12", long, "1"), "no name of 1 to 256 bytes"},
		"an unknown ecosystem":     {affecting("Plan 9", "rc", "1"), "no ecosystem that svc knows"},
		"an ecosystem of 1 MB":     {affecting("Debian:"+long, "rc", "1"), ""},
		"no range":                 {`{"id":"X-1","modified":"2026-01-01T00:00:00Z","affected":[{"package":{"ecosystem":"Debian:12","name":"a"}}]}`, "neither a range of versions nor versions"},
		"a range without a start":  {`{"id":"X-1","modified":"2026-01-01T00:00:00Z","affected":[{"package":{"ecosystem":"Debian:12","name":"a"},"ranges":[{"type":"ECOSYSTEM","events":[{"fixed":"1"}]}]}]}`, "from which version on"},
		"a range of another order": {`{"id":"X-1","modified":"2026-01-01T00:00:00Z","affected":[{"package":{"ecosystem":"Debian:12","name":"a"},"ranges":[{"type":"GIT","events":[{"introduced":"0"}]}]}]}`, "neither a range of versions nor versions"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			feed, report := buildOf(t, map[string]string{"bad.json": c.text, "good.json": good})
			if c.why == "" { // a product that svc does not scan is counted by its name
				is.Equal(len(report.Foreign), 1)
				return
			}
			is.Equal(report.Rejected, 1)
			is.True(strings.HasSuffix(report.Faults[0].Where, "bad.json"))
			is.True(strings.Contains(report.Faults[0].Why, c.why)) // says why
			is.True(len(report.Faults[0].Why) <= 500)
			stats, err := ReadStats(feed)
			is.NoErr(err)
			is.Equal(stats.Rejected, 1) // which every scan says, too
		})
	}
}

func TestAnAdvisoryOfAHundredThousandPackages(t *testing.T) {
	is := is.New(t)
	var b strings.Builder
	b.WriteString(`{"id":"X-1","modified":"2026-01-01T00:00:00Z","affected":[`)
	packages := make([]api.ScannedPackage, 100_000)
	for i := range packages {
		packages[i] = api.ScannedPackage{Name: fmt.Sprintf("p%d", i), Version: "1"}
		fmt.Fprintf(&b, `{"package":{"ecosystem":"Debian:12","name":"p%d"},"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"2"}]}]},`, i)
	}
	feed, report := buildOf(t, map[string]string{"a.json": strings.TrimSuffix(b.String(), ",") + "]}"})
	is.Equal(report.Releases["debian-12"].Packages, 100_000)
	feeds, err := Load(feed, false, nil)
	is.NoErr(err)
	r, err := feeds.Match("debian-12", packages, time.Now())
	is.NoErr(err)
	is.Equal(len(r.Matches), 100_000)
}

func zipped(files map[string]string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, text := range files {
		f, _ := w.Create(name)
		_, _ = f.Write([]byte(text))
	}
	_ = w.Close()
	return b.Bytes()
}

func tarred(files map[string]string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, text := range files {
		_ = w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644, Format: tar.FormatUSTAR})
		_, _ = w.Write([]byte(text))
	}
	_ = w.Close()
	return b.Bytes()
}

func gzipped(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

func zstded(b []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(b, nil)
}

// TestSourcesAreAlike has the same advisories in every form that is read.
func TestSourcesAreAlike(t *testing.T) {
	is := is.New(t)
	files := map[string]string{"a.json": good, "dir/b.json": advisoryOf("CVE-2026-2", "2.4.8-1"), "README.md": "no advisory"}
	dir := t.TempDir()
	is.NoErr(os.Mkdir(filepath.Join(dir, "dir"), 0o755))
	for name, text := range files {
		is.NoErr(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for name, content := range map[string][]byte{"zip": zipped(files), "tar": tarred(files), "tgz": gzipped(tarred(files)), "tar.zst": zstded(tarred(files)), "folder": nil} {
		source := dir
		if content != nil {
			source = filepath.Join(t.TempDir(), "all."+name)
			is.NoErr(os.WriteFile(source, content, 0o644))
		}
		out := filepath.Join(t.TempDir(), "feed")
		report, err := Build(t.Context(), Sources{OSV: []string{source}, Out: out, Now: time.Unix(1_800_000_000, 0)})
		is.NoErr(err)
		is.Equal(report.Read, 2)
		stats, err := ReadStats(out)
		is.NoErr(err)
		if stats.Releases["debian-12"].Advisories != 2 {
			t.Errorf("%s: %+v", name, stats)
		}
	}
}

// TestABrokenSourceLeavesTheFeed has sources of which no feed can be made.
func TestABrokenSourceLeavesTheFeed(t *testing.T) {
	is := is.New(t)
	out, _ := buildOf(t, map[string]string{"good.json": good})
	before, err := os.ReadFile(out)
	is.NoErr(err)
	whole := map[string]string{"a.json": good, "b.json": strings.Repeat(" ", 1<<20) + good}
	for name, content := range map[string][]byte{
		"cut.zip":     zipped(whole)[:200],
		"cut.tar":     tarred(whole)[:2000],
		"cut.tar.gz":  gzipped(tarred(whole))[:200],
		"cut.tar.zst": zstded(tarred(whole))[:100],
		"none.zip":    zipped(map[string]string{"a.json": `{"id":"X-1","modified":"2026-01-01T00:00:00Z"}`}),
		"html.json":   []byte("<html>"),
	} {
		source := filepath.Join(t.TempDir(), name)
		is.NoErr(os.WriteFile(source, content, 0o644))
		_, err := Build(t.Context(), Sources{OSV: []string{source}, Out: out, Now: time.Now()})
		if err == nil || !strings.Contains(err.Error(), "is as it was") {
			t.Errorf("%s: %v", name, err)
		}
	}
	after, err := os.ReadFile(out)
	is.NoErr(err)
	is.Equal(before, after)
	left, err := os.ReadDir(filepath.Dir(out))
	is.NoErr(err)
	is.Equal(len(left), 2) // the feed and its source: nothing beside
}

// TestMoreThanMemory has more findings than are kept in memory.
func TestMoreThanMemory(t *testing.T) {
	is := is.New(t)
	rows, n := &sorter{}, 0
	for i := range 3000 {
		is.NoErr(rows.add(row{release: "debian-12", name: fmt.Sprintf("p%04d", (i*7919)%1000), kind: "deb", rule: rule{id: fmt.Sprintf("X-%d", i), spans: []span{{"", "1", ""}}}}))
		if i%1000 == 500 {
			is.NoErr(rows.spill())
		}
	}
	defer rows.close()
	last := ""
	is.NoErr(rows.groups(func(group []row) error {
		is.True(group[0].name > last)
		last, n = group[0].name, n+len(group)
		is.Equal(len(group), 3)
		return nil
	}))
	is.Equal(n, 3000)
}

func TestANewerCopyOfAnAdvisoryWins(t *testing.T) {
	is := is.New(t)
	older := strings.Replace(affecting("Debian:12", "apache2", "3"), "2026-01-01", "2025-01-01", 1)
	feed, report := buildOf(t, map[string]string{"a.json": affecting("Debian:12", "apache2", "2"), "b.json": older, "c.json": affecting("Debian:12", "apache2", "2")})
	is.Equal(report.Superseded, 1)
	feeds, err := Load(feed, false, nil)
	is.NoErr(err)
	r, err := feeds.Match("debian-12", []api.ScannedPackage{{Name: "apache2", Version: "1"}}, time.Now())
	is.NoErr(err)
	is.Equal(len(r.Matches), 1)
	is.Equal(r.Matches[0].FixedVersion, "2")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte(affecting("Alpine:v3.20", "musl", "1.2_rc1-r0")))
	f.Add([]byte(affecting("SUSE:Linux Enterprise Server 15 SP4-LTSS", "curl", "1:8-150400.5")))
	f.Add([]byte(`{"id":"ALAS2KERNEL-5.10-2024-052","modified":"2026-01-01T00:00:00Z","severity":[{"type":"CVSS_V4","score":"CVSS:4.0/AV:N"}],"affected":[{"package":{"ecosystem":"Amazon Linux:2","name":"kernel","purl":"?rpmmod=%zz"},"versions":["1"]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parse(b)
		if err != nil {
			return
		}
		for i := range p.findings {
			found := &p.findings[i]
			if len(found.name) > maxName || len(found.release) > 64 || len(found.rule.spans)+len(found.rule.versions) == 0 {
				t.Fatalf("a finding that no feed may have: %+v", found)
			}
			in := &wire.Input{Rest: string(found.rule.append(nil))}
			var back rule
			if back.read(in); in.Bad || in.Rest != "" || back.id != found.rule.id || len(back.spans) != len(found.rule.spans) {
				t.Fatalf("a rule does not come back: %+v, %+v", found.rule, back)
			}
		}
	})
}

func FuzzFeed(f *testing.F) {
	feed, _ := buildOf(f, map[string]string{"a.json": good})
	b, err := os.ReadFile(feed)
	is.New(f).NoErr(err)
	f.Add(b)
	f.Add(b[:headerSize])
	f.Fuzz(func(t *testing.T, b []byte) {
		opened, err := newFeed(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		_ = opened.verify()
		_, _ = opened.match("debian-12", []api.ScannedPackage{{Name: "apache2", Version: "2.4.1-1"}}, time.Now())
	})
}
