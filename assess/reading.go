package assess

import (
	"sync"
	"time"

	"svc/assess/hazards"
	"svc/backend/release"
)

// Options are what an assessment takes beside the machine.
type Options struct {
	// Now is the day on which support ends are judged.
	Now time.Time
	// Target is the release that the machine is to move to; empty where none is named.
	Target string
	// Hazards are the tables to look by, the program's own among them; nil is these alone.
	Hazards hazards.Table
	// Progress is told what is being read, and how far it is; may be nil.
	Progress func(what string, done, total int)
}

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

// reaccessed are files whose content is as shipped, but not their owner or mode.
type reaccessed struct {
	sync.Mutex
	Files []Evidence
	How   []string // in the same order
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
