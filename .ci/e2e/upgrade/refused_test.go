package upgrade_test

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// refused: an upgrade fails with this text, confirmed.
func (h *host) refused(text, args string) {
	h.t.Helper()
	h.upgrade(1, args+" --confirm").Has(text)
}

// without has something done while the root lacks a file.
func (h *host) without(name string, do func()) {
	h.t.Helper()
	h.is.NoErr(os.Rename(h.at(name), h.at(name+".away")))
	do()
	h.is.NoErr(os.Rename(h.at(name+".away"), h.at(name)))
}

// waits until a server can do a statement.
func (h *host) waits(statement string) {
	h.t.Helper()
	c := h.psql("-c", statement).Args
	h.Until(c[0], c[1:]...)
}

func (h *host) refusals() {
	h.Run(1, "chroot", h.root, "setpriv", "--reuid", "nobody", "--clear-groups", "env", "XDG_DATA_HOME=", "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "HOME=/tmp/nobody",
		"svc", "db", "upgrade", "--engine", "postgresql", "--to", "15", "--backup-dir", "/srv").Has("does not run as root")
	h.upgrade(2, "--engine postgresql --to 15") // no backup directory is named
	h.refused("does not exist", to("15", "none"))
	h.add("srv/"+h.place("full")+"/file", "")
	h.refused("is not empty", to("15", "full"))
	backup := h.place("a")
	h.refused("is not on record as supported", to("11", backup)+" --instance 13/main")
	h.upgrade(2, "--engine mongodb --to 5.0 --backup-dir /srv/a --confirm").Has("are not upgraded")
	h.refused("apt-get install postgresql-16", to("16", backup))
	h.otherClusters(backup)
	h.without("usr/share/postgresql/15/extension/hstore.control", func() {
		h.refused("extension hstore, which PostgreSQL 15 lacks", to("15", backup))
	})
	h.replicas(backup)
	h.room(backup)
	h.busy(backup)
	h.without("usr/bin/pg_lsclusters", func() {
		h.refused("in the layout of Debian's", to("15", backup))
	})
	h.is.Equal(h.list("srv/a"), "") // nothing was written
	h.asBefore()
}

// otherClusters are a new one that is there already, or its configuration, and one beside
// the old one.
func (h *host) otherClusters(backup string) {
	h.chroot("pg_createcluster", "15", "main")
	h.refused("pg_dropcluster --stop 15 main", to("15", backup)+" --instance 13/main")
	h.chroot("pg_dropcluster", "15", "main")
	const ours = "etc/postgresql/15/main/ours.conf"
	h.Files(h.root, map[string]string{ours: "work_mem=1MB\n"})
	h.refused("/etc/postgresql/15/main is there already", to("15", backup))
	h.is.NoErr(os.Remove(h.at(ours))) // it is left
	h.is.NoErr(os.RemoveAll(h.at("etc/postgresql/15")))
	h.chroot("pg_createcluster", "13", "second")
	h.refused("name one with --instance", to("15", backup))
	h.refused("is not online but down", to("15", backup)+" --instance 13/second")
	h.chroot("pg_dropcluster", "13", "second")
}

// replicas are what follows the cluster, or what it follows.
func (h *host) replicas(backup string) {
	h.sql("-c", "select pg_create_physical_replication_slot('s')")
	h.refused("replication slots", to("15", backup))
	h.sql("-c", "select pg_drop_replication_slot('s')")
	receiver := h.account("pg_receivewal", "-D", "/tmp").Args
	stop := h.Start(receiver[0], receiver[1:]...)
	h.waits("select 1 / count(*) from pg_stat_replication")
	h.refused("replicas or backups are connected", to("15", backup))
	stop()
	h.sql("-d", "shop", "-c", "create subscription s connection 'dbname=none' publication p with (connect = false)")
	h.refused("1 subscriptions are there", to("15", backup))
	h.sql("-d", "shop", "-c", "alter subscription s set (slot_name = none)", "-c", "drop subscription s")
}

// room: the data are in several places, or the backup has no good one.
func (h *host) room(backup string) {
	h.chroot("install", "-d", "-o", "postgres", "/srv/space")
	h.sql("-c", "create tablespace far location '/srv/space'")
	h.refused("tablespaces are there", to("15", backup))
	h.sql("-c", "drop tablespace far")
	h.is.NoErr(os.Chmod(h.at("srv/a"), 0o700))
	h.refused("can't enter the backup directory", to("15", backup))
	h.is.NoErr(os.Chmod(h.at("srv/a"), 0o711))
	small := h.at("srv/" + h.place("small"))
	h.Run(0, "mount", "-t", "tmpfs", "-o", "size=100m,mode=711", "tmpfs", small)
	h.refused("too little room on a disk", to("15", "small"))
	h.Run(0, "umount", small)
}

