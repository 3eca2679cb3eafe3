package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"svc/tools/upgrade/engine"
)

// pgOffline says what keeps a server from giving a copy of its cluster while it
// serves: it wants two senders, and a log with more than the least in it.
const pgOffline = `select to_json(case when current_setting('wal_level') = 'minimal' then 'wal_level is minimal: set it to replica'
	when current_setting('max_wal_senders')::int - (select count(*) from pg_stat_replication) < 2 then 'max_wal_senders leaves no two free: raise it' else '' end)`

// Offline says why the cluster can't be copied while it serves; empty where it can.
func (s Session) Offline(ctx context.Context) string {
	why, err := Query[string](ctx, s, "template1", pgOffline)
	if err == nil && (len(why) != 1 || why[0] != "") {
		return strings.Join(why, "; ")
	}
	if err == nil {
		c := s.Client("", "psql", "-X", "-A", "-t", "-w", "-c", "IDENTIFY_SYSTEM")
		c.Args[slices.Index(c.Args, "-d")+1] = "replication=true"
		_, err = s.Run(ctx, c)
	}
	if err != nil {
		return fmt.Sprintf("%s may not take one: give it a line in pg_hba.conf, such as: local replication %s peer (%v)", s.Role, s.Role, err)
	}
	return ""
}

// Activity is how much a cluster has written in its life.
type Activity struct {
	Transactions int64 // numbers that were given to transactions which write
	Log          int64 // bytes of WAL
	Rows         map[string]Changes
}

// Changes are the rows that a database's own tables have counted since their
// statistics began.
type Changes struct{ Inserted, Updated, Deleted int64 }

// QuietFile has the activity of the new cluster when svc alone had been in it.
const QuietFile = "quiet.json"

const (
	pgActivityAsk = `select json_build_object('Transactions', txid_snapshot_xmax(txid_current_snapshot()), 'Log', pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint)`
	pgRowsAsk     = `select json_build_object('Inserted', coalesce(sum(n_tup_ins), 0), 'Updated', coalesce(sum(n_tup_upd), 0), 'Deleted', coalesce(sum(n_tup_del), 0)) from pg_stat_user_tables`
)

// Activity asks a server, from PostgreSQL 10 on.
func (s Session) Activity(ctx context.Context) (a Activity, err error) {
	all, err := Query[Activity](ctx, s, "template1", pgActivityAsk)
	if err != nil {
		return a, err
	}
	a = all[0]
	a.Rows = map[string]Changes{}
	names, err := Query[string](ctx, s, "template1", "select to_json(datname) from pg_database where datallowconn")
	for _, name := range names {
		rows, e := Query[Changes](ctx, s, name, pgRowsAsk)
		if err = errors.Join(err, e); e == nil {
			a.Rows[name] = rows[0]
		}
	}
	return a, err
}

// Since says what was written from one activity to a later one.
func (a Activity) Since(before Activity) (signs []string) {
	for _, name := range slices.Sorted(maps.Keys(a.Rows)) {
		now, was := a.Rows[name], before.Rows[name]
		if now.Inserted < was.Inserted || now.Updated < was.Updated || now.Deleted < was.Deleted {
			was = Changes{} // the counters began anew, as after a crash
		}
		if now != was {
			signs = append(signs, fmt.Sprintf("%d rows inserted, %d updated and %d deleted in %s", now.Inserted-was.Inserted, now.Updated-was.Updated, now.Deleted-was.Deleted, name))
		}
	}
	if n := a.Transactions - before.Transactions; n != 0 {
		signs = append(signs, fmt.Sprintf("%d transactions that write, of clients or of the server's own upkeep", n))
	}
	if len(signs) > 0 && a.Log > before.Log {
		signs = append(signs, engine.Size(a.Log-before.Log)+" of WAL")
	}
	return signs
}

// KeepQuiet keeps how much a cluster has written before clients come.
func (s Session) KeepQuiet(ctx context.Context) error {
	quiet, err := s.Activity(ctx)
	return errors.Join(err, s.WriteFile(QuietFile, quiet))
}
