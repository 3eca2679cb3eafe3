// Package archive brings the metadata of apt and rpm archives into a folder, by
// HTTP or from a folder that mirrors them, and checks their signatures and
// digests: nothing is used that the archive's key does not vouch for.
package archive

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/clearsign"

	"svc/backend/osfile"
	"svc/backend/release"
)

// maxSigned bounds a signed file and a keyring, in bytes.
const maxSigned = 64 << 20

// Keyring has the keys that may sign; nil where nothing is to be signed.
type Keyring openpgp.EntityList

// ReadKeyrings reads files of OpenPGP keys.
func ReadKeyrings(paths []string) (all Keyring, err error) {
	for _, path := range paths {
		keys, err := readKeyring(path)
		if err != nil {
			return nil, err
		}
		all = append(all, keys...)
	}
	return all, nil
}

// readKeyring reads a file of keys, armored or not.
func readKeyring(path string) (Keyring, error) {
	text, err := osfile.Read(path, maxSigned)
	if err != nil {
		return nil, fmt.Errorf("reading keyring: %w", err)
	}
	read := openpgp.ReadKeyRing
	if bytes.Contains(text, []byte("-----BEGIN PGP")) {
		read = openpgp.ReadArmoredKeyRing
	}
	keys, err := read(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("reading keyring %s: %w", path, err)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("reading keyring %s: it has no key", path)
	}
	return Keyring(keys), nil
}

// SystemKeyring reads the keys that this system has of the archive of a release.
func SystemKeyring(slug string) (Keyring, error) {
	r, _ := release.Lookup(slug)
	keys, err := readKeyring(r.Family.Conventions().Keyring)
	if err != nil {
		return nil, fmt.Errorf("%w; name the archive's keys with --keyring", err)
	}
	return keys, nil
}

// clearsigned gives the text that a message with its signature inside vouches
// for, and nothing that stands around it.
func (k Keyring) clearsigned(message []byte) ([]byte, error) {
	block, _ := clearsign.Decode(message)
	if block == nil {
		return nil, errors.New("checking signature: the file has none")
	}
	if _, err := block.VerifySignature(openpgp.EntityList(k), nil); err != nil {
		return nil, fmt.Errorf("checking signature: %w", err)
	}
	return block.Plaintext, nil
}

// detached checks the signature that stands in a file of its own, armored or not.
func (k Keyring) detached(text, signature []byte) error {
	check := openpgp.CheckDetachedSignature
	if bytes.Contains(signature, []byte("-----BEGIN PGP")) {
		check = openpgp.CheckArmoredDetachedSignature
	}
	if _, err := check(openpgp.EntityList(k), bytes.NewReader(text), bytes.NewReader(signature), nil); err != nil {
		return fmt.Errorf("checking signature: %w", err)
	}
	return nil
}
