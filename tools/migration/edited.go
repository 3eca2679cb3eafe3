package migration

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"svc/assess"
	"svc/backend/pristine"
	"svc/backend/release"
	"svc/tools/convert"
	"svc/tools/migration/edits"
)

// maxEdited bounds the lines of a file whose changes are looked for, and maxEdits
// those that a plan shows of one.
const (
	maxEdited = 4000
	maxEdits  = 200
)

func newOrigin(f *pristine.File) *origin {
	return &origin{string(f.Text), Origin{f.Path, digestOf(f.Text), f.Package, f.Version, f.SHA256}}
}

func digestOf(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}

// base is what a person changed to make a file: the file as the source's package
// ships it; nil where that is not known. Secrets are nobody's to read.
func base(in Input, f assess.ConfigFile) *origin {
	template, made := pristine.TemplateOf(f.Path)
	filled := made && template.Filled
	if in.Read == nil || f.State != assess.ConfigChanged && !filled || f.Link != "" || f.Secret {
		return nil
	}
	fits := func(text []byte) bool { return filled || f.ShippedAs(text) }
	if b := beside(in, f); b != nil {
		return b
	}
	if in.TargetFile == nil { // nobody asked for more
		return nil
	}
	for _, place := range []string{"/var/lib/ucf/cache/" + strings.ReplaceAll(f.Path, "/", ":"), template.Path} {
		if text, err := in.Read(place); err == nil && fits(text) && place != "" {
			return &origin{string(text), Origin{Path: place, SHA256: digestOf(text)}}
		}
	}
	if in.SourceFile == nil {
		return nil
	}
	if found := in.SourceFile([]string{f.Package}, f.Path, fits); found != nil {
		return newOrigin(found)
	}
	return nil
}

// beside finds the package's own file beside one that was edited.
func beside(in Input, f assess.ConfigFile) *origin {
	if in.PathExists == nil || f.State != assess.ConfigChanged {
		return nil
	}
	for _, end := range release.Beside() {
		if !in.PathExists(f.Path + end) {
			continue
		}
		if text, err := in.Read(f.Path + end); err == nil {
			return &origin{string(text), Origin{Path: f.Path + end, SHA256: digestOf(text)}}
		}
	}
	return nil
}

// edited are the changes that a person made to a package's own file; ok is false
// where they are not known. Was is the package's line, Now the person's.
func edited(in Input, f assess.ConfigFile, b *origin) (all []convert.Change, ok bool) {
	if b == nil {
		return nil, false
	}
	has, err := in.Read(f.Path)
	was, now := edits.Lines(b.text), edits.Lines(string(has))
	if err != nil || len(was)+len(now) > maxEdited {
		return nil, false
	}
	return edits.Between(was, now), true
}
