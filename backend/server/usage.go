package server

import (
	"context"
	"time"

	"svc/backend/api"
	"svc/backend/release"
	"svc/backend/store"
)

func (s *Server) usage(ctx context.Context, c caller, in api.UsageRequest) (api.UsageResponse, error) {
	o, err := s.record(ctx, c, usageCommand(c, in))
	if err != nil {
		return api.UsageResponse{}, err
	}
	return api.UsageResponse{
		EventID: o.EventID, Kind: in.Kind, VM: api.VMKey(in.Fingerprint),
		Licensed: o.Decision.Licensed, SeatClaimed: o.Decision.Claim, Billable: o.Decision.Billable, Overage: o.Decision.Overage,
	}, nil
}

func (s *Server) authorize(ctx context.Context, c caller, in api.UsageRequest) (api.AuthorizeResponse, error) {
	o, err := s.cfg.Store.Peek(ctx, usageCommand(c, in))
	if err != nil {
		return api.AuthorizeResponse{}, err
	}
	out := api.AuthorizeResponse{
		Allowed: o.Decision.Refusal == nil, Kind: in.Kind, VM: api.VMKey(in.Fingerprint),
		Licensed: o.Seated, WouldClaimSeat: o.Decision.Claim, Overage: o.Decision.Overage,
	}
	if e := o.Decision.Refusal; e != nil {
		out.Denial = &api.Denial{Status: e.Status(), Code: e.Code, Error: e.Message}
	}
	if in.Kind == api.CVEScanKind {
		found, err := s.cfg.Feeds.Match(release.Slug(in.Source.Distro, in.Source.Version), nil, s.cfg.Now())
		if err != nil {
			return api.AuthorizeResponse{}, err
		}
		out.Feed = &found.Feed
	}
	return out, nil
}

func (s *Server) enroll(ctx context.Context, c caller, in api.EnrollRequest) (api.EnrollResponse, error) {
	o, err := s.record(ctx, c, command(c, api.License, in.Fingerprint, in.Source))
	if err != nil {
		return api.EnrollResponse{}, err
	}
	return api.EnrollResponse{Seated: true, AlreadyLicensed: o.Seated}, nil
}

func (s *Server) cveScan(ctx context.Context, c caller, in api.CVEScanRequest) (api.CVEScanResponse, error) {
	slug := slug(in.Release)
	if _, known := release.Lookup(slug); !known && !s.cfg.Feeds.Has(slug) {
		return api.CVEScanResponse{}, s.unknownRelease(in.Release)
	}
	found, err := s.cfg.Feeds.Match(in.Release, in.Packages, s.cfg.Now())
	out := api.CVEScanResponse{Release: slug, Feed: found.Feed, Scanned: len(in.Packages), Matches: found.Matches, Updates: found.Updates, Unlisted: found.Unlisted}
	if err != nil || !found.Feed.Loaded { // nothing was compared: no seat, no event
		return out, err
	}
	distro, version := release.Split(slug)
	scan := command(c, api.CVEScanKind, in.Fingerprint, api.OS{Distro: distro, Version: version})
	scan.ScanID = in.ScanID
	o, err := s.record(ctx, c, scan)
	if err != nil {
		return api.CVEScanResponse{}, err
	}
	out.SeatClaimed = o.Decision.Claim
	return out, nil
}

// record has a command recorded, and turns the refusal of its decision into the
// error of the call. What is recorded was asked for with a token that holds.
func (s *Server) record(ctx context.Context, c caller, cmd store.Command) (store.Outcome, error) {
	o, err := s.cfg.Store.Record(ctx, cmd)
	if err == nil && o.Decision.Refusal != nil {
		err = o.Decision.Refusal
	}
	if err == nil {
		if o.Decision.Pool != "" && o.Decision.Claim {
			s.meters.count(seatsClaimed, "pool", string(o.Decision.Pool)).Inc()
		}
		c.Plan, c.Unlimited = o.Owner.Plan, o.Owner.Unlimited
		s.seen.keep(c.token, c.Principal)
	}
	return o, err
}

func usageCommand(c caller, in api.UsageRequest) store.Command {
	cmd := command(c, in.Kind, in.Fingerprint, in.Source)
	cmd.Target, cmd.HostHint = in.Target, string(in.HostHint)
	return cmd
}

// command has an id of its own: the caller's request id may come twice. It begins
// with the time, so that the index of ids grows at its end.
func command(c caller, kind api.Kind, fingerprint string, source api.OS) store.Command {
	return store.Command{
		RequestID: newID(uint64(time.Now().UnixMicro())), AccountID: c.AccountID, TokenID: c.TokenID, Kind: kind, Fingerprint: fingerprint, Source: source, Replay: c.replay,
	}
}
