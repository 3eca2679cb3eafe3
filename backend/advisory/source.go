package advisory

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"svc/backend/download"
)

// maxWindow bounds what unpacking takes in memory, in bytes.
const maxWindow = 128 << 20

// reader reads the documents of one source.
type reader struct {
	ctx   context.Context
	add   func(where string, text []byte) error
	fault func(where string, why error)
	buf   bytes.Buffer
}

// eachDocument calls add with every advisory of a source: a URL, a folder or a
// file. What is too big for an advisory is a fault; an archive that can't be
// read to its end is an error.
func eachDocument(ctx context.Context, source, out string, progress func(string, int, int), add func(string, []byte) error, fault func(string, error)) error {
	r := &reader{ctx: ctx, add: add, fault: fault}
	if strings.Contains(source, "://") {
		file, err := download.Fetch(ctx, download.Request{URL: source, Dir: filepath.Join(filepath.Dir(out), ".advisories"), Progress: progress})
		if err != nil {
			return fmt.Errorf("downloading %s: %w", source, err)
		}
		return r.file(file, source)
	}
	info, err := os.Stat(source)
	if err != nil {
		return fmt.Errorf("reading advisories: %w", err)
	}
	if info.IsDir() {
		return r.folder(source)
	}
	return r.file(source, source)
}

// archives are the endings of files that a folder is read for, beside .json.
var archives = []string{".json", ".zip", ".tar", ".tgz", ".gz", ".zst"}

func (r *reader) folder(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("reading advisories: %w", err)
		case d.IsDir() && path != dir && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.Type().IsRegular() || !slices.ContainsFunc(archives, func(end string) bool { return strings.HasSuffix(d.Name(), end) }):
			return nil
		}
		return r.file(path, path)
	})
}

// file reads a file by what it holds, whatever its name.
func (r *reader) file(path, where string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading advisories: %w", err)
	}
	defer f.Close()
	head := make([]byte, 4)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading advisories: %w", err)
	}
	if bytes.HasPrefix(head[:n], []byte("PK")) {
		return wrap(where, r.zip(f, where))
	}
	return wrap(where, r.stream(f, where))
}

func wrap(where string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", where, err)
	}
	return err
}

func (r *reader) zip(f *os.File, where string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(f, info.Size())
	if err != nil {
		return err
	}
	for _, entry := range z.File {
		if entry.FileInfo().IsDir() || !strings.HasSuffix(entry.Name, ".json") {
			continue
		}
		if err := r.zipped(entry, where); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) zipped(entry *zip.File, where string) error {
	content, err := entry.Open()
	if err != nil {
		return fmt.Errorf("%.200s: %w", entry.Name, err)
	}
	defer content.Close()
	return r.document(content, where+"/"+entry.Name)
}

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// tarMagic stands in the first header of a tar.
const (
	tarMagic   = "ustar"
	tarMagicAt = 257
)

// stream reads what may be compressed: a tar, else one advisory.
func (r *reader) stream(in io.Reader, where string) error {
	b := bufio.NewReader(in)
	head, _ := b.Peek(tarMagicAt + len(tarMagic)) // a short file has less
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		unpacked, err := gzip.NewReader(b)
		if err != nil {
			return err
		}
		return r.unpacked(unpacked, where)
	case bytes.HasPrefix(head, zstdMagic):
		unpacked, err := zstd.NewReader(b, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return err
		}
		defer unpacked.Close()
		return r.unpacked(unpacked, where)
	}
	return r.unpacked(b, where)
}

func (r *reader) unpacked(in io.Reader, where string) error {
	b := bufio.NewReader(in)
	head, err := b.Peek(tarMagicAt + len(tarMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if len(head) == tarMagicAt+len(tarMagic) && string(head[tarMagicAt:]) == tarMagic {
		return r.tar(b, where)
	}
	return r.document(b, where)
}

func (r *reader) tar(in io.Reader, where string) error {
	for t := tar.NewReader(in); ; {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg || !strings.HasSuffix(header.Name, ".json") {
			continue
		}
		if err := r.document(t, where+"/"+header.Name); err != nil {
			return err
		}
	}
}

// document reads one advisory.
func (r *reader) document(in io.Reader, where string) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	r.buf.Reset()
	n, err := r.buf.ReadFrom(io.LimitReader(in, maxAdvisory+1))
	if err != nil {
		return err
	}
	if n > maxAdvisory {
		r.fault(where, fmt.Errorf("it has more than %d bytes", maxAdvisory))
		return nil
	}
	return r.add(where, r.buf.Bytes())
}
