package service

import (
	"context"
	"crypto/ed25519"
	"flag"

	"github.com/peterbourgon/ff/v3/ffcli"

	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/store"
	"svc/cmd/svc/program"
)

// keyRotate makes a new signing key; what the old one signed stays good.
func (p Commands) keyRotate() *ffcli.Command {
	return p.storeCommand("rotate", "svc admin key rotate [--signing-key FILE]", "make a new signing key; a running service takes it when it is started again", func(fs *flag.FlagSet) {
		fs.StringVar(&p.Settings.SigningKey, "signing-key", p.Paths.Data("signing-key.pem"), "Ed25519 key that signs attestations")
	}, func(ctx context.Context, s store.Store) error {
		key := attest.NewKey()
		public := key.Public().(ed25519.PublicKey)
		if err := attest.ReplaceKey(p.Settings.SigningKey, key); err != nil {
			return err
		}
		err := s.AddKey(ctx, actor(), api.Key{KeyID: attest.KeyID(public), Algorithm: "ed25519", PEM: attest.PublicPEM(public)})
		return p.Answer(map[string]string{"keyid": attest.KeyID(public)}, err, func(w *program.View) { w.Line("new key %s in %s", attest.KeyID(public), p.Settings.SigningKey) })
	})
}
