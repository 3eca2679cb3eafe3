//go:build linux

package sandbox

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Owners are those of a folder's files, by their names: of what has another owner than
// the folder that it is in.
type Owners map[string][2]int // user and group

// Of are the user and the group of a file.
func (o Owners) Of(name string) (user, group int) {
	for {
		if ids, there := o[name]; there || name == "." {
			return ids[0], ids[1]
		}
		name = path.Dir(name)
	}
}

// kept are the owners of files as they are outside of the user namespace that this
// process is root of: inside of it, all but its user's own are nobody's.
var kept struct {
	root string
	of   Owners
}

// OwnersOf are those of a folder's files, where this process is root of a user namespace
// and its files were looked at before.
func OwnersOf(root string) (Owners, bool) {
	return kept.of, kept.of != nil && kept.root == root
}

// ownersOf looks at a folder's files.
func ownersOf(root string) Owners {
	o := Owners{}
	_ = filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // what can't be read is not copied either
		}
		info, err := e.Info()
		name, outside := filepath.Rel(root, at)
		if err != nil || outside != nil {
			return nil
		}
		stat := info.Sys().(*syscall.Stat_t)
		ids := [2]int{int(stat.Uid), int(stat.Gid)}
		if user, group := o.Of(path.Dir(name)); name == "." || ids != [2]int{user, group} {
			o[name] = ids
		}
		return nil
	})
	return o
}

// keptIn names, for the program that is called anew, the file that it inherits.
const keptIn = "SVC_SANDBOX_OWNERS"

// keep writes a folder's owners to a file that the program called anew inherits, and
// gives what tells it so.
func keep(root string) (environment []string, err error) {
	if root == "" {
		return nil, nil
	}
	if root, err = filepath.Abs(root); err != nil {
		return nil, err
	}
	fd, err := unix.MemfdCreate("owners", 0)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriter(os.NewFile(uintptr(fd), "owners"))
	fmt.Fprintf(w, "%s\x00", root)
	for name, ids := range ownersOf(root) {
		fmt.Fprintf(w, "%d %d %s\x00", ids[0], ids[1], name)
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return []string{keptIn + "=" + strconv.Itoa(fd)}, nil
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
	b, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	root, rest, _ := strings.Cut(string(b), "\x00")
	kept.root, kept.of = root, Owners{}
	for one := range strings.SplitSeq(rest, "\x00") {
		var ids [2]int
		if f := strings.SplitN(one, " ", 3); len(f) == 3 {
			ids[0], _ = strconv.Atoi(f[0])
			ids[1], _ = strconv.Atoi(f[1])
			kept.of[f[2]] = ids
		}
	}
	return os.Unsetenv(keptIn)
}
