package index

import (
	"testing"

	"svc/backend/index/record"
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
			{"debian-11" + record.NamesTable, "bash", rec},
			{"debian-12" + record.NamesTable, "bash", rec},
			{"debian-12" + record.NamesTable, "dash", rec},
			{"debian-11" + record.CanonicalsTable, "shell", "bash"},
			{"debian-11" + record.FilesTable, "bash", files},
			{"debian-12" + record.FilesTable, "dash", files},
			{record.TrailsTable("debian-11", "debian-12"), "bash", trail},
			{record.CaveatsTable, "bash", rows},
			{record.ConfigTable, "bash", rows},
			{record.EdgesTable, "bash", rows},
			{record.PatternsTable, "bash-*", rec},
		} {
			w.Put(r[0], r[1], r[2])
		}
		data, err := w.Bytes()
		if err != nil {
			return
		}
		file, err := table.Open(string(data))
		if err != nil {
			t.Fatal(err)
		}
		ix := open(file)
		canonicals := []string{"bash", "shell", record.DecodeRecord("bash", rec).Canonical, ""}
		_, _ = ix.Resolve("debian-11", []string{"bash", "bash-5", "", ":"})
		_, _ = ix.Translate("debian-11", "debian-12", canonicals)
		_, _ = ix.ConfigPaths("debian-11", "debian-12", canonicals)
		_, _ = ix.UpgradeEdges("bash")
	})
}
