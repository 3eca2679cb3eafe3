package server

import (
	"context"
	"errors"

	"svc/backend/api"
	"svc/backend/store"
)

func (s *Server) account(ctx context.Context, c caller, _ api.None) (api.Account, error) {
	return s.cfg.Store.Summary(ctx, c.AccountID)
}

func (s *Server) usageHistory(ctx context.Context, c caller, in api.Page) (api.UsageHistory, error) {
	return paged(ctx, c, in, s.cfg.Store.Usage)
}

func (s *Server) vms(ctx context.Context, c caller, in api.Page) (api.VMList, error) {
	return paged(ctx, c, in, s.cfg.Store.VMs)
}

// paged answers with a page of one of the caller's lists.
func paged[T any](ctx context.Context, c caller, in api.Page, list func(context.Context, int64, store.Page) (T, error)) (out T, err error) {
	p, err := pageOf(in.Limit, in.Offset, in.Cursor)
	if err != nil {
		return out, err
	}
	out, err = list(ctx, c.AccountID, p)
	return out, tooFar(p, err)
}

// farOffset is from where on a page may not be reached in time: a store goes past all
// entries before it, at a microsecond each or more.
const farOffset = 100_000

// tooFar is the error of a page. One that was not reached in time would not be the
// next time either, and each time keeps the store busy: who is told to try again does.
func tooFar(p store.Page, err error) error {
	if p.Offset < farOffset || !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return errors.Join(api.Errorf(api.MalformedRequest,
		"the page at offset %d was not reached in %s; nothing was changed: go on from a page's next_cursor, with cursor in place of offset, which takes as long anywhere in the list", p.Offset, workTimeout), err)
}

// pageOf is a page that begins at an offset or at a cursor.
func pageOf(limit, offset int, cursor string) (store.Page, error) {
	if cursor != "" {
		return store.PageAt(cursor, limit)
	}
	return store.Page{Limit: limit, Offset: offset}, nil
}

func (s *Server) capacity(ctx context.Context, c caller, _ api.None) (api.Capacity, error) {
	return s.cfg.Store.Capacity(ctx, c.AccountID)
}
