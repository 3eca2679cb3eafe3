package ledger

import (
	"context"
	"math/bits"
	"strings"
	"time"

	"svc/backend/store"
	"svc/backend/store/lane"
)

// lookupTime bounds one search for tokens, a second try included. Who comes while
// one runs waits for the end of the next.
const lookupTime = 2500 * time.Millisecond

// lookup is a token that is looked for.
type lookup struct {
	hash  [32]byte
	found *store.Principal
}

// Authenticate implements store.Store. Nothing is remembered here from one request to
// the next, as what an operator changes holds at once; but requests that come at
// the same time share one query.
func (s *Ledger) Authenticate(ctx context.Context, hash [32]byte) (store.Principal, error) {
	l := &lookup{hash: hash}
	if err := s.tokens.Do(ctx, l); err != nil {
		return store.Principal{}, err
	}
	if l.found == nil {
		return store.Principal{}, store.ErrNotFound
	}
	return *l.found, nil
}

// findTokens looks for all tokens that wait.
func (s *Ledger) findTokens(batch []*lane.Task[*lookup]) {
	ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
	defer cancel()
	found, err := s.principals(ctx, batch)
	for _, t := range batch {
		if p, ok := found[t.Work.hash]; ok {
			t.Work.found = &p
		}
		t.Answer(err)
	}
}

// principals are those that the tokens stand for.
func (s *Ledger) principals(ctx context.Context, batch []*lane.Task[*lookup]) (map[[32]byte]store.Principal, error) {
	query, args := tokenQuery(batch)
	found := make(map[[32]byte]store.Principal, len(batch))
	_, err := Collect(ctx, s.Read, func(r Row) (hash []byte, err error) {
		var p store.Principal
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
func tokenQuery(batch []*lane.Task[*lookup]) (query string, args []any) {
	asked := map[[32]byte]bool{}
	for _, t := range batch {
		if hash := t.Work.hash; !asked[hash] {
			asked[hash], args = true, append(args, hash[:])
		}
	}
	size := 1 << bits.Len(uint(len(args)-1))
	for len(args) < size {
		args = append(args, args[len(args)-1])
	}
	return "SELECT hash, id, account_id, plan, unlimited FROM tokens WHERE disabled_at IS NULL AND NOT suspended AND hash IN (?" + strings.Repeat(", ?", size-1) + ")", args
}
