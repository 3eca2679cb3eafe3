package postgres_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/matryer/is"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/postgres"
	"svc/backend/store/storetest"
)

// old makes what the version before this schema wrote: two accounts, one of them
// disabled, with a token, grants, a finding and a question each.
func old(t *testing.T, address string) {
	is := is.New(t)
	is.NoErr(execute(address, "CREATE TABLE migrations (version integer PRIMARY KEY)"))
	for i, name := range []string{"0001", "0002", "0003", "0004"} {
		text, err := os.ReadFile("migrations/" + name + ".sql")
		is.NoErr(err)
		for _, statement := range strings.Split(string(text), ";\n") {
			is.NoErr(execute(address, statement))
		}
		is.NoErr(execute(address, "INSERT INTO migrations VALUES ($1)", i+1))
	}
	for _, statement := range []string{
		"INSERT INTO accounts (name, plan, unlimited, free_quota, vm_limit, disabled, billable_vms, created_at) VALUES ('a', 'pro', false, 1, 9, false, 1, 7), ('b', 'free', true, 2, 9, true, 0, 8)",
		`INSERT INTO tokens (account_id, hash, created_at) VALUES (1, '\x` + strings.Repeat("01", 32) + `', 1), (2, '\x` + strings.Repeat("02", 32) + `', 1)`,
		"INSERT INTO grants (account_id, pov, seats, valid_from, valid_until, source, note) VALUES (1, false, 3, '2020-01-01', '2100-01-01', 'manual', ''), (2, true, 1, '2020-01-01', '2100-01-01', '', '')",
		`INSERT INTO events (account_id, request_id, kind, fingerprint, source, claimed, billable, overage, listed, at)
			VALUES (1, 'old', 'license', '` + storetest.Fingerprint(7) + `', 'a 1', true, true, false, true, 5), (1, 'free', 'preflight', '` + storetest.Fingerprint(8) + `', 'a 1', false, false, false, false, 6)`,
		"INSERT INTO seats (account_id, fingerprint, kind, source, kinds, first_at, last_seen_at, claimed_by) VALUES (1, '" + storetest.Fingerprint(7) + "', 'license', 'a 1', 4, 5, 5, 'old')",
		"INSERT INTO findings (account_id, kind, title, body, redactions, created_at, updated_at) VALUES (1, 'bug', 't', 'b', '{}', 1, 1)",
		"INSERT INTO questions (account_id, question, redactions, created_at) VALUES (2, 'q', '{}', 1)",
	} {
		is.NoErr(execute(address, statement))
	}
}

// migrated checks a store that was opened on what the version before wrote.
func migrated(t *testing.T, s store.Store) {
	is := is.New(t)
	ctx := t.Context()
	who, err := s.Authenticate(ctx, [32]byte([]byte(strings.Repeat("\x01", 32))))
	is.NoErr(err)
	is.Equal(who, store.Principal{AccountID: 1, TokenID: 1, Plan: api.PlanPro})
	_, err = s.Authenticate(ctx, [32]byte([]byte(strings.Repeat("\x02", 32))))
	is.Equal(err, store.ErrNotFound) // its account is disabled
	storetest.Claim(t, s, 1, 7)
	storetest.Claim(t, s, 1, 8)
	usage, err := s.Usage(ctx, 1, store.Page{Limit: 9})
	is.NoErr(err)
	is.Equal(usage.Count, 3)
	is.True(usage.Events[0].ID > 2 && usage.Events[1].ID > 2) // no id is used again
	vms, err := s.VMs(ctx, 1, store.Page{Limit: 9})
	is.NoErr(err)
	is.Equal(len(vms.VMs), 2)
	is.Equal(vms.VMs[0].Kinds, []string{"license", "preflight"})
	id, err := s.CreateAccount(ctx, "test", license.Account{Plan: api.PlanFree})
	is.NoErr(err)
	is.True(id > 2)
	is.NoErr(s.RevokeGrant(ctx, "test", 1))
	is.True(errors.Is(s.RevokeGrant(ctx, "test", 2), store.ErrNotFound)) // it is a POV
	answered, err := s.AnswerQuestion(ctx, 1, "because")
	is.NoErr(err)
	is.Equal(answered.Status, "answered")
	f, err := s.Finding(ctx, 1, 1)
	is.NoErr(err)
	is.Equal(f.Title, "t")
	problems, err := s.Check(ctx)
	is.NoErr(err)
	is.Equal(problems, []string{})
}

