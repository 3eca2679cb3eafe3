package data

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"io/fs"
	"os"
	"testing"

	"github.com/matryer/is"
)

// TestDayIsOfTheTables fails where tables were taken anew and Day is not the new day:
// change both.
func TestDayIsOfTheTables(t *testing.T) {
	taken := map[string]string{ // by the tables of both files
		"f2efc6132b0088270b930ee70acef2566423bf09d1bdda573e67092968f2988e": "2026-11-24",
	}
	sum := sha256.New()
	sum.Write([]byte(Facts))
	sum.Write([]byte(Lists))
	is.New(t).Equal(taken[hex.EncodeToString(sum.Sum(nil))], Day)
}

var update = flag.Bool("update", false, "pack the lists anew")

// TestListsArePacked fails where rpm_lists.tsv is another than the program has packed:
// -update packs it.
func TestListsArePacked(t *testing.T) {
	is := is.New(t)
	text, err := os.ReadFile(listsName)
	is.NoErr(err)
	if *update {
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		is.NoErr(err)
		_, err = w.Write(text)
		is.NoErr(err)
		is.NoErr(w.Close())
		is.NoErr(os.WriteFile(listsName+".gz", packed.Bytes(), 0o600))
		return
	}
	got, err := fs.ReadFile(Rows, listsName)
	is.NoErr(err)
	is.True(bytes.Equal(got, text))
	onDisk, err := fs.Glob(os.DirFS("."), "*.tsv")
	is.NoErr(err)
	names, err := fs.Glob(Rows, "*.tsv")
	is.NoErr(err)
	is.Equal(names, onDisk)
}
