package evidence

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/client"
	"svc/tools/artifact"
	"svc/tools/tool"
)

// Signer has attestations signed. It is made before anything is recorded, so that
// what it needs is there when a seat is claimed.
type Signer struct {
	client *client.Client
	keys   []ed25519.PublicKey // of the service, as far as this user trusts them
	Secret []byte              // of this user: salts follow from it
}

// NewSigner makes what a signature needs ready.
func NewSigner(ctx context.Context, env *tool.Env, c *client.Client) (*Signer, error) {
	secret, err := env.Secret()
	if err != nil {
		return nil, err
	}
	keys, err := ServiceKeys(ctx, env, c)
	return &Signer{c, keys, secret}, err
}

// Sign has the service sign a statement about the manifest whose SHA-256 is root,
// and checks what comes back before it is kept.
func (s *Signer) Sign(ctx context.Context, root string, p attest.Predicate) ([]byte, error) {
	statement, err := attest.New(root, p)
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(statement)
	if err != nil {
		return nil, fmt.Errorf("encoding the statement: %w", err)
	}
	envelope, err := client.Call(ctx, s.client, api.AttestSign, api.SignRequest{Statement: encoded})
	if err != nil {
		return nil, err
	}
	b, err := Document(envelope)
	if err != nil {
		return nil, err
	}
	signed, err := attest.Verify(b, s.keys)
	if err != nil {
		return nil, fmt.Errorf("checking the attestation that the service signed: %w", err)
	}
	if signed.Root() != root || signed.PredicateType != p.Type() {
		return nil, errors.New("the service signed something else than it was asked to; nothing was written")
	}
	return b, nil
}

// ServiceKeys are the service's public keys, as far as this user trusts them.
func ServiceKeys(ctx context.Context, env *tool.Env, c *client.Client) (keys []ed25519.PublicKey, err error) {
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

// Seal adds the manifest of what was staged, and the attestation that the service
// signs of it.
func Seal(ctx context.Context, staging *artifact.Staging, signer *Signer, p attest.Predicate) error {
	root, err := staging.Seal(signer.Secret)
	if err != nil {
		return err
	}
	envelope, err := signer.Sign(ctx, root, p)
	if err != nil {
		return err
	}
	return staging.Add(artifact.Files{AttestationFile: envelope})
}

// WriteOwn puts files into a folder, of which one tells what it is, with their manifest and
// an attestation that this user's own key signs.
func WriteOwn(out, main string, files artifact.Files, key ed25519.PrivateKey, p attest.Predicate) (artifact.Digests, error) {
	staging, err := artifact.Stage(out, main, files)
	if err != nil {
		return nil, err
	}
	if err := signOwn(staging, key, p); err != nil {
		return nil, errors.Join(err, staging.Discard())
	}
	return staging.Digests(), staging.Commit()
}

func signOwn(staging *artifact.Staging, key ed25519.PrivateKey, p attest.Predicate) error {
	root, err := staging.Seal(key.Seed())
	if err != nil {
		return err
	}
	s, err := attest.New(root, p)
	if err != nil {
		return fmt.Errorf("attesting: %w", err)
	}
	envelope, err := attest.Sign(s, key)
	if err != nil {
		return err
	}
	b, err := Document(envelope)
	if err != nil {
		return err
	}
	return staging.Add(artifact.Files{AttestationFile: b})
}
