package upgrade

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"svc/tools/database"
)

// cluster is a cluster of PostgreSQL in one version.
type cluster struct {
	Version string // 13
	Bin     string // folder of its programs
	Clients string `json:",omitzero"` // and of those of clients, where it is another
	Data    string
	Config  string // folder of postgresql.conf
}

func (c cluster) program(name string) string { return filepath.Join(c.Bin, name) }

// client is a program that connects to servers.
func (c cluster) client(name string) string { return filepath.Join(cmp.Or(c.Clients, c.Bin), name) }

// major is the first number of the version; of 9.6 it is 9.
func (c cluster) major() int {
	first, _, _ := strings.Cut(c.Version, ".")
	n, _ := strconv.Atoi(first) // what Look takes is a number
	return n
}

// postgresql is a cluster on its way: pg_upgrade copies it into a new one, and
// the old one stays where it is, stopped.
type postgresql struct {
	Layout    string // of the host: one of layouts
	Name      string // of the cluster: main; empty where a version has one
	Owner     string // account that it runs as
	Superuser string // the role that initdb made
	Old, New  cluster
	Port      int
	Socket    string   // folder of its public socket
	Start     string   // how it starts at a boot, in the layout's words
	Initdb    []string // what a cluster of the same form is made with
	Databases []pgDatabase
	Bytes     int64
	Absent    []string // directories that the new cluster brings, the innermost first
	Brought   bool     // the directory of its data is there, empty: its package brings it
	// Distribution is the cluster of a distribution that has one, in place of all else.
	Distribution *pgDistribution `json:",omitzero"`
}

// pgDatabase is a database of a cluster.
type pgDatabase struct {
	Name    string
	Sorting string // why what is sorted is indexed again; empty where it need not be
	ByBytes bool   // its own collation is that of C
}

const (
	// pgMethod is the way that is taken.
	pgMethod = "pg_upgrade, copying"
	// pgPrivate is where servers have their sockets that only svc reaches. It is
	// short, as a socket's name has to be, and a shell reads nothing in it.
	pgPrivate = "/run/svc-db-upgrade"
	// pgPort is in the names of these sockets.
	pgPort = 50432
)

func (p *postgresql) layout() layout { return layouts[p.Layout] }

// inData reports whether the configuration is among the data.
func (p *postgresql) inData() bool { return p.Old.Config == p.Old.Data }

// called is how a cluster is called.
func (p *postgresql) called(c cluster) string { return instance(c.Version, p.Name) }

// About says what will be done.
func (p *postgresql) About() About {
	if p.Distribution != nil {
		return p.Distribution.About()
	}
	const fresh = 300 << 20 // an empty cluster with its log
	a := About{
		From:     database.Place{Engine: "postgresql", Version: database.Version(p.Old.Version)},
		To:       database.Place{Engine: "postgresql", Version: database.Version(p.New.Version)},
		Instance: p.called(p.Old), Directory: p.Old.Data, Method: pgMethod,
		Downtime: "from the second step to the last, while the data are dumped, loaded for a proof, and copied",
		Needs:    []Need{{"", 2*p.Bytes + 2*fresh, "a dump and its proof"}, {existing(p.New.Data), p.Bytes + fresh, "the new cluster"}},
		Notes: []string{
			"every connection is cut when the second step begins",
			fmt.Sprintf("%s stays as it is, stopped; %s gets its configuration, its port %d and its way to start", p.called(p.Old), p.called(p.New), p.Port),
		},
	}
	a.Notes = append(a.Notes, p.sortingNotes()...)
	return a
}

// sortingNotes say which databases' indexes are made again, a line a reason.
func (p *postgresql) sortingNotes() (notes []string) {
	names := map[string][]string{}
	for _, d := range p.Databases {
		if d.Sorting != "" {
			names[d.Sorting] = append(names[d.Sorting], d.Name)
		}
	}
	for why, of := range names {
		notes = append(notes, fmt.Sprintf("indexes on text are made again in %s: %s", strings.Join(of, ", "), why))
	}
	slices.Sort(notes)
	return notes
}

