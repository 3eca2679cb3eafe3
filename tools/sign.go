package tools

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/client"
	"svc/tools/artifact"
)

// signer has attestations signed. It is made before anything is recorded, so that
// what it needs is there when a seat is claimed.
type signer struct {
	client *client.Client
	keys   []ed25519.PublicKey // of the service, as far as this user trusts them
	secret []byte              // of this user: salts follow from it
}

func newSigner(ctx context.Context, env *Env, c *client.Client) (*signer, error) {
	secret, err := env.secret()
	if err != nil {
		return nil, err
	}
	keys, err := serviceKeys(ctx, env, c)
	return &signer{c, keys, secret}, err
}

// secret is what this user alone knows on this machine: the seed of the local key.
func (e *Env) secret() ([]byte, error) {
	key, err := e.LocalKey()
	if err != nil {
		return nil, err
	}
	return key.Seed(), nil
}

// operationKey is the idempotency key of an operation on a machine: a repeat with
// the same outcome is the same operation. The digest of the outcome does not show
// in it.
func operationKey(secret []byte, usage api.UsageRequest, digest string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("svc operation\x00" + usage.Fingerprint + "\x00" + string(usage.Kind) + "\x00" + digest))
	return hex.EncodeToString(mac.Sum(nil))
}

// sign has the service sign a statement about the manifest whose SHA-256 is root,
// and checks what comes back before it is kept.
func (s *signer) sign(ctx context.Context, root string, p attest.Predicate) ([]byte, error) {
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
	b, err := document(envelope)
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

// seal adds the manifest of what was staged, and the attestation that the service
// signs of it.
func seal(ctx context.Context, staging *artifact.Staging, signer *signer, p attest.Predicate) error {
	root, err := staging.Seal(signer.secret)
	if err != nil {
		return err
	}
	envelope, err := signer.sign(ctx, root, p)
	if err != nil {
		return err
	}
	return staging.Add(artifact.Files{attestationFile: envelope})
}

// artifacts are the files of a folder with their digests, in the order of their
// names.
func artifacts(out string, digests artifact.Digests) []Artifact {
	all := []Artifact{}
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		all = append(all, Artifact{filepath.Join(out, name), digests[name]})
	}
	return all
}
