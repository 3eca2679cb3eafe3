package archive

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"svc/backend/index/repomd"
)

// used are the parts of a repository that the index is built from.
var used = []string{"primary", "filelists", "modules"}

// RPM brings the metadata of an rpm repository into the folder, as
// <release>/<name>/repodata/….  With a keyring repomd.xml must have its
// signature beside it, repomd.xml.asc.
func RPM(ctx context.Context, o Options) error {
	text, err := o.read(ctx, "repodata/repomd.xml")
	if err != nil {
		return fmt.Errorf("reading repository %s: %w", o.From, err)
	}
	if err := o.signed(ctx, text); err != nil {
		return fmt.Errorf("reading repository %s: %w", o.From, err)
	}
	parts, err := repomd.Parts(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("reading repository %s: %w", o.From, err)
	}
	into := path.Join(o.Release, cmp.Or(o.Name, nameOf(o.From)))
	if err := o.keep(text, into+"/repodata/repomd.xml"); err != nil {
		return err
	}
	for _, p := range parts {
		if !slices.Contains(o.listings(used), p.Type) {
			continue
		}
		if err := o.bring(ctx, p.Path, p.SHA256, into+"/"+p.Path); err != nil {
			return fmt.Errorf("reading repository %s: %w", o.From, err)
		}
	}
	return nil
}

// signed checks repomd.xml where there is a keyring.
func (o *Options) signed(ctx context.Context, text []byte) error {
	if o.Keyring == nil {
		return nil
	}
	signature, err := o.read(ctx, "repodata/repomd.xml.asc")
	if err != nil {
		return noSignature(err)
	}
	return o.Keyring.detached(text, signature)
}

// nameOf is a name for a repository: what of its place tells it from others.
func nameOf(place string) string {
	if u, err := url.Parse(place); err == nil {
		place = u.Path
	}
	parts := strings.FieldsFunc(place, func(r rune) bool { return r == '/' || r == '\\' })
	parts = slices.DeleteFunc(parts, func(s string) bool { return slices.Contains(passing, s) || strings.Trim(s, ".") == "" })
	return path.Join(parts[max(0, len(parts)-1):]...)
}

// passing are parts of a repository's place that say nothing of it.
var passing = []string{"os", "x86_64", "aarch64", "noarch", "Packages"}
