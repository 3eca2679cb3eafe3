package artifact

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// checkReplaceable refuses a folder that another one can't take the place of.
func checkReplaceable(out, parent string) error {
	var at unix.Statx_t
	var in unix.Stat_t
	err := errors.Join(unix.Statx(unix.AT_FDCWD, out, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS, &at), unix.Stat(parent, &in))
	fixed := uint64(unix.STATX_ATTR_IMMUTABLE | unix.STATX_ATTR_APPEND)
	switch self := uint32(os.Geteuid()); {
	case err != nil:
		return fmt.Errorf("looking at out: %w", err)
	case at.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0 || unix.Mkdev(at.Dev_major, at.Dev_minor) != in.Dev:
		return fmt.Errorf("out %s is where a file system is mounted, which a folder can't take the place of; nothing was written: name a folder below it", out)
	case at.Attributes&fixed != 0:
		return fmt.Errorf("out %s can't be changed (chattr); nothing was written: name another out", out)
	case in.Mode&unix.S_ISVTX != 0 && self != 0 && at.Uid != self && in.Uid != self:
		return fmt.Errorf("out %s belongs to somebody else; nothing was written: name another out", out)
	}
	return nil
}

// writable reports whether this user may make files in a folder.
func writable(dir string) bool { return unix.Access(dir, unix.W_OK|unix.X_OK) == nil }

// lockFolder locks a folder until it is closed, or this process ends.
func lockFolder(dir string) (io.Closer, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// abandoned locks a folder of this user that nobody else has locked.
func abandoned(dir string) (release func(), ok bool) {
	f, err := os.OpenFile(dir, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, false
	}
	var info unix.Stat_t
	if unix.Fstat(int(f.Fd()), &info) == nil && int(info.Uid) == os.Geteuid() && unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		return func() { f.Close() }, true
	}
	f.Close()
	return nil, false
}

// allocate takes room for a file.
func allocate(f *os.File, bytes int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, bytes)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		err = room(f, bytes) // file systems of other hosts
	}
	return err
}

// room asks how much is free where a file lies.
func room(f *os.File, bytes int64) error {
	var free unix.Statfs_t
	err := unix.Fstatfs(int(f.Fd()), &free)
	if err == nil && int64(free.Bavail)*free.Bsize < bytes {
		err = unix.ENOSPC
	}
	return err
}

// rename has a folder take the place of nothing or of an empty one; occupied says
// that another is there.
func rename(from, to string) (occupied bool, err error) {
	err = unix.Rename(from, to)
	return errors.Is(err, unix.EEXIST) || errors.Is(err, unix.ENOTEMPTY), err
}

// exchange has two folders change their names in one step.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}
