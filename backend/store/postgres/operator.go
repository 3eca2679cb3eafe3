package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"svc/backend/store/ledger"
)

// Backup implements store.Operator: a database server has its own tool for that.
func (p *postgres) Backup(_ context.Context, file string) error {
	if p.spread {
		return errors.New("backing up: this store is spread over several servers; nothing was written. Run on the coordinator: SELECT citus_create_restore_point('NAME'); and keep a base backup and the WAL of each server up to it")
	}
	c := p.pool.Config().ConnConfig
	return fmt.Errorf("backing up: this store is in PostgreSQL; nothing was written. Run: pg_dump --format=custom --file=%s --host=%s --port=%d --username=%s %s",
		strconv.Quote(file), c.Host, c.Port, c.User, c.Database)
}

// Check implements store.Operator: it also looks where the tables lie.
func (p *postgres) Check(ctx context.Context) ([]string, error) {
	wrong, err := p.Ledger.Check(ctx)
	if err != nil || !p.spread {
		return wrong, err
	}
	misplaced, err := ledger.Collect(ctx, p.Read, ledger.Value[string], misplaced, ofAccounts, everywhere)
	return append(wrong, misplaced...), err
}

// misplaced are tables that Citus does not have, or not beside the accounts, and shards
// that no server has.
const misplaced = `SELECT 'table ' || t.name || ' does not lie beside the accounts' FROM unnest(?::text[]) t (name)
		LEFT JOIN pg_dist_partition p ON p.logicalrelid = t.name::regclass AND p.partmethod = 'h'
			AND p.colocationid = (SELECT colocationid FROM pg_dist_partition WHERE logicalrelid = 'accounts'::regclass) WHERE p.logicalrelid IS NULL
	UNION ALL SELECT 'table ' || t.name || ' is not on every server' FROM unnest(?::text[]) t (name)
		LEFT JOIN pg_dist_partition p ON p.logicalrelid = t.name::regclass AND p.partmethod = 'n' WHERE p.logicalrelid IS NULL
	UNION ALL SELECT 'shard ' || s.shardid || ' of ' || s.logicalrelid || ' is on no server' FROM pg_dist_shard s
		WHERE NOT EXISTS (SELECT FROM pg_dist_placement p JOIN pg_dist_node n USING (groupid) WHERE p.shardid = s.shardid AND n.isactive)`

// Prune implements store.Operator. The act is audited before the first event goes; those
// of an account that can't be reached stay.
func (p *postgres) Prune(ctx context.Context, actor string, before time.Time) (total int64, err error) {
	if err := p.Act(ctx, actor, "events.prune", func(*ledger.Tx) (string, error) {
		return "events before " + before.UTC().Format(time.RFC3339), nil
	}); err != nil {
		return 0, err
	}
	accounts, err := ledger.Collect(ctx, p.Read, ledger.Value[int64], "SELECT id FROM accounts ORDER BY id")
	for _, account := range accounts {
		n, failed := p.pruneAccount(ctx, account, before)
		total, err = total+n, errors.Join(err, failed)
	}
	return total, err
}

// old are an account's events before an instant, by the index that has them.
const (
	deleteOld     = "DELETE FROM events WHERE account_id = ?1 AND request_id IN (SELECT request_id FROM events WHERE account_id = ?1 AND %s AND at < ?2 ORDER BY at LIMIT ?3)"
	deleteReplays = "DELETE FROM replays WHERE account_id = ? AND at < ?"
)

func (p *postgres) pruneAccount(ctx context.Context, account int64, before time.Time) (total int64, err error) {
	for _, which := range []string{"listed", "NOT listed"} {
		for n := int64(ledger.PrunedAtOnce); n == ledger.PrunedAtOnce; total += n {
			err := p.transact(ctx, func(t *ledger.Tx) error {
				n, err = t.Exec(fmt.Sprintf(deleteOld, which), account, ledger.Instant(before), ledger.PrunedAtOnce)
				return err
			})
			if err != nil {
				return total, fmt.Errorf("account %d: %w", account, err)
			}
		}
	}
	return total, p.transact(ctx, func(t *ledger.Tx) error {
		_, err := t.Exec(deleteReplays, account, ledger.Instant(t.Now.Add(-ledger.Lifetime)))
		return err
	})
}
