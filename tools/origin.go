package tools

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v4"

	"svc/assess"
	"svc/backend/api"
	"svc/backend/api/attest"
	"svc/backend/client"
	"svc/backend/release"
	"svc/tools/artifact"
	"svc/tools/migration"
	"svc/tools/parity"
)

// origin is what a machine is compared with.
type origin struct {
	before  *assess.Assessment
	plan    *migration.Plan   // nil where there is only an assessment
	written map[string][]byte // what the role writes, by path on the target
	parity  *parity.Report    // of a verification's folder
	digests artifact.Digests  // of the documents read of a folder
	root    string            // SHA-256 of the folder's manifest, once it was found good
}

// readOrigin reads the folder of a migration or of a verification, or an
// assessment.
func readOrigin(source string) (*origin, error) {
	info, err := os.Stat(source)
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	o := &origin{digests: artifact.Digests{}}
	if !info.IsDir() {
		_, err := readDocument(source, assess.Schema, &o.before)
		return o, err
	}
	if err := o.read(source, assessmentFile, assess.Schema, &o.before); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(source, parityFile)); err == nil {
		return o, o.read(source, parityFile, parity.Schema, &o.parity)
	}
	if err := o.read(source, planFile, migration.Schema, &o.plan); err != nil {
		return nil, err
	}
	o.written, err = readRole(source)
	return o, err
}

// read reads a document of a folder.
func (o *origin) read(dir, name, schema string, v any) (err error) {
	o.digests[name], err = readDocument(filepath.Join(dir, name), schema, v)
	return err
}

// attested checks that what was read of a folder is what one of the keys signed.
func (o *origin) attested(source string, keys []ed25519.PublicKey) error {
	b, err := readLocal(filepath.Join(source, attestationFile), maxDocument)
	if err != nil {
		return fmt.Errorf("reading the source's attestation: %w", err)
	}
	statement, err := attest.Verify(b, keys)
	if err != nil {
		return fmt.Errorf("the attestation in %s does not hold: %w; nothing was compared: where a colleague made it, name their public key with --key FILE (svc attest keys prints it)", source, err)
	}
	o.root = statement.Root()
	attested, err := artifact.ReadManifest(source, o.root)
	if err != nil {
		return fmt.Errorf("%w; nothing was compared: use the folder as it was written", err)
	}
	for _, name := range slices.Sorted(maps.Keys(o.digests)) {
		if o.digests[name] != attested[name] {
			return fmt.Errorf("%s in %s is not what was attested; nothing was compared: use the folder as it was written", name, source)
		}
	}
	return nil
}

// complete plans the move where the source is but an assessment.
func (o *origin) complete(ctx context.Context, env *Env, c *client.Client, target string) error {
	if o.parity != nil {
		return errors.New("the source is the folder of a verification: name that of the migration, or an assessment of the source (svc drift compares with a verification)")
	}
	if o.plan != nil {
		return nil
	}
	r, ok := release.Lookup(target)
	if !ok {
		return api.Errorf(api.UnknownRelease, "the machine's release %q is not known", target)
	}
	m := &move{env: env, client: c, target: r, a: o.before}
	input, err := m.lookUp(ctx)
	if err == nil {
		o.plan = migration.New(input)
	}
	return err
}

// readDocument reads a JSON document of a schema that svc wrote, and gives its
// digest.
func readDocument(file, schema string, v any) (digest string, err error) {
	b, err := readLocal(file, maxDocument)
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

// readLocal reads a regular file of this host.
func readLocal(file string, limit int64) ([]byte, error) {
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

// readRole reads what the role of a migration's folder writes, as it stands
// there: a person may have edited it.
func readRole(out string) (map[string][]byte, error) {
	root, err := os.OpenRoot(out)
	if err != nil {
		return nil, fmt.Errorf("reading the role: %w", err)
	}
	defer root.Close()
	b, err := root.ReadFile("role/defaults/main.yml")
	if err != nil {
		return nil, fmt.Errorf("reading the role: %w", err)
	}
	var vars struct {
		Files []struct{ Src, Dest string } `yaml:"role_files"`
	}
	if err := yaml.Unmarshal(b, &vars); err != nil {
		return nil, fmt.Errorf("reading the role's variables: %w", err)
	}
	written := map[string][]byte{}
	for _, f := range vars.Files {
		if written[f.Dest], err = root.ReadFile(filepath.Join("role", "files", f.Src)); err != nil {
			return nil, fmt.Errorf("reading the role: %w", err)
		}
	}
	return written, nil
}
