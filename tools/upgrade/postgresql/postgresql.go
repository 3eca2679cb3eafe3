// Package postgresql upgrades clusters of PostgreSQL with pg_upgrade, rehearsed on a
// copy, in the layouts of Debian, of PostgreSQL's own packages and of Red Hat.
package postgresql

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"svc/tools/database"
	"svc/tools/upgrade/inplace"
	"svc/tools/upgrade/job"
	"svc/tools/upgrade/postgresql/session"
	"svc/tools/upgrade/safefile"
)

// Job is a cluster on its way: pg_upgrade copies it into a new one, and
// the old one stays where it is, stopped.
type Job struct {
	Layout    string // of the host: one of layouts
	Name      string // of the cluster: main; empty where a version has one
	Owner     string // account that it runs as
	Superuser string // the role that initdb made
	Old, New  session.Cluster
	Port      int
	Socket    string   // folder of its public socket
	Start     string   // how it starts at a boot, in the layout's words
	Initdb    []string // what a cluster of the same form is made with
	Databases []session.Database
	Bytes     int64  // of the data, without the log of transactions
	Locks     int64  // that a transaction may have, for all relations of the largest database
	Relations int64  // tables, indexes and what else has a file, of all databases
	Alone     bool   `json:",omitzero"` // its server loads no library that could have workers of its own
	Online    bool   // the server gives a copy while it serves
	Offline   string `json:",omitzero"` // why it does not
	job.Paces
	Clone       bool     // the file system lets the new cluster share blocks with the old one
	CloneBackup bool     // and that of the backup directory two copies there
	Absent      []string // directories that the new cluster brings, the innermost first
	Brought     bool     // the directory of its data is there, empty: its package brings it
	Aside       string   // where a new cluster goes that clients may have written to
	Log         string   `json:",omitzero"` // the file that the new cluster's log will be
	LogBefore   string   `json:",omitzero"` // the name of one that is there, meanwhile
	Archives    bool     // its log of changes is kept elsewhere
	// Distribution is the cluster of a distribution that has one, in place of all else.
	Distribution *pgDistribution `json:",omitzero"`
}

const (
	// pgMethod is the way that is taken.
	pgMethod = "pg_upgrade, copying"
	// pgPort is in the names of these sockets.
	pgPort = 50432
)

func (p *Job) layout() layout { return layouts[p.Layout] }

// inData reports whether the configuration is among the data.
func (p *Job) inData() bool { return p.Old.Config == p.Old.Data }

// called is how a cluster is called.
func (p *Job) called(c session.Cluster) string { return instance(c.Version, p.Name) }

// About says what will be done.
func (p *Job) About() job.About {
	if p.Distribution != nil {
		return p.Distribution.About()
	}
	before, downtime := p.estimate()
	a := job.About{
		From:     database.Place{Engine: "postgresql", Version: database.Version(p.Old.Version)},
		To:       database.Place{Engine: "postgresql", Version: database.Version(p.New.Version)},
		Instance: p.called(p.Old), Directory: p.Old.Data, Method: pgMethod, Needs: p.needs(),
		Preparation: before, Waiting: downtime,
		Downtime: fmt.Sprintf("about %s, from step close to step open; before that about %s while they are served", job.Lasts(downtime), job.Lasts(before)),
		Notes: []string{
			"every connection is cut when the step close begins, and not before all has been rehearsed on a copy",
			fmt.Sprintf("%s stays as it is, stopped; %s gets its configuration, its port %d and its way to start; its data will be in %s", p.called(p.Old), p.called(p.New), p.Port, p.New.Data),
			fmt.Sprintf("times are estimates, from %s of data and a sample of this host's disks; the rehearsal measures them, and large objects, or indexes to make again, make them longer", job.Size(p.Bytes)),
		},
	}
	if !p.Online {
		a.Downtime = fmt.Sprintf("about %s, from step close to step open, with the rehearsal, as the server gives no copy while it serves", job.Lasts(before+downtime))
		a.Waiting, a.Preparation = before+downtime, 0
		a.Notes[0] = "every connection is cut before the rehearsal. With this it would be after it: " + p.Offline
	}
	if p.LogBefore != "" {
		a.Notes = append(a.Notes, fmt.Sprintf("%s is there, of an earlier cluster: it is kept as %s", p.Log, p.LogBefore))
	}
	if usual := p.New.Data + ".rolled-back"; p.Aside != usual && p.Aside != "" {
		a.Notes = append(a.Notes, usual+" is there, of an earlier upgrade that was rolled back: what was written to it then is served by nobody; it stays")
	}
	if p.Archives {
		a.Notes = append(a.Notes, archiving)
	}
	a.Notes = append(a.Notes, p.sortingNotes()...)
	return a
}

