package host

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"strings"
	"sync"
)

// Node is a file that Walk meets, as far as the machine's file system tells.
type Node struct {
	Top        int    // which of the folders that were named it is below
	Dir, Name  string // of a top itself, Name is "."
	Mode       fs.FileMode
	Size       int64 // apparent, in bytes
	UID, GID   int
	Modified   int64 // seconds since 1970
	Changed    int64 // of a root folder: its description, in nanoseconds since 1970
	Inode      bool  // Device, Number, Links and Blocks are known
	Device     uint64
	Number     uint64
	Links      int
	Blocks     int64 // of 512 bytes, that it has on the disk
	Attributes Attributes
	Boundary   bool // another file system stands here: it is not walked into
}

// Path is the file's path in the machine, without a leading slash.
func (n *Node) Path() string {
	if n.Dir == "." || n.Name == "." {
		return path.Join(n.Dir, n.Name)
	}
	return n.Dir + "/" + n.Name
}

// Attributes are the extended attributes that a file was found to have.
type Attributes uint8

// The attributes. They are not known over ssh where the machine has no getfattr,
// and of XFS on a disk image where they don't stand in the inode.
const (
	AttributesKnown Attributes = 1 << iota
	ACL
	SELinux
	Capabilities
	UserAttributes
)

// Visitor is told what a walk meets. It is called by several workers at once,
// each with a number of its own below Workers.
type Visitor interface {
	// Visit is told of a file; of a folder, before what is in it, and says
	// whether to go in. The node is good until it returns. It asks nothing of the
	// machine: over ssh that is still answering.
	Visit(worker int, n *Node) bool
	// Unread is told what could not be listed or described.
	Unread(worker, top int, name string, err error)
}

// Plain is a visitor to whom the attributes of files say nothing. They cost a call to the
// kernel each: Walk may leave them unknown.
type Plain interface {
	Visitor
	Plain()
}

// folderHost is a machine whose root is a folder of this host.
type folderHost interface {
	walkFolder(w *walk, worker int, f pendingFolder) error
	attributes(name string, mode fs.FileMode) Attributes
}

// Walker is a machine that describes all below folders at once, as far as it has the
// programs for that.
type Walker interface {
	// Walk is as the function is; it has not begun where it is not done.
	Walk(ctx context.Context, tops []string, v Visitor) (done bool, err error)
}

// Lister is a machine's file system that tells more of a folder's files than a listing
// does. No folder of a path is a link.
type Lister interface {
	// List tells of each file, or why it can't be described.
	List(dir string, tell func(n *Node, err error)) error
	// Attributes are those of one file.
	Attributes(name string) Attributes
}

// maxPending bounds the folders that wait; beyond it a worker goes into a folder
// at once, so that the memory of a walk does not grow with the machine.
const maxPending = 1 << 15

// Workers is how many workers a walk of a machine has at most.
func Workers() int { return max(4, 2*runtime.GOMAXPROCS(0)) }

// Walk visits the files below folders of a machine. No symlink is followed, and
// no other file system is walked into. One of the folders that stands in another
// may be met for itself alone. It ends early when ctx does.
func Walk(ctx context.Context, h Host, tops []string, v Visitor) error {
	w := &walk{ctx: ctx, v: v}
	_, w.plain = v.(Plain)
	w.more.L = &w.mu
	w.list = generic{h.FS()}.list
	switch m := h.(type) {
	case folderHost:
		w.list = m.walkFolder
	case Walker:
		if done, err := m.Walk(ctx, tops, v); done {
			return err
		}
	}
	if l, ok := h.FS().(Lister); ok {
		w.list = byFolder{l}.list
	}
	for i, top := range tops {
		w.start(h, i, top)
	}
	var workers sync.WaitGroup
	stop := context.AfterFunc(ctx, w.more.Broadcast)
	defer stop()
	for id := range Workers() {
		workers.Go(func() { w.work(id) })
	}
	workers.Wait()
	return errors.Join(ctx.Err(), Lost(h))
}

// folder is a folder that is to be listed.
type pendingFolder struct {
	top            int
	name           string
	device, number uint64 // as it was when it was met; 0 where unknown
}

// walk is a walk on its way: a stack of folders, and workers that take of it.
type walk struct {
	ctx  context.Context
	v    Visitor
	list func(w *walk, worker int, f pendingFolder) error

	plain bool // v is Plain

	mu      sync.Mutex
	more    sync.Cond
	pending []pendingFolder
	busy    int
}

