package migration

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"svc/assess"
	"svc/backend/pristine"
	"svc/tools/convert"
	"svc/tools/merge"
)

// besides end the names under which package managers put, beside a file that
// was edited, what the package itself would have there.
var besides = []string{".rpmnew", ".dpkg-dist", ".ucf-dist", ".apk-new"}

// maxEdited bounds the lines of a file whose changes are looked for, and maxEdits
// those that a plan shows of one.
const (
	maxEdited = 4000
	maxEdits  = 200
)

// Shipped gives a file of /etc as one of some packages ships it, the newest that
// fits, or nil.
type Shipped func(packages []string, file string, fits func(text []byte) bool) *pristine.File

// Origin says where a file came from that is as a package ships it.
type Origin struct {
	Path          string `json:"path"`   // in the package, or on the machine
	SHA256        string `json:"sha256"` // of the file
	Package       string `json:"package,omitempty"`
	Version       string `json:"version,omitempty"`
	PackageSHA256 string `json:"package_sha256,omitempty"` // none where the machine itself has the file
}

// shipped is a file as a package ships it.
type shipped struct {
	text string
	from Origin
}

func newShipped(f *pristine.File) *shipped {
	return &shipped{string(f.Text), Origin{f.Path, digestOf(f.Text), f.Package, f.Version, f.SHA256}}
}

func digestOf(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}

// base is what a person changed to make a file: the file as the source's package
// ships it; nil where that is not known. Secrets are nobody's to read.
func base(in Input, f assess.ConfigFile) *shipped {
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
			return &shipped{string(text), Origin{Path: place, SHA256: digestOf(text)}}
		}
	}
	if in.SourceFile == nil {
		return nil
	}
	if found := in.SourceFile([]string{f.Package}, f.Path, fits); found != nil {
		return newShipped(found)
	}
	return nil
}

// beside finds the package's own file beside one that was edited.
func beside(in Input, f assess.ConfigFile) *shipped {
	if in.PathExists == nil || f.State != assess.ConfigChanged {
		return nil
	}
	for _, end := range besides {
		if !in.PathExists(f.Path + end) {
			continue
		}
		if text, err := in.Read(f.Path + end); err == nil {
			return &shipped{string(text), Origin{Path: f.Path + end, SHA256: digestOf(text)}}
		}
	}
	return nil
}

// edited are the changes that a person made to a package's own file; ok is false
// where they are not known. Was is the package's line, Now the person's.
func edited(in Input, f assess.ConfigFile, b *shipped) (all []convert.Change, ok bool) {
	if b == nil {
		return nil, false
	}
	has, err := in.Read(f.Path)
	was, now := lines(b.text), lines(string(has))
	if err != nil || len(was)+len(now) > maxEdited {
		return nil, false
	}
	return differences(was, now), true
}

func lines(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

// differences are the lines of two texts that they do not have in common; one
// that took the place of another is one change. Lines are those of the second
// text, from 1.
func differences(was, now []string) []convert.Change {
	all := []convert.Change{}
	between := func(was, now []string, line int) {
		for i := range max(len(was), len(now)) {
			c := convert.Change{Line: line + min(i, len(now))}
			if i < len(was) {
				c.Was = was[i]
			}
			if i < len(now) {
				c.Now = now[i]
			}
			all = append(all, c)
		}
	}
	i, j := 0, 0
	for next, at := range merge.Common(was, now) {
		if at >= 0 {
			between(was[i:next], now[j:at], j+1)
			i, j = next+1, at+1
		}
	}
	between(was[i:], now[j:], j+1)
	return all
}

// remark reports whether a line says nothing to a program. #! and #include do,
// and so does what goes on in the next line.
func remark(line string) bool {
	line = strings.TrimSpace(line)
	switch {
	case line == "":
		return true
	case strings.HasPrefix(line, "#!"), strings.HasPrefix(line, "#include"), strings.HasSuffix(line, `\`):
		return false
	}
	return line[0] == '#' || line[0] == ';'
}

// onlyRemarks reports whether changes are to comments and empty lines alone.
func onlyRemarks(changes []convert.Change) bool {
	for _, c := range changes {
		if !remark(c.Was) || !remark(c.Now) {
			return false
		}
	}
	return true
}