// needs is the room that is wanted.
func (p *Job) needs() []job.Need {
	const fresh = 300 << 20 // an empty cluster with its log
	rehearsed, made := p.Bytes, p.Bytes
	if p.CloneBackup {
		rehearsed = p.Bytes / 20 // catalogs, and what is indexed again
	}
	if p.Clone {
		made = p.Bytes / 20
	}
	return []job.Need{{Directory: "", Bytes: p.Bytes + rehearsed + 2*fresh, For: "a copy and its rehearsal"}, {Directory: job.Existing(p.New.Data), Bytes: made + fresh, For: "the new cluster"}}
}

// What steps take that do not depend on the data: servers that start and stop,
// catalogs that are dumped and loaded, settings that are asked for.
const (
	pgFixedRehearsal = 15
	pgFixedUpgrade   = 12
	// pgDigests is how fast rows become digests, by processor, in bytes of data per
	// second: slow ones do this; disks are often slower.
	pgDigests = 60 << 20
	// pgDefinitions is how many relations a second have their definition dumped, loaded
	// and linked to their file: by 20,000 of them, on two processors that were busy.
	pgDefinitions = 150
)

// estimate says for how long a cluster is prepared and for how long clients wait, in
// seconds.
func (p *Job) estimate() (before, downtime float64) {
	data := float64(p.Bytes)
	reading := data / job.Slowest(p.ReadPace, pgDigests*float64(min(session.MaxReaders, runtime.NumCPU())))
	copying := func(clone bool, pace float64) float64 {
		if clone {
			return 0
		}
		return data / job.Slowest(p.ReadPace, pace)
	}
	defining := float64(p.Relations) / pgDefinitions
	before = pgFixedRehearsal + defining + copying(false, p.BackupPace) + copying(p.CloneBackup, p.BackupPace) + 2*reading
	return before, pgFixedUpgrade + defining + copying(p.Clone, p.WritePace) + 2*reading
}

// sortingNotes say which databases' indexes are made again, a line a reason.
func (p *Job) sortingNotes() (notes []string) {
	names := map[string][]string{}
	for _, d := range p.Databases {
		if d.Sorting != "" {
			names[d.Sorting] = append(names[d.Sorting], d.Name)
		}
	}
	for why, of := range names {
		notes = append(notes, fmt.Sprintf("indexes on text in %s: %s", strings.Join(of, ", "), why))
	}
	slices.Sort(notes)
	return notes
}

