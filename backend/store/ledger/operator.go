package ledger

import (
	"context"
	"fmt"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
)

// Act is a write of an operator, with its entry in the audit.
func (s *Ledger) Act(ctx context.Context, actor, act string, do func(*Tx) (detail string, err error)) error {
	return s.Change(ctx, func(t *Tx) error {
		detail, err := do(t)
		if err != nil {
			return err
		}
		return t.Audit(actor, act, detail)
	})
}

// Audit notes an act of an operator.
func (t *Tx) Audit(actor, act, detail string) error {
	_, err := t.Exec("INSERT INTO audit (at, actor, act, detail) VALUES (?, ?, ?, ?)", Instant(t.Now), actor, act, detail)
	return err
}

// touch is a statement that must change a row.
func (t *Tx) touch(query string, args ...any) error {
	n, err := t.Exec(query, args...)
	if err == nil && n == 0 {
		return store.ErrNotFound
	}
	return err
}

// changed raises the version of an account, of which something was changed that a
// service may remember.
func (t *Tx) changed(account int64) error {
	return t.touch("UPDATE accounts SET version = version + 1 WHERE id = ?", account)
}

// accountOf is whose thing an id of a table is: the ids of all accounts are different,
// and the team and operators name a thing by that alone.
func (t *Tx) accountOf(table string, id int64) (int64, error) {
	return One(t.Ctx, t, Value[int64], "SELECT account_id FROM "+table+" WHERE id = ?", id)
}

// changedOf is accountOf for who changes that thing.
func (t *Tx) changedOf(table string, id int64) (account int64, err error) {
	if account, err = t.accountOf(table, id); err != nil {
		return 0, err
	}
	return account, t.changed(account)
}

// CreateAccount implements store.Operator.
func (s *Ledger) CreateAccount(ctx context.Context, actor string, a license.Account) (id int64, err error) {
	err = s.Act(ctx, actor, "account.create", func(t *Tx) (string, error) {
		id, err = One(t.Ctx, t, Value[int64], "INSERT INTO accounts (name, plan, unlimited, free_quota, vm_limit, created_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
			a.Name, a.Plan, a.Unlimited, a.FreeQuota, a.VMLimit, Instant(t.Now))
		return describe(id, a, false), err
	})
	return id, err
}

func describe(id int64, a license.Account, disabled bool) string {
	return fmt.Sprintf("account %d: name %q, plan %s, unlimited %t, free quota %d, VM limit %d, disabled %t", id, a.Name, a.Plan, a.Unlimited, a.FreeQuota, a.VMLimit, disabled)
}

// locked is an account that nobody else changes before the end.
func (t *Tx) locked(id int64) (store.Account, error) {
	return One(t.Ctx, t, ScanAccount, "SELECT "+AccountColumns+" FROM accounts WHERE id = ?"+t.Locked, id)
}

// SetAccount implements store.Operator.
func (s *Ledger) SetAccount(ctx context.Context, actor string, id int64, change func(*store.Account)) error {
	return s.Act(ctx, actor, "account.set", func(t *Tx) (string, error) {
		a, err := t.locked(id)
		if err != nil {
			return "", err
		}
		change(&a)
		if _, err := t.Exec("UPDATE tokens SET plan = ?, unlimited = ?, suspended = ? WHERE account_id = ?", a.Plan, a.Unlimited, a.Disabled, a.ID); err != nil {
			return "", err
		}
		return describe(a.ID, a.Account, a.Disabled), t.touch("UPDATE accounts SET name = ?, plan = ?, unlimited = ?, free_quota = ?, vm_limit = ?, disabled = ?, version = version + 1 WHERE id = ?",
			a.Name, a.Plan, a.Unlimited, a.FreeQuota, a.VMLimit, a.Disabled, a.ID)
	})
}

// Account implements store.Operator.
func (s *Ledger) Account(ctx context.Context, id int64) (store.Account, error) {
	return LoadAccount(ctx, s.Read, id)
}

// Accounts implements store.Operator.
func (s *Ledger) Accounts(ctx context.Context) ([]store.Account, error) {
	return Collect(ctx, s.Read, ScanAccount, "SELECT "+AccountColumns+" FROM accounts ORDER BY id")
}