func TestMigrates(t *testing.T) {
	address := newDatabase(t)
	old(t, address)
	migrated(t, open(t, address, store.Options{}))
}

// TestIsSpread moves what the version before wrote to Citus, as the runbook says, and
// gives one account a shard of its own.
func TestIsSpread(t *testing.T) {
	is := is.New(t)
	address := newCitus(t)
	old(t, address)
	s := open(t, address, store.Options{})
	_, err := s.Isolate(t.Context(), "test", 1, "")
	is.True(err != nil) // it lies on one server
	is.NoErr(s.Spread(t.Context(), "test"))
	is.NoErr(s.Close())
	s = open(t, address, store.Options{})
	is.True(s.Spread(t.Context(), "test") != nil) // once
	migrated(t, s)
	shards, err := s.Shards(t.Context())
	is.NoErr(err)
	is.Equal(len(shards), 4)
	nodes := nodesOf(t, address)
	shard, err := s.Isolate(t.Context(), "test", 1, at(nodes[2]))
	is.NoErr(err)
	same, err := s.Isolate(t.Context(), "test", 1, at(nodes[2]))
	is.NoErr(err)
	is.Equal(same, shard) // it is there
	_, err = s.Isolate(t.Context(), "test", 1, "nowhere:1")
	is.True(err != nil)
	shards, err = s.Shards(t.Context())
	is.NoErr(err)
	is.True(len(shards) > 4)
	is.NoErr(record(t, s, 1, 8))
	n, err := s.Prune(t.Context(), "test", timeLater)
	is.NoErr(err)
	is.Equal(n, int64(5))
	problems, err := s.Check(t.Context())
	is.NoErr(err)
	is.Equal(problems, []string{})
}

// TestNoticesAnotherStore puts another store in the place of one that is in use: nothing
// is acknowledged any more, of an account that is remembered neither.
func TestNoticesAnotherStore(t *testing.T) {
	for name, replace := range map[string]string{
		"another store": "UPDATE store SET identity = 'another'; DELETE FROM accounts; INSERT INTO accounts (id, name, plan, unlimited, free_quota, vm_limit, created_at) VALUES (1, 'other', 'free', true, 9, 9, 3)",
		"none":          "DROP SCHEMA public CASCADE; CREATE SCHEMA public",
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			address := newDatabase(t)
			is.True(postgres.Exists(t.Context(), address) != nil)
			s := open(t, address, store.Options{})
			is.NoErr(postgres.Exists(t.Context(), address))
			account, err := s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree, Unlimited: true})
			is.NoErr(err)
			for vm := range 3 {
				storetest.Claim(t, s, account, vm)
			}
			is.NoErr(s.Ready(t.Context()))
			conn, err := pgx.Connect(t.Context(), address)
			is.NoErr(err)
			_, err = conn.PgConn().Exec(t.Context(), replace).ReadAll()
			is.NoErr(err)
			is.NoErr(conn.Close(t.Context()))
			is.Equal(api.CodeOf(record(t, s, account, 9)), api.Unavailable)
			is.Equal(api.CodeOf(s.Ready(t.Context())), api.Unavailable)
			_, err = s.CreateAccount(t.Context(), "test", license.Account{Plan: api.PlanFree})
			is.Equal(api.CodeOf(err), api.Unavailable)
		})
	}
}