// Steps are the way of a cluster. Clients are cut off only when all that comes
// then has been done to a copy.
func (p *Job) Steps(h *job.Host) []job.Step {
	if p.Distribution != nil {
		return p.Distribution.Steps(h)
	}
	g := &pgRun{h, p}
	steps := []job.Step{
		{Name: "check", Does: "asks pg_upgrade --check, and adapts the configuration, in an empty cluster in the backup directory", Do: g.check, Undo: g.remove("check")},
		{Name: "copy", Does: "copies the cluster to the backup directory", Do: g.copy, Undo: g.removeCopy, Fills: h.Path("copy"), Bytes: p.Bytes},
		{Name: "rehearse", Does: "upgrades a copy of the copy, and compares every table of both", Do: g.rehearse, Undo: g.removeRehearsal, Fills: h.Path("rehearsal"), Bytes: p.Bytes},
		{Name: "make", Does: "makes the new cluster, empty, with the configuration of the old one", Changes: true, Do: newCluster{g}.make, Undo: g.drop},
		{Name: "close", Cuts: true, Does: "stops the server for its clients, and for the next boot", Learnt: g.expected, Changes: true, Do: g.close, Undo: g.reopen, Holds: g.closed},
		{Name: "sums", Does: "takes digests of every table", Do: g.sums, Undo: g.removeSums, Holds: g.untouched("sums.json")},
		{Name: "upgrade", Does: "has pg_upgrade " + p.copies() + " the old cluster into the new one", Changes: true, Do: g.upgrade, Undo: g.drop, Holds: g.copied, Fills: p.New.Data, Bytes: p.Bytes},
		{Name: "index", Does: "makes indexes on text again where the order of text may have changed", Changes: true, Do: g.index},
		{Name: "compare", Does: "compares every table with the digests taken before, has amcheck look at the indexes, and makes statistics", Changes: true, Do: g.compare},
		{Name: "open", Serves: true, Opens: true, Does: "starts the new server for the clients", Changes: true, Do: g.open, Undo: g.shut},
	}
	if !p.Online { // its files are copied when nobody writes to them
		steps[1], steps[2], steps[3], steps[4] = steps[4], steps[1], steps[2], steps[3]
	}
	return g.settledAll(steps)
}

// copies is what pg_upgrade does with the files.
func (p *Job) copies() string {
	if p.Clone {
		return "clone"
	}
	return "copy"
}

// pgRun is a cluster's way on a host.
type pgRun struct {
	*job.Host
	p *Job
}

// as is a program that the cluster's account runs.
func (g *pgRun) as(args ...string) job.Command { return job.Command{User: g.p.Owner, Args: args} }

// session asks a server of the cluster's.
func (g *pgRun) session(c session.Cluster, socket string, port int, role string) session.Session {
	return session.Session{Host: g.Host, Account: g.p.Owner, Oldest: g.p.Old.Major(), Cluster: c, Socket: socket, Port: port, Role: role}
}

// do runs a program for what it does.
func (g *pgRun) do(ctx context.Context, c job.Command) error {
	_, err := g.Run(ctx, c)
	return err
}

// folder makes an empty folder of the cluster's account in the backup directory.
func (g *pgRun) folder(name string) (string, error) {
	dir := g.Path(name)
	return dir, errors.Join(os.RemoveAll(dir), job.MakeFolderAs(g.p.Owner, dir, 0o700))
}

// remove is a step's undoing: that of a folder in the backup directory.
func (g *pgRun) remove(name string) func(context.Context) error {
	return func(context.Context) error { return os.RemoveAll(g.Path(name)) }
}

// settledAll has each step, and its undoing, begin so.
func (g *pgRun) settledAll(steps []job.Step) []job.Step {
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
		return errors.Join(step(ctx), os.RemoveAll(job.PrivateDir))
	}
}

