package postgresql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"svc/tools/upgrade/engine"
	"svc/tools/upgrade/postgresql/session"
	"svc/tools/upgrade/safefile"
)

// settledAll has each step, and its undoing, begin so.
func (g *pgRun) settledAll(steps []engine.Step) []engine.Step {
	for i := range steps {
		steps[i].Do = g.settled(steps[i].Do)
		if steps[i].Undo != nil {
			steps[i].Undo = g.settled(steps[i].Undo)
		}
	}
	return steps
}

// settled has a step begin when no server runs that an earlier try has left.
func (g *pgRun) settled(step func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := g.settle(ctx); err != nil {
			return err
		}
		if err := g.private(); err != nil {
			return err
		}
		return errors.Join(step(ctx), os.RemoveAll(engine.PrivateDir))
	}
}

// settle stops private servers, and waits for what is left of killed ones.
func (g *pgRun) settle(ctx context.Context) error {
	for _, c := range []session.Cluster{g.p.Old, g.p.New, g.copyOf(), g.rehearsal(), g.emptyNew()} {
		if server := readPostmaster(c.Data); server.pid != 0 && server.socket == engine.PrivateDir {
			err := g.do(ctx, g.as(c.Program("pg_ctl"), "stop", "-D", c.Data, "-m", "fast", "-w", "-t", "600"))
			if err != nil && g.stopped(c) != nil { // it may have ended by itself meanwhile
				return fmt.Errorf("stopping a server of a try that was cut short: %w", err)
			}
		}
		if g.stopped(c) == nil {
			if err := g.bury(ctx, c.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

// bury waits until nothing of a killed server is left, and removes its lock file:
// the number in it is that of a process which nobody has waited for yet, or of
// another one by now, and either keeps a new server from starting.
func (g *pgRun) bury(ctx context.Context, data string) error {
	if err := engine.Await(ctx, func(context.Context) error { return g.empty(data) }); err != nil {
		return err
	}
	// Where the account can't go, as in a copy that root has not finished, no server of
	// its has left anything.
	if err := engine.RemoveAs(g.p.Owner, filepath.Join(data, "postmaster.pid")); err != nil && !errors.Is(err, unix.ENOTDIR) && !errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("removing the lock of a server that was killed: %w", err)
	}
	return nil
}

// empty has no process work in a data directory whose server was killed: each
// ends by itself when it sees that.
func (g *pgRun) empty(data string) error {
	cwds, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil {
		return err
	}
	for _, cwd := range cwds {
		if engine.SameDir(cwd, data) {
			return fmt.Errorf("%s is still in use by a process: %s", data, filepath.Dir(cwd))
		}
	}
	return nil
}

// postmaster is a server that runs on a data directory.
type postmaster struct {
	pid    int // 0 where none runs
	port   int
	socket string // folder of its socket
}

// readPostmaster reads the lock of a data directory's server.
func readPostmaster(data string) (m postmaster) {
	text, _, err := safefile.Read(filepath.Join(data, "postmaster.pid"), 4<<10)
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) < 5 {
		return m
	}
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 0 || !engine.SameDir(fmt.Sprintf("/proc/%d/cwd", pid), data) {
		return m // the number is that of another process by now
	}
	port, _ := strconv.Atoi(strings.TrimSpace(lines[3]))
	return postmaster{pid, port, strings.TrimSpace(lines[4])}
}

// stopped refuses a server that runs.
func (g *pgRun) stopped(c session.Cluster) error {
	if server := readPostmaster(c.Data); server.pid != 0 {
		return fmt.Errorf("the server of %s runs, as process %d", c.Data, server.pid)
	}
	return nil
}

// private makes the folder of the private sockets, and the rules for who comes
// in: whoever gets there, which are the cluster's account and root.
func (g *pgRun) private() error {
	who, err := engine.CredentialOf(g.p.Owner)
	if err != nil {
		return err
	}
	st := unix.Stat_t{Uid: who.Uid, Gid: who.Gid, Mode: 0o600}
	return errors.Join(os.RemoveAll(engine.PrivateDir), engine.MakeFolderAs(g.p.Owner, engine.PrivateDir, 0o700), engine.PutAs(g.p.Owner, filepath.Join(engine.PrivateDir, "pg_hba.conf"), []byte("local all all trust\n"), st))
}

// usualLocks is how many a transaction may have where nobody has said so, and
// before a cluster was asked.
const usualLocks = 64

// workers are processes that help to make an index. Where libraries are loaded, which may
// have workers of their own, none is let in.
func (p *Upgrade) workers() int {
	if !p.Alone {
		return 0
	}
	return runtime.NumCPU()
}

// quiet are the settings of a server that does nothing by itself, touches nothing
// of the one that clients use, and takes little memory beside it. What the cluster
// loads it loads too, but runs no worker of it.
func (g *pgRun) quiet(c session.Cluster) []string {
	all := []string{
		"hba_file=" + engine.PrivateDir + "/pg_hba.conf", "external_pid_file=", "logging_collector=off", "log_destination=stderr", "archive_mode=off", "synchronous_standby_names=",
		"max_worker_processes=" + strconv.Itoa(g.p.workers()), "max_locks_per_transaction=" + strconv.FormatInt(max(usualLocks, g.p.Locks), 10), "shared_buffers=128MB", "huge_pages=off", "ssl=off",
	}
	if c.Major() < 15 {
		all = append(all, "stats_temp_directory=pg_stat_tmp")
	}
	if c.Major() >= 17 {
		all = append(all, "event_triggers=off")
	}
	return all
}

// sealed are further settings of a server that svc runs itself.
var sealed = []string{"listen_addresses=", "unix_socket_directories=" + engine.PrivateDir, "unix_socket_permissions=0700", "autovacuum=off", "max_logical_replication_workers=0"}

// with runs a cluster's server for the time of fn, which alone reaches it.
func (g *pgRun) with(ctx context.Context, c session.Cluster, writes bool, fn func(context.Context, session.Session) error) error {
	s := g.session(c, engine.PrivateDir, pgPort, g.p.Superuser)
	s.Writes = writes
	server := g.as(c.Program("postgres"), "-D", c.Data, "-p", strconv.Itoa(pgPort), "-c", "config_file="+filepath.Join(c.Config, "postgresql.conf"), "-c", "data_directory="+c.Data)
	for _, x := range slices.Concat(g.quiet(c), sealed) {
		server.Args = append(server.Args, "-c", x)
	}
	server.Stop = unix.SIGINT // a fast shutdown
	recovers, err := recovery{g}.recovers(ctx, c)
	if err == nil {
		err = g.Serve(ctx, server, s.Ready, func(ctx context.Context) error {
			if recovers {
				if err := (recovery{g}).noteEmptied(ctx, s); err != nil {
					return err
				}
			}
			return fn(ctx, s)
		})
	}
	if err != nil {
		return fmt.Errorf("PostgreSQL %s on %s: %w", c.Version, c.Data, err)
	}
	return nil
}

// initdb makes an empty cluster of the old one's form, for a while.
func (g *pgRun) initdb(ctx context.Context, c session.Cluster) error {
	return g.do(ctx, g.as(append([]string{c.Program("initdb"), "--no-sync", "-D", c.Data, "-U", g.p.Superuser}, g.p.initdb(c.Major())...)...))
}

// initdbAnew makes an empty cluster that is to stay: its folder is never open to
// others. A folder that its package has brought, empty, is taken.
func (g *pgRun) initdbAnew(ctx context.Context, c session.Cluster) error {
	above := filepath.Dir(c.Data)
	err := engine.Acting(g.p.Owner, above, func() error { return os.MkdirAll(above, 0o755) })
	if err == nil {
		err = engine.MakeFolderAs(g.p.Owner, c.Data, 0o700)
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return g.initdb(ctx, c)
}

// initdb are a version's arguments for a cluster of the old one's form.
func (p *Upgrade) initdb(major int) []string {
	args := slices.Clone(p.Initdb)
	if major >= 18 && !slices.Contains(args, "--data-checksums") {
		args = append(args, "--no-data-checksums")
	}
	return args
}