// CreateToken implements store.Operator.
func (s *Ledger) CreateToken(ctx context.Context, actor string, account int64, hash [32]byte) (id int64, err error) {
	err = s.Act(ctx, actor, "token.create", func(t *Tx) (string, error) {
		a, err := t.locked(account)
		if err != nil {
			return "", err
		}
		id, err = One(t.Ctx, t, Value[int64], "INSERT INTO tokens (account_id, hash, created_at, plan, unlimited, suspended) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
			account, hash[:], Instant(t.Now), a.Plan, a.Unlimited, a.Disabled)
		return fmt.Sprintf("token %d of account %d", id, account), err
	})
	return id, err
}

// Tokens implements store.Operator.
func (s *Ledger) Tokens(ctx context.Context, account int64) ([]store.Token, error) {
	return Collect(ctx, s.Read, func(r Row) (k store.Token, err error) {
		err = r.Scan(&k.ID, &k.AccountID, at(&k.CreatedAt), at(&k.DisabledAt))
		return k, err
	}, "SELECT id, account_id, created_at, disabled_at FROM tokens WHERE account_id = ? ORDER BY id", account)
}

// DisableToken implements store.Operator.
func (s *Ledger) DisableToken(ctx context.Context, actor string, id int64) error {
	return s.Act(ctx, actor, "token.disable", func(t *Tx) (string, error) {
		if _, err := t.changedOf("tokens", id); err != nil {
			return "", err
		}
		return fmt.Sprintf("token %d", id), t.touch("UPDATE tokens SET disabled_at = coalesce(disabled_at, ?) WHERE id = ?", Instant(t.Now), id)
	})
}

// AddGrant implements store.Operator.
func (s *Ledger) AddGrant(ctx context.Context, actor string, account int64, g license.Grant) (int64, error) {
	return s.addGrant(ctx, actor, "grant.add", account, g, false)
}

// AddPOV implements store.Operator.
func (s *Ledger) AddPOV(ctx context.Context, actor string, account int64, g license.Grant) (int64, error) {
	return s.addGrant(ctx, actor, "pov.add", account, g, true)
}

func (s *Ledger) addGrant(ctx context.Context, actor, act string, account int64, g license.Grant, pov bool) (id int64, err error) {
	err = s.Act(ctx, actor, act, func(t *Tx) (string, error) {
		if err := t.changed(account); err != nil {
			return "", err
		}
		id, err = t.insertGrant(account, g, pov)
		return fmt.Sprintf("%d for account %d: %d seats from %s until before %s, source %q, note %q", id, account, g.Seats, g.From, g.Until, g.Source, g.Note), err
	})
	return id, err
}

func (t *Tx) insertGrant(account int64, g license.Grant, pov bool) (id int64, err error) {
	return One(t.Ctx, t, Value[int64], "INSERT INTO grants (account_id, pov, seats, valid_from, valid_until, source, note) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
		account, pov, g.Seats, g.From, g.Until, g.Source, g.Note)
}

// RevokeGrant implements store.Operator.
func (s *Ledger) RevokeGrant(ctx context.Context, actor string, id int64) error {
	return s.Act(ctx, actor, "grant.revoke", func(t *Tx) (string, error) {
		account, err := t.changedOf("grants", id)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("grant %d", id), t.touch("UPDATE grants SET ended_at = coalesce(ended_at, ?) WHERE account_id = ? AND id = ? AND NOT pov", Instant(t.Now), account, id)
	})
}

// ConvertPOV implements store.Operator.
func (s *Ledger) ConvertPOV(ctx context.Context, actor string, id int64, until string) (grant int64, err error) {
	err = s.Act(ctx, actor, "pov.convert", func(t *Tx) (string, error) {
		account, err := t.changedOf("grants", id)
		if err != nil {
			return "", err
		}
		pov, err := One(t.Ctx, t, ScanHolding, "UPDATE grants SET ended_at = ? WHERE account_id = ? AND id = ? AND pov AND ended_at IS NULL RETURNING "+GrantColumns, Instant(t.Now), account, id)
		if err != nil {
			return "", err
		}
		grant, err = t.insertGrant(account, license.Grant{Seats: pov.Seats, From: license.Day(t.Now), Until: until, Source: license.PromotedFromPOV}, false)
		return fmt.Sprintf("POV %d of account %d to grant %d", id, account, grant), err
	})
	return grant, err
}

