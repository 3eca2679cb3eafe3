package assess

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"

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

// People is where the ids of people begin: of users and of groups.
type People struct{ UID, GID int }

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

// Unreadable notes that a file or folder could not be read, and nothing of one that need
// not be there.
func (m *Machine) Unreadable(what, name string, err error) {
	if StateOf(err) == SourceUnreadable {
		m.Outcome(what, name, err)
	}
}

// Quoted is an error in words, in which the name of a file is told apart from ours.
func Quoted(err error) string {
	words := err.Error()
	if at, ok := errors.AsType[*fs.PathError](err); ok {
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

// List is s, but never nil.
func List[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
