package assess

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"svc/assess/host"
)

// watched is a machine's file system for as long as its context lasts: from
// then on everything fails, so that no step of an assessment outlives it by
// more than a read.
type watched struct {
	fs  host.FS
	ctx context.Context
}

func (w watched) Open(name string) (fs.File, error) {
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	f, err := w.fs.Open(name)
	if err != nil {
		return nil, err
	}
	return watchedFile{f, w.ctx}, nil
}

func (w watched) Stat(name string) (fs.FileInfo, error) {
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	return w.fs.Stat(name)
}

func (w watched) Lstat(name string) (fs.FileInfo, error) {
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	return w.fs.Lstat(name)
}

func (w watched) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	return w.fs.ReadDir(name)
}

func (w watched) ReadLink(name string) (string, error) {
	if err := w.ctx.Err(); err != nil {
		return "", err
	}
	return w.fs.ReadLink(name)
}

// Expect passes on what is about to be read.
func (w watched) Expect(what host.Expected, names []string) { host.Expect(w.fs, what, names) }

// watchedFile fails in the middle of a large file too.
type watchedFile struct {
	fs.File
	ctx context.Context
}

func (f watchedFile) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

// ReadAt reads at a place, where the file can do so.
func (f watchedFile) ReadAt(p []byte, off int64) (int, error) {
	at, ok := f.File.(io.ReaderAt)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return at.ReadAt(p, off)
}
