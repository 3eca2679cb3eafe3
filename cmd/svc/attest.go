package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/client"
	"svc/tools/artifact"
)

// maxKeys bounds a file of public keys, in bytes.
const maxKeys = 1 << 20

func (p *program) attestCommand() *ffcli.Command {
	fs := p.flagSet("verify")
	var c attestCheck
	fs.StringVar(&c.keyFile, "key", "", "file of public keys (PEM); without it, those pinned when this user first used the service")
	fs.BoolVar(&c.signatureOnly, "signature-only", false, "check the signature alone, not the files of the folder")
	return p.group("svc attest", "check attestations",
		p.attestKeys(),
		p.command(fs, "svc attest verify FILE|FOLDER [--key FILE] [--signature-only]", "check an attestation offline, and that its folder holds the files that were signed and no other",
			func(_ context.Context, args []string) error {
				if len(args) != 1 {
					return usagef("attest verify takes one file, or the folder that it is in")
				}
				c.file = args[0]
				return p.attestVerify(c)
			}))
}

// attestKeys prints the public keys of the service, and this user's own, which signs
// plans of data: what a colleague needs to check a folder that this user made.
func (p *program) attestKeys() *ffcli.Command {
	return p.command(p.flagSet("keys"), "svc attest keys", "print the public keys that a colleague checks your folders with",
		noArgs(func(ctx context.Context) error {
			c, err := p.client(ctx)
			if err != nil {
				return err
			}
			published, err := client.Call(ctx, c, api.AttestKeys, api.None{})
			if err != nil {
				return err
			}
			if own := p.ownKey(); own != nil {
				published.Keys = append(published.Keys, api.Key{KeyID: attest.KeyID(own), Algorithm: "ed25519", PEM: attest.PublicPEM(own)})
			}
			return p.print(published, func(w *view) {
				for _, key := range published.Keys {
					for line := range strings.Lines(key.PEM) {
						w.line("%s", strings.TrimSpace(line))
					}
				}
			})
		}))
}

// attestCheck is what a person wants checked.
type attestCheck struct {
	file          string
	keyFile       string
	signatureOnly bool
}

// attested is a statement whose signature is good, and the files of its folder.
type attested struct {
	attest.Statement
	SignedBy string               `json:"signed_by"`
	Files    []artifact.FileState `json:"files"` // none where the signature alone was asked for
}

func (p *program) attestVerify(c attestCheck) error {
	if info, err := os.Stat(c.file); err == nil && info.IsDir() {
		c.file = filepath.Join(c.file, artifact.Attestation)
	}
	envelope, err := readBounded(c.file, attest.MaxEnvelope)
	if err != nil {
		return fmt.Errorf("reading the attestation: %w", err)
	}
	if _, err := attest.Verify(envelope, nil); !errors.Is(err, attest.ErrBadSignature) {
		return fmt.Errorf("%s: %w", c.file, err)
	}
	all := attested{Files: []artifact.FileState{}}
	if err := p.verify(envelope, c.keyFile, &all); err != nil {
		return fmt.Errorf("%s: %w", c.file, err)
	}
	if c.signatureOnly {
		return p.print(all, all.view)
	}
	digests, err := artifact.ReadManifest(filepath.Dir(c.file), all.Root())
	if err == nil {
		all.Files, err = digests.Compare(filepath.Dir(c.file), filepath.Base(c.file))
	}
	if err != nil {
		return fmt.Errorf("the signature is good, but the files could not be checked: %w; check it in its folder, or ask for the signature alone with --signature-only", err)
	}
	if err := p.print(all, all.view); err != nil {
		return err
	}
	return all.unchanged()
}

func (a attested) view(w *view) {
	w.line("the signature is good: %s", a.PredicateType)
	w.line("signed by %s", a.SignedBy)
	rows := [][]string{}
	for _, f := range a.Files {
		if f.State != artifact.Same {
			rows = append(rows, []string{f.State, f.Name})
		}
	}
	w.table(rows)
	if len(a.Files) == 0 {
		w.line("The files were not looked at.")
		return
	}
	w.line("%d files are as they were signed.", len(a.Files)-len(rows))
}

// unchanged fails where the folder is not what was signed.
func (a attested) unchanged() error {
	by := map[string][]string{}
	for _, f := range a.Files {
		by[f.State] = append(by[f.State], f.Name)
	}
	said := []string{}
	for _, state := range []string{artifact.Added, artifact.Changed, artifact.Missing} {
		if names := by[state]; len(names) > 0 {
			said = append(said, fmt.Sprintf("%d %s (%s)", len(names), state, firstOf(names)))
		}
	}
	if len(said) == 0 {
		return nil
	}
	return fmt.Errorf("the signature is good, but the folder is not what was signed: %s; don't run it so: ansible reads what was added too. Move what is yours out of the folder, or have svc write it again into a new one, which is free", strings.Join(said, ", "))
}

// firstOf names a few.
func firstOf(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// verify takes what a trusted key signed, and of this user's own key a plan of
// data alone: no service signs that.
func (p *program) verify(envelope []byte, keyFile string, all *attested) error {
	signers, err := p.signers(keyFile)
	if err != nil {
		return err
	}
	if own := p.ownKey(); keyFile == "" && own != nil {
		signers = append(signers, signer{"this user's own key", []ed25519.PublicKey{own}, attest.DataPlanType})
	}
	for _, by := range signers {
		s, err := attest.Verify(envelope, by.keys)
		switch {
		case err == nil && (by.only == "" || s.PredicateType == by.only):
			all.Statement, all.SignedBy = *s, by.name
			return nil
		case err != nil && !errors.Is(err, attest.ErrBadSignature):
			return err
		}
	}
	return p.unknownSigner(envelope, keyFile)
}

// signer is somebody whose keys this user trusts.
type signer struct {
	name string
	keys []ed25519.PublicKey
	only string // predicate type; any where empty
}

// signers are the keys of the file named; or those pinned for the server named;
// or, where none is named, for all.
func (p *program) signers(keyFile string) ([]signer, error) {
	if keyFile != "" {
		keys, err := readKeys(keyFile)
		return []signer{{"a key of " + keyFile, keys, ""}}, err
	}
	if p.settings.server != "" {
		keys, err := p.pins().Keys(p.settings.server)
		if err != nil && !errors.Is(err, errNoPins) {
			return nil, err
		}
		return []signer{{p.settings.server, keys, ""}}, nil
	}
	return p.pins().all()
}

// readKeys reads a file of public keys.
func readKeys(file string) ([]ed25519.PublicKey, error) {
	b, err := readBounded(file, maxKeys)
	if err != nil {
		return nil, fmt.Errorf("reading the keys: %w", err)
	}
	keys, err := attest.ParsePublicKeys(b)
	if err != nil {
		return nil, fmt.Errorf("reading the keys of %s: %w", file, err)
	}
	return keys, nil
}

// unknownSigner says whose signature it may be.
func (p *program) unknownSigner(envelope []byte, keyFile string) error {
	if keyFile != "" {
		return attest.ErrBadSignature
	}
	all, err := p.pins().all()
	if err != nil {
		return err
	}
	for _, by := range all {
		if _, err := attest.Verify(envelope, by.keys); err == nil {
			return fmt.Errorf("it was signed by %s, and not by %s", by.name, p.settings.server)
		}
	}
	return fmt.Errorf("%w; a key is pinned here when this user first uses a service: name another one's public key with --key FILE (PEM)", attest.ErrBadSignature)
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
