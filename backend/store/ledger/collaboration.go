package ledger

import (
	"context"
	"encoding/json"
	"errors"

	"svc/backend/api"
	"svc/backend/store"
)

const findingColumns = "id, kind, title, body, release, redactions, created_at, updated_at, resolved_at"

func scanFinding(r Row) (f api.Finding, err error) {
	var redactions string
	if err := r.Scan(&f.ID, &f.Kind, &f.Title, &f.Body, &f.Release, &redactions, at(&f.CreatedAt), at(&f.UpdatedAt), at(&f.ResolvedAt)); err != nil {
		return f, err
	}
	f.Status = "open"
	if f.ResolvedAt != nil {
		f.Status = "fixed"
	}
	return f, json.Unmarshal([]byte(redactions), &f.Redactions)
}

// counts is a set of redactions as a column keeps it: never null.
func counts(redactions map[string]int) (string, error) {
	if redactions == nil {
		return "{}", nil
	}
	b, err := json.Marshal(redactions)
	return string(b), err
}

// FileFinding implements store.Store.
func (s *Ledger) FileFinding(ctx context.Context, account int64, f api.FindingRequest, redactions map[string]int, r *store.Replay) (api.Finding, error) {
	counted, err := counts(redactions)
	if err != nil {
		return api.Finding{}, err
	}
	return replayed(ctx, s, account, r, func(t *Tx) (api.Finding, error) {
		return One(t.Ctx, t, scanFinding, `INSERT INTO findings (account_id, kind, title, body, release, redactions, created_at, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING `+findingColumns,
			account, f.Kind, f.Title, f.Body, f.Release, counted, Instant(t.Now), Instant(t.Now))
	})
}

// Finding implements store.Store.
func (s *Ledger) Finding(ctx context.Context, account, id int64) (api.Finding, error) {
	return One(ctx, s.Read, scanFinding, "SELECT "+findingColumns+" FROM findings WHERE account_id = ? AND id = ?", account, id)
}

// Findings implements store.Store.
func (s *Ledger) Findings(ctx context.Context, account int64, p store.Page) (api.FindingList, error) {
	all, more, err := newest(ctx, s.Read, scanFinding, findingColumns+" FROM findings", account, p)
	return api.FindingList{Findings: all, Count: len(all), HasMore: more, Limit: p.Limit, Offset: p.Offset}, err
}

// newest is a page of an account's rows, the last that came first, and whether there are more.
func newest[T any](ctx context.Context, q Querier, scan func(Row) (T, error), columnsFrom string, account int64, p store.Page) ([]T, bool, error) {
	all, err := Collect(ctx, q, scan, "SELECT "+columnsFrom+" WHERE account_id = ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?", account, p.Limit+1, p.Offset)
	if len(all) > p.Limit {
		return all[:p.Limit], true, err
	}
	return all, false, err
}

// EveryFinding implements store.Operator.
func (s *Ledger) EveryFinding(ctx context.Context, open bool) ([]api.Finding, error) {
	return Collect(ctx, s.Read, scanFinding, "SELECT "+findingColumns+" FROM findings"+where(open, "resolved_at IS NULL")+" ORDER BY created_at, id")
}

// ResolveFinding implements store.Store.
func (s *Ledger) ResolveFinding(ctx context.Context, id int64, channel string) (f api.Finding, err error) {
	err = s.Change(ctx, func(t *Tx) error {
		account, err := t.accountOf("findings", id)
		if err != nil {
			return err
		}
		f, err = One(t.Ctx, t, scanFinding, "SELECT "+findingColumns+" FROM findings WHERE account_id = ? AND id = ?"+t.Locked, account, id)
		if err != nil || f.Status == "fixed" {
			return err
		}
		tag, err := One(t.Ctx, t, Value[string], "SELECT tag FROM releases WHERE channel = ? ORDER BY staged_at DESC, tag DESC LIMIT 1", channel)
		if errors.Is(err, store.ErrNotFound) {
			return store.ErrNoStagedRelease
		}
		if err != nil {
			return err
		}
		f, err = One(t.Ctx, t, scanFinding, "UPDATE findings SET release = ?, resolved_at = ?, updated_at = ? WHERE account_id = ? AND id = ? RETURNING "+findingColumns,
			tag, Instant(t.Now), Instant(t.Now), account, id)
		return err
	})
	return f, err
}

