package server

import (
	"context"
	"strings"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/api/schema"
)

// attestSign signs a statement about a VM that this account has seated. What
// the caller wrote about account and time is replaced.
func (s *Server) attestSign(ctx context.Context, c caller, in api.SignRequest) (api.Envelope, error) {
	statement, err := attest.Parse(in.Statement)
	if err != nil {
		return api.Envelope{}, malformed("%s", err)
	}
	predicate, err := statement.Known()
	if err != nil {
		return api.Envelope{}, malformed("%s", err)
	}
	seated, err := s.cfg.Store.Seated(ctx, c.AccountID, attest.VM(predicate))
	switch {
	case err != nil:
		return api.Envelope{}, err
	case !seated:
		return api.Envelope{}, api.Errorf(api.UnlicensedVM, "UNLICENSED_VM: this account has no seat for the VM of the statement; nothing was signed: license it with a migration, a verify or an enroll first")
	}
	issued, err := statement.Issue(c.AccountID, s.cfg.Now())
	if err != nil {
		return api.Envelope{}, err
	}
	return attest.Sign(issued, s.cfg.Key)
}

// schema is a published schema.
func (s *Server) schema(_ context.Context, _ caller, in api.SchemaRequest) (api.Document, error) {
	b, ok := schema.Get(string(in.Name))
	if !ok {
		return nil, api.Errorf(api.NotFound, "there is no schema %.80q: there are %s", in.Name, strings.Join(schema.Names(), ", "))
	}
	return b, nil
}

func (s *Server) attestKeys(ctx context.Context, _ caller, _ api.None) (api.KeysResponse, error) {
	keys, err := s.cfg.Store.Keys(ctx)
	return api.KeysResponse{Keys: keys}, err
}
