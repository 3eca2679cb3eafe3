package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"svc/backend/api"
	"svc/backend/license"
)

// act is a write of an operator, with its entry in the audit.
func (s *ledger) act(ctx context.Context, actor, act string, do func(*tx) (detail string, err error)) error {
	return s.change(ctx, func(t *tx) error {
		detail, err := do(t)
		if err != nil {
			return err
		}
		_, err = t.exec("INSERT INTO audit (at, actor, act, detail) VALUES (?, ?, ?, ?)", instant(t.now), actor, act, detail)
		return err
	})
}

// touch is a statement that must change a row.
func (t *tx) touch(query string, args ...any) error {
	n, err := t.exec(query, args...)
	if err == nil && n == 0 {
		return ErrNotFound
	}
	return err
}

// changed raises the version of an account, of which something was changed that a
// service may remember.
func (t *tx) changed(account int64) error {
	return t.touch("UPDATE accounts SET version = version + 1 WHERE id = ?", account)
}

// CreateAccount implements Operator.
func (s *ledger) CreateAccount(ctx context.Context, actor string, a license.Account) (id int64, err error) {
	err = s.act(ctx, actor, "account.create", func(t *tx) (string, error) {
		id, err = one(t.ctx, t, value[int64], "INSERT INTO accounts (name, plan, unlimited, free_quota, vm_limit, created_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
			a.Name, a.Plan, a.Unlimited, a.FreeQuota, a.VMLimit, instant(t.now))
		return describe(id, a, false), err
	})
	return id, err
}

func describe(id int64, a license.Account, disabled bool) string {
	return fmt.Sprintf("account %d: name %q, plan %s, unlimited %t, free quota %d, VM limit %d, disabled %t", id, a.Name, a.Plan, a.Unlimited, a.FreeQuota, a.VMLimit, disabled)
}

// SetAccount implements Operator.
func (s *ledger) SetAccount(ctx context.Context, actor string, id int64, change func(*Account)) error {
	return s.act(ctx, actor, "account.set", func(t *tx) (string, error) {
		a, err := one(t.ctx, t, scanAccount, "SELECT "+accountColumns+" FROM accounts WHERE id = ?"+t.locked, id)
		if err != nil {
			return "", err
		}
		change(&a)
		return describe(a.ID, a.Account, a.Disabled), t.touch("UPDATE accounts SET name = ?, plan = ?, unlimited = ?, free_quota = ?, vm_limit = ?, disabled = ?, version = version + 1 WHERE id = ?",
			a.Name, a.Plan, a.Unlimited, a.FreeQuota, a.VMLimit, a.Disabled, a.ID)
	})
}

// Account implements Operator.
func (s *ledger) Account(ctx context.Context, id int64) (Account, error) {
	return loadAccount(ctx, s.read, id)
}

// Accounts implements Operator.
func (s *ledger) Accounts(ctx context.Context) ([]Account, error) {
	return collect(ctx, s.read, scanAccount, "SELECT "+accountColumns+" FROM accounts ORDER BY id")
}

// CreateToken implements Operator.
func (s *ledger) CreateToken(ctx context.Context, actor string, account int64, hash [32]byte) (id int64, err error) {
	err = s.act(ctx, actor, "token.create", func(t *tx) (string, error) {
		if _, err := loadAccount(t.ctx, t, account); err != nil {
			return "", err
		}
		id, err = one(t.ctx, t, value[int64], "INSERT INTO tokens (account_id, hash, created_at) VALUES (?, ?, ?) RETURNING id", account, hash[:], instant(t.now))
		return fmt.Sprintf("token %d of account %d", id, account), err
	})
	return id, err
}

// Tokens implements Operator.
func (s *ledger) Tokens(ctx context.Context, account int64) ([]Token, error) {
	return collect(ctx, s.read, func(r row) (k Token, err error) {
		var created int64
		var disabled sql.NullInt64
		err = r.Scan(&k.ID, &k.AccountID, &created, &disabled)
		k.CreatedAt, k.DisabledAt = timeOf(created), instantOf(disabled)
		return k, err
	}, "SELECT id, account_id, created_at, disabled_at FROM tokens WHERE account_id = ? ORDER BY id", account)
}

