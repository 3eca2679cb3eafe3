package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess/host"
	"svc/backend/sliced"
)

// Source says where a database is.
type Source struct {
	Engine    string
	Directory string // or file, of SQLite; with a leading slash
	Config    string // the folder of its configuration, or a file; may be empty
}

// reader reads one directory.
type reader struct {
	fs  host.FS
	dir string // with no leading slash
	s   *Statement
}

// wholeDisk is where an engine without a folder of its own would be looked for:
// one that keeps all in memory, or whose setting is empty.
const wholeDisk = "."

// Inside is a path as the machine's file system takes it.
func Inside(name string) string {
	if name = strings.TrimPrefix(path.Clean("/"+name), "/"); name == "" {
		return wholeDisk
	}
	return name
}

// failed notes what could not be read; that something is not there is normal.
func (r *reader) failed(name string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		err = inner.Err
	}
	r.unread("/%s: %v", name, err)
}

func (r *reader) unread(format string, args ...any) {
	const most = 50
	if line := fmt.Sprintf(format, args...); len(r.s.Unread) < most && !slices.Contains(r.s.Unread, line) {
		r.s.Unread = append(r.s.Unread, line)
	}
}

// fact notes a value that a file of the directory states.
func (r *reader) fact(key, value, name string) {
	if value != "" {
		r.s.Facts = append(r.s.Facts, Fact{key, value, "/" + path.Join(r.dir, name)})
	}
}

// head reads the beginning of a file of the directory.
func (r *reader) head(name string, most int64) []byte {
	b, err := head(r.fs, path.Join(r.dir, name), most)
	if err != nil {
		r.failed(path.Join(r.dir, name), err)
	}
	return b
}

// head reads the first bytes of a file.
func head(fsys host.FS, name string, most int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// openAt opens a file of the directory to be read at places.
func (r *reader) openAt(name string) (io.ReaderAt, io.Closer, error) {
	f, err := r.fs.Open(path.Join(r.dir, name))
	if err != nil {
		return nil, nil, err
	}
	if at, ok := f.(io.ReaderAt); ok {
		return at, f, nil
	}
	return nil, nil, errors.Join(errors.ErrUnsupported, f.Close())
}

// text reads a small file of the directory.
func (r *reader) text(name string) string { return string(r.head(name, maxText)) }

// maxText bounds a file that people or servers write as text.
const maxText = 1 << 20

func (r *reader) exists(name string) bool {
	_, err := r.fs.Stat(path.Join(r.dir, name))
	return err == nil
}

func (r *reader) isFolder(name string) bool {
	info, err := r.fs.Stat(path.Join(r.dir, name))
	return err == nil && info.IsDir()
}

// names lists a folder of the directory.
func (r *reader) names(name string) []string {
	entries, err := r.fs.ReadDir(path.Join(r.dir, name))
	if err != nil {
		r.failed(path.Join(r.dir, name), err)
	}
	return sliced.Map(entries, fs.DirEntry.Name)
}
