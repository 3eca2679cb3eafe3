package server

import (
	"context"

	"svc/backend/api"
	"svc/backend/release"
	"svc/backend/sliced"
)

// maxHistory bounds the releases that the version lists.
const maxHistory = 20

func (s *Server) health(context.Context, caller, api.None) (api.HealthResponse, error) {
	return api.HealthResponse{Status: "ok"}, nil
}

func (s *Server) version(ctx context.Context, _ caller, _ api.None) (api.VersionResponse, error) {
	published, err := s.cfg.Store.Releases(ctx)
	if err != nil {
		return api.VersionResponse{}, err
	}
	return api.VersionResponse{
		Service:  api.ServiceVersion{Version: s.cfg.Version, Commit: s.cfg.Commit},
		Releases: api.ChannelReleases{Stable: newest(published, "stable"), Beta: newest(published, "beta")},
		History:  published[:min(maxHistory, len(published))],
	}, nil
}

// newest is the first release of a channel in a list that has the newest first.
func newest(releases []api.Release, channel string) *api.Release {
	return sliced.Pointer(releases, func(r api.Release) bool { return r.Channel == channel })
}

func (s *Server) openAPI(context.Context, caller, api.None) (api.Document, error) {
	return s.document()
}

// unknownRelease names the nearest releases that the index knows.
func (s *Server) unknownRelease(name string) error {
	known := sliced.Map(s.cfg.Index.Releases(), func(r api.ReleaseInfo) string { return r.Slug })
	return api.Errorf(api.UnknownRelease, "the release %.80q is not known: %s", name, release.Instead(name, 3, known))
}