func instantOf(micros sql.NullInt64) *time.Time {
	if !micros.Valid {
		return nil
	}
	at := timeOf(micros.Int64)
	return &at
}

// DisableToken implements Operator.
func (s *ledger) DisableToken(ctx context.Context, actor string, id int64) error {
	return s.act(ctx, actor, "token.disable", func(t *tx) (string, error) {
		account, err := one(t.ctx, t, value[int64], "UPDATE tokens SET disabled_at = coalesce(disabled_at, ?) WHERE id = ? RETURNING account_id", instant(t.now), id)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("token %d", id), t.changed(account)
	})
}

// AddGrant implements Operator.
func (s *ledger) AddGrant(ctx context.Context, actor string, account int64, g license.Grant) (int64, error) {
	return s.addGrant(ctx, actor, "grant.add", account, g, false)
}

// AddPOV implements Operator.
func (s *ledger) AddPOV(ctx context.Context, actor string, account int64, g license.Grant) (int64, error) {
	return s.addGrant(ctx, actor, "pov.add", account, g, true)
}

func (s *ledger) addGrant(ctx context.Context, actor, act string, account int64, g license.Grant, pov bool) (id int64, err error) {
	err = s.act(ctx, actor, act, func(t *tx) (string, error) {
		if err := t.changed(account); err != nil {
			return "", err
		}
		id, err = t.insertGrant(account, g, pov)
		return fmt.Sprintf("%d for account %d: %d seats from %s until before %s, source %q, note %q", id, account, g.Seats, g.From, g.Until, g.Source, g.Note), err
	})
	return id, err
}

func (t *tx) insertGrant(account int64, g license.Grant, pov bool) (id int64, err error) {
	return one(t.ctx, t, value[int64], "INSERT INTO grants (account_id, pov, seats, valid_from, valid_until, source, note) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
		account, pov, g.Seats, g.From, g.Until, g.Source, g.Note)
}

// RevokeGrant implements Operator.
func (s *ledger) RevokeGrant(ctx context.Context, actor string, id int64) error {
	return s.act(ctx, actor, "grant.revoke", func(t *tx) (string, error) {
		account, err := one(t.ctx, t, value[int64], "UPDATE grants SET ended_at = coalesce(ended_at, ?) WHERE id = ? AND NOT pov RETURNING account_id", instant(t.now), id)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("grant %d", id), t.changed(account)
	})
}

// ConvertPOV implements Operator.
func (s *ledger) ConvertPOV(ctx context.Context, actor string, id int64, until string) (grant int64, err error) {
	err = s.act(ctx, actor, "pov.convert", func(t *tx) (string, error) {
		pov, err := one(t.ctx, t, scanHolding, "UPDATE grants SET ended_at = ? WHERE id = ? AND pov AND ended_at IS NULL RETURNING "+grantColumns, instant(t.now), id)
		if err != nil {
			return "", err
		}
		account := pov.account
		if err := t.changed(account); err != nil {
			return "", err
		}
		grant, err = t.insertGrant(account, license.Grant{Seats: pov.Seats, From: license.Day(t.now), Until: until, Source: license.PromotedFromPOV}, false)
		return fmt.Sprintf("POV %d of account %d to grant %d", id, account, grant), err
	})
	return grant, err
}

// StageRelease implements Operator.
func (s *ledger) StageRelease(ctx context.Context, actor string, r Release) (Release, error) {
	err := s.act(ctx, actor, "release.stage", func(t *tx) (string, error) {
		r.StagedAt = timeOf(instant(t.now))
		n, err := t.exec("INSERT INTO releases (tag, channel, notes, staged_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", r.Tag, r.Channel, r.Notes, instant(t.now))
		if err == nil && n == 0 {
			err = fmt.Errorf("a release %s is there already; nothing was changed", r.Tag)
		}
		return r.Tag + " on " + r.Channel, err
	})
	return r, err
}

