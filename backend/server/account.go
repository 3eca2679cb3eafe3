package server

import (
	"context"

	"svc/backend/api"
	"svc/backend/store"
)

func (s *Server) account(ctx context.Context, c caller, _ api.None) (api.Account, error) {
	return s.cfg.Store.Summary(ctx, c.AccountID)
}

func (s *Server) usageHistory(ctx context.Context, c caller, in api.Page) (api.UsageHistory, error) {
	p, err := pageOf(in.Limit, in.Offset, in.Cursor)
	if err != nil {
		return api.UsageHistory{}, err
	}
	return s.cfg.Store.Usage(ctx, c.AccountID, p)
}

func (s *Server) vms(ctx context.Context, c caller, in api.Page) (api.VMList, error) {
	p, err := pageOf(in.Limit, in.Offset, in.Cursor)
	if err != nil {
		return api.VMList{}, err
	}
	return s.cfg.Store.VMs(ctx, c.AccountID, p)
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
