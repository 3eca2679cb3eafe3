package assess

import (
	"bytes"
	"cmp"
	_ "embed"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"svc/backend/secret"
	"svc/backend/sliced"
	"svc/backend/tsv"
)

//go:embed places.tsv
var placesTSV string

// place is a row of places.tsv.
type place struct{ pattern, what string }

var places = tsv.List(placesTSV, 3, func(c []string) place { return place{c[0], c[1]} })

// kept says what places.tsv has of a file; the first row that fits counts.
func kept(file string) string {
	return sliced.First(places(), func(p place) bool { return p.fits(file) }).what
}

func (p place) fits(file string) bool {
	if p.pattern[0] != '/' {
		file = path.Base(file)
	}
	if folder, rest, ok := strings.Cut(p.pattern, "/**"); ok {
		if !strings.HasPrefix(file, folder+"/") {
			return false
		}
		fits, _ := path.Match(strings.TrimPrefix(cmp.Or(rest, "*"), "/"), path.Base(file))
		return fits
	}
	fits, _ := path.Match(p.pattern, file)
	return fits
}

// Bounds of the search for secrets: the bytes of one file, of all, what is looked
// at in one go, and how many places of one file are told.
const (
	MaxSearched    = 4 << 20
	maxSearchedAll = 16 << 20
	SearchedAtOnce = 256 << 10
	maxSecrets     = 20
)

// secrets are what a machine has of them.
type secrets struct {
	sync.Mutex
	all      []Secret
	searched atomic.Int64 // bytes
	open     sync.Map     // folder → whether others may pass it and all above
}

// Secret reports whether a file is secret by one of three rules: others may not
// come to it, what is kept there is secret, or it has a secret in it. What it
// finds goes into the list of secrets.
func (m *Machine) Secret(file string, info fs.FileInfo) bool {
	what := kept(file)
	switch {
	case what == "secret":
		m.AddSecrets(Secret{SecretPlace, Evidence{file, 0}})
		return true
	case what != "closed" && (info.Mode().Perm()&0o004 == 0 || !m.Passable(path.Dir(file))):
		m.AddSecrets(Secret{SecretClosed, Evidence{file, 0}})
		return true
	}
	return m.Search(file, info.Size())
}

// Passable reports whether others may pass a folder and all that are above it: a
// file is as closed as its path.
func (m *Machine) Passable(dir string) bool {
	if dir == "/" || dir == "." {
		return true
	}
	if open, ok := m.secrets.open.Load(dir); ok {
		return open.(bool)
	}
	info, err := m.FS.Stat(dir[1:])
	open := err == nil && info.Mode().Perm()&0o001 != 0 && m.Passable(path.Dir(dir))
	m.secrets.open.Store(dir, open)
	return open
}

// Search reports whether a file has secrets in it, and notes where. One that
// can't be read is told of elsewhere.
func (m *Machine) Search(file string, size int64) bool {
	f, err := m.FS.Open(file[1:])
	if err != nil {
		return false
	}
	defer f.Close()
	found, lines, rest := []Secret(nil), 0, []byte(nil)
	for n, buf := 0, make([]byte, min(max(size, 0), SearchedAtOnce-1)+1); ; {
		got, err := io.ReadFull(f, buf)
		if n += got; n > MaxSearched || m.secrets.searched.Add(int64(got)) > maxSearchedAll {
			found = append(found, Secret{SecretUnread, Evidence{file, 0}})
			break
		}
		text := append(rest, buf[:got]...)
		whole := len(text)
		if end := bytes.LastIndexByte(text, '\n') + 1; err == nil && end > 0 { // a line goes on in the next part
			whole = end
		}
		found = append(found, spotted(file, text[:whole], lines)...)
		lines += bytes.Count(text[:whole], []byte("\n"))
		if rest = bytes.Clone(text[whole:]); err != nil || len(found) >= maxSecrets {
			break
		}
	}
	m.AddSecrets(found[:min(len(found), maxSecrets)]...)
	return len(found) > 0
}

// spotted are the secrets of a text that begins after some lines of its file.
// What stands in a remark is an example.
func spotted(file string, text []byte, lines int) (all []Secret) {
	at, line := 0, lines+1
	for _, s := range secret.Find(text) {
		line += bytes.Count(text[at:s.Start], []byte("\n"))
		at = s.Start
		if here := (Secret{string(s.Kind), Evidence{file, line}}); !s.Remark && (len(all) == 0 || all[len(all)-1] != here) {
			all = append(all, here)
		}
	}
	return all
}

func (m *Machine) AddSecrets(found ...Secret) {
	m.secrets.Lock()
	defer m.secrets.Unlock()
	if len(m.secrets.all) < MaxFiles {
		m.secrets.all = append(m.secrets.all, found...)
	}
}

// MaskSecrets orders the list of secrets, and masks what of the assessment says
// one. Keys by which people log in are made to be shown.
func (m *Machine) MaskSecrets() {
	all := m.secrets.all
	slices.SortFunc(all, func(a, b Secret) int {
		return cmp.Or(cmp.Compare(a.Evidence.Path, b.Evidence.Path), cmp.Compare(a.Evidence.Line, b.Evidence.Line), cmp.Compare(a.Kind, b.Kind))
	})
	keys := make([][]string, len(m.A.Users))
	for i := range m.A.Users {
		keys[i], m.A.Users[i].AuthorizedKeys = m.A.Users[i].AuthorizedKeys, nil
	}
	secret.MaskIn(m.A)
	for i := range m.A.Users {
		m.A.Users[i].AuthorizedKeys = keys[i]
	}
	m.A.Secrets = List(slices.Compact(all))
}