// PublishRelease implements Operator.
func (s *ledger) PublishRelease(ctx context.Context, actor, tag string) (r Release, err error) {
	err = s.act(ctx, actor, "release.publish", func(t *tx) (string, error) {
		r, err = one(t.ctx, t, scanRelease,
			"UPDATE releases SET published_at = coalesce(published_at, ?) WHERE tag = ? RETURNING tag, channel, notes, staged_at, published_at", instant(t.now), tag)
		return tag, err
	})
	return r, err
}

func scanRelease(row row) (r Release, err error) {
	var staged, published int64
	err = row.Scan(&r.Tag, &r.Channel, &r.Notes, &staged, &published)
	at := timeOf(published)
	r.StagedAt, r.PublishedAt = timeOf(staged), &at
	return r, err
}

// Audit implements Operator.
func (s *ledger) Audit(ctx context.Context) ([]AuditEntry, error) {
	return collect(ctx, s.read, func(r row) (e AuditEntry, err error) {
		var at int64
		err = r.Scan(&at, &e.Actor, &e.Act, &e.Detail)
		e.At = timeOf(at)
		return e, err
	}, "SELECT at, actor, act, detail FROM audit ORDER BY id")
}

// Holdings implements Operator.
func (s *ledger) Holdings(ctx context.Context, account int64) (license.Holdings, error) {
	return loadHoldings(ctx, s.read, account)
}

// Copies implements Operator.
func (s *ledger) Copies(ctx context.Context, account int64) ([]Copies, error) {
	return collect(ctx, s.read, func(r row) (c Copies, err error) {
		err = r.Scan(&c.VM, &c.Hosts, &c.Events)
		return c, err
	}, `SELECT substr(fingerprint, 1, 12), count(*), CAST(sum(events) AS bigint) FROM hosts WHERE account_id = ?
		GROUP BY fingerprint HAVING count(*) > 1 ORDER BY count(*) DESC, fingerprint`, account)
}

// Check implements Operator.
func (s *ledger) Check(ctx context.Context) ([]string, error) {
	wrong, err := collect(ctx, s.read, value[string], `SELECT 'account ' || a.id || ' counts ' || a.billable_vms || ' licensed VMs, but has ' || count(s.account_id) || ' seats'
		FROM accounts a LEFT JOIN seats s ON s.account_id = a.id GROUP BY a.id HAVING a.billable_vms <> count(s.account_id) ORDER BY a.id`)
	if err != nil {
		return nil, fmt.Errorf("checking the store: %w", err)
	}
	return wrong, nil
}

// prunedAtOnce is how many events one transaction removes: claims wait for no
// more.
const prunedAtOnce = 10_000

// Prune implements Operator.
func (s *ledger) Prune(ctx context.Context, actor string, before time.Time) (total int64, err error) {
	for n := int64(prunedAtOnce); n == prunedAtOnce; total += n {
		if n, err = s.pruneSome(ctx, actor, before); err != nil {
			return total, err
		}
	}
	return total, nil
}

func (s *ledger) pruneSome(ctx context.Context, actor string, before time.Time) (n int64, err error) {
	err = s.act(ctx, actor, "events.prune", func(t *tx) (string, error) {
		if n, err = t.exec("DELETE FROM events WHERE id IN (SELECT id FROM events WHERE at < ? ORDER BY id LIMIT ?)", instant(before), prunedAtOnce); err != nil {
			return "", err
		}
		_, err = t.exec("DELETE FROM replays WHERE at < ?", instant(t.now.Add(-lifetime)))
		return fmt.Sprintf("%d events before %s", n, before.UTC().Format(time.RFC3339)), err
	})
	return n, err
}

// AddKey implements Operator.
func (s *ledger) AddKey(ctx context.Context, actor string, k api.Key) error {
	return s.act(ctx, actor, "key.add", func(t *tx) (string, error) {
		if _, err := t.exec("UPDATE keys SET retired_at = ? WHERE retired_at IS NULL AND key_id <> ?", instant(t.now), k.KeyID); err != nil {
			return "", err
		}
		_, err := t.exec(`INSERT INTO keys (key_id, algorithm, pem, created_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (key_id) DO UPDATE SET retired_at = NULL`, k.KeyID, k.Algorithm, k.PEM, instant(t.now))
		return "key " + k.KeyID + " signs from now on", err
	})
}
