package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"svc/backend/deb822"
	"svc/backend/release"
)

// Apt brings Packages and Contents of a suite into the folder, as
// <release>/<component>/Packages.xz: those that the suite's Release file lists,
// which the keyring must have signed.
func Apt(ctx context.Context, o Options) error {
	suite, err := suiteOf(o.Release)
	if err != nil {
		return err
	}
	dir := "dists/" + suite
	text, err := o.releaseFile(ctx, dir)
	if err != nil {
		return fmt.Errorf("reading %s of %s: %w", suite, o.From, err)
	}
	r, err := readRelease(text)
	if err != nil {
		return fmt.Errorf("reading %s of %s: %w", suite, o.From, err)
	}
	if r.codename != suite && r.suite != suite {
		return fmt.Errorf("reading %s of %s: its Release file is of %q", suite, o.From, r.codename)
	}
	if !r.until.IsZero() && time.Now().After(r.until) {
		o.log("%s of %s was to be used until %s: it may be old", suite, o.From, r.until.Format(time.DateOnly))
	}
	if err := r.bring(ctx, &o, dir); err != nil {
		return fmt.Errorf("reading %s of %s: %w", suite, o.From, err)
	}
	return nil
}

// suiteOf is what an archive calls a release: its code name.
func suiteOf(slug string) (string, error) {
	r, ok := release.Lookup(slug)
	if !ok || r.Family.Conventions().Format != release.Deb {
		return "", fmt.Errorf("%q is no release of Debian or Ubuntu: name one with --release", slug)
	}
	if len(r.Aliases) == 0 {
		return "", fmt.Errorf("the code name of %s is not known", r.Slug)
	}
	return r.Aliases[0], nil
}

// releaseFile is the text of InRelease, or of Release with its signature beside
// it. Without a keyring no signature is looked for.
func (o *Options) releaseFile(ctx context.Context, dir string) ([]byte, error) {
	text, err := o.read(ctx, dir+"/InRelease")
	switch {
	case err == nil && o.Keyring != nil:
		return o.Keyring.clearsigned(text)
	case err == nil:
		return unsigned(text), nil
	case !errors.Is(err, errMissing):
		return nil, err
	}
	if text, err = o.read(ctx, dir+"/Release"); err != nil || o.Keyring == nil {
		return text, err
	}
	signature, err := o.read(ctx, dir+"/Release.gpg")
	if err != nil {
		return nil, noSignature(err)
	}
	return text, o.Keyring.detached(text, signature)
}

// noSignature says so where the file of a signature is not there.
func noSignature(err error) error {
	if errors.Is(err, errMissing) {
		return fmt.Errorf("checking signature: it is not signed: %w", err)
	}
	return err
}

// unsigned is the text of a signed message whose signature nobody asked to check.
func unsigned(message []byte) []byte {
	if _, after, ok := bytes.Cut(message, []byte("\n\n")); ok && bytes.HasPrefix(message, []byte("-----BEGIN PGP SIGNED MESSAGE-----")) {
		message, _, _ = bytes.Cut(after, []byte("\n-----BEGIN PGP SIGNATURE-----"))
		return append(message, '\n')
	}
	return message
}

// releaseFile is what is used of a suite's Release file.
type releaseFile struct {
	codename, suite string
	components      []string
	byHash          bool
	until           time.Time         // zero where it holds for ever
	digests         map[string]string // path below the suite → SHA-256
}

func readRelease(text []byte) (*releaseFile, error) {
	p, err := deb822.NewReader(bytes.NewReader(text)).Next()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("reading Release file: it is empty")
	}
	if err != nil {
		return nil, fmt.Errorf("reading Release file: %w", err)
	}
	r := &releaseFile{
		codename: p.Get("Codename"), suite: p.Get("Suite"), components: strings.Fields(p.Get("Components")),
		byHash: p.Get("Acquire-By-Hash") == "yes", digests: map[string]string{},
	}
	r.until, _ = time.Parse(time.RFC1123, p.Get("Valid-Until"))
	for line := range strings.Lines(p.Get("SHA256")) {
		if f := strings.Fields(line); len(f) == 3 && len(f[0]) == 64 {
			r.digests[f[2]] = strings.ToLower(f[0])
		}
	}
	if len(r.digests) == 0 {
		return nil, errors.New("reading Release file: it lists no SHA256")
	}
	if len(r.components) == 0 {
		return nil, errors.New("reading Release file: it lists no components")
	}
	return r, nil
}

// indexed are the listings of a component that the index is built from.
var indexed = []string{"binary-amd64/Packages", "Contents-amd64", "Contents-all"}

// bring brings the listings of all components; a suite without Packages is an error.
func (r *releaseFile) bring(ctx context.Context, o *Options, dir string) error {
	brought := false
	for _, component := range r.components {
		component = path.Base(component) // updates/main, as security archives write it
		for _, kind := range o.listings(indexed) {
			ok, err := r.one(ctx, o, dir, component+"/"+kind, component+"/"+path.Base(kind))
			if err != nil {
				return err
			}
			brought = brought || ok && path.Base(kind) == "Packages"
		}
	}
	if !brought {
		return errors.New("it has no Packages for this architecture")
	}
	if len(o.Listings) > 0 {
		return nil
	}
	_, err := r.one(ctx, o, dir, "Contents-amd64", r.components[0]+"/Contents-amd64")
	return err
}

// packings are the endings of listings, the one to be had first coming first.
var packings = []string{".xz", ".zst", ".gz", ".lz4", ".bz2", ""}

// quick are the same, those that unpack soonest coming first: for whoever waits.
var quick = []string{".zst", ".lz4", ".gz", ".xz", ".bz2", ""}

// one brings a listing in the first packing that the archive has.
func (r *releaseFile) one(ctx context.Context, o *Options, dir, name, as string) (bool, error) {
	endings := packings
	if len(o.Listings) > 0 {
		endings = quick
	}
	for _, ending := range endings {
		digest, ok := r.digests[name+ending]
		if !ok {
			continue
		}
		into := o.Release + "/" + as + ending
		var err error
		if r.byHash {
			err = o.bring(ctx, path.Join(dir, path.Dir(name), "by-hash/SHA256", digest), digest, into)
		}
		if !r.byHash || errors.Is(err, errMissing) {
			err = o.bring(ctx, path.Join(dir, name+ending), digest, into)
		}
		if errors.Is(err, errMissing) {
			continue
		}
		return err == nil, err
	}
	return false, nil
}
