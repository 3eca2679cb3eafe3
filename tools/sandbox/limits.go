//go:build linux

package sandbox

import (
	"cmp"
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
	return Limits{cmp.Or(l.Memory, 2<<30), cmp.Or(l.Processes, 2048), cmp.Or(l.Disk, 20<<30), cmp.Or(l.Time, time.Hour)}
}

// limitEach bounds processes alone, where no group bounds them together: how much
// each may take, and how many this user may have in the sandbox.
func limitEach(l Limits) error {
	return limitProcesses(map[int]uint64{unix.RLIMIT_DATA: uint64(l.Memory), unix.RLIMIT_NPROC: uint64(l.Processes)})
}

// limitProcesses bounds this process and those that it starts, by resource.
func limitProcesses(limits map[int]uint64) error {
	for what, most := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(what, &now); err != nil {
			return err
		}
		most = min(most, now.Max) // who is no root of the host may lower them alone
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limiting processes: %w", err)
		}
	}
	return nil
}
