package upgrade_test

import (
	"os"
	"strings"
)

const (
	elData = "var/lib/pgsql/data"
	elOld  = "usr/lib64/pgsql/postgresql-13"
)

// distribution upgrades the cluster in the layout of Red Hat's own packages: killed in
// every step and rolled back, killed in all of them and resumed, killed in every step of
// the roll-back.
func (h *host) distribution() {
	h.control("13 main stop")
	h.shop("as_distribution", h.root)
	h.is.NoErr(os.Remove(h.at("usr/bin/pg_lsclusters")))
	backup := h.place("el")
	h.distributionRefuses(backup)
	h.keep("digest", h.digest())
	h.upgrade(2, to("17", backup)).Has("dnf module switch-to postgresql:13") // the plan says what a roll-back is
	h.untouched()
	for _, step := range strings.Fields("stop backup verify upgrade exchange") {
		killed := h.place("el-" + step)
		h.during(step, h.within(step, killed), to("17", killed)+" --confirm")
		h.undoingKilled(step, rollBack(killed))
		h.upgrade(0, rollBack(killed))
		h.untouched()
	}
	h.distributionResumes(backup)
}

// distributionResumes goes on after each kill, and back when all is done.
func (h *host) distributionResumes(backup string) {
	h.during("stop", kill(0), to("17", backup)+" --confirm")
	h.resumedKilled(backup, "backup verify upgrade exchange")
	h.upgrade(0, resume(backup)).Has("the old data are /var/lib/pgsql/data.svc-old")
	h.server("/usr/bin", "start")
	h.holds("17")
	h.Run(0, "grep", "-q", "own.conf", h.at(elData+"/postgresql.conf")) // the configuration is carried over
	for _, step := range strings.Fields("exchange upgrade verify backup stop") {
		h.undoingKilled(step, rollBack(backup))
	}
	h.upgrade(0, rollBack(backup))
	h.is.True(h.there(elData + ".svc-undone/PG_VERSION")) // what a server has written to is set aside
	h.is.NoErr(os.RemoveAll(h.at(elData + ".svc-undone")))
	h.untouched()
	h.server("/"+elOld+"/bin", "start")
	h.holds("13")
}

// digest is of all that is in the distribution's folder of data, and what is beside it.
func (h *host) digest() string {
	h.t.Helper()
	return h.Shell(0, `cd "$1/.." && ls && cd data && find . -type f -exec sha256sum {} + | sort && find . -printf '%p %m %U %G %s %T@\n' | sort`, h.at(elData)).Out
}

// untouched: the distribution's data are what they were, byte for byte.
func (h *host) untouched() {
	h.t.Helper()
	h.keep("digest.now", h.digest())
	h.Run(0, "diff", h.Path("digest"), h.Path("digest.now"))
}

// server starts or stops a server on these data.
func (h *host) server(programs, action string) {
	h.t.Helper()
	h.Do(0, h.account(programs+"/pg_ctl", action, "-D", "/"+elData, "-w", "-s", "-l", "/tmp/server.log"))
}

func (h *host) distributionRefuses(backup string) {
	h.without(elOld, func() { h.refused("dnf install postgresql-upgrade", to("17", backup)) })
	h.refused("install the server of 16 first", to("16", backup))
	h.without("usr/bin/postgres", func() { // the old release is installed
		h.Run(0, "cp", h.at(elOld+"/bin/postgres"), h.at("usr/bin/postgres"))
		h.refused("dnf module switch-to postgresql:17", to("17", backup))
	})
	h.without("usr/share/postgresql/17/extension/hstore.control", func() {
		h.refused("extension hstore, which PostgreSQL 17 lacks", to("17", backup))
	})
	h.Files(h.at(elData), map[string]string{"PG_VERSION": "9.2\n"})
	h.refused("postgresql-setup --upgrade", to("17", backup))
	h.Files(h.at(elData), map[string]string{"PG_VERSION": "13\n", "standby.signal": ""})
	h.refused("upgrade the primary", to("17", backup))
	h.is.NoErr(os.Remove(h.at(elData + "/standby.signal")))
	h.add(elData+"/own.conf", "data_directory = '/var/lib/pgsql/data'")
	h.refused("sets data_directory", to("17", backup))
	h.Run(0, "sed", "-i", "/data_directory/d", h.at(elData+"/own.conf"))
	h.is.NoErr(os.Symlink("/srv", h.at(elData+"/pg_tblspc/1")))
	h.refused("can't be copied as a whole", to("17", backup))
	h.is.NoErr(os.Remove(h.at(elData + "/pg_tblspc/1")))
	h.crashed(backup)
	h.is.Equal(h.list("srv/el"), "") // nothing was written
}

// crashed: a server that svc could not start again, and data that it was not shut down on.
func (h *host) crashed(backup string) {
	programs := "/" + elOld + "/bin"
	h.server(programs, "start")
	h.refused("systemctl stop postgresql", to("17", backup))
	h.Run(0, "cp", "-a", h.at(elData), h.Path("crashed"))
	h.server(programs, "stop")
	h.Run(0, "mv", h.at(elData), h.Path("whole"))
	h.Run(0, "mv", h.Path("crashed"), h.at(elData))
	h.refused("was not shut down in order", to("17", backup))
	h.is.NoErr(os.RemoveAll(h.at(elData)))
	h.Run(0, "mv", h.Path("whole"), h.at(elData))
}
