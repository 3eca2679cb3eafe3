// Package data finds what a machine holds that no package brings back, and
// plans its move: which places there are, how big they are and who owns them,
// and the scripts by which a person moves them. It reads names and descriptions,
// never what is in the data, and runs nothing.
package data

import "time"

// Schema names the form of a discovery; it changes when a field is renamed,
// retyped or dropped.
const Schema = "svc.data/v1"

// Discovery is the data of one machine. Places are sorted by size, the biggest
// first; no list is null. Places may stand in one another: what is below another
// place counts there alone, so that the places add up.
type Discovery struct {
	Schema      string  `json:"schema"`
	Release     string  `json:"release"`
	Fingerprint string  `json:"fingerprint"`
	Live        bool    `json:"live"` // it ran while it was read
	Places      []Place `json:"places"`
	Sum         Sum     `json:"sum"`
	Notes       []Note  `json:"notes"` // what was not looked at, and why
}

// Sum is all places together.
type Sum struct {
	Places int   `json:"places"`
	Files  int64 `json:"files"`
	Bytes  int64 `json:"bytes"`
	Unread int64 `json:"unread"`
}

// Note is a thing that was not looked at.
type Note struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Kind says what a place holds.
type Kind string

// The kinds.
const (
	Database   Kind = "database"
	Web        Kind = "web"
	Mail       Kind = "mail"
	Home       Kind = "home"
	Queue      Kind = "queue"
	Containers Kind = "containers"
	Machines   Kind = "machines" // disks of virtual machines
	Repository Kind = "repository"
	Keys       Kind = "keys"
	Served     Kind = "served"   // /srv, and what is exported to others
	Software   Kind = "software" // /opt and /usr/local
	Service    Kind = "service"  // state of a service in /var/lib
	Logs       Kind = "logs"
	Backups    Kind = "backups"
	Remote     Kind = "remote" // mounted from elsewhere: the data stay there
	Disk       Kind = "disk"   // a file system of its own that nothing else is known of
	Other      Kind = "other"
)

// Place is a folder that holds data.
type Place struct {
	Path     string   `json:"path"`               // absolute, without symlinks
	RawPath  []byte   `json:"raw_path,omitempty"` // where the path is not UTF-8
	Names    []string `json:"names,omitempty"`    // the place is these files of the folder alone; none: all in it
	Kind     Kind     `json:"kind"`
	What     string   `json:"what"`               // engine, user, site, service: whose data these are
	Name     string   `json:"name,omitempty"`     // of the database: a cluster's, an instance's, the suffix of OpenLDAP
	Version  string   `json:"version,omitempty"`  // of the engine
	Services []string `json:"services,omitempty"` // units of the machine that are called after whose data these are, and start with it
	Evidence string   `json:"evidence"`           // the file that names the place, or the place
	Within   string   `json:"within,omitempty"`   // the place that this one stands in
	Device   string   `json:"device,omitempty"`   // that is mounted here, or in the nearest folder above
	Type     string   `json:"type,omitempty"`     // of that file system
	Snapshot Snapshot `json:"snapshot"`
	Tally
}

// Snapshot says whether a snapshot can be taken of a place's file system.
type Snapshot struct {
	Kind   string `json:"kind"`   // lvm, btrfs, zfs or none
	Volume string `json:"volume"` // that holds the place
	Free   int64  `json:"free"`   // bytes that a snapshot of LVM may take; of others, 0
	Why    string `json:"why"`
}

// Tally counts what is in a place.
type Tally struct {
	Files        int64      `json:"files"`
	Folders      int64      `json:"folders"`
	Links        int64      `json:"links"`  // symbolic
	Others       int64      `json:"others"` // sockets, pipes, devices
	Bytes        int64      `json:"bytes"`  // of files, as they say; each inode once
	Allocated    int64      `json:"allocated"`
	Newest       time.Time  `json:"newest,omitzero"` // change of a file's content
	Users        []Owner    `json:"users"`
	Groups       []Owner    `json:"groups"`
	HardLinks    int64      `json:"hard_links"` // further names of a file
	Sparse       int64      `json:"sparse"`
	Setuid       int64      `json:"setuid"` // setuid and setgid files
	ACLs         int64      `json:"acls"`
	Attributes   int64      `json:"attributes"` // files with extended attributes of people's
	Labels       int64      `json:"labels"`     // files with a label of SELinux
	Privileged   int64      `json:"privileged"` // files with capabilities
	OddNames     int64      `json:"odd_names"`  // names with control characters, or that are not UTF-8
	Sockets      int64      `json:"sockets"`
	OpenFiles    int64      `json:"open_files"` // by processes, where the machine runs
	OpenBy       []string   `json:"open_by"`    // names of those
	Known        Known      `json:"known"`
	Repositories []Checkout `json:"repositories"`
	Mounts       []string   `json:"mounts"` // other file systems that stand in it; they are not counted
	Unread       int64      `json:"unread"`
	UnreadPaths  []Note     `json:"unread_paths"` // the first of them
}

// Known says which counts of a tally mean something: not every way to a machine
// tells everything.
type Known struct {
	Inodes     bool `json:"inodes"`     // allocated, hard_links, sparse
	Attributes bool `json:"attributes"` // acls, attributes, labels, privileged
	OpenFiles  bool `json:"open_files"`
	Shared     bool `json:"shared"` // every hard link was recognised: there were not too many
}

// Owner is whose files are in a place.
type Owner struct {
	ID    int    `json:"id"`
	Name  string `json:"name"` // by the machine's own accounts; empty where it has none
	Files int64  `json:"files"`
	Bytes int64  `json:"bytes"`
}

// Checkout is a repository of a version control system in a place.
type Checkout struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // git, svn, hg
}
