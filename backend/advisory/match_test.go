package advisory

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"github.com/rogpeppe/go-internal/txtar"

	"svc/backend/api"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// buildOf makes a feed of documents, by name.
func buildOf(tb testing.TB, documents map[string]string) (feed string, r *Report) {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range documents {
		is.New(tb).NoErr(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	feed = filepath.Join(dir, "feed")
	r, err := Build(tb.Context(), Sources{OSV: []string{dir}, Out: feed, Now: time.Now()})
	is.New(tb).NoErr(err)
	return feed, r
}

// packageOf reads a line: name, version, and what else is known as key=value.
func packageOf(line string) api.ScannedPackage {
	f := strings.Fields(line)
	p := api.ScannedPackage{Name: f[0], Version: f[1]}
	for _, more := range f[2:] {
		key, value, _ := strings.Cut(more, "=")
		switch key {
		case "source":
			p.Source, p.SourceVersion, _ = strings.Cut(value, "/")
		case "arch":
			p.Arch = value
		case "module":
			p.Module = value
		}
	}
	return p
}

// TestMatch has a file for each distribution: advisories as it publishes them,
// packages, and what applies. The first line is the release, and the day.
func TestMatch(t *testing.T) {
	files, err := filepath.Glob("testdata/match/*.txtar")
	is.New(t).NoErr(err)
	is.New(t).True(len(files) > 0)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			is := is.New(t)
			archive, err := txtar.ParseFile(file)
			is.NoErr(err)
			documents, packages, want := map[string]string{}, []api.ScannedPackage{}, 0
			for i, f := range archive.Files {
				switch f.Name {
				case "packages":
					for line := range strings.Lines(string(f.Data)) {
						packages = append(packages, packageOf(line))
					}
				case "want":
					want = i
				default:
					documents[f.Name] = string(f.Data)
				}
			}
			feed, report := buildOf(t, documents)
			is.Equal(report.Faults, []Fault{})
			feeds, err := Load(feed, false, nil)
			is.NoErr(err)
			head := strings.Fields(string(archive.Comment))
			day, err := time.Parse(time.DateOnly, head[1])
			is.NoErr(err)
			r, err := feeds.Match(head[0], packages, day)
			is.NoErr(err)
			is.True(r.Feed.Loaded)
			got := lines("", r.Matches) + lines("update: ", r.Updates) + "unlisted: " + strings.Join(r.Unlisted, " ") + "\n"
			if *update {
				archive.Files[want].Data = []byte(got)
				is.NoErr(os.WriteFile(file, txtar.Format(archive), 0o644))
			}
			is.Equal(got, string(archive.Files[want].Data))
		})
	}
}

func lines(before string, matches []api.CVEMatch) string {
	var b strings.Builder
	for _, m := range matches {
		fmt.Fprintf(&b, "%s%s %s: %s (%s), %s, %s\n", before, m.Package, m.Version, m.Advisory, strings.Join(m.Aliases, " "), m.Severity, strings.TrimSpace(m.Status+" "+m.FixedVersion))
	}
	return b.String()
}