// StageRelease implements store.Operator.
func (s *Ledger) StageRelease(ctx context.Context, actor string, r store.Release) (store.Release, error) {
	err := s.Act(ctx, actor, "release.stage", func(t *Tx) (string, error) {
		r.StagedAt = TimeOf(Instant(t.Now))
		n, err := t.Exec("INSERT INTO releases (tag, channel, notes, staged_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", r.Tag, r.Channel, r.Notes, Instant(t.Now))
		if err == nil && n == 0 {
			err = fmt.Errorf("a release %s is there already; nothing was changed", r.Tag)
		}
		return r.Tag + " on " + r.Channel, err
	})
	return r, err
}

// PublishRelease implements store.Operator.
func (s *Ledger) PublishRelease(ctx context.Context, actor, tag string) (r store.Release, err error) {
	err = s.Act(ctx, actor, "release.publish", func(t *Tx) (string, error) {
		r, err = One(t.Ctx, t, scanRelease,
			"UPDATE releases SET published_at = coalesce(published_at, ?) WHERE tag = ? RETURNING tag, channel, notes, staged_at, published_at", Instant(t.Now), tag)
		return tag, err
	})
	return r, err
}

func scanRelease(row Row) (r store.Release, err error) {
	err = row.Scan(&r.Tag, &r.Channel, &r.Notes, at(&r.StagedAt), at(&r.PublishedAt))
	return r, err
}

// Audit implements store.Operator.
func (s *Ledger) Audit(ctx context.Context) ([]store.AuditEntry, error) {
	return Collect(ctx, s.Read, func(r Row) (e store.AuditEntry, err error) {
		err = r.Scan(at(&e.At), &e.Actor, &e.Act, &e.Detail)
		return e, err
	}, "SELECT at, actor, act, detail FROM audit ORDER BY id")
}

// Holdings implements store.Operator.
func (s *Ledger) Holdings(ctx context.Context, account int64) (license.Holdings, error) {
	return LoadHoldings(ctx, s.Read, account)
}

// Copies implements store.Operator.
func (s *Ledger) Copies(ctx context.Context, account int64) ([]store.Copies, error) {
	return Collect(ctx, s.Read, func(r Row) (c store.Copies, err error) {
		err = r.Scan(&c.VM, &c.Hosts, &c.Events)
		return c, err
	}, `SELECT substr(fingerprint, 1, 12), count(*), CAST(sum(events) AS bigint) FROM hosts WHERE account_id = ?
		GROUP BY fingerprint HAVING count(*) > 1 ORDER BY count(*) DESC, fingerprint`, account)
}

// checks are what must hold of every account: no row, or each row is a sentence of what
// does not.
var checks = []string{
	`SELECT 'account ' || a.id || ' counts ' || a.billable_vms || ' licensed VMs, but has ' || count(s.account_id) || ' seats'
		FROM accounts a LEFT JOIN seats s ON s.account_id = a.id GROUP BY a.id, a.billable_vms HAVING a.billable_vms <> count(s.account_id) ORDER BY a.id`,
	`SELECT 'token ' || t.id || ' says another plan or state than its account ' || a.id
		FROM accounts a JOIN tokens t ON t.account_id = a.id WHERE t.plan <> a.plan OR t.unlimited <> a.unlimited OR t.suspended <> a.disabled ORDER BY t.id`,
}

// Check implements store.Operator.
func (s *Ledger) Check(ctx context.Context) ([]string, error) {
	all := []string{}
	for _, check := range checks {
		wrong, err := Collect(ctx, s.Read, Value[string], check)
		if err != nil {
			return nil, fmt.Errorf("checking the store: %w", err)
		}
		all = append(all, wrong...)
	}
	return all, nil
}

// PrunedAtOnce is how many events one transaction removes: claims wait for no
// more.
const PrunedAtOnce = 10_000

// AddKey implements store.Operator.
func (s *Ledger) AddKey(ctx context.Context, actor string, k api.Key) error {
	return s.Act(ctx, actor, "key.add", func(t *Tx) (string, error) {
		if _, err := t.Exec("UPDATE keys SET retired_at = ? WHERE retired_at IS NULL AND key_id <> ?", Instant(t.Now), k.KeyID); err != nil {
			return "", err
		}
		_, err := t.Exec(`INSERT INTO keys (key_id, algorithm, pem, created_at) VALUES (?, ?, ?, ?)
			ON CONFLICT (key_id) DO UPDATE SET retired_at = NULL`, k.KeyID, k.Algorithm, k.PEM, Instant(t.Now))
		return "key " + k.KeyID + " signs from now on", err
	})
}
