package inode

import (
	"cmp"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"svc/assess/host"
)

// Format is a file system that knows its files by place, a P: what Names makes an
// FS of.
type Format[P comparable] interface {
	// Node reads the inode of a place.
	Node(at P) (Node, error)
	// Lookup finds a name in a folder, or gives fs.ErrNotExist.
	Lookup(folder P, name string) (P, error)
	// List reads a folder's entries, in any order and without . and .. entries.
	List(folder P) ([]Entry[P], error)
	// Within refuses a folder whose parent is another than the one that it was
	// found in: folders of a sound file system are a tree, and a walk of them ends.
	Within(folder, parent P) error
}

// Node is an inode.
type Node interface {
	// Info describes the file, without a name.
	Info() host.Entry
	// Target is what a symlink says.
	Target() (string, error)
	// Content is a regular file's bytes, endless; other files have an error.
	Content() (io.ReaderAt, error)
	// Attributes are the names of its extended attributes, as Linux lists them.
	Attributes() ([]string, error)
}

// Entry is a file of a folder.
type Entry[P comparable] struct {
	Base string
	At   P
	Kind fs.FileMode // the type alone
}

// Kinds are the file types as entries of folders number them.
var Kinds = []fs.FileMode{
	fs.ModeIrregular, 0, fs.ModeDir, fs.ModeDevice | fs.ModeCharDevice, fs.ModeDevice, fs.ModeNamedPipe, fs.ModeSocket, fs.ModeSymlink,
}

// maxFolders is how many folders' places are remembered.
const maxFolders = 4096

// Names finds a format's files by name: it has the methods of an FS.
type Names[P comparable] struct {
	format  Format[P]
	root    P
	mu      sync.RWMutex
	folders map[string]P
}

// ByName gives a format's files their names, from the root on.
func ByName[P comparable](format Format[P], root P) *Names[P] {
	return &Names[P]{format: format, root: root, folders: map[string]P{}}
}

// Lstat describes a file without following it.
func (n *Names[P]) Lstat(name string) (fs.FileInfo, error) {
	node, err := n.node(name)
	if err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return named(node, path.Base(name)), nil
}

// ReadLink gives the target of a symlink.
func (n *Names[P]) ReadLink(name string) (string, error) {
	node, err := n.node(name)
	if err == nil && node.Info().Mode().Type() != fs.ModeSymlink {
		err = fs.ErrInvalid
	}
	target := ""
	if err == nil {
		target, err = node.Target()
	}
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return target, nil
}

// Attributes lists the names of a file's extended attributes.
func (n *Names[P]) Attributes(name string) ([]string, error) {
	node, err := n.node(name)
	var all []string
	if err == nil {
		all, err = node.Attributes()
	}
	if err != nil {
		return nil, &fs.PathError{Op: "listxattr", Path: name, Err: err}
	}
	return all, nil
}

// ReadDir lists a folder, sorted by name.
func (n *Names[P]) ReadDir(name string) ([]fs.DirEntry, error) {
	at, err := n.Folder(name)
	var entries []Entry[P]
	if err == nil {
		entries, err = n.format.List(at)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: err}
	}
	slices.SortFunc(entries, func(a, b Entry[P]) int { return cmp.Compare(a.Base, b.Base) })
	listed := make([]fs.DirEntry, len(entries))
	for i, e := range entries {
		listed[i] = dirEntry[P]{e, n.format}
	}
	return listed, nil
}

// Open opens a regular file.
func (n *Names[P]) Open(name string) (fs.File, error) {
	node, err := n.node(name)
	var content io.ReaderAt
	if err == nil {
		content, err = node.Content()
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return NewFile(content, named(node, path.Base(name))), nil
}

// Folder looks a folder up, and remembers it.
func (n *Names[P]) Folder(name string) (P, error) {
	n.mu.RLock()
	at, known := n.folders[name]
	n.mu.RUnlock()
	if known {
		return at, nil
	}
	at, err := n.Find(name)
	if err == nil {
		err = n.checkFolder(name, at)
	}
	if err != nil {
		return at, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.folders) >= maxFolders {
		clear(n.folders)
	}
	n.folders[name] = at
	return at, nil
}

// checkFolder refuses what is no folder, or stands where it doesn't belong.
func (n *Names[P]) checkFolder(name string, at P) error {
	node, err := n.format.Node(at)
	if err != nil {
		return err
	}
	if !node.Info().IsDir() {
		return fs.ErrNotExist
	}
	if name == "." {
		return nil
	}
	parent, err := n.Folder(path.Dir(name))
	if err != nil {
		return err
	}
	return n.format.Within(at, parent)
}

// Find looks a file up.
func (n *Names[P]) Find(name string) (at P, err error) {
	if name == "." {
		return n.root, nil
	}
	if !valid(name) {
		return at, fs.ErrInvalid
	}
	parent, err := n.Folder(path.Dir(name))
	if err != nil {
		return at, err
	}
	return n.format.Lookup(parent, path.Base(name))
}

// valid is fs.ValidPath for names of any bytes.
func valid(name string) bool {
	return name != "" && name[0] != '/' && path.Clean(name) == name && name != ".." && !strings.HasPrefix(name, "../")
}

func (n *Names[P]) node(name string) (Node, error) {
	at, err := n.Find(name)
	if err != nil {
		return nil, err
	}
	return n.format.Node(at)
}

// named describes a file under a name.
func named(n Node, base string) host.Entry {
	e := n.Info()
	e.Base = base
	return e
}

// dirEntry is an entry that can be asked for its inode.
type dirEntry[P comparable] struct {
	Entry[P]
	format Format[P]
}

func (e dirEntry[P]) Name() string      { return e.Base }
func (e dirEntry[P]) IsDir() bool       { return e.Kind.IsDir() }
func (e dirEntry[P]) Type() fs.FileMode { return e.Kind }
func (e dirEntry[P]) String() string    { return fs.FormatDirEntry(e) }

func (e dirEntry[P]) Info() (fs.FileInfo, error) {
	node, err := e.format.Node(e.At)
	if err != nil {
		return nil, err
	}
	return named(node, e.Base), nil
}

// File is an open regular file. It holds nothing: there is nothing to close.
type File struct {
	*io.SectionReader
	info host.Entry
}

// NewFile opens a file's content, to its size.
func NewFile(content io.ReaderAt, info host.Entry) File {
	return File{io.NewSectionReader(content, 0, info.Size()), info}
}

// Stat describes the file.
func (f File) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close does nothing.
func (f File) Close() error { return nil }
