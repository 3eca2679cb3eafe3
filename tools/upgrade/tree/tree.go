// Package tree copies directories of a database whole, and proves that one is still as
// it was.
package tree

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"svc/backend/osfile"
	"svc/tools/artifact"
)

// Tree is a directory as it was: every folder and file in it, by name, the
// directory itself first.
type Tree []leaf

// leaf is a folder or a file of a tree.
type leaf struct {
	Name     string            `json:"name"` // from the directory; the directory itself is .
	Mode     fs.FileMode       `json:"mode"`
	UID      int               `json:"uid"`
	GID      int               `json:"gid"`
	Size     int64             `json:"size"`     // of a file
	Modified time.Time         `json:"modified"` // to the nanosecond
	Sparse   bool              `json:"sparse"`   // the file has holes
	Digest   string            `json:"digest"`   // SHA-256 of a file, in hex; empty in a tree that was only listed
	Attrs    map[string][]byte `json:"attrs,omitzero"`
}

// List lists a directory; nothing is read. Sockets and pipes, which servers
// make anew, are left out, and so is what a running one removes meanwhile; what else is neither folder nor file is an error.
func List(dir string) (t Tree, err error) {
	err = filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && e.Type()&(fs.ModeSocket|fs.ModeNamedPipe) != 0 {
			return nil
		}
		if err != nil {
			return err
		}
		l, err := leafOf(dir, name)
		if err == nil {
			t = append(t, l)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return t, err
}

// leafOf describes a folder or a file.
func leafOf(dir, name string) (l leaf, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		return l, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	info, err := os.Lstat(name)
	if err != nil {
		return l, err
	}
	if l.Name, err = filepath.Rel(dir, name); err != nil {
		return l, err
	}
	l.Mode, l.UID, l.GID, l.Modified = info.Mode(), int(st.Uid), int(st.Gid), info.ModTime().UTC()
	switch {
	case info.IsDir():
	case info.Mode().IsRegular() && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		return l, fmt.Errorf("%s is a program that runs with its owner's rights, and no file of a database", name)
	case info.Mode().IsRegular():
		l.Size, l.Sparse = info.Size(), st.Blocks*512 < st.Size
	default:
		return l, fmt.Errorf("%s is no file and no folder, but %s", name, info.Mode().Type())
	}
	l.Attrs, err = attributes(name)
	return l, err
}

// maxAttribute bounds the names of a file's extended attributes, and each value.
const maxAttribute = 64 << 10

// attributes are a file's extended attributes: labels and access lists.
func attributes(name string) (map[string][]byte, error) {
	names := make([]byte, maxAttribute)
	n, err := unix.Llistxattr(name, names)
	if errors.Is(err, unix.EOPNOTSUPP) || err == nil && n == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, &fs.PathError{Op: "llistxattr", Path: name, Err: err}
	}
	all, value := map[string][]byte{}, make([]byte, maxAttribute)
	for key := range bytes.SplitSeq(bytes.TrimSuffix(names[:n], []byte{0}), []byte{0}) {
		n, err := unix.Lgetxattr(name, string(key), value)
		if err != nil {
			return nil, &fs.PathError{Op: "lgetxattr", Path: name, Err: err}
		}
		all[string(key)] = bytes.Clone(value[:n])
	}
	return all, nil
}

// SameStanding reports whether two trees have the same names, sizes and times:
// nothing was written in between.
func (t Tree) SameStanding(o Tree) bool {
	return slices.EqualFunc(t, o, func(a, b leaf) bool {
		folder := a.Mode.IsDir() // its time changes where a socket comes and goes
		return a.Name == b.Name && a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID && a.Size == b.Size && (folder || a.Modified.Equal(b.Modified))
	})
}

// Differing counts the files that are not the same in another tree, of those that
// fn wants.
func (t Tree) Differing(o Tree, fn func(name string) bool) (n int) {
	type standing struct {
		size     int64
		modified time.Time
	}
	files := map[string]standing{}
	for _, l := range t {
		if !l.Mode.IsDir() && fn(l.Name) {
			files[l.Name] = standing{l.Size, l.Modified}
		}
	}
	for _, l := range o {
		if l.Mode.IsDir() || !fn(l.Name) {
			continue
		}
		if was, there := files[l.Name]; !there || was.size != l.Size || !was.modified.Equal(l.Modified) {
			n++
		}
		delete(files, l.Name)
	}
	return n + len(files)
}

// Bytes are the sizes of the files.
func (t Tree) Bytes() (sum int64) {
	for _, l := range t {
		sum += l.Size
	}
	return sum
}

// Copy copies what a tree lists from a directory to another one, which must
// not be there, with owners, times and attributes, and has it on the disk. The
// tree that it gives has the digests of what was read; where the tree it was
// given has some, the files must have these.
func Copy(ctx context.Context, t Tree, from, to string) (copied Tree, err error) {
	in, err := os.OpenRoot(from) // no link leads out of it
	if err != nil {
		return nil, fmt.Errorf("copying %s: %w", from, err)
	}
	defer in.Close()
	out, err := makeRoot(to)
	if err != nil {
		return nil, fmt.Errorf("copying to %s: %w", to, err)
	}
	defer out.Close()
	for _, l := range t {
		digest, err := l.copy(ctx, in, out)
		if err == nil && l.Digest != "" && digest != l.Digest {
			err = fmt.Errorf("%s is not what was written there: its digest is another", filepath.Join(from, l.Name))
		}
		if err != nil {
			return nil, fmt.Errorf("copying %s: %w", from, err)
		}
		l.Digest = digest
		copied = append(copied, l)
	}
	if err := errors.Join(t.finish(out), osfile.SyncNames(filepath.Dir(to))); err != nil {
		return nil, fmt.Errorf("copying to %s: %w", to, err)
	}
	return copied, nil
}

