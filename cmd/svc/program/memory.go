package program

import "runtime/debug"

// CollectLate has memory collected late in a run that looks at one machine: of a usual one
// it is over by then. From a limit on, in bytes, memory is collected often, as that of a
// hostile machine has to be.
func CollectLate(limit int64) {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(limit)
}
