package postgresql

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/postgresql/session"
	"svc/tools/upgrade/safefile"
)

// Programs that an upgrade runs.
var (
	oldPrograms = []string{"postgres", "pg_ctl", "pg_isready", "psql", "pg_basebackup"}
	newPrograms = []string{"postgres", "initdb", "pg_ctl", "pg_isready", "psql", "pg_upgrade", "vacuumdb"}
)

// noSyncSince is the first version whose pg_upgrade leaves it to others to have the files
// on the disk, which it does one by one.
const noSyncSince = 15

// pgUpgrade runs pg_upgrade from a cluster to another.
func (g *pgRun) pgUpgrade(ctx context.Context, from, to session.Cluster, further ...string) error {
	work, err := g.folder("pg_upgrade")
	if err != nil {
		return err
	}
	if to.Major() >= noSyncSince { // what the step has changed is brought to the disk as a whole when it ends
		further = append(further, "--no-sync")
	}
	options := func(c session.Cluster) string { return "-c " + strings.Join(g.quiet(c), " -c ") }
	c := g.as(append([]string{
		to.Program("pg_upgrade"), "-b", from.Bin, "-B", to.Bin, "-d", from.Config, "-D", to.Config, "-U", g.p.Superuser, "-j", strconv.Itoa(min(session.MaxReaders, runtime.NumCPU())),
		"-p", strconv.Itoa(g.p.Port), "-P", strconv.Itoa(pgPort), "--socketdir", engine.PrivateDir, "-o", options(from), "-O", options(to),
	}, further...)...)
	c.Dir, c.Env = work, []string{"PGOPTIONS=-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0"} // whatever databases have set
	if err := g.do(ctx, c); err != nil {
		return fmt.Errorf("%w%s", err, g.reasons(work, filepath.Join(to.Data, "pg_upgrade_output.d")))
	}
	return nil
}

// transfer is how pg_upgrade brings the files over: it shares their blocks where
// the file system can, and copies them where not. It never links: the old cluster
// has to stay as it is.
func (g *pgRun) transfer(clone bool) []string {
	if clone {
		return []string{"--clone"}
	}
	return nil
}

// reasons are what the logs of pg_upgrade give as the cause of a failure: where it
// has written them is the version's choice.
func (g *pgRun) reasons(dirs ...string) string {
	var found []string
	for _, dir := range dirs {
		_ = engine.Acting(g.p.Owner, dir, func() error {
			return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
				if err == nil && e.Type().IsRegular() && slices.Contains([]string{".log", ".txt"}, filepath.Ext(name)) {
					text, _, _ := safefile.Read(name, maxReasonFile) // what can't be read says nothing
					found = append(found, reasonsIn(string(text), filepath.Ext(name) == ".txt")...)
				}
				return nil
			})
		})
	}
	if found = slices.Compact(found); found == nil {
		return ""
	}
	return "; " + strings.Join(found[max(0, len(found)-maxReasons):], "; ")
}

// Bounds of the reasons: how many, how long one is, and what of a file is read.
const (
	maxReasons    = 8
	maxReason     = 500
	maxReasonFile = 4 << 20
)

// reasonsIn are the lines of a log that tell of an error; of a list, all.
func reasonsIn(text string, list bool) (found []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		tells := slices.ContainsFunc([]string{"FATAL:", "PANIC:", "ERROR:", "error:"}, func(sign string) bool { return strings.Contains(line, sign) })
		if line != "" && (list || tells) {
			found = append(found, line[:min(len(line), maxReason)])
		}
	}
	return found
}
