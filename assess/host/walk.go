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
func (n *Node) Path() string { return path.Join(n.Dir, n.Name) }

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

// folderHost is a machine whose root is a folder of this host.
type folderHost interface {
	walkFolder(w *walk, worker int, f pendingFolder) error
	attributes(name string, mode fs.FileMode) Attributes
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
	w.more.L = &w.mu
	w.list = generic{h.FS()}.list
	switch m := h.(type) {
	case folderHost:
		w.list = m.walkFolder
	case *imaged:
		w.list = m.fs.walkFolder
	case *remote:
		if m.hasFind() {
			return m.walk(ctx, tops, v)
		}
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
	n.describe(info)
	switch m := h.(type) {
	case folderHost:
		n.Attributes = m.attributes(top, n.Mode)
	case *imaged:
		n.Attributes = m.fs.attributes(top)
	}
	if w.v.Visit(0, n) && info.IsDir() {
		w.pending = append(w.pending, pendingFolder{i, top, n.Device, n.Number})
	}
}

// describe takes what a description has; some have the inode too.
func (n *Node) describe(info fs.FileInfo) {
	n.Mode, n.Size, n.Modified = info.Mode(), info.Size(), info.ModTime().Unix()
	n.UID, n.GID, _ = Owner(info)
	if i, ok := info.(interface{ inode() (inodeFacts, bool) }); ok {
		known, all := i.inode()
		n.Device, n.Number, n.Links, n.Blocks, n.Inode = known.device, known.number, known.links, known.blocks, all
	}
}

// inodeFacts are what Node has of an inode.
type inodeFacts struct {
	device, number uint64
	links          int
	blocks         int64
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

// walkFolder lists a folder of a disk image.
func (j *joined) walkFolder(w *walk, worker int, f pendingFolder) error {
	m, inside := j.place(f.name)
	if m.missing != nil {
		return m.missing
	}
	entries, err := m.fs.ReadDir(inside)
	if err != nil {
		return err
	}
	for _, e := range entries {
		full := path.Join(f.name, e.Name())
		info, device, err := j.met(m, full, e)
		if err != nil {
			w.v.Unread(worker, f.top, full, err)
			continue
		}
		n := &Node{Top: f.top, Dir: f.name, Name: e.Name(), Boundary: device != m.device}
		n.describe(imageInfo{info, e.Name(), device})
		n.Attributes = j.attributes(full)
		if w.v.Visit(worker, n) && info.IsDir() && !n.Boundary {
			w.enter(worker, pendingFolder{top: f.top, name: full})
		}
	}
	return nil
}

// attributes are those of a file of a disk image whose folders are no links.
func (j *joined) attributes(full string) Attributes {
	m, inside := j.place(full)
	if m.missing != nil {
		return 0
	}
	names, err := m.fs.Attributes(inside)
	if err != nil {
		return 0
	}
	return parseAttributes(strings.Join(names, "\x00"))
}

// met describes an entry of a folder, or what is mounted in its place.
func (j *joined) met(m mount, full string, e fs.DirEntry) (info fs.FileInfo, device uint64, err error) {
	if other, ok := j.mounts[full]; ok {
		info, err = j.lstat(full)
		return info, other.device, err
	}
	info, err = e.Info()
	return info, m.device, err
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
		n.describe(info)
		if w.v.Visit(worker, n) && info.IsDir() {
			w.enter(worker, pendingFolder{top: f.top, name: path.Join(f.name, e.Name())})
		}
	}
	return nil
}

func parseAttributes(list string) Attributes {
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