// existing is the innermost directory of a name that is there.
func existing(dir string) string {
	for dir != "/" {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// Steps are the way of a cluster. The new one is made only when the backup is
// proved; until then nothing but the old server's stop changes the host.
func (p *postgresql) Steps(h *Host) []Step {
	if p.Distribution != nil {
		return p.Distribution.Steps(h)
	}
	g := &pgRun{h, p}
	return g.settledAll([]Step{
		{Name: "check", Does: "asks pg_upgrade --check, and adapts the configuration, in an empty cluster in the backup directory", Do: g.check, Undo: g.remove("check")},
		{Name: "close", Does: "stops the server for its clients, and for the next boot", Changes: true, Do: g.close, Undo: g.reopen, Holds: g.closed},
		{Name: "dump", Does: "takes checksums of every table and dumps every database", Do: g.dump, Undo: g.removeDump, Fills: h.path("dump"), Holds: g.untouched("dump.json")},
		{Name: "prove", Does: "restores the dump into an empty cluster of the old version and compares all of it", Do: g.prove, Undo: g.remove("proof"), Fills: h.path("proof"), Bytes: p.Bytes},
		{Name: "upgrade", Does: "makes the new cluster and has pg_upgrade copy the old one into it", Changes: true, Do: g.upgrade, Undo: g.drop, Holds: g.copied, Fills: p.New.Data, Bytes: p.Bytes},
		{Name: "index", Does: "makes indexes on text again where the order of text may have changed, and statistics", Changes: true, Do: g.index},
		{Name: "compare", Does: "compares every table with the checksums taken before", Do: g.compare},
		{Name: "open", Does: "starts the new server for the clients", Changes: true, Do: g.open, Undo: g.shut},
	})
}

// Afterwards says where all is, and when it may go.
func (p *postgresql) Afterwards(h *Host) []string {
	if p.Distribution != nil {
		return p.Distribution.Afterwards(h)
	}
	return []string{
		fmt.Sprintf("PostgreSQL %s serves port %d: %s, data in %s", p.New.Version, p.Port, p.called(p.New), p.New.Data),
		fmt.Sprintf("the old cluster is in %s as it was, stopped. The way back to it: svc db upgrade --backup-dir %s --roll-back --confirm; the new one is then set aside as %s, with what was written since", p.Old.Data, h.Backup, p.aside()),
		fmt.Sprintf("the dump is in %s: it was restored and compared; made by pg_dump %s, read by pg_restore -d DATABASE", h.path("dump"), p.Old.Version),
		"programs and people should have a look first. What the extensions' own scripts say is in " + h.path("pg_upgrade"),
		fmt.Sprintf("when nobody wants to go back, after some days: %s; %s; rm -r %s", p.layout().drop(p.Old, p.Name), p.layout().purge(p.Old.Version), h.Backup),
	}
}

// pgRun is a cluster's way on a host.
type pgRun struct {
	*Host
	p *postgresql
}

// as is a program that the cluster's account runs.
func (g *pgRun) as(args ...string) command { return command{user: g.p.Owner, args: args} }

// do runs a program for what it does.
func (g *pgRun) do(ctx context.Context, c command) error {
	_, err := g.run(ctx, c)
	return err
}

// folder makes an empty folder of the cluster's account in the backup directory.
func (g *pgRun) folder(name string) (string, error) {
	dir := g.path(name)
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return "", err
	}
	return dir, g.own(dir)
}

// own gives a file to the cluster's account.
func (g *pgRun) own(name string) error {
	c, err := credentialOf(g.p.Owner)
	if err != nil {
		return err
	}
	return os.Lchown(name, int(c.Uid), int(c.Gid))
}

// remove is a step's undoing: that of a folder in the backup directory.
func (g *pgRun) remove(name string) func(context.Context) error {
	return func(context.Context) error { return os.RemoveAll(g.path(name)) }
}

// settledAll has each step, and its undoing, begin so.
func (g *pgRun) settledAll(steps []Step) []Step {
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
		return errors.Join(step(ctx), os.RemoveAll(pgPrivate))
	}
}

// settle stops private servers, and waits for what is left of killed ones.
func (g *pgRun) settle(ctx context.Context) error {
	for _, c := range []cluster{g.p.Old, g.p.New, {Bin: g.p.Old.Bin, Data: g.path("proof", "data")}, {Bin: g.p.New.Bin, Data: g.path("check", "data")}} {
		if server := readPostmaster(c.Data); server.pid != 0 && server.socket == pgPrivate {
			err := g.do(ctx, g.as(c.program("pg_ctl"), "stop", "-D", c.Data, "-m", "fast", "-w", "-t", "600"))
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
	if err := await(ctx, func(context.Context) error { return g.empty(data) }); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(data, "postmaster.pid")); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
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
		if sameDir(cwd, data) {
			return fmt.Errorf("%s is still in use by a process: %s", data, filepath.Dir(cwd))
		}
	}
	return nil
}

