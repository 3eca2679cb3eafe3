package service_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/matryer/is"
)

// archived are the settings of a server that keeps its WAL beside its data.
func archived() []string {
	return []string{"archive_mode=on", "archive_command=mkdir -p ../wal && cp %p ../wal/%f"}
}

func (c *cluster) base() string { return filepath.Join(c.dir, "base") }

// backUp makes a base backup, which needs the WAL that the server keeps.
func (c *cluster) backUp(t testing.TB) {
	c.tool(t, "pg_basebackup", "-D", c.base(), "-d", "host="+c.dir+" user=postgres", "-X", "none", "-c", "fast", "--no-sync")
}

// restore puts the base backup in the place of the data, and has the server go on from
// there to a restore point.
func (c *cluster) restore(t testing.TB, point string) {
	is := is.New(t)
	c.stop(t)
	is.NoErr(os.RemoveAll(c.data()))
	is.NoErr(os.Rename(c.base(), c.data()))
	is.NoErr(os.WriteFile(filepath.Join(c.data(), "recovery.signal"), nil, 0o644))
	f, err := os.OpenFile(filepath.Join(c.data(), "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
	is.NoErr(err)
	_, err = fmt.Fprintf(f, "restore_command = 'cp ../wal/%%f %%p'\nrecovery_target_name = '%s'\nrecovery_target_action = 'promote'\n", point)
	is.NoErr(err)
	is.NoErr(f.Close())
	c.start(t)
	c.until(t, "SELECT NOT pg_is_in_recovery()")
}

// instant is what a load had begun, and been told, by an instant.
type instant struct {
	acked []operation
	begun map[string]int
}

func (l *load) instant() instant {
	l.mu.Lock()
	defer l.mu.Unlock()
	return instant{slices.Clone(l.acked), maps.Clone(l.begun)}
}

// restored checks that a store has what was acknowledged before a backup of it began, and
// nothing that began when it was done.
func restored(t *testing.T, s *service, before, after instant) {
	(&load{acked: before.acked, begun: after.begun}).audit(t, s)
	newer := 0
	for _, r := range s.query(t, "SELECT fingerprint, kind FROM seats") {
		if after.begun[r[0]] == 0 {
			newer++
		}
	}
	check(t, newer == 0, "%d VMs are there that came after the backup", newer)
}

// goesOn starts a service on a store that was restored.
func goesOn(t *testing.T, s *service) {
	again := start(t, s.dsn, 1)
	l := again.startLoad(t)
	heals(t, again, l)
	l.end(t)
	again.consistent(t)
}

// TestRestore takes both kinds of backup of a PostgreSQL in use, goes on, and restores each.
func TestRestore(t *testing.T) {
	db := newCluster(t, archived()...)
	s := start(t, address(db), 1)
	l := s.startLoad(t)
	time.Sleep(time.Second)
	before := l.instant()
	dump := filepath.Join(db.dir, "svc.dump")
	db.tool(t, "pg_dump", "--format=custom", "--file="+dump, "--host="+db.dir, "--username=postgres", "postgres")
	after := l.instant()
	other := newCluster(t)
	other.tool(t, "pg_restore", "--exit-on-error", "--dbname=postgres", "--host="+other.dir, "--username=postgres", dump)
	restored(t, &service{dsn: address(other), dir: t.TempDir()}, before, after)
	db.backUp(t)
	restoreAll(t, s, l, "SELECT pg_create_restore_point('monday')", db)
}

// TestCitusRestore restores the coordinator and the workers of a store in use to one point.
func TestCitusRestore(t *testing.T) {
	c := newCitus(t)
	s := start(t, address(c.cluster), 1)
	l := s.startLoad(t)
	time.Sleep(time.Second)
	all := append([]*cluster{c.cluster}, c.workers...)
	for _, server := range all {
		server.backUp(t)
	}
	restoreAll(t, s, l, "SELECT citus_create_restore_point('monday')", all...)
}

// restoreAll makes a restore point under load, and restores the servers to it when that has
// ended. The first of them takes the statement.
func restoreAll(t *testing.T, s *service, l *load, statement string, servers ...*cluster) {
	is := is.New(t)
	before := l.instant()
	is.NoErr(servers[0].execute(statement))
	after := l.instant()
	time.Sleep(time.Second)
	l.end(t)
	check(t, l.count() > len(after.acked), "%d operations were acknowledged before the backup, and %d after it", len(before.acked), l.count()-len(after.acked))
	s.replicas[0].stop(t)
	for _, server := range servers {
		is.NoErr(server.execute("SELECT pg_switch_wal()")) // so that the archive has the point
	}
	for _, server := range servers {
		server.restore(t, "monday")
	}
	restored(t, s, before, after)
	goesOn(t, s)
}
