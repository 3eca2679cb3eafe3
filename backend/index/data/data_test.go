package data

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestDayIsOfTheTables fails where tables were taken anew and Day is not the new day:
// change both.
func TestDayIsOfTheTables(t *testing.T) {
	taken := map[string]string{ // by the tables of both files
		"fc39d95c84b768309c549549032b6fb9264353809066f8429985f733bfae75fd": "2026-11-24",
	}
	sum := sha256.New()
	sum.Write([]byte(Facts))
	sum.Write([]byte(Lists))
	is.New(t).Equal(taken[hex.EncodeToString(sum.Sum(nil))], Day)
}

var update = flag.Bool("update", false, "pack the largest rows anew")

// TestTheLargestRowsArePacked fails where rows are others than the program has packed:
// -update packs them.
func TestTheLargestRowsArePacked(t *testing.T) {
	is := is.New(t)
	all, err := fs.Glob(packed, "*"+packedEnd)
	is.NoErr(err)
	is.True(len(all) > 0)
	for _, file := range all {
		name := strings.TrimSuffix(file, packedEnd)
		text, err := os.ReadFile(name)
		is.NoErr(err)
		if *update {
			is.NoErr(os.WriteFile(file, gzipped(t, text), 0o600))
			continue
		}
		got, err := fs.ReadFile(Rows, name)
		is.NoErr(err)
		is.True(bytes.Equal(got, text)) // as in the file: go test ./backend/index/data -update packs it
	}
	onDisk, err := fs.Glob(os.DirFS("."), "*.tsv")
	is.NoErr(err)
	names, err := fs.Glob(Rows, "*.tsv")
	is.NoErr(err)
	is.Equal(names, onDisk)
}

func gzipped(t *testing.T, text []byte) []byte {
	t.Helper()
	is := is.New(t)
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	is.NoErr(err)
	_, err = w.Write(text)
	is.NoErr(err)
	is.NoErr(w.Close())
	return b.Bytes()
}