// sameDir reports whether two names lead to the same directory. Where a process
// works is compared so: by name, that of a container may be called the same.
func sameDir(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// postmaster is a server that runs on a data directory.
type postmaster struct {
	pid    int // 0 where none runs
	port   int
	socket string // folder of its socket
}

// readPostmaster reads the lock of a data directory's server.
func readPostmaster(data string) (m postmaster) {
	text, err := readText(filepath.Join(data, "postmaster.pid"))
	lines := strings.Split(text, "\n")
	if err != nil || len(lines) < 5 {
		return m
	}
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil || pid <= 0 || !sameDir(fmt.Sprintf("/proc/%d/cwd", pid), data) {
		return m // the number is that of another process by now
	}
	port, _ := strconv.Atoi(strings.TrimSpace(lines[3]))
	return postmaster{pid, port, strings.TrimSpace(lines[4])}
}

// private makes the folder of the private sockets, and the rules for who comes
// in: whoever gets there, which are the cluster's account and root.
func (g *pgRun) private() error {
	hba := filepath.Join(pgPrivate, "pg_hba.conf")
	err := errors.Join(os.RemoveAll(pgPrivate), os.Mkdir(pgPrivate, 0o700), os.WriteFile(hba, []byte("local all all trust\n"), 0o600))
	return errors.Join(err, g.own(pgPrivate), g.own(hba))
}

// sealed are the settings of a server that nobody but svc reaches, and in which
// nothing happens by itself.
var sealed = []string{
	"listen_addresses=", "unix_socket_directories=" + pgPrivate, "unix_socket_permissions=0700", "hba_file=" + pgPrivate + "/pg_hba.conf", "external_pid_file=",
	"ssl=off", "logging_collector=off", "log_destination=stderr", "archive_mode=off", "autovacuum=off", "max_logical_replication_workers=0", "synchronous_standby_names=",
}

// with runs a cluster's server for the time of fn, which alone reaches it.
func (g *pgRun) with(ctx context.Context, c cluster, fn func(context.Context, session) error, settings ...string) error {
	s := session{g, c, pgPrivate, pgPort, g.p.Superuser}
	server := g.as(c.program("postgres"), "-D", c.Data, "-p", strconv.Itoa(pgPort), "-c", "config_file="+filepath.Join(c.Config, "postgresql.conf"), "-c", "data_directory="+c.Data)
	for _, x := range append(slices.Clone(sealed), settings...) {
		server.args = append(server.args, "-c", x)
	}
	server.stop = unix.SIGINT // a fast shutdown
	err := g.serve(ctx, server, s.ready, func(ctx context.Context) error { return fn(ctx, s) })
	if err != nil {
		return fmt.Errorf("PostgreSQL %s on %s: %w", c.Version, c.Data, err)
	}
	return nil
}

// initdb makes an empty cluster of the old one's form, for a while.
func (g *pgRun) initdb(ctx context.Context, c cluster) error {
	return g.do(ctx, g.as(append([]string{c.program("initdb"), "--no-sync", "-D", c.Data, "-U", g.p.Superuser}, g.p.initdb(c.major())...)...))
}

// initdb are a version's arguments for a cluster of the old one's form.
func (p *postgresql) initdb(major int) []string {
	args := slices.Clone(p.Initdb)
	if major >= 18 && !slices.Contains(args, "--data-checksums") {
		args = append(args, "--no-data-checksums")
	}
	return args
}

// pgUpgrade runs pg_upgrade from the old cluster to another.
func (g *pgRun) pgUpgrade(ctx context.Context, to cluster, further ...string) error {
	work, err := g.folder("pg_upgrade")
	if err != nil {
		return err
	}
	quiet := "-c archive_mode=off -c hba_file=" + pgPrivate + "/pg_hba.conf"
	c := g.as(append([]string{
		to.program("pg_upgrade"), "-b", g.p.Old.Bin, "-B", to.Bin, "-d", g.p.Old.Config, "-D", to.Config, "-U", g.p.Superuser,
		"-p", strconv.Itoa(g.p.Port), "-P", strconv.Itoa(pgPort), "--socketdir", pgPrivate, "-o", quiet, "-O", quiet,
	}, further...)...)
	c.dir = work
	return g.do(ctx, c)
}

// check has pg_upgrade look at the running cluster, with an empty new one, and
// the new server read the configuration.
func (g *pgRun) check(ctx context.Context) error {
	dir, err := g.folder("check")
	if err != nil {
		return err
	}
	c := g.p.New
	c.Data, c.Config = filepath.Join(dir, "data"), filepath.Join(dir, "config")
	if g.p.inData() {
		c.Config = c.Data
	} else if err := errors.Join(os.Mkdir(c.Config, 0o700), g.own(c.Config)); err != nil {
		return err
	}
	if err := g.initdb(ctx, c); err != nil {
		return err
	}
	if err := g.configure(ctx, c); err != nil {
		return err
	}
	if err := g.pgUpgrade(ctx, c, "--check"); err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// close stops the server. A boot does not start it again.
func (g *pgRun) close(ctx context.Context) error {
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
func (g *pgRun) stopped(c cluster) error {
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
func (g *pgRun) public(ctx context.Context, c cluster) error {
	s := session{g, c, g.p.Socket, g.p.Port, g.p.Superuser}
	err := await(ctx, func(ctx context.Context) error {
		if g.stopped(c) == nil {
			return nil
		}
		return s.ready(ctx)
	})
	if err == nil && g.stopped(c) == nil {
		err = g.do(ctx, g.p.layout().serve("start", c, g.p.Name))
		switch {
		case err != nil:
		case g.stopped(c) == nil: // systemd does not say so
			err = errors.New("it did not start: its own log says why")
		default:
			err = await(ctx, s.ready)
		}
	}
	if err == nil {
		_, err = s.rows(ctx, "template1", "select to_json(1)")
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
	return err == nil && how == l.never() && (socket == "" || socket == pgPrivate)
}

// upgrade makes the new cluster, whose place was empty when all began.
func (g *pgRun) upgrade(ctx context.Context) error {
	p := g.p
	if err := p.layout().create(ctx, g); err != nil {
		return err
	}
	if err := g.configure(ctx, p.New); err != nil {
		return err
	}
	if err := g.pgUpgrade(ctx, p.New); err != nil {
		return err
	}
	return g.touched("upgrade.json")
}

// drop removes the new cluster. One that clients could have written to is set
// aside instead.
func (g *pgRun) drop(context.Context) error {
	p := g.p
	if g.kept("opened.json") && isCluster(p.New.Data) {
		if err := os.Rename(p.New.Data, p.aside()); err != nil {
			return fmt.Errorf("setting the new cluster aside: %w", err)
		}
	}
	err := errors.Join(os.RemoveAll(p.New.Data), os.RemoveAll(p.New.Config), p.layout().removed(p))
	if p.Brought {
		err = errors.Join(err, os.Mkdir(p.New.Data, 0o700), g.own(p.New.Data))
	}
	for _, dir := range p.Absent {
		if e := os.Remove(dir); e != nil && !errors.Is(e, os.ErrNotExist) && !errors.Is(e, unix.ENOTEMPTY) {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return fmt.Errorf("removing the new cluster: %w", err)
	}
	// The database comes first: that the backup directory can't be written stops nothing.
	for _, name := range []string{"upgrade.json", "pg_upgrade", "opened.json"} {
		_ = os.RemoveAll(g.path(name))
	}
	return nil
}

// isCluster reports whether a directory has a cluster's files.
func isCluster(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "PG_VERSION"))
	return err == nil
}

// aside is where a new cluster goes that clients may have written to.
func (p *postgresql) aside() string { return p.New.Data + ".rolled-back" }

// compare has the new cluster give the checksums that the old one gave.
func (g *pgRun) compare(ctx context.Context) error {
	var before map[string]string
	if err := g.readFile("before.json", &before); err != nil {
		return err
	}
	return g.with(ctx, g.p.New, func(ctx context.Context, s session) error {
		after, err := s.fingerprint(ctx)
		if err != nil {
			return err
		}
		return differences("the new cluster", before, after)
	}, "default_transaction_read_only=on")
}

// open starts the new server in the old one's place.
func (g *pgRun) open(ctx context.Context) error {
	if !g.copied(ctx) {
		return errors.New("the old cluster was started since it was copied")
	}
	if err := g.writeFile("opened.json", true); err != nil {
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
	_, err := os.Stat(g.path(name))
	return err == nil
}

// control is the digest of the old cluster's control file, which a server writes
// whenever it starts and stops.
func (g *pgRun) control() (string, error) {
	b, err := os.ReadFile(filepath.Join(g.p.Old.Data, "global", "pg_control"))
	return fmt.Sprintf("%x", sha256.Sum256(b)), err
}

// touched keeps how the old cluster was left by a step that had its server run.
func (g *pgRun) touched(name string) error {
	digest, err := g.control()
	if err != nil {
		return fmt.Errorf("reading the control file: %w", err)
	}
	return g.writeFile(name, digest)
}

// untouched reports whether no server has run on the old cluster since the step
// that kept a file, or since it was copied.
func (g *pgRun) untouched(name string) func(context.Context) bool {
	return func(context.Context) bool {
		digest, err := g.control()
		return err == nil && slices.ContainsFunc([]string{name, "upgrade.json"}, func(name string) bool {
			var left string
			return g.readFile(name, &left) == nil && left == digest
		})
	}
}

// copied reports whether the new cluster is there, and the old one as it was when
// it was copied.
func (g *pgRun) copied(ctx context.Context) bool {
	return isCluster(g.p.New.Data) && g.untouched("upgrade.json")(ctx)
}