const questionColumns = "id, question, answer, redactions, created_at, answered_at"

func scanQuestion(r Row) (q api.Question, err error) {
	var redactions string
	if err := r.Scan(&q.ID, &q.Question, &q.Answer, &redactions, at(&q.CreatedAt), at(&q.AnsweredAt)); err != nil {
		return q, err
	}
	q.Status = "open"
	if q.Answer != nil {
		q.Status = "answered"
	}
	return q, json.Unmarshal([]byte(redactions), &q.Redactions)
}

// AskQuestion implements store.Store.
func (s *Ledger) AskQuestion(ctx context.Context, account int64, question string, redactions map[string]int, r *store.Replay) (api.Question, error) {
	counted, err := counts(redactions)
	if err != nil {
		return api.Question{}, err
	}
	return replayed(ctx, s, account, r, func(t *Tx) (api.Question, error) {
		return One(t.Ctx, t, scanQuestion, "INSERT INTO questions (account_id, question, redactions, created_at) VALUES (?, ?, ?, ?) RETURNING "+questionColumns,
			account, question, counted, Instant(t.Now))
	})
}

// Question implements store.Store.
func (s *Ledger) Question(ctx context.Context, account, id int64) (api.Question, error) {
	return One(ctx, s.Read, scanQuestion, "SELECT "+questionColumns+" FROM questions WHERE account_id = ? AND id = ?", account, id)
}

// Questions implements store.Store.
func (s *Ledger) Questions(ctx context.Context, account int64, p store.Page) (api.QuestionList, error) {
	all, more, err := newest(ctx, s.Read, scanQuestion, questionColumns+" FROM questions", account, p)
	return api.QuestionList{Questions: all, Count: len(all), HasMore: more, Limit: p.Limit, Offset: p.Offset}, err
}

// EveryQuestion implements store.Operator.
func (s *Ledger) EveryQuestion(ctx context.Context, open bool) ([]api.Question, error) {
	return Collect(ctx, s.Read, scanQuestion, "SELECT "+questionColumns+" FROM questions"+where(open, "answer IS NULL")+" ORDER BY created_at, id")
}

// where is the clause of a condition that may be asked for.
func where(asked bool, condition string) string {
	if asked {
		return " WHERE " + condition
	}
	return ""
}

// AnswerQuestion implements store.Store.
func (s *Ledger) AnswerQuestion(ctx context.Context, id int64, answer string) (q api.Question, err error) {
	err = s.Change(ctx, func(t *Tx) error {
		account, err := t.accountOf("questions", id)
		if err != nil {
			return err
		}
		q, err = One(t.Ctx, t, scanQuestion, "UPDATE questions SET answer = ?, answered_at = ? WHERE account_id = ? AND id = ? RETURNING "+questionColumns, answer, Instant(t.Now), account, id)
		return err
	})
	return q, err
}

// Releases implements store.Store.
func (s *Ledger) Releases(ctx context.Context) ([]api.Release, error) {
	return Collect(ctx, s.Read, func(r Row) (v api.Release, err error) {
		err = r.Scan(&v.Tag, &v.Channel, &v.Notes, at(&v.PublishedAt))
		return v, err
	}, "SELECT tag, channel, notes, published_at FROM releases WHERE published_at IS NOT NULL ORDER BY published_at DESC, tag DESC")
}

// Keys implements store.Store.
func (s *Ledger) Keys(ctx context.Context) ([]api.Key, error) {
	return Collect(ctx, s.Read, func(r Row) (k api.Key, err error) {
		err = r.Scan(&k.KeyID, &k.Algorithm, &k.PEM, at(&k.CreatedAt), at(&k.RetiredAt))
		return k, err
	}, "SELECT key_id, algorithm, pem, created_at, retired_at FROM keys ORDER BY created_at, key_id")
}