// start visits a top and leaves it to be listed.
func (w *walk) start(h Host, i int, top string) {
	info, err := h.FS().Lstat(top)
	if err != nil {
		w.v.Unread(0, i, top, err)
		return
	}
	n := &Node{Top: i, Dir: top, Name: "."}
	n.Describe(info)
	if m, ok := h.(folderHost); ok {
		n.Attributes = m.attributes(top, n.Mode)
	} else if l, ok := h.FS().(Lister); ok {
		n.Attributes = l.Attributes(top)
	}
	if w.v.Visit(0, n) && info.IsDir() {
		w.pending = append(w.pending, pendingFolder{i, top, n.Device, n.Number})
	}
}

// Describe takes what a description has; some have the inode too.
func (n *Node) Describe(info fs.FileInfo) {
	n.Mode, n.Size, n.Modified = info.Mode(), info.Size(), info.ModTime().Unix()
	n.UID, n.GID, _ = Owner(info)
	if i, ok := info.(interface{ Inode() (Inode, bool) }); ok {
		known, all := i.Inode()
		n.Device, n.Number, n.Links, n.Blocks, n.Inode = known.Device, known.Number, known.Links, known.Blocks, all
	}
}

// Inode is what Node has of an inode.
type Inode struct {
	Device, Number uint64
	Links          int
	Blocks         int64 // of 512 bytes
}

// work lists folders until there are none and nobody can find more.
func (w *walk) work(worker int) {
	for {
		f, ok := w.take()
		if !ok {
			return
		}
		w.descend(worker, f)
		w.mu.Lock()
		if w.busy--; w.busy == 0 && len(w.pending) == 0 {
			w.more.Broadcast()
		}
		w.mu.Unlock()
	}
}

// take waits for a folder.
func (w *walk) take() (f pendingFolder, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.pending) == 0 && w.busy > 0 && w.ctx.Err() == nil {
		w.more.Wait()
	}
	if len(w.pending) == 0 || w.ctx.Err() != nil {
		return f, false
	}
	last := len(w.pending) - 1
	f, w.pending = w.pending[last], w.pending[:last]
	w.busy++
	return f, true
}

// descend lists a folder.
func (w *walk) descend(worker int, f pendingFolder) {
	if w.ctx.Err() != nil {
		return
	}
	if err := w.list(w, worker, f); err != nil {
		w.v.Unread(worker, f.top, f.name, err)
	}
}

// enter leaves a folder to whoever is free, or goes in at once where enough wait.
func (w *walk) enter(worker int, f pendingFolder) {
	w.mu.Lock()
	if len(w.pending) < maxPending {
		w.pending = append(w.pending, f)
		w.more.Signal()
		w.mu.Unlock()
		return
	}
	w.mu.Unlock()
	w.descend(worker, f)
}

// byFolder walks a file system that lists its folders for walks.
type byFolder struct{ fs Lister }

func (l byFolder) list(w *walk, worker int, f pendingFolder) error {
	return l.fs.List(f.name, func(n *Node, err error) {
		if err != nil {
			w.v.Unread(worker, f.top, n.Path(), err)
			return
		}
		n.Top = f.top
		if w.v.Visit(worker, n) && n.Mode.IsDir() && !n.Boundary {
			w.enter(worker, pendingFolder{top: f.top, name: n.Path()})
		}
	})
}

// generic walks any file system by its listings.
type generic struct{ fs FS }

func (g generic) list(w *walk, worker int, f pendingFolder) error {
	entries, err := g.fs.ReadDir(f.name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			w.v.Unread(worker, f.top, path.Join(f.name, e.Name()), err)
			continue
		}
		n := &Node{Top: f.top, Dir: f.name, Name: e.Name()}
		n.Describe(info)
		if w.v.Visit(worker, n) && info.IsDir() {
			w.enter(worker, pendingFolder{top: f.top, name: path.Join(f.name, e.Name())})
		}
	}
	return nil
}

// ParseAttributes reads the names of attributes, each with a zero byte behind it.
func ParseAttributes(list string) Attributes {
	found := AttributesKnown
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		switch {
		case strings.HasPrefix(name, "system.posix_acl_"):
			found |= ACL
		case name == "security.selinux":
			found |= SELinux
		case name == "security.capability":
			found |= Capabilities
		case strings.HasPrefix(name, "user."):
			found |= UserAttributes
		}
	}
	return found
}
