package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/api/attest"
)

// maxEnvelope bounds an attestation file, in bytes.
const maxEnvelope = 16 << 20

func (p *program) attestCommand() *ffcli.Command {
	fs := p.flagSet("verify")
	key := fs.String("key", "", "file with the public keys, PEM; those pinned at first use where empty")
	return p.group("attest", "check attestations",
		p.command(fs, "svc attest verify FILE [--key FILE]", "check an attestation offline",
			func(_ context.Context, args []string) error {
				if len(args) != 1 {
					return usagef("attest verify takes one file")
				}
				return p.attestVerify(args[0], *key)
			}))
}

func (p *program) attestVerify(file, keyFile string) error {
	envelope, err := readBounded(file, maxEnvelope)
	if err != nil {
		return fmt.Errorf("reading the attestation: %w", err)
	}
	s, err := p.verify(envelope, keyFile)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return p.print(s, func(w *view) {
		w.line("the signature is good: %s", s.PredicateType)
		rows := [][]string{}
		for _, subject := range s.Subject {
			rows = append(rows, []string{subject.Digest["sha256"], subject.Name})
		}
		w.table(rows)
	})
}

// verify takes what a trusted key signed, and of this user's own key a plan of
// data alone: no service signs that.
func (p *program) verify(envelope []byte, keyFile string) (*attest.Statement, error) {
	if own := p.ownKey(); keyFile == "" && own != nil {
		s, err := attest.Verify(envelope, []ed25519.PublicKey{own})
		if err == nil && s.PredicateType == attest.DataPlanType {
			return s, nil
		}
	}
	keys, err := p.trustedKeys(keyFile)
	if err != nil {
		return nil, err
	}
	return attest.Verify(envelope, keys)
}

// localKey is the file of this user's own key.
func (p *program) localKey() string { return p.paths.data("local-key.pem") }

// ownKey is the public part of this user's own key, or nil where there is none.
func (p *program) ownKey() ed25519.PublicKey {
	if _, err := os.Stat(p.localKey()); err != nil {
		return nil
	}
	key, err := attest.LoadOrCreateKey(p.localKey())
	if err != nil {
		return nil
	}
	return key.Public().(ed25519.PublicKey)
}

// trustedKeys are the keys of the file named, or those that this user pinned.
func (p *program) trustedKeys(keyFile string) ([]ed25519.PublicKey, error) {
	if keyFile == "" {
		return p.pins().Keys(p.settings.server)
	}
	b, err := readBounded(keyFile, 1<<20)
	if err != nil {
		return nil, fmt.Errorf("reading the keys: %w", err)
	}
	return attest.ParsePublicKeys(b)
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