// makeRoot makes a directory that root alone can enter, and stays in it whatever
// its name leads to later: the directory above may be an account's.
func makeRoot(name string) (*os.Root, error) {
	above, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer above.Close()
	if err := above.Mkdir(filepath.Base(name), 0o700); err != nil {
		return nil, err
	}
	root, err := above.OpenRoot(filepath.Base(name))
	if err != nil {
		return nil, err
	}
	info, err := root.Stat(".")
	if err == nil && (info.Mode().Perm() != 0o700 || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid()) {
		err = errors.New("somebody has put another directory in its place")
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// finish gives the folders of a copy, the innermost first, what filling them has
// changed, and their owners: until it gets to the outermost one, nobody else gets in.
func (t Tree) finish(to *os.Root) error {
	for _, l := range slices.Backward(t) {
		if !l.Mode.IsDir() {
			continue
		}
		d, err := to.Open(l.Name)
		if err != nil {
			return err
		}
		if err := errors.Join(l.dress(d), d.Sync(), d.Close()); err != nil {
			return err
		}
	}
	return nil
}

// copy makes a folder, or copies a file and gives its digest.
func (l leaf) copy(ctx context.Context, from, to *os.Root) (digest string, err error) {
	if l.Name == "." {
		return "", ctx.Err()
	}
	if l.Mode.IsDir() {
		return "", errors.Join(ctx.Err(), to.Mkdir(l.Name, 0o700))
	}
	in, err := openFile(from, l.Name)
	if err != nil {
		return "", err
	}
	defer in.Close()
	if err := l.stillOf(in); err != nil {
		return "", err
	}
	out, err := to.OpenFile(l.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	if l.Sparse {
		err = fillSparse(ctx, out, io.TeeReader(in, sum))
	} else {
		_, err = io.Copy(out, bounded{ctx, io.TeeReader(in, sum)})
	}
	if err == nil {
		err = l.dress(out)
	}
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(err, out.Sync(), out.Close())
}

// stillOf refuses a file that has got another owner or mode since it was listed:
// its copy would give them to what somebody else has written.
func (l leaf) stillOf(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != l.UID || int(st.Gid) != l.GID || info.Mode() != l.Mode {
		return fmt.Errorf("%s was exchanged while it was copied", l.Name)
	}
	return nil
}

// openFile opens a file of a directory; that of something else is an error.
func openFile(dir *os.Root, name string) (*os.File, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%s is no file", name), err, f.Close())
	}
	return f, nil
}

// bounded is a reader that ends with a context.
type bounded struct {
	ctx context.Context
	io.Reader
}

func (b bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.Reader.Read(p)
}

// fillSparse copies a file and leaves holes where there are only zeros.
func fillSparse(ctx context.Context, out *os.File, in io.Reader) error {
	block := make([]byte, 1<<20)
	for size := int64(0); ; {
		n, err := io.ReadFull(bounded{ctx, in}, block)
		if err := writeSparse(out, block[:n], size); err != nil {
			return err
		}
		size += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return out.Truncate(size)
		}
		if err != nil {
			return err
		}
	}
}

// hole is how many bytes a file system can leave out.
const hole = 4096

var zeros [hole]byte

// writeSparse writes the pieces of a block that are not only zeros.
func writeSparse(out *os.File, block []byte, at int64) error {
	for piece := range slices.Chunk(block, hole) {
		if !bytes.Equal(piece, zeros[:len(piece)]) {
			if _, err := out.WriteAt(piece, at); err != nil {
				return err
			}
		}
		at += int64(len(piece))
	}
	return nil
}

// dress gives an open file or folder its owner, attributes, mode and time.
func (l leaf) dress(f *os.File) error {
	if err := f.Chown(l.UID, l.GID); err != nil {
		return err
	}
	for key, value := range l.Attrs {
		if err := unix.Fsetxattr(int(f.Fd()), key, value, 0); err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
			return &fs.PathError{Op: "fsetxattr", Path: f.Name(), Err: err}
		}
	}
	return errors.Join(f.Chmod(l.Mode), os.Chtimes(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), l.Modified, l.Modified))
}

// Verify reads a directory and compares it with the tree that it was.
func (t Tree) Verify(ctx context.Context, dir string) error {
	now, err := List(dir)
	if err != nil {
		return err
	}
	if !t.SameStanding(now) {
		return fmt.Errorf("%s is not as it was: names, sizes or times differ", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, l := range t {
		if l.Mode.IsDir() {
			continue
		}
		digest, err := digestOf(ctx, root, l.Name)
		if err != nil {
			return err
		}
		if digest != l.Digest {
			return fmt.Errorf("%s is not as it was: its digest is another", filepath.Join(dir, l.Name))
		}
	}
	return nil
}

func digestOf(ctx context.Context, dir *os.Root, name string) (string, error) {
	f, err := openFile(dir, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return artifact.DigestOf(bounded{ctx, f})
}
