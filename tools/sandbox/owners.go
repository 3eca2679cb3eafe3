//go:build linux

package sandbox

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// keptIn names, for the program that is called anew, the file that it inherits.
const keptIn = "SVC_SANDBOX_OWNERS"

// Owned is a file, and whose it is outside of the user namespace.
type Owned struct {
	Device, Number uint64
	UID, GID       uint32
}

var kept []Owned

// Kept are the files whose owners this process was told when it was called anew.
func Kept() []Owned { return kept }

// keep writes whose the files below a folder are, which root of a user namespace sees
// as nobody's, to a file that the program called anew inherits, and gives what tells it so.
func keep(root string) (f *os.File, environment []string, err error) {
	if root == "" {
		return nil, nil, nil
	}
	fd, err := unix.MemfdCreate("owners", 0)
	if err != nil {
		return nil, nil, err
	}
	f = os.NewFile(uintptr(fd), "owners")
	w := bufio.NewWriter(f)
	err = filepath.WalkDir(root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // what can't be read is not copied either
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		stat := info.Sys().(*syscall.Stat_t)
		return binary.Write(w, binary.LittleEndian, Owned{stat.Dev, stat.Ino, stat.Uid, stat.Gid})
	})
	return f, []string{keptIn + "=" + strconv.Itoa(fd)}, errors.Join(err, w.Flush())
}

// takeKept reads what keep wrote, and closes it: nothing that this process starts has it.
func takeKept() error {
	fd, err := strconv.Atoi(os.Getenv(keptIn))
	if err != nil || !ours().user {
		return nil
	}
	f := os.NewFile(uintptr(fd), "owners")
	defer f.Close()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for from := bufio.NewReader(f); ; {
		var o Owned
		switch err := binary.Read(from, binary.LittleEndian, &o); {
		case errors.Is(err, io.EOF):
			return os.Unsetenv(keptIn)
		case err != nil:
			return err
		}
		kept = append(kept, o)
	}
}