// busy: another upgrade runs.
func (h *host) busy(backup string) {
	lock, err := os.OpenFile(h.at("run/svc-db-upgrade.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	h.is.NoErr(err)
	h.is.NoErr(unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	h.refused("another svc db upgrade runs", to("15", backup))
	h.is.NoErr(lock.Close())
}

// attacks has the cluster's account try to be root by way of the backup directory, of
// the journal, and of links among its own files.
func (h *host) attacks() {
	h.theirPlaces()
	h.theirJournal()
	const start = "etc/postgresql/13/main/start.conf"
	h.without(start, func() { // a link among the account's files leads to no file of root's
		h.is.NoErr(os.Symlink("/etc/shadow", h.at(start)))
		h.upgrade(1, to("15", h.place("link"))+" --confirm")
		secret, _, _ := strings.Cut(h.read("etc/shadow"), "\n")
		h.Run(1, "grep", "-rqF", secret, h.at("srv/link"), h.at("etc/postgresql"))
		h.is.NoErr(os.Remove(h.at(start)))
	})
	h.asBefore()
}

// theirPlaces are backup directories that others can write to.
func (h *host) theirPlaces() {
	theirs := h.at("srv/" + h.place("theirs"))
	h.Run(0, "chmod", "777", theirs)
	h.refused("can be written to by others", to("15", "theirs"))
	h.is.NoErr(os.Chmod(theirs, 0o711))
	h.chroot("chown", "postgres", "/srv/theirs")
	h.refused("belongs to the account", to("15", "theirs"))
	h.chroot("chown", "root", "/srv/theirs")
	h.chroot("chown", "postgres", "/srv")
	h.refused("is not root's alone", to("15", "theirs"))
	h.chroot("chown", "root", "/srv")
	h.chroot("install", "-d", "-m", "0711", "/tmp/backup")
	h.refused("its mode is 1777", "--engine postgresql --to 15 --backup-dir /tmp/backup")
	h.Files(h.root, map[string]string{"etc/victim": "victim"})
	h.is.NoErr(os.Symlink("/etc/victim", theirs+"/log"))
	h.refused("a log that svc has not written", to("15", "theirs"))
	h.is.Equal(h.read("etc/victim"), "victim") // nothing was written through the link
	h.is.NoErr(os.Remove(theirs + "/log"))
	h.is.NoErr(os.Remove(h.at("etc/victim")))
}

// theirJournal is one that says what svc has not written.
func (h *host) theirJournal() {
	const journal = "srv/theirs/journal.jsonl"
	h.during("check", kill(0), to("15", "theirs")+" --confirm")
	written := h.read(journal)
	forge := func(was, is string) {
		h.t.Helper()
		h.Files(h.root, map[string]string{journal: strings.ReplaceAll(written, was, is)})
	}
	forge(`"Owner":"postgres"`, `"Owner":"root"`)
	h.chroot("chown", "postgres", "/"+journal)
	h.upgrade(1, resume("theirs")).Has("belongs to the account")
	h.chroot("chown", "root", "/"+journal)
	h.upgrade(1, resume("theirs")).Has(`belongs to the account "postgres", not to "root"`)
	forge("/usr/lib/postgresql/15/bin", "/tmp/15/bin")
	h.upgrade(1, resume("theirs")).Has("/tmp/15/bin")
	forge("", "")
	h.upgrade(0, rollBack("theirs"))
}

// extensions has those of which a server loads a library when it starts.
func (h *host) extensions() {
	h.t.Helper()
	h.Shell(0, `chroot "$1" dpkg -s postgresql-17-pgaudit postgresql-17-cron >/dev/null 2>&1 || {
		chroot "$1" apt-get update -qq
		DEBIAN_FRONTEND=noninteractive chroot "$1" apt-get install -y -qq --no-install-recommends postgresql-{13,17}-{cron,pgaudit}
	}`, h.root)
}

// configure adds lines to the configuration of 13, which is started again.
func (h *host) configure(lines string) {
	h.t.Helper()
	h.add("etc/postgresql/13/main/postgresql.conf", lines)
	h.control("13 main restart")
}

// early is what pg_upgrade can't do either: it is refused before clients are cut off.
func (h *host) early() {
	h.extensions()
	h.sql("-d", "shop", "-c", "create extension unaccent", "-c", "create function plain(text) returns text language sql immutable as 'select unaccent($1)'", "-c", "create index plain on item (plain(name))")
	h.late("function unaccent(text) does not exist")
	h.sql("-d", "shop", "-c", "drop index plain")
	h.configure("shared_preload_libraries = 'pg_cron'")
	h.without("usr/lib/postgresql/17/lib/pg_cron.so", func() { h.late(`could not access file "pg_cron"`) })
	h.Files(h.root, map[string]string{"etc/pg-extra.d/old.conf": "operator_precedence_warning = off\n"})
	h.configure("include_dir '/etc/pg-extra.d'")
	h.late(`"operator_precedence_warning" in file "/etc/pg-extra.d/old.conf"`)
	h.reset()
	h.sql("-c", "create database \"a\nb\"")
	h.refused("alter database", to("17", h.place("line")))
}

// late: the upgrade fails for this reason, in the server's words, and a client that was
// connected when it began is connected still.
func (h *host) late(text string) {
	h.t.Helper()
	const asks = "from pg_stat_activity where query like '%pg_sleep(900)%' and pid <> pg_backend_pid()"
	client := h.psql("-c", "select pg_sleep(900)").Args
	stop := h.Start(client[0], client[1:]...)
	h.waits("select 1 / count(*) " + asks)
	h.refused(text, to("17", h.place("late")))
	h.is.Equal(h.sql("-c", "select count(*) "+asks), "1")
	h.sql("-c", "select pg_terminate_backend(pid) "+asks)
	stop()
	h.is.NoErr(os.RemoveAll(h.at("srv/late")))
}
