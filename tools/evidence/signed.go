// Package evidence is what svc writes for others to rely on: documents and folders,
// signed by the service or by this user, and read again as they were signed.
package evidence

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"svc/backend/api/attest"
	"svc/tools/artifact"
)

// maxDocument bounds a document that svc wrote, in bytes.
const maxDocument = 256 << 20

// Signed is a folder that svc wrote, as it is read again.
type Signed struct {
	Digests artifact.Digests // of the documents that were read
	Root    string           // SHA-256 of the folder's manifest, once it was found good
}

// Read reads a document of the folder.
func (o *Signed) Read(dir, name, schema string, v any) (err error) {
	digest, err := ReadDocument(filepath.Join(dir, name), schema, v)
	if o.Digests == nil {
		o.Digests = artifact.Digests{}
	}
	o.Digests[name] = digest
	return err
}

// Attested checks that what was read of the folder is what one of the keys signed.
func (o *Signed) Attested(source string, keys []ed25519.PublicKey) error {
	b, err := ReadLocal(filepath.Join(source, AttestationFile), maxDocument)
	if err != nil {
		return fmt.Errorf("reading the source's attestation: %w", err)
	}
	statement, err := attest.Verify(b, keys)
	if err != nil {
		return fmt.Errorf("the attestation in %s does not hold: %w; nothing was compared: where a colleague made it, name their public key with --key FILE (svc attest keys prints it)", source, err)
	}
	o.Root = statement.Root()
	attested, err := artifact.ReadManifest(source, o.Root)
	if err != nil {
		return fmt.Errorf("%w; nothing was compared: use the folder as it was written", err)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Digests)) {
		if o.Digests[name] != attested[name] {
			return fmt.Errorf("%s in %s is not what was attested; nothing was compared: use the folder as it was written", name, source)
		}
	}
	return nil
}

// ReadDocument reads a JSON document of a schema that svc wrote, and gives its
// digest.
func ReadDocument(file, schema string, v any) (digest string, err error) {
	b, err := ReadLocal(file, maxDocument)
	if err != nil {
		return "", fmt.Errorf("reading the source: %w: name the out folder of a migration, or what `svc assess --json` printed", err)
	}
	var head struct{ Schema string }
	switch err := json.Unmarshal(b, &head); {
	case err != nil:
		return "", fmt.Errorf("reading the source: %s is no JSON document: name the out folder of a migration, or what `svc assess --json` printed", file)
	case head.Schema != schema:
		return "", fmt.Errorf("reading the source: %s is of the schema %.60q, not %s: name the out folder of a migration, or what `svc assess --json` printed", file, head.Schema, schema)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return "", fmt.Errorf("reading the source: %s: %w", file, err)
	}
	return artifact.Digest(b), nil
}

// ReadLocal reads a regular file of this host.
func ReadLocal(file string, limit int64) ([]byte, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", file)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that are read", file, info.Size(), limit)
	}
	return os.ReadFile(file)
}
