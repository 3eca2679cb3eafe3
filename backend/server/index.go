package server

import (
	"context"

	"svc/backend/api"
	"svc/backend/release"
	"svc/backend/sliced"
)

func (s *Server) resolve(ctx context.Context, c caller, in api.ResolveRequest) (api.ResolveResponse, error) {
	results, err := s.cfg.Index.Of(in.Architecture).Resolve(in.Release, in.Packages)
	if err != nil {
		return api.ResolveResponse{}, err
	}
	out := api.ResolveResponse{Release: slug(in.Release), IndexVersion: s.cfg.Index.Version(), Results: results}
	out.Unresolved = sliced.Count(results, func(r api.Resolution) bool { return r.Match == api.MatchNone })
	out.Resolved = len(results) - out.Unresolved
	return out, s.cfg.Store.Meter(ctx, c.AccountID)
}

func (s *Server) translate(ctx context.Context, c caller, in api.TranslateRequest) (api.TranslateResponse, error) {
	results, err := s.cfg.Index.Of(in.Architecture).Translate(in.Source, in.Target, in.Canonicals)
	if err != nil {
		return api.TranslateResponse{}, err
	}
	return api.TranslateResponse{
		Source: slug(in.Source), Target: slug(in.Target), IndexVersion: s.cfg.Index.Version(), Results: results,
	}, s.cfg.Store.Meter(ctx, c.AccountID)
}

func (s *Server) configPaths(ctx context.Context, c caller, in api.TranslateRequest) (api.ConfigPathsResponse, error) {
	results, err := s.cfg.Index.ConfigPaths(in.Source, in.Target, in.Canonicals)
	if err != nil {
		return api.ConfigPathsResponse{}, err
	}
	return api.ConfigPathsResponse{
		Source: slug(in.Source), Target: slug(in.Target), IndexVersion: s.cfg.Index.Version(), Results: results,
	}, s.cfg.Store.Meter(ctx, c.AccountID)
}

func (s *Server) releases(context.Context, caller, api.None) (api.ReleasesResponse, error) {
	return api.ReleasesResponse{IndexVersion: s.cfg.Index.Version(), IndexDate: s.cfg.Index.Date(), Releases: s.cfg.Index.Releases()}, nil
}

func (s *Server) upgradeEdges(_ context.Context, _ caller, in api.UpgradeEdgesRequest) (api.UpgradeEdgesResponse, error) {
	return s.cfg.Index.UpgradeEdges(in.Engine)
}

// slug is the one name of a release that the index knows.
func slug(name string) string {
	if r, ok := release.Lookup(name); ok {
		return r.Slug
	}
	return name
}
