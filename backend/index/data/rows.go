package data

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"time"
)

// listsName is the largest of the rows, which an index is built from and nothing else: the
// program has it packed.
const listsName = "rpm_lists.tsv"

//go:embed rpm_lists.tsv.gz
var packedLists string

// rowFiles are the files of rows, as if none were packed.
type rowFiles struct{ embed.FS }

// ReadFile reads a file.
func (r rowFiles) ReadFile(name string) ([]byte, error) {
	if name != listsName {
		return r.FS.ReadFile(name)
	}
	unpacked, err := gzip.NewReader(strings.NewReader(packedLists))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unpacked)
}

// Open opens a file.
func (r rowFiles) Open(name string) (fs.File, error) {
	if name != listsName {
		return r.FS.Open(name)
	}
	text, err := r.ReadFile(name)
	return listsFile{bytes.NewReader(text)}, err
}

// ReadDir lists the files.
func (r rowFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := r.FS.ReadDir(name)
	if name == "." {
		all = append(all, fs.FileInfoToDirEntry(listsFile{}))
		slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return all, err
}

// listsFile is the file that is packed.
type listsFile struct{ *bytes.Reader }

func (f listsFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f listsFile) Close() error               { return nil }
func (f listsFile) Name() string               { return listsName }
func (f listsFile) Mode() fs.FileMode          { return 0o444 }
func (f listsFile) ModTime() time.Time         { return time.Time{} }
func (f listsFile) IsDir() bool                { return false }
func (f listsFile) Sys() any                   { return nil }
func (f listsFile) Size() int64 {
	if f.Reader == nil {
		return 0
	}
	return f.Reader.Size()
}

// Lines are those of rows, with where each begins and its end; not comments.
func Lines(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		at := 0
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "#") && !yield(at, line) {
				return
			}
			at += len(line)
		}
	}
}
