package inspect

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/assess"
	"svc/assess/host/locate"
)

// imagesOf are disks of one machine, and its root folder, where the end-to-end
// test made them.
var imagesOf = []string{"machine", "gpt.raw", "gpt.qcow2", "gpt.zlib.qcow2", "gpt.zstd.qcow2", "gpt.stream.vmdk", "gpt.vhdx", "lvm.qcow2", "xfs.qcow2", "btrfs.qcow2"}

// BenchmarkAssessImage opens a disk and assesses the machine on it.
func BenchmarkAssessImage(b *testing.B) {
	cache, err := os.UserCacheDir()
	if err != nil {
		b.Skip(err)
	}
	dir := filepath.Join(cache, "svc-e2e", "images")
	if _, err := os.Stat(filepath.Join(dir, "recipe")); err != nil {
		b.Skip("no images: go test ./.ci/e2e/images/ makes them")
	}
	for _, name := range imagesOf {
		b.Run(name, func(b *testing.B) {
			is := is.New(b)
			at := locate.Location{Image: filepath.Join(dir, name)}
			if name == "machine" {
				at = locate.Location{Root: at.Image}
			}
			b.ReportAllocs()
			for b.Loop() {
				h, err := locate.Open(b.Context(), at)
				is.NoErr(err)
				_, err = Assess(b.Context(), h, assess.Options{Now: time.Now()})
				is.NoErr(err)
				is.NoErr(h.Close())
			}
		})
	}
}
