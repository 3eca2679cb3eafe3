package prove

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/client"
	"svc/backend/sliced"
	"svc/cmd/svc/exit"
	"svc/cmd/svc/program"
	"svc/tools/artifact"
)

// Attest is `svc attest`.
func (p Commands) Attest() *ffcli.Command {
	fs := p.FlagSet("verify")
	var c attestCheck
	fs.StringVar(&c.keyFile, "key", "", "file of public keys (PEM); without it, those pinned when this user first used the service")
	fs.BoolVar(&c.signatureOnly, "signature-only", false, "check the signature alone, not the files of the folder")
	return p.Group("svc attest", "check attestations",
		p.attestKeys(),
		p.Command(fs, "svc attest verify FILE|FOLDER [--key FILE] [--signature-only]", "check an attestation offline, and that its folder holds the files that were signed and no other",
			func(_ context.Context, args []string) error {
				if len(args) != 1 {
					return exit.Usagef("attest verify takes one file, or the folder that it is in")
				}
				c.file = args[0]
				return p.attestVerify(c)
			}))
}

// attestKeys prints the public keys of the service, and this user's own, which signs
// plans of data: what a colleague needs to check a folder that this user made.
func (p Commands) attestKeys() *ffcli.Command {
	return p.Command(p.FlagSet("keys"), "svc attest keys", "print the public keys that a colleague checks your folders with",
		program.NoArgs(func(ctx context.Context) error {
			c, err := p.Client(ctx)
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
			return p.Print(published, func(w *program.View) {
				for _, key := range published.Keys {
					for line := range strings.Lines(key.PEM) {
						w.Line("%s", strings.TrimSpace(line))
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

func (p Commands) attestVerify(c attestCheck) error {
	if info, err := os.Stat(c.file); err == nil && info.IsDir() {
		c.file = filepath.Join(c.file, artifact.Attestation)
	}
	envelope, err := program.ReadBounded(c.file, attest.MaxEnvelope)
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
		return p.Print(all, all.view)
	}
	digests, err := artifact.ReadManifest(filepath.Dir(c.file), all.Root())
	if err == nil {
		all.Files, err = digests.Compare(filepath.Dir(c.file), filepath.Base(c.file))
	}
	if err != nil {
		return fmt.Errorf("the signature is good, but the files could not be checked: %w; check it in its folder, or ask for the signature alone with --signature-only", err)
	}
	return cmp.Or(p.Print(all, all.view), all.unchanged())
}

func (a attested) view(w *program.View) {
	w.Line("the signature is good: %s", a.PredicateType)
	w.Line("signed by %s", a.SignedBy)
	rows := sliced.FilterMap(a.Files, func(f artifact.FileState) ([]string, bool) {
		return []string{f.State, f.Name}, f.State != artifact.Same
	})
	w.Table(rows)
	if len(a.Files) == 0 {
		w.Line("The files were not looked at.")
		return
	}
	w.Line("%d files are as they were signed.", len(a.Files)-len(rows))
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
func (p Commands) verify(envelope []byte, keyFile string, all *attested) error {
	signers, err := p.signers(keyFile)
	if err != nil {
		return err
	}
	if own := p.ownKey(); keyFile == "" && own != nil {
		signers = append(signers, program.Signer{Name: "this user's own key", Keys: []ed25519.PublicKey{own}, Only: attest.DataPlanType})
	}
	for _, by := range signers {
		s, err := attest.Verify(envelope, by.Keys)
		switch {
		case err == nil && (by.Only == "" || s.PredicateType == by.Only):
			all.Statement, all.SignedBy = *s, by.Name
			return nil
		case err != nil && !errors.Is(err, attest.ErrBadSignature):
			return err
		}
	}
	return p.unknownSigner(envelope, keyFile)
}

// signers are the keys of the file named; or those pinned for the server named;
// or, where none is named, for all.
func (p Commands) signers(keyFile string) ([]program.Signer, error) {
	if keyFile != "" {
		keys, err := program.ReadKeys(keyFile)
		return []program.Signer{{Name: "a key of " + keyFile, Keys: keys, Only: ""}}, err
	}
	if p.Settings.Server != "" {
		keys, err := p.Pins().Keys(p.Settings.Server)
		if err != nil && !errors.Is(err, program.ErrNoPins) {
			return nil, err
		}
		return []program.Signer{{Name: p.Settings.Server, Keys: keys, Only: ""}}, nil
	}
	return p.Pins().All()
}

// unknownSigner says whose signature it may be.
func (p Commands) unknownSigner(envelope []byte, keyFile string) error {
	if keyFile != "" {
		return attest.ErrBadSignature
	}
	all, err := p.Pins().All()
	if err != nil {
		return err
	}
	for _, by := range all {
		if _, err := attest.Verify(envelope, by.Keys); err == nil {
			return fmt.Errorf("it was signed by %s, and not by %s", by.Name, p.Settings.Server)
		}
	}
	return fmt.Errorf("%w; a key is pinned here when this user first uses a service: name another one's public key with --key FILE (PEM)", attest.ErrBadSignature)
}

// ownKey is the public part of this user's own key, or nil where there is none.
func (p Commands) ownKey() ed25519.PublicKey {
	if _, err := os.Stat(p.LocalKey()); err != nil {
		return nil
	}
	key, err := attest.LoadOrCreateKey(p.LocalKey())
	if err != nil {
		return nil
	}
	return key.Public().(ed25519.PublicKey)
}
