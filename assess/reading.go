package assess

import (
	"path"
	"strings"

	"svc/assess/hazards"
	"svc/assess/host"
	"svc/backend/release"
)

// Reading is what was read of a machine so far: the assessment, and beside it what no
// list of that has. Who judges takes it: there is no way from it to the machine's files.
type Reading struct {
	Options    Options
	A          *Assessment
	Release    release.Release
	Known      bool     // release is in the table
	IDs        []string // ID and ID_LIKE of os-release
	Book       Book
	Reaccessed reaccessed
	Versioned  []string // folders of version control below /etc
	Seen       Seen
	Asked      hazards.Files // what conditions of hazards ask of the machine
}

// Seen is what stands on the machine that no list of the assessment has.
type Seen struct {
	Encrypted  bool            // crypttab names volumes
	Containers map[string]bool // engines of containers that have a folder
	Modules    bool            // dkms has a folder
	Outside    []string        // where software stands that no package brought
	Managers   []OtherManager
}

// OtherManager is a package manager that is not the system's, and has a database.
type OtherManager struct{ Name, Own, Database string }

// ContainerFolders are where container engines keep what they run.
var ContainerFolders = []struct{ Engine, Dir string }{
	{"docker", "var/lib/docker"}, {"podman", "var/lib/containers/storage"}, {"containerd", "var/lib/containerd"}, {"lxd", "var/lib/lxd"}, {"kubelet", "var/lib/kubelet"},
}

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
