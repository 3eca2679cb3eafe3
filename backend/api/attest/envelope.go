package attest

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"svc/backend/api"
)

// MaxEnvelope bounds an envelope that is read, in bytes.
const MaxEnvelope = 16 << 20

// maxSignatures bounds the signatures of an envelope that is read.
const maxSignatures = 16

// ErrBadSignature means that no trusted key signed these bytes: the envelope
// was changed, or somebody else signed it.
var ErrBadSignature = errors.New("no trusted key signed this attestation: it was changed, or signed by somebody else")

// Sign puts a statement into an envelope signed by key.
func Sign(s Statement, key ed25519.PrivateKey) (api.Envelope, error) {
	payload, err := json.Marshal(s, json.Deterministic(true))
	if err != nil {
		return api.Envelope{}, fmt.Errorf("encoding the statement: %w", err)
	}
	return api.Envelope{
		PayloadType: PayloadType,
		Payload:     base64.StdEncoding.EncodeToString(payload),
		Signatures: []api.Signature{{
			KeyID: KeyID(key.Public().(ed25519.PublicKey)),
			Sig:   base64.StdEncoding.EncodeToString(ed25519.Sign(key, preAuth(PayloadType, payload))),
		}},
	}, nil
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
		return nil, fmt.Errorf("reading the attestation: %w", err)
	}
	if e.PayloadType != PayloadType {
		return nil, fmt.Errorf("the attestation's payload type is %.80q, not %s", e.PayloadType, PayloadType)
	}
	payload, err := unbase64(e.Payload)
	if err != nil {
		return nil, fmt.Errorf("reading the payload: %w", err)
	}
	if err := verifySignatures(e, preAuth(e.PayloadType, payload), keys); err != nil {
		return nil, err
	}
	return Parse(payload)
}

// verifySignatures wants every signature well-formed and one by a trusted key.
func verifySignatures(e api.Envelope, signed []byte, keys []ed25519.PublicKey) error {
	if len(e.Signatures) > maxSignatures {
		return fmt.Errorf("the attestation has %d signatures, more than %d", len(e.Signatures), maxSignatures)
	}
	trusted := false
	for _, s := range e.Signatures {
		sig, err := unbase64(s.Sig)
		if err != nil {
			return fmt.Errorf("reading the signature: %w", err)
		}
		for _, key := range keys {
			trusted = trusted || KeyID(key) == s.KeyID && ed25519.Verify(key, signed, sig)
		}
	}
	if !trusted {
		return ErrBadSignature
	}
	return nil
}

// preAuth is DSSE's pre-authentication encoding: what is really signed.
func preAuth(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// unbase64 takes the one canonical spelling.
func unbase64(s string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err == nil && base64.StdEncoding.EncodeToString(b) != s {
		err = errors.New("not canonical base64")
	}
	return b, err
}
