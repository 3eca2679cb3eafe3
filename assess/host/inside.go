//go:build linux

package host

import (
	"context"
	"io/fs"
	"strings"
)

// Runs runs a program inside a machine and gives how it ended, and what it printed:
// all of it, or its errors alone.
type Runs func(ctx context.Context, words []string, errorsAlone bool) (Answer, error)

// inside is a machine that runs apart on this very host.
type inside struct {
	*root
	runs Runs
}

// OpenInside opens a machine that runs in namespaces of this host, of which dir is
// the root as its first process has it.
func OpenInside(dir string, runs Runs) (Host, error) {
	h, err := OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &inside{h.(*root), runs}, nil
}

func (i *inside) FS() FS         { return insideFS{i.root} }
func (i *inside) Live() bool     { return true }
func (i *inside) String() string { return "the sandbox" }

// missing is the status of a program that is not there, as env has it.
const missing = 127

func (i *inside) Run(ctx context.Context, c Command) ([]byte, error) {
	a, err := i.runs(ctx, c.words, false)
	if err == nil && a.Status == missing {
		err = &fs.PathError{Op: "run", Path: c.words[0], Err: fs.ErrNotExist}
	}
	return a.Text, err
}

func (i *inside) Ask(ctx context.Context, q Question) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	a, err := i.runs(ctx, q.Words, q.ErrorsAlone)
	if err == nil && a.Status == missing {
		err = &fs.PathError{Op: "run", Path: q.Words[0], Err: fs.ErrNotExist}
	}
	return a, err
}

// insideFS is its file system. Who reads it is no process of the machine, so that
// its /proc/self is nobody's: its network is that of its first process.
type insideFS struct{ *root }

func (f insideFS) Open(name string) (fs.File, error) {
	if rest, ok := strings.CutPrefix(name, "proc/net/"); ok {
		name = "proc/1/net/" + rest
	}
	return f.root.Open(name)
}
