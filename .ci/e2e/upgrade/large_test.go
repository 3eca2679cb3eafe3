package upgrade_test

import (
	"flag"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"svc/.ci/e2e"
	"svc/tools/upgrade"
)

var (
	size = flag.Int("size", 3, "gigabytes of the large cluster")
	fs   = flag.String("fs", "", "the file system that it is on, such as xfs or btrfs, which share blocks, and this one presses what it holds; that of this machine's cache where none is named")
)

// durations tells how long each step of an upgrade took, and gives it in seconds.
func (h *host) durations(backup string, r upgrade.Result) map[string]float64 {
	h.t.Helper()
	began, took := map[string]time.Time{}, map[string]float64{}
	var said []string
	for _, e := range h.journal(backup) {
		switch e.State {
		case "started":
			began[e.Step] = e.At
		case "done":
			took[e.Step] = e.At.Sub(began[e.Step]).Seconds()
			said = append(said, fmt.Sprintf("%s %.1f", e.Step, took[e.Step]))
		}
	}
	h.t.Log("seconds:", strings.Join(said, ", "))
	h.t.Logf("clients waited %.1f s; the plan said about %.0f s, after %.0f s of preparation", r.Waited, r.Waiting, r.Preparation)
	return took
}

// large upgrades a cluster of -size GB on a disk, and has pg_upgrade do it by hand, which
// clones where the file system can and links where not, with what else there is to do
// before clients may come back.
func (h *host) large() {
	h.patience = "40000"
	disk := h.disk()
	h.chroot("install", "-d", "-o", "postgres", "/srv/large/13")
	h.place("large/backup")
	h.chroot("pg_createcluster", "13", "large", "-p", "5460", "-d", "/srv/large/13/large", "-e", "UTF8", "--locale", "en_US.UTF-8", "--", "--data-checksums")
	h.fill()
	h.t.Log("there are MiB:", h.Run(0, "du", "-sm", "--apparent-size", h.at("srv/large/13")).Line())
	disk("with the cluster")
	said := h.upgrade(0, to("17", "large/backup")+" --instance 13/large --confirm --json")
	var r upgrade.Result
	said.JSON(&r)
	disk("with the upgraded one, and the copy")
	progress := regexp.MustCompile("(?m)^.*(so far|tables of).*$").FindAllString(said.Err, -1)
	h.t.Log(len(progress), "lines of progress:", progress)
	h.is.True(regexp.MustCompile("close: .*by the rehearsal they wait about").MatchString(said.Err)) // how long clients will wait is said before
	took := h.durations("large/backup", r)
	h.upgrade(0, rollBack("large/backup"))
	h.Run(0, "rm", "-rf", "--one-file-system", h.at("srv/large/backup"))
	indexed, statistics, hand := h.byHand()
	disk("by hand")
	proof := took["sums"] + took["compare"] - (statistics - indexed)
	h.t.Logf("by hand %.1f s, digests and amcheck %.1f s; svc %.1f s: %.2f of by hand, %.2f of that with the proof", hand, proof, r.Waited, r.Waited/hand, r.Waited/(hand+proof))
	h.End(h.root)
}

// disk mounts one at /srv/large until the part ends, and gives what tells how much of the
// real disk is taken, where that is another one.
func (h *host) disk() (taken func(with string)) {
	h.t.Helper()
	real := e2e.New(h.t) // the other folder is in memory
	image, at := real.Path("img"), h.at("srv/"+h.place("large"))
	if *fs == "" {
		real.Hold(`mkdir -m 755 "$work/disk"; mount --bind "$work/disk" "$1"`, `end_in "$2"; umount -l "$1"`, at, h.root)
		return func(string) {}
	}
	flags := map[string]string{"btrfs": "-q", "ext4": "-q -F", "xfs": "-q"}[*fs]
	options := map[string]string{"btrfs": ",compress=zstd:1"}[*fs]
	real.Shell(0, `truncate -s "$1" "$2" && mkfs.$3 $4 "$2"`, fmt.Sprint(*size*6+8, "g"), image, *fs, flags)
	real.Hold(`mount -o "loop,discard$2" "$3" "$1"`, `end_in "$4"; umount -l "$1"`, at, options, image, h.root)
	return func(with string) { h.t.Log("MiB of the disk below,", with+":", real.Run(0, "du", "-sm", image).Line()) }
}

// fill fills the cluster as one is that has run for long: looked over by VACUUM, so that
// the first to read a row has nothing to write. What is loaded in the transaction that
// makes its table needs no log at the least level of it.
func (h *host) fill() {
	const conf = "etc/postgresql/13/large/postgresql.conf"
	usual := h.read(conf)
	h.add(conf, "fsync = off\nwal_level = minimal\nmax_wal_senders = 0\nmaintenance_work_mem = 256MB")
	h.control("13 large start")
	h.script(fmt.Sprintf(`
		create table narrow as select i as n, md5(i::text) as name, now() as at from generate_series(1, %d) i;
		alter table narrow add primary key (n);
		create index narrow_name on narrow (name);`, *size*1_000_000), "-p", "5460")
	for i := 1; i <= 4; i++ {
		h.sql("-p", "5460", "-c", fmt.Sprintf("create table wide%d as select i as n, repeat(md5(i::text), 30) as t from generate_series(1, %d) i", i, *size*200_000))
	}
	h.sql("-p", "5460", "-c", "vacuum analyze")
	h.Files(h.root, map[string]string{conf: usual})
	h.control("13 large restart")
}

// byHand is what a person does: it gives the seconds until indexes were made again, until
// statistics were, and until clients were back.
func (h *host) byHand() (indexed, statistics, back float64) {
	const programs = "/usr/lib/postgresql/17/bin"
	way := "--link"
	if *fs == "xfs" || *fs == "btrfs" {
		way = "--clone"
	}
	begin := time.Now()
	since := func() float64 { return time.Since(begin).Seconds() }
	as := func(command string) *exec.Cmd { return h.account("sh", "-c", "cd /srv/large/run && "+command) }
	h.control("13 large stop")
	h.chroot("install", "-d", "-o", "postgres", "-m", "0700", "/srv/large/hand", "/srv/large/run")
	h.Do(0, as(programs+"/initdb --no-sync -D /srv/large/hand --data-checksums --locale en_US.UTF-8 -U postgres"))
	h.Do(0, as(programs+"/pg_upgrade "+way+" -j 2 -b /usr/lib/postgresql/13/bin -B "+programs+` -d /srv/large/13/large -D /srv/large/hand -o "-c config_file=/etc/postgresql/13/large/postgresql.conf" --socketdir /srv/large/run`))
	h.t.Logf("by hand: pg_upgrade %s %.1f s", way, since())
	h.Do(0, as(programs+`/pg_ctl -D /srv/large/hand -o "-p 5460 -k /srv/large/run -c listen_addresses=" -l /srv/large/run/log -w start >/dev/null`))
	h.sql("-h", "/srv/large/run", "-p", "5460", "-c", "reindex database")
	indexed = since()
	h.Do(0, as("vacuumdb -h /srv/large/run -p 5460 --all --analyze-only -q"))
	statistics = since()
	h.Do(0, as(programs+"/pg_ctl -D /srv/large/hand -w stop"))
	h.chroot("pg_createcluster", "17", "hand", "-p", "5460", "-d", "/srv/large/hand")
	h.control("17 hand start")
	h.is.Equal(strings.SplitN(h.sql("-p", "5460", "-c", "show server_version"), ".", 2)[0], "17")
	return indexed, statistics, since()
}
