package upgrade_test

import (
	"regexp"
	"strings"

	"svc/tools/upgrade"
)

// result is what svc says in JSON, at the end.
func (h *host) result(code int, args string) (r upgrade.Result) {
	h.t.Helper()
	h.upgrade(code, args+" --json").JSON(&r)
	return r
}

var quoted = regexp.MustCompile("`([^`]*)`")

// asPrinted runs those commands of what a result says to do afterwards that have a text,
// as they are, in one shell. There is nobody whom apt-get could ask.
func (h *host) asPrinted(r upgrade.Result, pattern string) {
	h.t.Helper()
	commands, found := []string{"set -e", `apt-get() { command apt-get -y "$@"; }`}, false
	for _, line := range r.Afterwards {
		for _, c := range quoted.FindAllStringSubmatch(line, -1) {
			if regexp.MustCompile(pattern).MatchString(c[1]) {
				commands, found = append(commands, c[1]), true
			}
		}
	}
	h.is.True(found) // there are commands
	h.chroot("env", "HOME=/root", "DEBIAN_FRONTEND=noninteractive", "bash", "-c", strings.Join(commands, "\n"))
}

// chain upgrades 13 to 15 and that to 17, and goes back when all was done.
func (h *host) chain() {
	h.resumed()
	h.carried()
	h.onward()
}

// resumed upgrades 13 to 15, killed in every step.
func (h *host) resumed() {
	backup := h.place("chain")
	h.upgrade(2, to("15", backup)).Has("upgrades a copy of the copy, and compares every table of both")
	h.is.Equal(h.list("srv/chain"), "") // without --confirm there is a plan, and nothing is written
	h.during("check", kill(0), to("15", backup)+" --confirm")
	h.upgrade(1, to("15", backup)+" --confirm").Has("--resume") // while one is begun, no other begins
	h.resumedKilled(backup, "copy rehearse make close sums upgrade index compare open")
	h.Shell(0, `"$@" 2>&1 | head -n 1 || true`, h.svc(resume(backup))...) // nobody reads what is printed
	h.upgrade(0, resume(backup)).Has("the old cluster is in /var/lib/postgresql/13/main")
	h.is.Equal(strings.Count(h.read("srv/chain/journal.jsonl"), `"step":"open","state":"done"`), 1) // it is done once
	h.holds("15")
}

// carried looks at what 15 got of 13.
func (h *host) carried() {
	h.asPrinted(h.result(0, resume("chain")), "update_extensions") // those of an older form
	h.is.Equal(h.sql("-d", "shop", "-c", "select count(*) from pg_extension e join pg_available_extensions a on a.name = e.extname where e.extversion <> a.default_version"), "0")
	h.is.Equal(h.sql("-c", "show work_mem"), "5MB") // the configuration
	h.is.True(strings.Contains(h.read("etc/postgresql/15/main/postgresql.conf"), "\n# not taken by PostgreSQL 15: operator_precedence_warning"))
	h.Run(0, "cmp", h.at("etc/postgresql/15/main/start.conf"), h.Path("saved/etc/13/main/start.conf")) // the new one starts as the old one did
	h.Run(0, "grep", "-qx", "manual", h.at("etc/postgresql/13/main/start.conf"))                       // which does not start by itself
	h.is.True(h.there("var/lib/postgresql/13/main/PG_VERSION"))                                        // and is kept
	// pg_upgrade keeps the files' numbers: an index that was made again has another.
	h.is.Equal(h.sql("-d", "shop", "-c", "select count(*) from pg_class where relname in ('item_name', 'item_lower', 'item_trgm', 'item_name_key') and pg_relation_filenode(oid) <> oid"), "4")
	h.is.Equal(h.sql("-d", "shop", "-c", "select count(*) from pg_class where relname in ('item_price', 'item_pkey') and pg_relation_filenode(oid) = oid"), "2")
	// The version of sorting is on record, indexes find what tables have, and statistics are there.
	h.is.Equal(h.sql("-c", "select count(*) from pg_database where datname = 'shop' and datcollversion = pg_database_collation_actual_version(oid)"), "1")
	h.is.Equal(h.sql("-d", "shop", "-c", "set enable_seqscan = off", "-c", "select count(*) from item where name = 'Ärtikel ' || md5('17')"), "1")
	h.is.Equal(h.sql("-d", "shop", "-c", "select count(*) > 0 from pg_stats where tablename = 'item'"), "t")
}

// onward upgrades 15 to 17, and goes back when all was done.
func (h *host) onward() {
	backup := h.place("on")
	said := h.upgrade(0, to("17", backup)+" --instance 15/main --confirm --json")
	said.Has("by the rehearsal they wait about") // before clients are cut off it says for how long
	var r upgrade.Result
	said.JSON(&r)
	h.is.Equal(r.Outcome, upgrade.Upgraded)
	h.is.True(len(r.Afterwards) > 3)
	h.holds("17")
	h.is.Equal(h.sql("-d", "shop", "-c", "select count(*) from pg_class where relname = 'item_price' and pg_relation_filenode(oid) = oid"), "1") // nothing had to be indexed again
	h.sql("-d", "shop", "-c", "insert into item (name) values ('written in 17')")
	h.upgrade(2, "--backup-dir /srv/on --roll-back").Has("1 rows inserted, 0 updated and 0 deleted in shop")
	h.upgrade(1, rollBack(backup)).Has("--discard-writes") // one that would lose writes is refused
	h.is.Equal(h.sql("-d", "shop", "-c", "select count(*) from item where name = 'written in 17'"), "1")
	r = h.result(0, rollBack(backup)+" --discard-writes")
	h.holds("15")
	h.is.True(h.there("var/lib/postgresql/17/main.rolled-back/PG_VERSION")) // what clients wrote to 17 is set aside
	h.asPrinted(r, ".")
	h.is.True(strings.Contains(h.read("srv/on/written.sql"), "written in 17")) // and can be dumped by the commands that are printed
	h.upgrade(1, resume(backup))                                               // what was rolled back is not resumed
}
