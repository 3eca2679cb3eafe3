package upgrade

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// pgActivity is how much a cluster has written in its life.
type pgActivity struct {
	Transactions int64 // numbers that were given to transactions which write
	Log          int64 // bytes of WAL
	Rows         map[string]pgRows
}

// pgRows are the rows that a database's own tables have counted since their
// statistics began.
type pgRows struct{ Inserted, Updated, Deleted int64 }

// quietFile has the activity of the new cluster when svc alone had been in it.
const quietFile = "quiet.json"

const (
	pgActivityAsk = `select json_build_object('Transactions', txid_snapshot_xmax(txid_current_snapshot()), 'Log', pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint)`
	pgRowsAsk     = `select json_build_object('Inserted', coalesce(sum(n_tup_ins), 0), 'Updated', coalesce(sum(n_tup_upd), 0), 'Deleted', coalesce(sum(n_tup_del), 0)) from pg_stat_user_tables`
)

// activity asks a server, from PostgreSQL 10 on.
func (s session) activity(ctx context.Context) (a pgActivity, err error) {
	all, err := query[pgActivity](ctx, s, "template1", pgActivityAsk)
	if err != nil {
		return a, err
	}
	a = all[0]
	a.Rows = map[string]pgRows{}
	names, err := query[string](ctx, s, "template1", "select to_json(datname) from pg_database where datallowconn")
	for _, name := range names {
		rows, e := query[pgRows](ctx, s, name, pgRowsAsk)
		if err = errors.Join(err, e); e == nil {
			a.Rows[name] = rows[0]
		}
	}
	return a, err
}

// since says what was written from one activity to a later one.
func (a pgActivity) since(before pgActivity) (signs []string) {
	for _, name := range slices.Sorted(maps.Keys(a.Rows)) {
		now, was := a.Rows[name], before.Rows[name]
		if now.Inserted < was.Inserted || now.Updated < was.Updated || now.Deleted < was.Deleted {
			was = pgRows{} // the counters began anew, as after a crash
		}
		if now != was {
			signs = append(signs, fmt.Sprintf("%d rows inserted, %d updated and %d deleted in %s", now.Inserted-was.Inserted, now.Updated-was.Updated, now.Deleted-was.Deleted, name))
		}
	}
	if n := a.Transactions - before.Transactions; n != 0 {
		signs = append(signs, fmt.Sprintf("%d transactions that write, of clients or of the server's own upkeep", n))
	}
	if len(signs) > 0 && a.Log > before.Log {
		signs = append(signs, size(a.Log-before.Log)+" of WAL")
	}
	return signs
}

// patienceToAsk is how long is waited for a server that is just being started.
const patienceToAsk = 30 * time.Second

// Written compares the new cluster with what it was before clients came.
func (p *postgresql) Written(ctx context.Context, h *Host) (Written, error) {
	if p.Distribution != nil {
		return p.Distribution.Written(ctx, h)
	}
	g := &pgRun{h, p}
	w := Written{Kept: p.aside(), Commands: g.dumpKept()}
	if !isCluster(p.New.Data) {
		return w, nil // it is set aside already
	}
	var err error
	w.Signs, err = g.signs(ctx)
	return w, err
}

// keepQuiet keeps how much a cluster has written before clients come.
func (s session) keepQuiet(ctx context.Context) error {
	quiet, err := s.activity(ctx)
	return errors.Join(err, s.writeFile(quietFile, quiet))
}

// signs are those that clients have written to the new cluster.
func (g *pgRun) signs(ctx context.Context) ([]string, error) {
	var before, now pgActivity
	err := g.readFile(quietFile, &before)
	if err != nil {
		return nil, err
	}
	if g.stopped(g.p.New) == nil {
		now, err = g.controlData(ctx, g.p.New)
	} else {
		s := session{pgRun: g, c: g.p.New, socket: g.p.Socket, port: g.p.Port, role: g.p.Superuser}
		starting, cancel := context.WithTimeout(ctx, patienceToAsk)
		_ = await(starting, s.ready)
		cancel()
		now, err = s.activity(ctx)
	}
	if err != nil {
		return nil, err
	}
	return now.since(before), nil
}

// controlData takes the count of transactions from a stopped cluster's control file.
func (g *pgRun) controlData(ctx context.Context, c cluster) (a pgActivity, err error) {
	out, err := g.run(ctx, g.as(c.program("pg_controldata"), "-D", c.Data))
	if err != nil {
		return a, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.TrimSpace(value)
	}
	if state := fields["Database cluster state"]; state != "shut down" {
		return a, fmt.Errorf("the new server does not run, and was not shut down in order: its state is %q; start it first", state)
	}
	epoch, next, _ := strings.Cut(fields["Latest checkpoint's NextXID"], ":")
	high, err := strconv.ParseInt(epoch, 10, 32)
	low, err2 := strconv.ParseInt(next, 10, 64)
	a.Transactions = high<<32 | low
	return a, errors.Join(err, err2)
}

// keptRules is the file of a cluster that was set aside, by which its account may enter.
const keptRules = "svc_hba.conf"

// readableAt gives a cluster that was set aside, if one was, what its server wants to
// be started: its configuration, where that was elsewhere, and a rule that lets in
// its account, which alone gets to its socket.
func (g *pgRun) readableAt(dir string) error {
	if !isCluster(dir) {
		return nil
	}
	who, err := credentialOf(g.p.Owner)
	if err != nil {
		return err
	}
	var names []string
	if _, gone := os.Stat(g.p.New.Config); gone == nil && !g.p.inData() {
		names, err = g.files(g.p.New.Config)
	}
	a := adaption{g.p.New, g.p.New.at(dir), g.p.Name}
	for _, name := range names {
		err = errors.Join(err, g.copyConfig(filepath.Join(g.p.New.Config, name), filepath.Join(dir, name), a))
	}
	st := unix.Stat_t{Uid: who.Uid, Gid: who.Gid, Mode: 0o600}
	return errors.Join(err, put(g.p.Owner, filepath.Join(dir, keptRules), []byte("local all all trust\n"), st))
}

// dumpKept are the commands that dump what a roll-back has set aside.
func (g *pgRun) dumpKept() []string {
	p, dir := g.p, g.p.aside()
	as := "runuser -u " + p.Owner + " -- "
	quiet := fmt.Sprintf("-p %d -c listen_addresses= -c unix_socket_directories=%[2]s -c hba_file=%[2]s/%[3]s -c external_pid_file= -c ssl=off -c archive_mode=off -c logging_collector=off", p.Port, dir, keptRules)
	return []string{
		fmt.Sprintf("%s%s -D %s -o '%s' -l %[3]s/svc.log -w start", as, p.New.program("pg_ctl"), dir, quiet),
		fmt.Sprintf("(umask 077; %s%s -h %s -p %d -U %s >%s)", as, p.New.program("pg_dumpall"), dir, p.Port, p.Superuser, quoted(g.path("written.sql"))),
		fmt.Sprintf("%s%s -D %s -w stop", as, p.New.program("pg_ctl"), dir),
	}
}

// setAside moves a new cluster away that clients may have written to.
func (g *pgRun) setAside() error {
	p := g.p
	if isCluster(p.New.Data) {
		if err := acting(p.Owner, filepath.Dir(p.New.Data), func() error { return os.Rename(p.New.Data, p.aside()) }); err != nil {
			return err
		}
	}
	return g.readableAt(p.aside())
}
