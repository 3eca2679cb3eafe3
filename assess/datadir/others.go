package datadir

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"strings"

	"svc/backend/lazyregexp"
)

// WiredTiger is the form of MongoDB's data by the directory's own file of that name, with
// the storage engine's version; "" where it does not say.
func WiredTiger(text string) string {
	if m := wiredTiger.FindStringSubmatch(text); m != nil {
		return "wiredtiger " + m[1]
	}
	return ""
}

var wiredTiger = lazyregexp.New(`(?m)^WiredTiger ([0-9]+(?:\.[0-9]+)*)`)

// featureVersion is how the document of the feature compatibility version
// stands in a file, where it is not packed.
var featureVersion = lazyregexp.New("featureCompatibilityVersion\x00\x02version\x00\x04\x00\x00\x00([0-9]\\.[0-9])\x00")

// mongodb reads what names the storage engine, and looks for the feature
// compatibility version in the small files where it can stand unpacked.
func (r *reader) mongodb() {
	r.s.Form = cmp.Or(WiredTiger(r.text("WiredTiger")), r.s.Form)
	if b := r.head("storage.bson", 4096); len(b) > 0 {
		for _, engine := range []string{"wiredTiger", "mmapv1", "inMemory"} {
			if bytes.Contains(b, []byte(engine+"\x00")) {
				r.s.Engines = count(r.s.Engines, engine)
			}
		}
	}
	r.s.State = shutDown
	if strings.TrimSpace(string(r.head("mongod.lock", 64))) != "" {
		r.s.State = inProduction
	}
	versions := r.featureVersions()
	if len(versions) == 1 {
		for v, name := range versions {
			r.s.Version = v
			r.fact("feature compatibility version", v, name)
		}
		return
	}
	r.unread("the feature compatibility version is not stated where it can be read offline: ask the server by getParameter")
}

// featureVersions are those found, each with a file that has it.
func (r *reader) featureVersions() map[string]string {
	const small, most = 64 << 10, 500
	found, looked := map[string]string{}, 0
	for _, name := range r.names(".") {
		if !strings.HasPrefix(name, "collection-") || looked == most {
			continue
		}
		info, err := r.fs.Stat(path.Join(r.dir, name))
		if err != nil || info.Size() > small {
			continue
		}
		looked++
		for _, m := range featureVersion.FindAllSubmatch(r.head(name, small), -1) {
			found[string(m[1])] = name
		}
	}
	return found
}

// openldap reads the meta page of the databases' files.
func (r *reader) openldap() {
	if r.exists("id2entry.bdb") {
		r.s.Form = "bdb or hdb"
		return
	}
	pageSize, mapSize, err := parseLMDB(r.head("data.mdb", 4096))
	if err != nil {
		if r.exists("data.mdb") {
			r.unread("/%s/data.mdb: %v", r.dir, err)
		}
		return
	}
	r.s.Form = "mdb"
	r.fact("page size", fmt.Sprint(pageSize), "data.mdb")
	r.fact("largest size allowed", fmt.Sprint(mapSize), "data.mdb")
}

// parseLMDB reads the first meta page of an LMDB file of a 64-bit machine.
func parseLMDB(b []byte) (pageSize uint32, mapSize uint64, err error) {
	le := binary.LittleEndian
	if len(b) < 44 || le.Uint32(b[16:]) != 0xbeefc0de {
		return 0, 0, errors.New("not an LMDB file of this kind of machine")
	}
	return le.Uint32(b[40:]), le.Uint64(b[32:]), nil
}

// sqliteEncodings are the text encodings of SQLite files, by number.
var sqliteEncodings = []string{"", "UTF-8", "UTF-16le", "UTF-16be"}

// sqlite reads the header of one SQLite file.
func (r *reader) sqlite() {
	h, err := ParseSQLite(r.head("", 100))
	if err != nil {
		r.unread("/%s: %v", r.dir, err)
		return
	}
	r.s.Version, r.s.Form = "3", fmt.Sprintf("schema format %d", h.Format)
	r.fact("written by", h.Library, "")
	r.fact("page size", fmt.Sprint(h.PageSize), "")
	if h.Log {
		r.fact("journal", "write-ahead log: the files -wal and -shm beside it belong to it", "")
	}
	r.s.Databases = append(r.s.Databases, Catalog{Name: path.Base(r.dir), Encoding: h.Encoding, Extensions: []Extension{}})
}

// SQLiteHeader is what the header of a SQLite file states.
type SQLiteHeader struct {
	PageSize int
	Log      bool   // it is kept with a write-ahead log
	Format   uint32 // of the schema
	Encoding string
	Library  string // version of SQLite that wrote it last
}

// ErrSQLite means that a file is no SQLite database.
var ErrSQLite = errors.New("not a SQLite database")

// ParseSQLite reads the 100 bytes that a SQLite file begins with.
func ParseSQLite(b []byte) (h SQLiteHeader, err error) {
	be := binary.BigEndian
	if len(b) < 100 || string(b[:16]) != "SQLite format 3\x00" {
		return h, ErrSQLite
	}
	h.PageSize = int(be.Uint16(b[16:]))
	if h.PageSize == 1 {
		h.PageSize = 65536
	}
	h.Log, h.Format = b[19] == 2, be.Uint32(b[44:])
	if encoding := be.Uint32(b[56:]); encoding < uint32(len(sqliteEncodings)) {
		h.Encoding = sqliteEncodings[encoding]
	}
	if v := be.Uint32(b[96:]); v >= 3_000_000 && v < 4_000_000 {
		h.Library = fmt.Sprintf("%d.%d.%d", v/1_000_000, v/1000%1000, v%1000)
	}
	return h, nil
}