// settle stops private servers, and waits for what is left of killed ones.
func (g *pgRun) settle(ctx context.Context) error {
	for _, c := range []session.Cluster{g.p.Old, g.p.New, g.copyOf(), g.rehearsal(), g.emptyNew()} {
		if server := readPostmaster(c.Data); server.pid != 0 && server.socket == job.PrivateDir {
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
	if err := job.Await(ctx, func(context.Context) error { return g.empty(data) }); err != nil {
		return err
	}
	// Where the account can't go, as in a copy that root has not finished, no server of
	// its has left anything.
	if err := job.RemoveAs(g.p.Owner, filepath.Join(data, "postmaster.pid")); err != nil && !errors.Is(err, unix.ENOTDIR) && !errors.Is(err, os.ErrPermission) {
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
		if job.SameDir(cwd, data) {
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
	if err != nil || pid <= 0 || !job.SameDir(fmt.Sprintf("/proc/%d/cwd", pid), data) {
		return m // the number is that of another process by now
	}
	port, _ := strconv.Atoi(strings.TrimSpace(lines[3]))
	return postmaster{pid, port, strings.TrimSpace(lines[4])}
}

// private makes the folder of the private sockets, and the rules for who comes
// in: whoever gets there, which are the cluster's account and root.
func (g *pgRun) private() error {
	who, err := job.CredentialOf(g.p.Owner)
	if err != nil {
		return err
	}
	st := unix.Stat_t{Uid: who.Uid, Gid: who.Gid, Mode: 0o600}
	return errors.Join(os.RemoveAll(job.PrivateDir), job.MakeFolderAs(g.p.Owner, job.PrivateDir, 0o700), job.PutAs(g.p.Owner, filepath.Join(job.PrivateDir, "pg_hba.conf"), []byte("local all all trust\n"), st))
}

// usualLocks is how many a transaction may have where nobody has said so, and
// before a cluster was asked.
const usualLocks = 64

// workers are processes that help to make an index. Where libraries are loaded, which may
// have workers of their own, none is let in.
func (p *Job) workers() int {
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
		"hba_file=" + job.PrivateDir + "/pg_hba.conf", "external_pid_file=", "logging_collector=off", "log_destination=stderr", "archive_mode=off", "synchronous_standby_names=",
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
var sealed = []string{"listen_addresses=", "unix_socket_directories=" + job.PrivateDir, "unix_socket_permissions=0700", "autovacuum=off", "max_logical_replication_workers=0"}

// with runs a cluster's server for the time of fn, which alone reaches it.
func (g *pgRun) with(ctx context.Context, c session.Cluster, writes bool, fn func(context.Context, session.Session) error) error {
	s := g.session(c, job.PrivateDir, pgPort, g.p.Superuser)
	s.Writes = writes
	server := g.as(c.Program("postgres"), "-D", c.Data, "-p", strconv.Itoa(pgPort), "-c", "config_file="+filepath.Join(c.Config, "postgresql.conf"), "-c", "data_directory="+c.Data)
	for _, x := range slices.Concat(g.quiet(c), sealed) {
		server.Args = append(server.Args, "-c", x)
	}
	server.Stop = unix.SIGINT // a fast shutdown
	err := g.Serve(ctx, server, s.Ready, func(ctx context.Context) error { return fn(ctx, s) })
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
	err := job.Acting(g.p.Owner, above, func() error { return os.MkdirAll(above, 0o755) })
	if err == nil {
		err = job.MakeFolderAs(g.p.Owner, c.Data, 0o700)
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return g.initdb(ctx, c)
}

// initdb are a version's arguments for a cluster of the old one's form.
func (p *Job) initdb(major int) []string {
	args := slices.Clone(p.Initdb)
	if major >= 18 && !slices.Contains(args, "--data-checksums") {
		args = append(args, "--no-data-checksums")
	}
	return args
}

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
		"-p", strconv.Itoa(g.p.Port), "-P", strconv.Itoa(pgPort), "--socketdir", job.PrivateDir, "-o", options(from), "-O", options(to),
	}, further...)...)
	c.Dir, c.Env = work, []string{"PGOPTIONS=-c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0"} // whatever databases have set
	if err := g.do(ctx, c); err != nil {
		return fmt.Errorf("%w%s", err, g.reasons(work, filepath.Join(to.Data, "pg_upgrade_output.d")))
	}
	return nil
}

// check has pg_upgrade look at the running cluster, with an empty new one, and
// the new server read the configuration.
func (g *pgRun) check(ctx context.Context) error {
	c := g.emptyNew()
	if err := g.makeBeside(c); err != nil {
		return err
	}
	if err := g.initdb(ctx, c); err != nil {
		return err
	}
	if err := (configuration{g}).configure(ctx, c); err != nil {
		return err
	}
	if err := g.pgUpgrade(ctx, g.p.Old, c, "--check"); err != nil {
		return err
	}
	return os.RemoveAll(g.Path("check"))
}

// close stops the server. A boot does not start it again.
func (g *pgRun) close(ctx context.Context) error {
	if err := g.unchanged(ctx); err != nil {
		return err
	}
	l := g.p.layout()
	if err := l.setStart(ctx, g, g.p.Old, l.never()); err != nil {
		return err
	}
	if err := g.do(ctx, l.serve("stop", g.p.Old, g.p.Name)); err != nil {
		return err
	}
	return g.stopped(g.p.Old)
}

// stopped refuses a server that runs.
func (g *pgRun) stopped(c session.Cluster) error {
	if server := readPostmaster(c.Data); server.pid != 0 {
		return fmt.Errorf("the server of %s runs, as process %d", c.Data, server.pid)
	}
	return nil
}

// reopen starts the server as it was.
func (g *pgRun) reopen(ctx context.Context) error {
	if err := g.p.layout().setStart(ctx, g, g.p.Old, g.p.Start); err != nil {
		return err
	}
	return g.public(ctx, g.p.Old)
}

// public starts a server for clients, if none runs, and waits until it answers.
// One that is just being stopped, or started, is waited for.
func (g *pgRun) public(ctx context.Context, c session.Cluster) error {
	s := g.session(c, g.p.Socket, g.p.Port, g.p.Superuser)
	err := job.Await(ctx, func(ctx context.Context) error {
		if g.stopped(c) == nil {
			return nil
		}
		return s.Ready(ctx)
	})
	if err == nil && g.stopped(c) == nil {
		err = g.do(ctx, g.p.layout().serve("start", c, g.p.Name))
		switch {
		case err != nil:
		case g.stopped(c) == nil: // systemd does not say so
			err = errors.New("it did not start: its own log says why")
		default:
			err = job.Await(ctx, s.Ready)
		}
	}
	if err == nil {
		_, err = s.Rows(ctx, "template1", "select to_json(1)")
	}
	if err != nil {
		return fmt.Errorf("starting %s: %w", g.p.called(c), err)
	}
	return nil
}

// closed reports whether the server is stopped, and stays so.
func (g *pgRun) closed(ctx context.Context) bool {
	l := g.p.layout()
	how, err := l.starts(ctx, g, g.p.Old)
	socket := readPostmaster(g.p.Old.Data).socket
	return err == nil && how == l.never() && (socket == "" || socket == job.PrivateDir)
}

// madeFile is there as long as the new cluster is as it was made.
const madeFile = "made.json"

// make makes the new cluster, whose place was empty when all began: no client waits for
// what of it does not depend on the old one's data.
func (g newCluster) make(ctx context.Context) error {
	p := g.p
	if err := p.logAway(); err != nil {
		return fmt.Errorf("keeping a log that is there: %w", err)
	}
	if err := p.layout().create(ctx, g.pgRun); err != nil {
		return err
	}
	if err := configuration(g).configure(ctx, p.New); err != nil {
		return err
	}
	return g.WriteFile(madeFile, true)
}

// upgrade has pg_upgrade fill the new cluster. Where a try was cut short, its undoing has
// removed that, and another one is made.
func (g *pgRun) upgrade(ctx context.Context) error {
	if !g.kept(madeFile) {
		if err := (newCluster{g}).make(ctx); err != nil {
			return err
		}
	}
	if err := job.RemoveFile(g.Path(madeFile)); err != nil {
		return err
	}
	if err := g.pgUpgrade(ctx, g.p.Old, g.p.New, g.transfer(g.p.Clone)...); err != nil {
		return err
	}
	return g.touched("upgrade.json")
}

// drop removes the new cluster. One that clients could have written to is set
// aside instead.
func (g *pgRun) drop(context.Context) error {
	p := g.p
	if g.kept("opened.json") {
		if err := (newCluster{g}).setAside(); err != nil {
			return fmt.Errorf("setting the new cluster aside: %w", err)
		}
	}
	err := errors.Join(job.RemoveAs(p.Owner, p.New.Data), job.RemoveAs(p.Owner, p.New.Config), p.logBack())
	if p.Brought {
		err = errors.Join(err, job.MakeFolderAs(p.Owner, p.New.Data, 0o700))
	}
	for _, dir := range p.Absent {
		e := job.Acting(p.Owner, filepath.Dir(dir), func() error { return os.Remove(dir) })
		if e != nil && !errors.Is(e, os.ErrNotExist) && !errors.Is(e, unix.ENOTEMPTY) {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return fmt.Errorf("removing the new cluster: %w", err)
	}
	// The database comes first: that the backup directory can't be written stops nothing.
	for _, name := range []string{madeFile, "upgrade.json", "pg_upgrade", "opened.json"} {
		_ = os.RemoveAll(g.Path(name))
	}
	return nil
}

// logAway gives a log that is where the new cluster's will be another name.
func (p *Job) logAway() error {
	if p.LogBefore == "" {
		return nil
	}
	if err := os.Rename(p.Log, p.LogBefore); !errors.Is(err, os.ErrNotExist) { // it may have been removed since
		return err
	}
	return nil
}

// logBack removes the new cluster's log, and gives the one that was there its name.
func (p *Job) logBack() error {
	if p.Log == "" {
		return nil
	}
	if p.LogBefore != "" {
		if _, err := os.Lstat(p.LogBefore); err != nil { // it was not taken away
			return nil
		}
		return os.Rename(p.LogBefore, p.Log)
	}
	return job.RemoveFile(p.Log)
}

// isCluster reports whether a directory has a cluster's files.
func isCluster(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "PG_VERSION"))
	return err == nil
}

// aside is where a new cluster goes that clients may have written to.
func (p *Job) aside() string { return cmp.Or(p.Aside, p.New.Data+".rolled-back") }

// compare has the new cluster give the checksums that the old one gave.
func (g *pgRun) compare(ctx context.Context) error {
	var before inplace.Stock
	if err := g.ReadFile("before.json", &before); err != nil {
		return err
	}
	return g.compareWith(ctx, g.p.New, "the new cluster", before)
}

// open starts the new server in the old one's place.
func (g *pgRun) open(ctx context.Context) error {
	if !g.copied(ctx) {
		return errors.New("the old cluster was started since it was copied")
	}
	if err := g.WriteFile("opened.json", true); err != nil {
		return err
	}
	if err := g.p.layout().setStart(ctx, g, g.p.New, g.p.Start); err != nil {
		return err
	}
	return g.public(ctx, g.p.New)
}

// shut stops the new server, and has no boot start it.
func (g *pgRun) shut(ctx context.Context) error {
	l := g.p.layout()
	if _, err := os.Stat(g.p.New.Config); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := l.setStart(ctx, g, g.p.New, l.never()); err != nil {
		return err
	}
	if g.stopped(g.p.New) == nil {
		return nil
	}
	err := g.do(ctx, l.serve("stop", g.p.New, g.p.Name))
	return errors.Join(err, g.stopped(g.p.New))
}

// kept reports whether a step has kept a file.
func (g *pgRun) kept(name string) bool {
	_, err := os.Stat(g.Path(name))
	return err == nil
}

// maxControl bounds a control file, which has 8 KiB.
const maxControl = 64 << 10

// control is the digest of the old cluster's control file, which a server writes
// whenever it starts and stops.
func (g *pgRun) control() (string, error) {
	b, _, err := job.ReadAs(g.p.Owner, filepath.Join(g.p.Old.Data, "global", "pg_control"), maxControl)
	return fmt.Sprintf("%x", sha256.Sum256(b)), err
}

// touched keeps how the old cluster was left by a step that had its server run.
func (g *pgRun) touched(name string) error {
	digest, err := g.control()
	if err != nil {
		return fmt.Errorf("reading the control file: %w", err)
	}
	return g.WriteFile(name, digest)
}

// untouched reports whether no server has run on the old cluster since the step
// that kept a file, or since it was copied.
func (g *pgRun) untouched(name string) func(context.Context) bool {
	return func(context.Context) bool {
		digest, err := g.control()
		return err == nil && slices.ContainsFunc([]string{name, "upgrade.json"}, func(name string) bool {
			var left string
			return g.ReadFile(name, &left) == nil && left == digest
		})
	}
}

// copied reports whether the new cluster is there, and the old one as it was when
// it was copied.
func (g *pgRun) copied(ctx context.Context) bool {
	return isCluster(g.p.New.Data) && g.untouched("upgrade.json")(ctx)
}
