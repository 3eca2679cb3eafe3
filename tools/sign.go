package tools

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/client"
	"svc/tools/artifact"
)

// signed has the service sign a statement over files, and checks what comes back
// before it is kept.
func signed(ctx context.Context, env *Env, c *client.Client, files artifact.Files, p attest.Predicate) ([]byte, error) {
	subjects := []attest.Subject{}
	for _, name := range sortedNames(files) {
		subjects = append(subjects, attest.File(name, artifact.Digest(files[name])))
	}
	statement, err := attest.New(subjects, p)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(statement)
	if err != nil {
		return nil, fmt.Errorf("encoding the statement: %w", err)
	}
	envelope, err := client.Call(ctx, c, api.AttestSign, api.SignRequest{Statement: encoded})
	if err != nil {
		return nil, err
	}
	b, err := document(envelope)
	if err != nil {
		return nil, err
	}
	return b, checkSigned(ctx, env, c, b, subjects)
}

// checkSigned checks a signed envelope against the service's keys and against
// what was to be signed.
func checkSigned(ctx context.Context, env *Env, c *client.Client, envelope []byte, subjects []attest.Subject) error {
	keys, err := serviceKeys(ctx, env, c)
	if err != nil {
		return err
	}
	s, err := attest.Verify(envelope, keys)
	if err != nil {
		return fmt.Errorf("checking the attestation that the service signed: %w", err)
	}
	if !slices.EqualFunc(s.Subject, subjects, func(a, b attest.Subject) bool { return a.Name == b.Name && a.Digest["sha256"] == b.Digest["sha256"] }) {
		return errors.New("the service signed something else than it was asked to; nothing was written")
	}
	return nil
}

// serviceKeys are the service's public keys, as far as this user trusts them.
func serviceKeys(ctx context.Context, env *Env, c *client.Client) (keys []ed25519.PublicKey, err error) {
	published, err := client.Call(ctx, c, api.AttestKeys, api.None{})
	if err != nil {
		return nil, err
	}
	if env.Trust != nil {
		return env.Trust(published.Keys)
	}
	for _, k := range published.Keys {
		parsed, err := attest.ParsePublicKeys([]byte(k.PEM))
		if err != nil {
			return nil, fmt.Errorf("reading the service's keys: %w", err)
		}
		keys = append(keys, parsed...)
	}
	return keys, nil
}
