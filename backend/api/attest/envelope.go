package attest

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"svc/backend/api"
	"svc/backend/sliced"
)

// MaxEnvelope bounds an envelope that is read, in bytes.
const MaxEnvelope = 16 << 20

// maxSignatures bounds the signatures of an envelope that is read.
const maxSignatures = 16

// ErrBadSignature means that no trusted key signed these bytes: the envelope
// was changed, or somebody else signed it.
var ErrBadSignature = errors.New("no trusted key signed this attestation: it was changed, or signed by somebody else")

// ErrNone means that a file is no attestation.
var ErrNone = errors.New("this is no attestation: name the file attestation.dsse.json, or the folder that it is in")

// Sign puts a statement into an envelope signed by key.
func Sign(s Statement, key ed25519.PrivateKey) (api.Envelope, error) {
	payload, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return api.Envelope{}, fmt.Errorf("encoding the statement: %w", err)
	}
	signer, err := dsse.NewEnvelopeSigner(signer{verifier{key.Public().(ed25519.PublicKey)}, key})
	if err != nil {
		return api.Envelope{}, fmt.Errorf("signing the statement: %w", err)
	}
	signed, err := signer.SignPayload(context.Background(), PayloadType, payload)
	if err != nil {
		return api.Envelope{}, fmt.Errorf("signing the statement: %w", err)
	}
	signatures := sliced.Map(signed.Signatures, func(s dsse.Signature) api.Signature { return api.Signature(s) })
	return api.Envelope{PayloadType: signed.PayloadType, Payload: signed.Payload, Signatures: signatures}, nil
}

// Verify reads an envelope and gives its statement if one of keys signed it.
// It is stricter than DSSE asks: unknown members, other spellings of the same
// base64 and signatures that name no key are refused, so an envelope that
// verifies is, byte for byte, what was signed.
func Verify(envelope []byte, keys []ed25519.PublicKey) (*Statement, error) {
	if len(envelope) > MaxEnvelope {
		return nil, fmt.Errorf("the attestation has %d bytes, more than %d", len(envelope), MaxEnvelope)
	}
	var e api.Envelope
	if err := decode(envelope, &e); err != nil {
		return nil, ErrNone
	}
	if e.PayloadType != PayloadType {
		return nil, fmt.Errorf("the attestation's payload type is %.80q, not %s", e.PayloadType, PayloadType)
	}
	if err := wellFormed(e); err != nil {
		return nil, err
	}
	payload, err := trusted(e, keys)
	if err != nil {
		return nil, err
	}
	return Parse(payload)
}

// wellFormed wants canonical base64 throughout and a key for every signature.
func wellFormed(e api.Envelope) error {
	if _, err := unbase64(e.Payload); err != nil {
		return fmt.Errorf("reading the payload: %w", err)
	}
	if len(e.Signatures) > maxSignatures {
		return fmt.Errorf("the attestation has %d signatures, more than %d", len(e.Signatures), maxSignatures)
	}
	for _, s := range e.Signatures {
		if _, err := unbase64(s.Sig); err != nil || s.KeyID == "" {
			return fmt.Errorf("reading the signatures: each must be base64 and name its key (%v)", err)
		}
	}
	return nil
}

// trusted gives the payload if one of keys signed it. Each key is tried alone:
// of several at once the library complains on stdout.
func trusted(e api.Envelope, keys []ed25519.PublicKey) ([]byte, error) {
	signatures := sliced.Map(e.Signatures, func(s api.Signature) dsse.Signature { return dsse.Signature(s) })
	signed := &dsse.Envelope{PayloadType: e.PayloadType, Payload: e.Payload, Signatures: signatures}
	for _, key := range keys {
		v, err := dsse.NewEnvelopeVerifier(verifier{key})
		if err != nil {
			return nil, fmt.Errorf("checking the signature: %w", err)
		}
		if _, payload, err := v.VerifyAndDecode(context.Background(), signed); err == nil {
			return payload, nil
		}
	}
	return nil, ErrBadSignature
}

// verifier is an Ed25519 public key as the library takes it.
type verifier struct{ key ed25519.PublicKey }

func (v verifier) KeyID() (string, error)   { return KeyID(v.key), nil }
func (v verifier) Public() crypto.PublicKey { return v.key }

func (v verifier) Verify(_ context.Context, data, sig []byte) error {
	if !ed25519.Verify(v.key, data, sig) {
		return ErrBadSignature
	}
	return nil
}

// signer is an Ed25519 private key as the library takes it.
type signer struct {
	verifier
	private ed25519.PrivateKey
}

func (s signer) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(s.private, data), nil
}

// unbase64 takes the one canonical spelling.
func unbase64(s string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err == nil && base64.StdEncoding.EncodeToString(b) != s {
		err = errors.New("not canonical base64")
	}
	return b, err
}
