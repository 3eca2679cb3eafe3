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
	keys, err := p.trustedKeys(keyFile)
	if err != nil {
		return err
	}
	s, err := attest.Verify(envelope, keys)
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
