package store

import (
	"context"
	"math/bits"
	"strings"
	"time"
)

// lookupTime bounds one search for tokens, a second try included. Who comes while
// one runs waits for the end of the next.
const lookupTime = 2500 * time.Millisecond

// lookup is a token that is looked for.
type lookup struct {
	hash  [32]byte
	found *Principal
}

// Authenticate implements Store. Nothing is remembered here from one request to
// the next, as what an operator changes holds at once; but requests that come at
// the same time share one query.
func (s *ledger) Authenticate(ctx context.Context, hash [32]byte) (Principal, error) {
	l := &lookup{hash: hash}
	if err := s.tokens.do(ctx, l); err != nil {
		return Principal{}, err
	}
	if l.found == nil {
		return Principal{}, ErrNotFound
	}
	return *l.found, nil
}

// findTokens looks for all tokens that wait.
func (s *ledger) findTokens(batch []*task[*lookup]) {
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	found, err := s.principals(ctx, batch)
	for _, t := range batch {
		if p, ok := found[t.work.hash]; ok {
			t.work.found = &p
		}
		t.result <- err
	}
}

// principals are those that the tokens stand for.
func (s *ledger) principals(ctx context.Context, batch []*task[*lookup]) (map[[32]byte]Principal, error) {
	query, args := tokenQuery(batch)
	found := make(map[[32]byte]Principal, len(batch))
	_, err := collect(ctx, s.read, func(r row) (hash []byte, err error) {
		var p Principal
		if err = r.Scan(&hash, &p.TokenID, &p.AccountID, &p.Plan, &p.Unlimited); err == nil {
			found[[32]byte(hash)] = p
		}
		return hash, err
	}, query, args...)
	return found, err
}

// tokenQuery asks once for a token that several wait for. It has a power of two
// parameters, so that there are few statements to prepare; the last token fills
// what is over.
func tokenQuery(batch []*task[*lookup]) (query string, args []any) {
	asked := map[[32]byte]bool{}
	for _, t := range batch {
		if hash := t.work.hash; !asked[hash] {
			asked[hash], args = true, append(args, hash[:])
		}
	}
	size := 1 << bits.Len(uint(len(args)-1))
	for len(args) < size {
		args = append(args, args[len(args)-1])
	}
	return `SELECT t.hash, t.id, a.id, a.plan, a.unlimited FROM tokens t JOIN accounts a ON a.id = t.account_id
		WHERE t.disabled_at IS NULL AND NOT a.disabled AND t.hash IN (?` + strings.Repeat(", ?", size-1) + ")", args
}
