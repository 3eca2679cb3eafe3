package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"svc/backend/download"
	"svc/backend/index/deb"
	"svc/backend/osfile"
)

// Options say how an archive is brought.
type Options struct {
	From    string  // folder or URL of the archive
	Release string  // slug
	Name    string  // of an rpm repository; made of its place where empty
	Keyring Keyring // that must have signed it; nil where a folder or https is trusted as it is
	Cache   string  // a folder that keeps what is downloaded for the next time
	Into    string  // the folder to bring the metadata into
	// Listings are the kinds of metadata to bring, such as binary-arm64/Packages
	// or primary; those that the index is built from where it is empty.
	Listings []string
	Progress func(what string, done, total int)
	Log      func(string)
}

// listings are the kinds to bring, or the index's.
func (o *Options) listings(ofIndex []string) []string {
	if len(o.Listings) > 0 {
		return o.Listings
	}
	return ofIndex
}

// IsURL reports whether a place is fetched by HTTP.
func IsURL(place string) bool {
	u, err := url.Parse(place)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// errMissing says that the archive has no such file.
var errMissing = errors.New("the archive has no such file")

// get gives the path of a file of the archive on this machine; digest is its
// SHA-256 where that is known.
func (o *Options) get(ctx context.Context, name, digest string) (string, error) {
	if !IsURL(o.From) {
		path := filepath.Join(o.From, filepath.FromSlash(name))
		_, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %s", errMissing, name)
		}
		return path, err
	}
	address := strings.TrimSuffix(o.From, "/") + "/" + name
	path, err := download.Fetch(ctx, download.Request{
		URL: address, SHA256: digest, Signed: o.Keyring != nil, Dir: o.Cache, Progress: o.Progress,
	})
	switch {
	case download.Missing(err):
		return "", fmt.Errorf("%w: %s", errMissing, address)
	case err != nil:
		return "", fmt.Errorf("fetching %s: %w", address, err)
	}
	return path, nil
}

// Fetch gives the path on this machine of a file of the archive that a listing
// names, with the SHA-256 that the listing gives it.
func (o *Options) Fetch(ctx context.Context, name, digest string) (string, error) {
	path, err := o.get(ctx, name, digest)
	if err != nil {
		return "", err
	}
	return path, checkDigest(path, digest)
}

// read reads a small file of the archive.
func (o *Options) read(ctx context.Context, name string) ([]byte, error) {
	path, err := o.get(ctx, name, "")
	if err != nil {
		return nil, err
	}
	return osfile.Read(path, maxSigned)
}

// bring puts a file of the archive at a place in the folder.
func (o *Options) bring(ctx context.Context, name, digest, as string) error {
	path, err := o.Fetch(ctx, name, digest)
	if err != nil {
		return err
	}
	to, err := o.place(as)
	if err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("keeping %s: %w", name, err)
	}
	if err := os.Symlink(path, to); err != nil {
		return fmt.Errorf("keeping %s: %w", name, err)
	}
	return nil
}

// keep writes a file that was read, as it was when it was checked.
func (o *Options) keep(text []byte, as string) error {
	to, err := o.place(as)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, text, 0o600); err != nil {
		return fmt.Errorf("keeping metadata: %w", err)
	}
	return nil
}

// place is where a file of the folder goes.
func (o *Options) place(as string) (string, error) {
	to := filepath.Join(o.Into, filepath.FromSlash(as))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return "", fmt.Errorf("keeping metadata: %w", err)
	}
	return to, nil
}

func checkDigest(path, digest string) error {
	return deb.CheckDigest(os.DirFS(filepath.Dir(path)), filepath.Base(path), digest)
}

func (o *Options) log(format string, args ...any) {
	if o.Log != nil {
		o.Log(fmt.Sprintf(format, args...))
	}
}
