package index

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"svc/backend/index/table"
)

// FuzzAnswers asks an index whose records say anything: it may refuse, never
// panic.
func FuzzAnswers(f *testing.F) {
	f.Add("bash--lib\t5\t5.2\tmain", "renamed\t90\tbash dash\tdefault\t", "[]", "/etc/a5\t/usr/lib/systemd/system/a.service")
	f.Add("\t\t\t", "unknown\t0\t\t\tdash", `[{"from":"{source}","to":null}]`, "")
	f.Add("--", "same\t100\tdash", `[{"since":"debian-12","to":"{target}"}]`, "\t\t")
	f.Fuzz(func(t *testing.T, rec, trail, rows, files string) {
		w := &table.Writer{}
		for _, r := range [][3]string{
			{"debian-11" + namesTable, "bash", rec},
			{"debian-12" + namesTable, "bash", rec},
			{"debian-12" + namesTable, "dash", rec},
			{"debian-11" + canonicalsTable, "shell", "bash"},
			{"debian-11" + filesTable, "bash", files},
			{"debian-12" + filesTable, "dash", files},
			{trailsTable("debian-11", "debian-12"), "bash", trail},
			{caveatsTable, "bash", rows},
			{configTable, "bash", rows},
			{edgesTable, "bash", rows},
			{patternsTable, "bash-*", rec},
		} {
			if w.Put(r[0], r[1], r[2]) != nil {
				return
			}
		}
		data, err := w.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		ix, err := open(string(data))
		if err != nil {
			t.Fatal(err)
		}
		canonicals := []string{"bash", "shell", decodeRecord("bash", rec).Canonical, ""}
		_, _ = ix.Resolve("debian-11", []string{"bash", "bash-5", "", ":"})
		_, _ = ix.Translate("debian-11", "debian-12", canonicals)
		_, _ = ix.ConfigPaths("debian-11", "debian-12", canonicals)
		_, _ = ix.UpgradeEdges("bash")
	})
}

// FuzzOverlay builds from a customer's rows: a wrong row is an error, never a
// panic, and what is built can be asked.
func FuzzOverlay(f *testing.F) {
	names, err := fs.Glob(curatedRows, "data/*.tsv")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for i, name := range names {
		text, err := curatedRows.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		lines := strings.SplitAfterN(string(text), "\n", 12)
		f.Add(uint8(i), strings.Join(lines[:min(len(lines), 11)], ""))
	}
	f.Add(uint8(0), "*\t*\t*\n\t\t\t\t\t\n#\n-\t-\t-\t-\n")
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		dir := layers{fstest.MapFS{path.Base(names[int(which)%len(names)]): &fstest.MapFile{Data: []byte(text)}}}
		data, err := (&builder{curated: dir}).build(&inputs{})
		if err != nil {
			return
		}
		ix, err := open(string(data))
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range [][2]string{{"rhel-8", "rhel-9"}, {"rhel-8", "sles-15"}, {"debian-12", "rhel-9"}} {
			_, _ = ix.Become(way[0], "httpd", way[1])
		}
	})
}
