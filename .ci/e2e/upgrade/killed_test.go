package upgrade_test

import (
	"strings"
)

// places: what is in the folders that an upgrade makes something in, byte for byte, but
// for what the old cluster's own server writes, and the file in which postgresql-common
// tells apt what clusters there are, whenever one is made or started.
func (h *host) places() string {
	h.t.Helper()
	return h.Shell(0, `cd "$1"
		pruned=(-path var/lib/apt -o -path var/lib/postgresql/13/main -o -name postgresql-13-main.log -o -name 02autoremove-postgresql)
		find etc var/lib var/log \( "${pruned[@]}" \) -prune -o -printf '%p %y %m %U:%G %l\n' | sort
		find etc var/lib var/log \( "${pruned[@]}" \) -prune -o -type f -printf '%p\0' | sort -z | xargs -0 sha256sum
		find etc var/lib var/log \( "${pruned[@]}" -o -name start.conf \) -prune -o -type f -printf '%p %T@\n' | sort`, h.root).Out
}

// takenBack kills upgrades in every step, and the roll-back as it takes it back.
func (h *host) takenBack() {
	const log = "var/log/postgresql/postgresql-17-main.log"
	h.add(log, "of an earlier cluster")
	h.chroot("chown", "postgres:adm", "/"+log)
	h.Shell(0, `chmod 600 "$1" && touch -d 2020-02-03 "$1"`, h.at(log))
	h.keep("places", h.places())
	for _, step := range strings.Fields("check copy rehearse make close sums upgrade index compare open") {
		backup := h.place("back-" + step)
		h.during(step, kill(soon()), to("17", backup)+" --confirm")
		h.undoingKilled(step, rollBack(backup))
		h.upgrade(0, rollBack(backup))
		// A killed open may have let clients in: what they reached is set aside.
		h.Run(0, "rm", "-rf", h.at("var/lib/postgresql/17"))
		h.asBefore()
		h.keep("places.now", h.places())
		h.Run(0, "diff", h.Path("places"), h.Path("places.now"))
	}
	h.is.True(h.there("srv/back-upgrade/copy/data/PG_VERSION")) // the copy that was rehearsed is kept
}
