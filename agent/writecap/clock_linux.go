package writecap

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Clock reads the clocks of this machine.
func Clock() (Reading, error) {
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return Reading{}, fmt.Errorf("reading the time since boot: %w", err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return Reading{}, fmt.Errorf("reading which boot this is: %w", err)
	}
	return Reading{time.Now().Round(0), time.Duration(up.Nano()), string(boot[:min(36, len(boot))])}, nil
}
