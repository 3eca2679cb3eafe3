//go:build linux

package sandbox

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Limits bound what a sandbox takes. A zero is the default.
type Limits struct {
	Memory    int64         // bytes; 2 GiB
	Processes int           // and threads; 2048, of which a server of 400 packages has about 130
	Disk      int64         // bytes that it writes; 20 GiB
	Time      time.Duration // from its start on; an hour
}

func (l Limits) orDefault() Limits {
	if l.Memory == 0 {
		l.Memory = 2 << 30
	}
	if l.Processes == 0 {
		l.Processes = 2048
	}
	if l.Disk == 0 {
		l.Disk = 20 << 30
	}
	if l.Time == 0 {
		l.Time = time.Hour
	}
	return l
}

// limitEach bounds processes alone, where no group bounds them together: how much
// each may take, and how many this user may have in the sandbox.
func limitEach(l Limits) error {
	for what, most := range map[int]uint64{unix.RLIMIT_DATA: uint64(l.Memory), unix.RLIMIT_NPROC: uint64(l.Processes)} {
		var now unix.Rlimit
		if err := unix.Getrlimit(what, &now); err != nil {
			return err
		}
		most = min(most, now.Max)
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limiting processes: %w", err)
		}
	}
	return nil
}
