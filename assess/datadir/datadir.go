// Package datadir reads what a database's own files state of it: the version
// and form of the data, how they were left, what they hold. Nothing is written
// or run, every read is bounded, and what could not be read is said.
package datadir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess/host"
)

// Statement is what a database directory states of itself. No list is null.
type Statement struct {
	Version     string    `json:"version"`   // of the server that wrote the data, as exactly as they state it; empty where they don't
	Form        string    `json:"form"`      // of the data: "catalog 202209061", "rdb 11"; empty where they don't state one
	State       string    `json:"state"`     // how the server left them: "shut down", "in production"; empty where unknown
	Checksums   string    `json:"checksums"` // of pages: on, off; empty where unknown
	Bytes       int64     `json:"bytes"`
	Files       int       `json:"files"`
	Partial     bool      `json:"partial"` // more was there than is counted
	Facts       []Fact    `json:"facts"`
	Databases   []Catalog `json:"databases"`
	Engines     []Count   `json:"engines"`     // storage engines by their files, tables of the server's own left out
	Auth        []Count   `json:"auth"`        // ways in which clients authenticate, by lines or accounts that name them
	Replication []string  `json:"replication"` // what the server is to others
	Unread      []string  `json:"unread"`      // what could not be read, and why
}

// Fact is a value and the file that states it.
type Fact struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	Path  string `json:"path"`
}

// Catalog is a database within a server.
type Catalog struct {
	Name             string      `json:"name"`
	Encoding         string      `json:"encoding"`
	Provider         string      `json:"provider"` // of collation: libc, icu, builtin; empty where there is none
	Collate          string      `json:"collate"`
	CType            string      `json:"ctype"`
	CollationVersion string      `json:"collation_version"` // of the library when the indexes were made; empty where not recorded
	Extensions       []Extension `json:"extensions"`
}

// Extension is what was added to a database.
type Extension struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Count is how often something is there.
type Count struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// reader reads one directory.
type reader struct {
	fs  host.FS
	dir string // with no leading slash
	s   *Statement
}

// engines are those whose files are read.
var engines = map[string]func(*reader){
	"postgresql": (*reader).postgresql, "mysql": (*reader).mysql, "mariadb": (*reader).mysql, "redis": (*reader).redis, "valkey": (*reader).redis,
	"mongodb": (*reader).mongodb, "slapd": (*reader).openldap, "sqlite": (*reader).sqlite,
}

// Source says where a database is.
type Source struct {
	Engine    string
	Directory string // or file, of SQLite; with a leading slash
	Config    string // the folder of its configuration, or a file; may be empty
}

// Read reads the directory of an engine's database. Of engines that are only
// known by name the size is counted.
func Read(fsys host.FS, src Source) Statement {
	s := Statement{Facts: []Fact{}, Databases: []Catalog{}, Engines: []Count{}, Auth: []Count{}, Replication: []string{}, Unread: []string{}}
	r := &reader{fsys, inside(src.Directory), &s}
	if r.dir == wholeDisk {
		s.Unread = append(s.Unread, "no folder of its own is known: it keeps its data in memory, or its settings do not say where")
		return s
	}
	r.measure()
	if read := engines[src.Engine]; read != nil {
		read(r)
	} else {
		s.Unread = append(s.Unread, fmt.Sprintf("files of %s are not understood: only their size is known", src.Engine))
	}
	r.configuration(src)
	for _, list := range [][]Count{s.Engines, s.Auth} {
		slices.SortFunc(list, func(a, b Count) int { return strings.Compare(a.Name, b.Name) })
	}
	return s
}

// wholeDisk is where an engine without a folder of its own would be looked for:
// one that keeps all in memory, or whose setting is empty.
const wholeDisk = "."

// inside is a path as the machine's file system takes it.
func inside(name string) string {
	if name = strings.TrimPrefix(path.Clean("/"+name), "/"); name == "" {
		return wholeDisk
	}
	return name
}

// Bounds of a directory that is measured.
const (
	maxFolders = 20_000
	maxFiles   = 500_000
)

// measure adds up the sizes of the files.
func (r *reader) measure() {
	open := []string{r.dir}
	for folders := 0; len(open) > 0; folders++ {
		if folders == maxFolders || r.s.Files > maxFiles {
			r.s.Partial = true
			return
		}
		dir := open[len(open)-1]
		open = append(open[:len(open)-1], r.folder(dir)...)
	}
}

// folder adds up the files of a folder and gives the folders in it.
func (r *reader) folder(dir string) (folders []string) {
	entries, err := r.fs.ReadDir(dir)
	if err != nil {
		if info, statErr := r.fs.Stat(dir); statErr == nil && info.Mode().IsRegular() {
			r.s.Files, r.s.Bytes = r.s.Files+1, r.s.Bytes+info.Size()
			return nil
		}
		r.failed(dir, err)
		r.s.Partial = true
		return nil
	}
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, path.Join(dir, e.Name()))
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			r.s.Files, r.s.Bytes = r.s.Files+1, r.s.Bytes+info.Size()
		}
	}
	return folders
}

// failed notes what could not be read; that something is not there is normal.
func (r *reader) failed(name string, err error) {
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	r.unread("/%s: %v", name, err)
}

func (r *reader) unread(format string, args ...any) {
	const most = 50
	if line := fmt.Sprintf(format, args...); len(r.s.Unread) < most && !slices.Contains(r.s.Unread, line) {
		r.s.Unread = append(r.s.Unread, line)
	}
}

// fact notes a value that a file of the directory states.
func (r *reader) fact(key, value, name string) {
	if value != "" {
		r.s.Facts = append(r.s.Facts, Fact{key, value, "/" + path.Join(r.dir, name)})
	}
}

// head reads the beginning of a file of the directory.
func (r *reader) head(name string, most int64) []byte {
	b, err := head(r.fs, path.Join(r.dir, name), most)
	if err != nil {
		r.failed(path.Join(r.dir, name), err)
	}
	return b
}

// head reads the first bytes of a file.
func head(fsys host.FS, name string, most int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// openAt opens a file of the directory to be read at places.
func (r *reader) openAt(name string) (io.ReaderAt, io.Closer, error) {
	f, err := r.fs.Open(path.Join(r.dir, name))
	if err != nil {
		return nil, nil, err
	}
	if at, ok := f.(io.ReaderAt); ok {
		return at, f, nil
	}
	return nil, nil, errors.Join(errors.ErrUnsupported, f.Close())
}

// text reads a small file of the directory.
func (r *reader) text(name string) string { return string(r.head(name, maxText)) }

// maxText bounds a file that people or servers write as text.
const maxText = 1 << 20

func (r *reader) exists(name string) bool {
	_, err := r.fs.Stat(path.Join(r.dir, name))
	return err == nil
}

// names lists a folder of the directory.
func (r *reader) names(name string) []string {
	entries, err := r.fs.ReadDir(path.Join(r.dir, name))
	if err != nil {
		r.failed(path.Join(r.dir, name), err)
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// count adds one to what is counted under a name.
func count(list []Count, name string) []Count {
	for i := range list {
		if list[i].Name == name {
			list[i].Count++
			return list
		}
	}
	return append(list, Count{name, 1})
}
