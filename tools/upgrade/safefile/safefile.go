// Package safefile is how root finds, reads and writes files on a host where other
// accounts, such as a database's, have directories of their own: it goes only where
// root alone can say what is there, opens no link, and does what is left with the
// authority of the account whose directory it is.
package safefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Unsafe is a file or a directory that somebody else could have put there, or
// could change.
type Unsafe struct {
	Name string // the one of the names on the way that is open to others
	Why  string
}

func (e *Unsafe) Error() string { return e.Name + " " + e.Why }

// maxLinks is how many links a name may lead over, as in Linux.
const maxLinks = 40

// Directory goes to a directory, from the root of the file system on, and gives
// its name without links. An Unsafe says which directory on the way is not this
// account's or root's, or can be written to by others: whoever can do that can put
// something else in the place of all below. sshd asks the same of what leads to
// authorized_keys (StrictModes), and like sshd this makes no exception of sticky
// directories such as /tmp: what has been cleared away there, anybody can make again.
func Directory(name string) (string, error) { return directoryUnder("/", name) }

// directoryUnder is Directory with another root.
func directoryUnder(root, name string) (string, error) {
	at, err := openDirectory(unix.AT_FDCWD, root)
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: root, Err: err}
	}
	w := &walk{root: root, at: at, name: "/"}
	defer func() { unix.Close(w.at) }()
	if err := w.closed(); err != nil {
		return "", err
	}
	for todo := strings.Split(name, "/"); len(todo) > 0; {
		link, err := w.step(todo[0])
		if err != nil {
			return "", err
		}
		todo = append(link, todo[1:]...)
	}
	return w.name, nil
}

// walk is on its way to a directory.
type walk struct {
	root  string
	at    int    // descriptor of where it is
	name  string // and its name
	links int
}

func openDirectory(at int, name string) (int, error) {
	return unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

// step goes to a name; where it is a link, it gives the names that this has.
func (w *walk) step(name string) (link []string, err error) {
	if name == "" || name == "." || name == ".." && w.name == "/" {
		return nil, nil
	}
	to := filepath.Join(w.name, name)
	target := make([]byte, unix.PathMax)
	if n, err := unix.Readlinkat(w.at, name, target); err == nil {
		if w.links++; w.links > maxLinks {
			return nil, &fs.PathError{Op: "open", Path: to, Err: unix.ELOOP}
		}
		link = strings.Split(string(target[:n]), "/")
		if link[0] == "" {
			return link, w.move(unix.AT_FDCWD, w.root, "/")
		}
		return link, nil
	}
	if err := w.move(w.at, name, to); err != nil {
		return nil, err
	}
	return nil, w.closed()
}

// move opens a directory in the place of the one where the walk is.
func (w *walk) move(at int, name, called string) error {
	next, err := openDirectory(at, name)
	if err != nil {
		return &fs.PathError{Op: "open", Path: called, Err: err}
	}
	unix.Close(w.at)
	w.at, w.name = next, called
	return nil
}

// closed refuses a directory that others can change.
func (w *walk) closed() error {
	var st unix.Stat_t
	if err := unix.Fstat(w.at, &st); err != nil {
		return &fs.PathError{Op: "stat", Path: w.name, Err: err}
	}
	return ours(w.name, &st)
}

// ours refuses what belongs to another account than root or this one, and what
// others can write to. An access list that lets them shows in the group's bits.
func ours(name string, st *unix.Stat_t) error {
	switch {
	case st.Uid != 0 && int(st.Uid) != os.Geteuid():
		return &Unsafe{name, fmt.Sprintf("belongs to the account with the number %d", st.Uid)}
	case st.Mode&0o022 != 0:
		return &Unsafe{name, fmt.Sprintf("can be written to by others: its mode is %04o", st.Mode&0o7777)}
	}
	return nil
}

// Open opens a file in a directory that Directory has found. It has to be a
// regular file of root's, or this account's, of one name, that others neither read
// nor write; a link is not followed, and a pipe is not waited for.
func Open(dir, name string, flag int) (*os.File, error) {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if errors.Is(err, unix.ELOOP) {
		return nil, &Unsafe{path, "is a link"}
	}
	if err != nil {
		return nil, err
	}
	if err := secret(path, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// secret refuses an open file that is not ours alone.
func secret(path string, f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	switch {
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return &Unsafe{path, "is no regular file"}
	case st.Nlink > 1:
		return &Unsafe{path, "has further names"}
	case st.Mode&0o077 != 0:
		return &Unsafe{path, fmt.Sprintf("is open to others: its mode is %04o", st.Mode&0o7777)}
	}
	return ours(path, &st)
}

// ErrLong is a file that has more than a reader takes.
var ErrLong = errors.New("the file is too long")

// Read reads a regular file of at most so many bytes, whosever it is, and says
// whose it was, and its mode, when it was opened; of a longer one it gives the
// beginning beside ErrLong. Links are followed, as far as the authority goes: see As.
func Read(name string, most int64) (b []byte, st unix.Stat_t, err error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, st, err
	}
	defer f.Close()
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, st, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, st, &Unsafe{name, "is no regular file"}
	}
	b, err = io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s: %w: it has more than %d bytes", name, ErrLong, most)
	}
	return b, st, err
}
