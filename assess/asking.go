package assess

import (
	"path"
	"strings"

	"svc/assess/hazards"
	"svc/assess/host"
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

func (f *files) Names(folder string) (names []string) {
	entries, err := f.fs.ReadDir(inRoot(folder))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (f *files) Folders(folder string) (names []string) {
	entries, err := f.fs.ReadDir(inRoot(folder))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
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
