package postgres

import (
	"context"
	"sync"

	"svc/backend/store/ledger"
)

// idsAtOnce is the increment of the sequence of event ids.
const idsAtOnce = 1000

// ids hands out ids of events. Those of a process are taken from the database many at
// once; what is left of them when it ends, no event gets.
type ids struct {
	mu         sync.Mutex
	next, left int64
}

// take takes some ids in their order, new ones over the connection that the caller has, if any.
func (i *ids) take(ctx context.Context, conn pgxQuerier, n int) ([]int64, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	taken := make([]int64, n)
	for k := range taken {
		if i.left == 0 {
			first, err := ledger.One(ctx, numbered{conn}, ledger.Value[int64], "SELECT nextval('event_ids')")
			if err != nil {
				return nil, err
			}
			i.next, i.left = first, idsAtOnce
		}
		taken[k] = i.next
		i.next, i.left = i.next+1, i.left-1
	}
	return taken, nil
}
