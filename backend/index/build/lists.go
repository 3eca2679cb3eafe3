package build

import (
	"context"

	"svc/backend/index/record"
	"svc/backend/index/table"
	"svc/backend/release"
)

// ListFormat is a format of lists of repositories whose packages the index knows by their
// counterparts in Debian: what they add is which packages are there.
type ListFormat struct {
	Format release.Format // the flag that names places of such lists is called so
	Usage  string         // of the flag
	read   func(*staging, context.Context) ([]listImport, error)
}

// ListFormats are those that there is an importer for.
var ListFormats = []ListFormat{
	{release.APK, "folder of Alpine's repositories, or URL of one, as the lists of apk name it; may be given again", (*staging).apks},
}

// listImport is what the repositories of a release have.
type listImport struct {
	slug     string
	packages map[string]record.Record
}

// lists reads the lists of all formats.
func (st *staging) lists(ctx context.Context) (all []listImport, err error) {
	for _, l := range ListFormats {
		found, err := l.read(st, ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// put stores what the release has.
func (l *listImport) put(w *table.Writer) {
	for name, r := range l.packages {
		r.Canonical = name // what it is, the rows say
		w.Put(l.slug+record.NamesTable, name, r.Encode())
	}
}

// places is how many places of lists were named.
func (s Sources) places() (n int) {
	for _, places := range s.Lists {
		n += len(places)
	}
	return n
}
