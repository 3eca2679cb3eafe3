#!/usr/bin/env bash
# Dumps a database where its engine runs on the source, and loads it where it
# runs on the target. Run as root on the target, with SOURCE_SSH=root@SOURCE:
#   dump   counts what the source has, and dumps it; nothing may write to it any more
#   load   loads the dump into a target that holds nothing yet
#   check  holds the target's counts against the source's
# DUMP is the file that the dump is kept in.
