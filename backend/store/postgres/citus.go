package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"svc/backend/store"
	"svc/backend/store/ledger"
)

// The tables that Citus spreads by account, the shards of one account always on one
// server; and those that every server has whole.
var (
	ofAccounts = []string{"seats", "events", "hosts", "metered", "replays", "grants", "findings", "questions"}
	everywhere = []string{"tokens", "releases", "keys", "audit", "migrations", "store"}
)

// distribute hands the tables to Citus, with what is in them.
func distribute(ctx context.Context, e ledger.Executor) error {
	for _, way := range []struct {
		tables    []string
		statement string
	}{
		{[]string{"accounts"}, "SELECT create_distributed_table(?::regclass, 'id')"},
		{ofAccounts, "SELECT create_distributed_table(?::regclass, 'account_id', colocate_with => 'accounts')"},
		{everywhere, "SELECT create_reference_table(?::regclass)"},
	} {
		for _, table := range way.tables {
			if _, err := ledger.Collect(ctx, e, func(ledger.Row) (struct{}, error) { return struct{}{}, nil }, way.statement, table); err != nil {
				return fmt.Errorf("spreading table %s: %w", table, err)
			}
		}
	}
	return nil
}

var (
	errNoCitus = errors.New("this database has no Citus: CREATE EXTENSION citus on each server, and citus_add_node for each; nothing was changed")
	errSpread  = errors.New("the store is spread already; nothing was changed")
	errPlain   = errors.New("the store lies on one server: svc admin spread moves it to several; nothing was changed")
)

// Spread moves a store that lies on one server to all those of its Citus. No service
// may use it meanwhile.
func (p *postgres) Spread(ctx context.Context, actor string) error {
	if p.spread {
		return errSpread
	}
	return p.alone(ctx, func(t *ledger.Tx) error {
		citus, err := ledger.One(ctx, t, ledger.Value[bool], "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus')")
		if err != nil {
			return err
		}
		if !citus {
			return errNoCitus
		}
		if err := t.Audit(actor, "store.spread", "the accounts are spread over several servers"); err != nil {
			return err
		}
		return distribute(ctx, t)
	})
}

// Isolate gives an account a shard of its own, and moves that to a server where one is
// named, HOST:PORT as Citus knows it. Claims of the account wait meanwhile.
func (p *postgres) Isolate(ctx context.Context, actor string, account int64, server string) (shard int64, err error) {
	if !p.spread {
		return 0, errPlain
	}
	err = p.alone(ctx, func(t *ledger.Tx) error {
		if _, err := ledger.LoadAccount(ctx, t, account); err != nil {
			return err
		}
		alone, err := ledger.One(ctx, t, ledger.Value[bool], `SELECT shardminvalue = shardmaxvalue FROM pg_dist_shard
			WHERE shardid = get_shard_id_for_distribution_column('accounts', ?::bigint)`, account)
		if err != nil || alone {
			return err
		}
		_, err = ledger.One(ctx, t, ledger.Value[int64], "SELECT isolate_tenant_to_new_shard('accounts', ?::bigint, 'CASCADE', shard_transfer_mode => 'block_writes')", account)
		return err
	})
	if err == nil && server != "" {
		err = p.alone(ctx, func(t *ledger.Tx) error { return move(ctx, t, account, server) })
	}
	if err != nil {
		return 0, err
	}
	err = p.alone(ctx, func(t *ledger.Tx) error {
		if shard, err = ledger.One(ctx, t, ledger.Value[int64], "SELECT get_shard_id_for_distribution_column('accounts', ?::bigint)", account); err != nil {
			return err
		}
		return t.Audit(actor, "account.isolate", fmt.Sprintf("account %d has shard %d of its own %s", account, shard, server))
	})
	return shard, err
}

// move moves the shard of an account, with those beside it, to a server.
func move(ctx context.Context, t *ledger.Tx, account int64, server string) error {
	n, err := t.Exec(`SELECT citus_move_shard_placement(p.shardid, p.nodename, p.nodeport, n.nodename, n.nodeport, shard_transfer_mode => 'block_writes')
		FROM pg_dist_shard_placement p, pg_dist_node n
		WHERE p.shardid = get_shard_id_for_distribution_column('accounts', ?::bigint) AND n.nodename || ':' || n.nodeport = ?
			AND (p.nodename, p.nodeport) <> (n.nodename, n.nodeport) AND n.shouldhaveshards`, account, server)
	if err != nil || n > 0 {
		return err
	}
	there, err := ledger.One(ctx, t, ledger.Value[bool], `SELECT EXISTS (SELECT FROM pg_dist_shard_placement
		WHERE shardid = get_shard_id_for_distribution_column('accounts', ?::bigint) AND nodename || ':' || nodeport = ?)`, account, server)
	if err == nil && !there {
		err = fmt.Errorf("no server %s of Citus may have shards; the account has a shard of its own where it was", server)
	}
	return err
}

// alone does in one transaction what may take long, and is not tried again.
func (p *postgres) alone(ctx context.Context, do func(*ledger.Tx) error) error {
	return p.pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		return pgx.BeginFunc(ctx, conn, func(t pgx.Tx) error { return do(p.tx(ctx, t)) })
	})
}

// Shards are the bytes of each shard of events, with the number of its server; none of a
// store that lies on one.
func (p *postgres) Shards(ctx context.Context) ([]store.Shard, error) {
	if !p.spread {
		return nil, nil
	}
	return ledger.Collect(ctx, p.Read, func(r ledger.Row) (s store.Shard, err error) {
		err = r.Scan(&s.ID, &s.Server, &s.Bytes)
		return s, err
	}, `SELECT s.shardid, n.groupid, s.shard_size FROM citus_shards s JOIN pg_dist_node n ON (n.nodename, n.nodeport) = (s.nodename, s.nodeport)
		WHERE s.table_name = 'events'::regclass ORDER BY s.shardid`)
}
