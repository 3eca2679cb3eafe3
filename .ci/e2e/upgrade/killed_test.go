package upgrade_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"svc/cmd/svc/exit"
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
		h.during(step, h.within(step, backup), to("17", backup)+" --confirm")
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

// signals: a person, or the machine, ends an upgrade, which takes back what it has done.
func (h *host) signals() {
	for _, s := range []struct {
		signal syscall.Signal
		step   string
	}{{syscall.SIGINT, "sums"}, {syscall.SIGTERM, "upgrade"}, {syscall.SIGHUP, "rehearse"}} {
		said, code := h.during(s.step, func(p *os.Process) { h.is.NoErr(p.Signal(s.signal)) }, to("17", h.place(s.signal.String()))+" --confirm")
		h.is.Equal(code, exit.Interrupted)
		said.Has("all was rolled back")
		h.asBefore()
	}
}

// cutOff ends svc and the old server at once, as where the power is cut: PostgreSQL then
// empties what is in no log, and svc says what that was.
func (h *host) cutOff() {
	backup := h.place("cut-off")
	h.during("sums", h.crash, to("17", backup)+" --confirm")
	h.upgrade(0, resume(backup)).Has("public.scratch in shop")
	h.holdsUnlogged("17")
	h.upgrade(0, rollBack(backup)).Has("public.scratch in shop")
	h.holdsUnlogged("13")
	backup = h.place("cut-off-back")
	h.sql("-d", "shop", "-c", "insert into scratch values (1)")
	h.during("sums", h.crash, to("17", backup)+" --confirm")
	h.upgrade(0, rollBack(backup)).Has("public.scratch in shop") // it is recovered for clients
	h.holdsUnlogged("13")
}

// crash waits until the old server runs once more, and kills it with svc.
func (h *host) crash(svc *os.Process) {
	h.Shell(0, `until chroot "$1" /usr/lib/postgresql/13/bin/pg_controldata -D /var/lib/postgresql/13/main | grep -q "in production"; do sleep 0.01; done
		kill -STOP "$2" # it neither goes back nor ends its server in order
		for proc in /proc/[0-9]*; do
			! [ "$proc/root" -ef "$1" ] || ! grep -qx postgres "$proc/comm" || kill -KILL "${proc#/proc/}" || true # a child ends with its server
		done
		kill -KILL "$2"`, h.root, strconv.Itoa(svc.Pid))
}

// holdsUnlogged: this version serves the port, with everything in it that PostgreSQL logs.
func (h *host) holdsUnlogged(version string) {
	h.t.Helper()
	h.is.Equal(h.version(), version)
	sums, err := os.ReadFile(h.Path("sums"))
	h.is.NoErr(err)
	none := regexp.MustCompile(`(?m)^scratch\|.*`).ReplaceAllString(string(sums), "scratch|0|d41d8cd98f00b204e9800998ecf8427e")
	h.is.Equal(h.shop("sums").Out, none)
}

// fills leaves the disk of a folder of the root a few pages.
func (h *host) fills(folder string) func(*os.Process) {
	return func(*os.Process) {
		h.Shell(0, `fallocate -l "$(($(df --output=avail -B1 "$1" | tail -n 1) - 65536))" "$1/fill" 2>/dev/null ||
			cat /dev/zero >"$1/fill" 2>/dev/null || true # it has filled a little meanwhile`, h.at(folder))
	}
}

// dataFull: the disk of the new data is full.
func (h *host) dataFull() {
	const data = "var/lib/postgresql/17"
	h.Shell(0, `mkdir "$1" && mount -t tmpfs -o size=500m tmpfs "$1" && chown --reference="$1/.." "$1"`, h.at(data))
	_, code := h.during("upgrade", h.fills(data), to("17", h.place("data"))+" --confirm")
	h.is.Equal(code, exit.Failed)
	h.is.Equal(h.list(data), "fill") // nothing is left there
	h.Shell(0, `umount "$1" && rmdir "$1"`, h.at(data))
	h.asBefore()
}

// backupFails: the disk of the backup is full, and turns read-only.
func (h *host) backupFails() {
	disk, image := h.at("srv/"+h.place("disk")), h.Path("disk.img")
	h.Shell(0, `truncate -s 1g "$1" && mke2fs -q -F -t ext4 "$1"`, image)
	if h.Shell(0, `mount -o loop "$1" "$2" && chmod 711 "$2" || echo no`, image, disk).Line() == "no" {
		fmt.Println("NOT TESTED: there is no loop device for a backup's disk that is full, or turns read-only")
		h.t.Skip("no loop device")
	}
	_, code := h.during("copy", h.fills("srv/disk"), to("17", "disk")+" --confirm")
	h.is.Equal(code, exit.Failed)
	h.asBefore()
	h.Shell(0, `rm -rf "$1"/*`, disk)
	said, code := h.during("rehearse", func(*os.Process) {
		h.Shell(0, `mount -o remount,abort "$1" && touch "$1/probe" 2>/dev/null || true`, disk)
	}, to("17", "disk")+" --confirm")
	h.is.Equal(code, exit.Failed)
	said.Has("could not be cleared or written")
	h.asBefore()
	h.Shell(0, `umount "$2" && mount -o loop "$1" "$2"`, image, disk)
	h.upgrade(0, rollBack("disk")) // after a repair all is cleared
	h.asBefore()
	h.Run(0, "umount", disk)
}
