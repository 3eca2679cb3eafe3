package deb

import (
	"compress/bzip2"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"svc/backend/lazyregexp"
	"svc/backend/release"
)

// maxFile bounds what one compressed file may unpack to; the largest of the
// real archive unpacks to about 0.7 GB.
const maxFile = 8 << 30

// Listing is one metadata file of an archive.
type Listing struct {
	Path      string // within the folder given
	Release   string // slug
	Component string
	Contents  bool // else Packages
}

// lists is how apt names the files of its lists folder.
var lists = lazyregexp.New(`_dists_([^_]+)_([a-z-]+)_(binary-[a-z0-9]+_Packages|Contents-[a-z0-9]+)(\.[a-z0-9]+)?$`)

// tree is the layout of a mirror, a folder for each release.
var tree = lazyregexp.New(`^(?:(?:.*/)?dists/)?([^/]+)/([a-z-]+)/(?:binary-[a-z0-9]+/)?(Packages|Contents-[a-z0-9]+)(\.[a-z0-9]+)?$`)

// Listings finds the metadata files in a folder, sorted by release, component
// and name. Files of releases that are not known are passed over.
func Listings(root fs.FS) ([]Listing, error) {
	var found []Listing
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != "." && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if l, ok := classify(p); ok && !d.IsDir() {
			found = append(found, l)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for Packages and Contents: %w", err)
	}
	slices.SortFunc(found, func(a, b Listing) int {
		return strings.Compare(a.Release+" "+a.Component+" "+a.Path, b.Release+" "+b.Component+" "+b.Path)
	})
	return found, nil
}

func classify(p string) (Listing, bool) {
	m := tree.FindStringSubmatch(p)
	if m == nil {
		m = lists.FindStringSubmatch(path.Base(p))
	}
	if m == nil {
		return Listing{}, false
	}
	r, ok := release.Lookup(m[1])
	if !ok {
		return Listing{}, false
	}
	return Listing{Path: p, Release: r.Slug, Component: m[2], Contents: strings.HasPrefix(m[3], "Contents-")}, true
}

// Open opens a metadata file, unpacked by the ending of its name: none, gz, xz,
// lz4, bz2 or zst. Reads fail once ctx ends or the file unpacks to too much.
func Open(ctx context.Context, root fs.FS, name string) (io.ReadCloser, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening metadata: %w", err)
	}
	r, err := Unpack(f, path.Ext(name))
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("unpacking %s: %w", name, err)
	}
	return &file{Reader: Bounded(ctx, r, maxFile), Closer: f}, nil
}

// CheckDigest refuses a file whose SHA-256 is not that which is wanted; an empty
// one wants nothing.
func CheckDigest(root fs.FS, name, want string) error {
	if want == "" {
		return nil
	}
	f, err := root.Open(name)
	if err != nil {
		return fmt.Errorf("opening metadata: %w", err)
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if got := hex.EncodeToString(digest.Sum(nil)); got != want {
		return fmt.Errorf("%s is damaged, or of another time than what lists it: its SHA-256 is %s, not %s", name, got, want)
	}
	return nil
}

type file struct {
	io.Reader
	io.Closer
}

// Unpack unpacks by the ending of a name; one that is not known is not packed.
func Unpack(r io.Reader, ext string) (io.Reader, error) {
	switch ext {
	case ".gz":
		return gzip.NewReader(r)
	case ".bz2":
		return bzip2.NewReader(r), nil
	case ".xz":
		return newXZ(r)
	case ".lz4":
		return lz4.NewReader(r), nil
	case ".zst":
		return zstd.NewReader(r, zstd.WithDecoderMaxWindow(128<<20), zstd.WithDecoderConcurrency(1))
	}
	return r, nil
}

// Bounded is a reader that ends with an error once its context does, or it gave
// more than so many bytes.
func Bounded(ctx context.Context, r io.Reader, most int64) io.Reader {
	return &bounded{ctx, r, most, most}
}

type bounded struct {
	ctx        context.Context
	r          io.Reader
	most, left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("it unpacks to more than %d bytes", b.most)
	}
	return n, err
}
