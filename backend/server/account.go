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
	return s.cfg.Store.Usage(ctx, c.AccountID, store.Page(in))
}

func (s *Server) vms(ctx context.Context, c caller, in api.Page) (api.VMList, error) {
	return s.cfg.Store.VMs(ctx, c.AccountID, store.Page(in))
}

func (s *Server) statement(ctx context.Context, c caller, _ api.None) (api.Statement, error) {
	return s.cfg.Store.Statement(ctx, c.AccountID)
}

func (s *Server) capacity(ctx context.Context, c caller, _ api.None) (api.Capacity, error) {
	return s.cfg.Store.Capacity(ctx, c.AccountID)
}
