package attest

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"svc/backend/firstuse"
)

const (
	privateBlock = "PRIVATE KEY"
	publicBlock  = "PUBLIC KEY"
)

// KeyID names a public key: the SHA-256 of its PKIX DER form, in hex.
func KeyID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(der(key))
	return hex.EncodeToString(sum[:])
}

// PublicPEM is a public key as PEM, PKIX.
func PublicPEM(key ed25519.PublicKey) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: publicBlock, Bytes: der(key)}))
}

// ed25519Prefix is what PKIX puts before the 32 bytes of an Ed25519 key.
const ed25519Prefix = "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"

func der(key ed25519.PublicKey) []byte { return append([]byte(ed25519Prefix), key...) }

// ParsePublicKeys reads every public key of a PEM file, or fails.
func ParsePublicKeys(b []byte) ([]ed25519.PublicKey, error) {
	var keys []ed25519.PublicKey
	for block, rest := pem.Decode(b); block != nil; block, rest = pem.Decode(rest) {
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("public key %d is damaged", len(keys)+1)
		}
		key, ok := parsed.(ed25519.PublicKey)
		if !ok {
			return nil, fmt.Errorf("public key %d is no Ed25519 key", len(keys)+1)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errors.New("there is no public key in it that svc knows: it must be Ed25519, as PEM (BEGIN PUBLIC KEY)")
	}
	return keys, nil
}

// NewKey makes a signing key.
func NewKey() ed25519.PrivateKey {
	// crypto/rand never fails.
	_, key, _ := ed25519.GenerateKey(rand.Reader)
	return key
}

// LoadOrCreateKey reads the signing key of a PEM file, PKCS 8. Where there is
// no file it makes a key and the file, 0600; of several processes that do so
// at once, all get the key of the first.
func LoadOrCreateKey(path string) (ed25519.PrivateKey, error) {
	b, err := firstuse.File(path, func() ([]byte, error) { return privatePEM(NewKey()) })
	if err != nil {
		return nil, fmt.Errorf("opening the signing key: %w", err)
	}
	key, err := parsePrivate(b)
	if err != nil {
		return nil, fmt.Errorf("reading the signing key %s: %w", path, err)
	}
	return key, nil
}

// ReplaceKey puts a signing key in the place of the one that the file may
// hold, whole or not at all: what the old one signed stays valid where its
// public key is listed. A file that holds something else stays, with an error.
func ReplaceKey(path string, key ed25519.PrivateKey) error {
	if b, err := os.ReadFile(path); err == nil {
		if _, err := parsePrivate(b); err != nil {
			return fmt.Errorf("%s is not replaced: %w", path, err)
		}
	}
	b, err := privatePEM(key)
	if err == nil {
		err = firstuse.Replace(path, b)
	}
	if err != nil {
		return fmt.Errorf("saving the signing key: %w", err)
	}
	return nil
}

func privatePEM(key ed25519.PrivateKey) ([]byte, error) {
	b, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: privateBlock, Bytes: b}), err
}

func parsePrivate(b []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(b)
	if block == nil || block.Type != privateBlock {
		return nil, errors.New("it holds no PEM private key")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("it holds no Ed25519 key")
	}
	return key, nil
}
