package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/api/attest"
	"svc/tools/artifact"
)

// maxEnvelope bounds an attestation file, in bytes.
const maxEnvelope = 16 << 20

func (p *program) attestCommand() *ffcli.Command {
	fs := p.flagSet("verify")
	key := fs.String("key", "", "file with the public keys, PEM; those pinned at first use where empty")
	return p.group("svc attest", "check attestations",
		p.command(fs, "svc attest verify FILE [--key FILE]", "check an attestation offline, and the files that lie beside it",
			func(_ context.Context, args []string) error {
				if len(args) != 1 {
					return usagef("attest verify takes one file")
				}
				return p.attestVerify(args[0], *key)
			}))
}

// attested is a statement whose signature is good, and the files that lie beside
// it.
type attested struct {
	attest.Statement
	Files []attestedFile `json:"files"`
}

// attestedFile is a subject of a statement as it lies beside the attestation.
type attestedFile struct {
	Name  string `json:"name"`
	State string `json:"state"` // same, changed, absent
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
	all := attested{*s, filesBeside(filepath.Dir(file), s.Subject)}
	if err := p.print(all, all.view); err != nil {
		return err
	}
	return all.unchanged()
}

func (a attested) view(w *view) {
	w.line("the signature is good: %s", a.PredicateType)
	rows := [][]string{}
	for i, subject := range a.Subject {
		rows = append(rows, []string{a.Files[i].State, subject.Digest["sha256"], subject.Name})
	}
	w.table(rows)
	if !slices.ContainsFunc(a.Files, func(f attestedFile) bool { return f.State != "absent" }) {
		w.line("None of its files lies beside it, so only the signature was checked.")
	}
}

// unchanged fails where a file is not what was attested.
func (a attested) unchanged() error {
	changed := []string{}
	for _, f := range a.Files {
		if f.State == "changed" {
			changed = append(changed, f.Name)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	const most = 5
	return fmt.Errorf("the signature is good, but %s not what was signed: %s", isOrAre(len(changed)), strings.Join(changed[:min(most, len(changed))], ", "))
}

func isOrAre(files int) string {
	if files == 1 {
		return "1 file beside it is"
	}
	return fmt.Sprintf("%d files beside it are", files)
}

// filesBeside holds the files of a folder against the digests of a statement, in
// its order. What can't be read as a file of the folder is not what was signed.
func filesBeside(dir string, subjects []attest.Subject) []attestedFile {
	all := make([]attestedFile, len(subjects))
	root, err := os.OpenRoot(dir)
	if err == nil {
		defer root.Close()
	}
	for i, s := range subjects {
		all[i] = attestedFile{s.Name, "absent"}
		if err != nil {
			continue
		}
		switch digest, err := digestOf(root, s.Name); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil || digest != s.Digest["sha256"]:
			all[i].State = "changed"
		default:
			all[i].State = "same"
		}
	}
	return all
}

// digestOf is the SHA-256 of a regular file of a folder, in hex.
func digestOf(root *os.Root, name string) (string, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file", name)
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return artifact.DigestOf(f)
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
