package build

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"svc/backend/index/data"
)

// FuzzOverlay builds from a customer's rows: a wrong row is an error, never a
// panic, and what is built can be asked.
func FuzzOverlay(f *testing.F) {
	names, err := fs.Glob(data.Rows, "*.tsv")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for i, name := range names {
		text, err := data.Rows.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		lines := strings.SplitAfterN(string(text), "\n", 12)
		f.Add(uint8(i), strings.Join(lines[:min(len(lines), 11)], ""))
	}
	f.Add(uint8(0), "*\t*\t*\n\t\t\t\t\t\n#\n-\t-\t-\t-\n")
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		dir := layers{fstest.MapFS{path.Base(names[int(which)%len(names)]): &fstest.MapFile{Data: []byte(text)}}}
		w, err := (&builder{curated: dir}).build(&inputs{})
		if err != nil {
			return
		}
		ix := opened(t, w)
		for _, way := range [][2]string{{"rhel-8", "rhel-9"}, {"rhel-8", "sles-15"}, {"debian-12", "rhel-9"}} {
			_, _ = ix.Become(way[0], "httpd", way[1])
		}
	})
}
