package assess

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"svc/assess/host"
)

// Watched is a machine's file system for as long as its context lasts: from
// then on everything fails, so that no step of an assessment outlives it by
// more than a read.
type Watched struct {
	FS      host.FS
	Context context.Context
}

func (w Watched) Open(name string) (fs.File, error) {
	if err := w.Context.Err(); err != nil {
		return nil, err
	}
	f, err := w.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return watchedFile{f, w.Context}, nil
}

func (w Watched) Stat(name string) (fs.FileInfo, error) {
	if err := w.Context.Err(); err != nil {
		return nil, err
	}
	return w.FS.Stat(name)
}

func (w Watched) Lstat(name string) (fs.FileInfo, error) {
	if err := w.Context.Err(); err != nil {
		return nil, err
	}
	return w.FS.Lstat(name)
}

func (w Watched) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := w.Context.Err(); err != nil {
		return nil, err
	}
	return w.FS.ReadDir(name)
}

func (w Watched) ReadLink(name string) (string, error) {
	if err := w.Context.Err(); err != nil {
		return "", err
	}
	return w.FS.ReadLink(name)
}

// Expect passes on what is about to be read.
func (w Watched) Expect(what host.Expected, names []string) { host.Expect(w.FS, what, names) }

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
