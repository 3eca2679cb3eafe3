//go:build linux

package sandbox

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// First is the id on the host that a sandbox's root has, and Count how many ids
// follow it: below what an id may be, above what machines give to people.
const (
	First = 0x60000000
	Count = 0x10000000
)

// ids are those of this machine that a sandbox's users have.
type ids struct {
	first, count int
	// user: this program is root of a user namespace alone, as a user makes one who is
	// no root of the machine. No file system is mounted for him with other ids, so that
	// what a sandbox reads and writes has on the disk the ids that its users have here.
	user bool
}

// ours are the ids that this process may give away.
var ours = sync.OnceValue(func() ids {
	b, _ := os.ReadFile("/proc/self/uid_map")
	return idsOf(string(b))
})

// idsOf are the ids to give away where ids are mapped as a uid_map says: what is
// nobody's where they are all there, else the longest row of those that are not
// root's own.
func idsOf(text string) ids {
	const all = 1<<32 - 1
	found := ids{user: true}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		first, _ := strconv.Atoi(f[0])
		count, _ := strconv.Atoi(f[2])
		if count == all {
			return ids{first: First, count: Count}
		}
		if first == 0 {
			first, count = 1, count-1
		}
		if count > found.count {
			found.first, found.count = first, count
		}
	}
	return found
}

// enough is how many ids a system's own users take.
const enough = 65_000

// mapped are the ids of a sandbox.
func (i ids) mapped() []syscall.SysProcIDMap {
	return []syscall.SysProcIDMap{{ContainerID: 0, HostID: i.first, Size: i.count}}
}

// give makes what this process made the sandbox's root's, where ids are not mapped
// as it is mounted.
func (i ids) give(names ...string) error {
	if !i.user {
		return nil
	}
	var err error
	for _, name := range names {
		err = errors.Join(err, os.Lchown(name, i.first, i.first))
	}
	return err
}

// Give makes a file that this process made a sandbox's root's.
func Give(name string) error { return ours().give(name) }

// OnDisk is the id that a file has on the disk which is to have id in a sandbox;
// false where no sandbox has such an id.
func OnDisk(id int) (int, bool) {
	if i := ours(); i.user {
		return i.first + id, id < i.count
	}
	return id, true
}

// User reports whether sandboxes are those of a user who is no root of this machine.
func User() bool { return ours().user }
