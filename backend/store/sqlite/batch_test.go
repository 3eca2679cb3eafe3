package sqlite

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"pgregory.net/rapid"

	"svc/backend/api"
	"svc/backend/license"
	"svc/backend/store"
	"svc/backend/store/lane"
	"svc/backend/store/ledger"
)

// batcher is a store whose batches the test makes.
type batcher struct {
	*sqlite
	writer *writer
}

func newBatcher(t *testing.T, now func() time.Time) *batcher {
	is := is.New(t)
	opened, err := Open(t.Context(), filepath.Join(t.TempDir(), "svc.db"), store.Options{Now: now})
	is.NoErr(err)
	t.Cleanup(func() { opened.Close() })
	s := opened.(*sqlite)
	return &batcher{s, s.newWriter()}
}

// account makes an account with a token.
func (b *batcher) account(t *testing.T, a license.Account) (id, token int64) {
	is := is.New(t)
	id, err := b.CreateAccount(t.Context(), "test", a)
	is.NoErr(err)
	token, err = b.CreateToken(t.Context(), "test", id, sha256.Sum256(fmt.Append(nil, id)))
	is.NoErr(err)
	return id, token
}

// together has commands recorded in one transaction.
func (b *batcher) together(t *rapid.T, commands []store.Command) (answers []string) {
	var tasks []*lane.Task[write]
	for _, c := range commands {
		tasks = append(tasks, lane.NewTask(t.Context(), write{Entry: &ledger.Entry{Command: c}}))
	}
	b.commit(b.writer, tasks)
	for _, made := range tasks {
		if err := made.Wait(); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, fmt.Sprintf("%+v %v", made.Work.Outcome, made.Work.Refusal))
	}
	return answers
}

// contents are all rows that the commands of an account write.
func (b *batcher) contents(t *rapid.T, account int64) string {
	var all []string
	for _, query := range []string{
		"SELECT id || ' ' || billable_vms FROM accounts WHERE id = ?",
		"SELECT id || ' ' || account_id || ' ' || fingerprint || ' ' || kind || ' ' || source || ' ' || kinds || ' ' || first_at || ' ' || last_seen_at || ' ' || claimed_by FROM seats WHERE account_id = ? ORDER BY id",
		"SELECT id || ' ' || request_id || ' ' || kind || ' ' || fingerprint || ' ' || quote(scan_id) || claimed || billable || overage || listed || quote(host_hint) || at FROM events WHERE account_id = ? ORDER BY id",
		"SELECT fingerprint || ' ' || host_hint || ' ' || events FROM hosts WHERE account_id = ? ORDER BY 1",
		"SELECT day || ' ' || requests FROM metered WHERE account_id = ? ORDER BY 1",
		"SELECT key || ' ' || answer FROM replays WHERE account_id = ? ORDER BY 1",
	} {
		rows, err := ledger.Collect(t.Context(), b.reads, ledger.Value[string], query, account)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rows...)
	}
	return strings.Join(all, "\n")
}

// TestABatchIsItsCommandsInTurn has the same commands recorded in one batch and in
// batches of their own: the answers and the files are the same, and a seat is what the
// event says that claimed it.
func TestABatchIsItsCommandsInTurn(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	batched, alone := newBatcher(t, clock), newBatcher(t, clock)
	requests := 0
	rapid.Check(t, func(rt *rapid.T) {
		a := license.Account{
			Plan: rapid.SampledFrom(api.Plans).Draw(rt, "plan"), Unlimited: rapid.Float64().Draw(rt, "unlimited") < 0.25,
			FreeQuota: rapid.IntRange(0, 3).Draw(rt, "free"), VMLimit: rapid.IntRange(2, 7).Draw(rt, "limit"),
		}
		account, token := batched.account(t, a)
		if same, _ := alone.account(t, a); same != account {
			rt.Fatal("the accounts differ")
		}
		var before []store.Command
		command := rapid.Custom(func(rt *rapid.T) store.Command {
			if len(before) > 0 && rapid.IntRange(0, 5).Draw(rt, "again") == 0 {
				return rapid.SampledFrom(before).Draw(rt, "which")
			}
			requests++
			c := store.Command{
				RequestID: fmt.Sprintf("%08d", requests), AccountID: account, Kind: rapid.SampledFrom(append(ledger.KindBits, "")).Draw(rt, "kind"),
				Fingerprint: fmt.Sprintf("%064x", rapid.IntRange(0, 4).Draw(rt, "vm")), Source: api.OS{Distro: "debian", Version: "12"},
				TokenID: rapid.SampledFrom([]int64{0, token}).Draw(rt, "token"), HostHint: rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "host"),
			}
			if c.Kind == api.CVEScanKind {
				c.ScanID = rapid.SampledFrom([]string{"", "1", "2"}).Draw(rt, "scan")
			}
			if c.Kind != "" && rapid.IntRange(0, 3).Draw(rt, "keyed") == 0 {
				c.Replay = &store.Replay{Key: rapid.SampledFrom([]string{"k", "l"}).Draw(rt, "key"), BodyHash: [32]byte{rapid.Byte().Draw(rt, "body") / 128}}
			}
			before = append(before, c)
			return c
		})
		for _, commands := range rapid.SliceOfN(rapid.SliceOfN(command, 1, 14), 1, 5).Draw(rt, "batches") {
			now = now.Add(time.Hour)
			answers := batched.together(rt, commands)
			for i, c := range commands {
				if got := alone.together(rt, []store.Command{c})[0]; got != answers[i] {
					rt.Fatalf("%+v:\nin a batch %s\nalone      %s", c, answers[i], got)
				}
			}
		}
		if batched.contents(rt, account) != alone.contents(rt, account) {
			rt.Fatal("the files differ")
		}
		wrong, err := batched.Check(rt.Context())
		if err != nil || len(wrong) > 0 {
			rt.Fatal(wrong, err)
		}
	})
	stray, err := ledger.Collect(t.Context(), batched.reads, ledger.Value[int64], `SELECT s.id FROM seats s LEFT JOIN events e ON e.id = s.id AND e.account_id = s.account_id
		AND e.fingerprint = s.fingerprint AND e.kind = s.kind AND e.request_id = s.claimed_by AND e.at = s.first_at AND e.claimed WHERE e.id IS NULL
		UNION ALL SELECT id FROM events WHERE claimed AND id NOT IN (SELECT id FROM seats)`)
	if err != nil || len(stray) > 0 {
		t.Fatal(stray, err)
	}
}
