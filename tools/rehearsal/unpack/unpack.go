//go:build linux

// Package unpack makes a machine's files a folder that a sandbox has as its root.
package unpack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"svc/assess/host"
	"svc/tools/sandbox"
)

// Copy copies a machine's files into a folder of this host, with their owners and
// modes; devices and pipes are left out. What could not be read is named.
func Copy(ctx context.Context, fsys host.FS, to string, limit int64) (unread []string, err error) {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	own := func(name string, info fs.FileInfo) error {
		uid, gid, _ := host.Owner(info)
		uid, knownUser := sandbox.OnDisk(uid)
		gid, knownGroup := sandbox.OnDisk(gid)
		if !knownUser || !knownGroup {
			return nil // it stays nobody's
		}
		return root.Lchown(name, uid, gid)
	}
	skip := func(name string) error {
		unread = append(unread, "/"+name)
		return ctx.Err()
	}
	left := limit
	err = fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return skip(name)
		}
		info, err := e.Info()
		if err != nil {
			return skip(name)
		}
		if left -= info.Size(); left < 0 {
			return fmt.Errorf("the machine has over %d MiB of files; nothing was rehearsed: mount its disk, and name the folder", limit>>20)
		}
		switch {
		case name == ".":
		case info.IsDir():
			err = root.Mkdir(name, 0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			var target string
			if target, err = fsys.ReadLink(name); err == nil {
				err = root.Symlink(target, name)
			}
			return errors.Join(err, own(name, info), ctx.Err())
		case info.Mode().IsRegular():
			from, closed := fsys.Open(name)
			if closed != nil {
				return skip(name)
			}
			err = copyFile(from, root, name)
		default:
			return nil
		}
		return errors.Join(err, own(name, info), root.Chmod(name, info.Mode()), ctx.Err())
	})
	return unread, err
}

func copyFile(from fs.File, root *os.Root, name string) error {
	defer from.Close()
	to, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
