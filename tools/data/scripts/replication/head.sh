#!/usr/bin/env bash
# Has the target's engine follow the source's, which runs and is written to, until
# the target takes over. Run as root on the target, with SOURCE_SSH=root@SOURCE;
# the target's engine reaches the source's through ssh, on the loopback of both.
#   check   says what stands in the way; changes nothing
#   start   copies what is there, and follows; see below what it makes on the source
#   status  how far behind the target is; opens the way again where it was cut
#   switch  once nothing is connected to the source any more: waits until the target
#           has all, counts both sides, and ends the replication. Only then let the
#           applications go to the target
#   undo    before the switch: takes away what start made on the source
# Roll-back: before the switch, undo; after it, the source is as it was when the
# applications left it, and serves again, without what the target took since.
