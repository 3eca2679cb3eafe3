package assess

import (
	"io/fs"
	"path"
	"strings"

	"svc/assess/hazards"
	"svc/assess/host"
	"svc/backend/sliced"
)

// files answer what conditions of hazards ask of a machine.
type files struct {
	fs   host.FS
	left int64 // bytes that may still be read
}

// Asking is a machine's file system as conditions of hazards ask it.
func Asking(fsys host.FS) hazards.Files { return &files{fsys, MaxSmall} }

// inRoot is a name as file systems of hosts have it.
func inRoot(name string) string {
	if name = strings.Trim(path.Clean(name), "/"); name == "" {
		return "."
	}
	return name
}

func (f *files) Text(name string) string {
	b, err := host.ReadFile(f.fs, inRoot(name), min(MaxFile, f.left))
	if err != nil {
		return ""
	}
	f.left -= int64(len(b))
	return string(b)
}

func (f *files) Names(folder string) []string {
	entries, _ := f.fs.ReadDir(inRoot(folder)) // none where it can't be listed
	return sliced.Map(entries, fs.DirEntry.Name)
}

func (f *files) Folders(folder string) []string {
	entries, _ := f.fs.ReadDir(inRoot(folder)) // none where it can't be listed
	return sliced.Map(sliced.Filter(entries, fs.DirEntry.IsDir), fs.DirEntry.Name)
}

func (f *files) Exists(name string) bool {
	_, err := f.fs.Lstat(inRoot(name))
	return err == nil
}

func (f *files) Link(name string) string {
	to, err := f.fs.ReadLink(inRoot(name))
	if err != nil {
		return ""
	}
	return to
}
