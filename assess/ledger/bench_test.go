package ledger

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"svc/assess"
	"svc/assess/host"
)

// BenchmarkOf makes the ledger of a disk of 200,000 files, most of which are a
// package's, beside find that describes the same files.
func BenchmarkOf(b *testing.B) {
	d := &disk{dir: b.TempDir()}
	for dir := range 2000 {
		for file := range 100 {
			d.put(fmt.Sprintf("usr/share/%d/folder/%d", dir, file), "content", dir%10 != 0)
		}
	}
	d.sum()
	h, err := host.OpenRoot(d.dir)
	must(err)
	defer h.Close()
	b.Run("ledger", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s, err := Of(b.Context(), h, Input{Assessment: &assess.Assessment{}})
			must(err)
			if s.Total.Paths < 200_000 {
				b.Fatal("the disk was not seen whole")
			}
		}
	})
	find, err := exec.LookPath("find")
	if err != nil {
		b.Skip("there is no find")
	}
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			out, err := os.Create(filepath.Join(b.TempDir(), "out"))
			must(err)
			cmd := exec.Command(find, d.dir, "-printf", "%p %y %m %U %G %s %T@ %i\n")
			cmd.Stdout = out
			must(cmd.Run())
			must(out.Close())
		}
	})
}
