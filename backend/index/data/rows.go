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

// packed are the largest files of rows, which an index is built from and nothing else:
// the program has these by gzip.
//
//go:embed *.tsv.gz
var packed embed.FS

const packedEnd = ".gz"

// rowFiles are the files of rows, as if none were packed.
type rowFiles struct{ embed.FS }

// ReadFile reads a file.
func (r rowFiles) ReadFile(name string) ([]byte, error) {
	text, err := packed.Open(name + packedEnd)
	if err != nil {
		return r.FS.ReadFile(name)
	}
	unpacked, err := gzip.NewReader(text)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unpacked)
}

// Open opens a file.
func (r rowFiles) Open(name string) (fs.File, error) {
	if _, err := fs.Stat(packed, name+packedEnd); err != nil {
		return r.FS.Open(name)
	}
	text, err := r.ReadFile(name)
	return unpackedFile{name, bytes.NewReader(text)}, err
}

// ReadDir lists the files.
func (r rowFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := r.FS.ReadDir(name)
	if err != nil || name != "." {
		return all, err
	}
	more, err := packed.ReadDir(".")
	for _, file := range more {
		all = append(all, fs.FileInfoToDirEntry(unpackedFile{name: strings.TrimSuffix(file.Name(), packedEnd)}))
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, err
}

// unpackedFile is a file that is packed, as it was before.
type unpackedFile struct {
	name string
	*bytes.Reader
}

func (f unpackedFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f unpackedFile) Close() error               { return nil }
func (f unpackedFile) Name() string               { return f.name }
func (f unpackedFile) Mode() fs.FileMode          { return 0o444 }
func (f unpackedFile) ModTime() time.Time         { return time.Time{} }
func (f unpackedFile) IsDir() bool                { return false }
func (f unpackedFile) Sys() any                   { return nil }
func (f unpackedFile) Size() int64 {
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
