package assess

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"svc/assess/hazards"
	"svc/assess/host"
	"svc/backend/visible"
)

// ErrCorrupt means that the package database can't be read to its end, or not
// at all. The assessment that comes with it has what could be read.
var ErrCorrupt = errors.New("the package database can't be read whole")

// ErrNoSystem means that there is no Linux system at the place read.
var ErrNoSystem = errors.New("this is not the root of a Linux system: it has no etc/os-release. Check the path, and that the disk is mounted")

// ErrNoConfiguration means that there is a system, but none of what people set
// up on it can be found.
var ErrNoConfiguration = errors.New("the system's /etc can't be listed, so nothing is known of what was set up on it: mount it, or read the machine as root")

// ErrNoFingerprint means that a machine has no identity of its own.
var ErrNoFingerprint = errors.New("the machine has no machine-id, so no fingerprint can be made: " +
	"run systemd-machine-id-setup on it (or `systemd-machine-id-setup --root=DIR` on its disk), then repeat")

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

// Machine is an assessment in the making: what was read so far, and the machine.
type Machine struct {
	Reading
	FS       host.FS
	Context  context.Context // of the one call that this is for
	secrets  secrets
	Users    map[int]string
	Groups   map[int]string
	People   People          // where their ids begin
	Shadowed map[string]bool // users whose password is locked; nil where shadow is unreadable
	Included map[string]bool // files that sshd's configuration includes
	Followed int             // files that those of databases name
	listings sync.Map        // of folders, by their names
	listed   atomic.Int64    // bytes of the names in these
	small    atomic.Int64    // bytes read of files that people write by hand
	room     room
	Host     host.Host
	Programs candidates
}

// maxSources bounds the places whose state is told.
const maxSources = 20_000

// Source notes how the reading of one place ended.
func (m *Machine) Source(what string, state SourceState, detail string) {
	switch n := len(m.A.Sources); {
	case n < maxSources:
		m.A.Sources = append(m.A.Sources, Source{what, state, detail})
	case n == maxSources:
		m.A.Sources = append(m.A.Sources, Source{"assessment.sources", SourceUnreadable, "more than any real machine has are left out"})
	}
}

// Outcome notes how the reading of a file or folder ended.
func (m *Machine) Outcome(what, name string, err error) {
	detail := "/" + name
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		detail = Quoted(err)
	}
	m.Source(what, StateOf(err), detail)
}

// Quoted is an error in words, in which the name of a file is told apart from ours.
func Quoted(err error) string {
	words := err.Error()
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		words = strings.ReplaceAll(words, at.Path, visible.Name(at.Path))
	}
	return words
}

// StateOf is the state that an error stands for.
func StateOf(err error) SourceState {
	switch {
	case err == nil:
		return SourceOK
	case errors.Is(err, fs.ErrNotExist):
		return SourceAbsent
	case errors.Is(err, fs.ErrPermission), errors.Is(err, host.ErrNotRegular), errors.Is(err, host.ErrTooBig):
		return SourceUnreadable
	}
	return SourceCorrupt
}

// Bounds of files that people write by hand: the bytes and lines of one, and the
// bytes of all.
const (
	MaxFile  = 2 << 20
	MaxLines = 20_000
	MaxSmall = 32 << 20
)

// ReadSmall reads a file that people write by hand.
func (m *Machine) ReadSmall(name string) ([]byte, error) {
	if m.small.Load() > MaxSmall {
		return nil, fmt.Errorf("/%s: %w: the machine's files before it have %d bytes", name, host.ErrTooBig, MaxSmall)
	}
	b, err := host.ReadFile(m.FS, name, MaxFile)
	m.small.Add(int64(len(b)))
	if err == nil && bytes.Count(b, []byte("\n")) > MaxLines {
		return nil, fmt.Errorf("/%s: %w: over %d lines", name, host.ErrTooBig, MaxLines)
	}
	return b, err
}

// Text reads a small file and notes how that ended under what.
func (m *Machine) Text(what, name string) (string, bool) {
	b, err := m.ReadSmall(name)
	m.Outcome(what, name, err)
	return string(b), err == nil
}

// Peek reads a small file of which it matters only what it says, if anything.
func (m *Machine) Peek(name string) string {
	b, err := m.ReadSmall(name)
	if err != nil {
		return ""
	}
	return string(b)
}

// Exists reports whether something stands at name.
func (m *Machine) Exists(name string) bool {
	_, err := m.FS.Stat(name)
	return err == nil
}

// listing is what a folder was found to hold.
type listing struct {
	names []string
	err   error
}

// maxListed bounds the names that are kept, in bytes.
const maxListed = 2 << 20

// Files are the names in a folder, and how the reading of it ended. A folder is
// read once, however many patterns look into it, as long as there is room.
func (m *Machine) Files(dir string) ([]string, error) {
	if l, ok := m.listings.Load(dir); ok {
		l := l.(listing)
		return l.names, l.err
	}
	entries, err := m.FS.ReadDir(dir)
	names, size := make([]string, 0, len(entries)), len(dir)
	for _, e := range entries {
		names = append(names, e.Name())
		size += len(e.Name())
	}
	if m.listed.Add(int64(size)) <= maxListed {
		m.listings.Store(dir, listing{names, err})
	}
	return names, err
}

// List is s, but never nil.
func List[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
