package datadir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"svc/assess/datadir/innodb"
)

// Dictionary is the file in which MySQL 8.0 and newer keep what older ones keep
// in many: accounts, plugins, and what databases have by default.
const Dictionary = "mysql.ibd"

// DictionaryVersion is the server's version in the first page of a dictionary: 80034 at
// byte 8.
func DictionaryVersion(page []byte) string {
	if len(page) < 12 {
		return ""
	}
	v := binary.BigEndian.Uint32(page[8:])
	if v < 80000 || v >= 200000 {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100)
}

// dictionaryParts are what is read of it, and what asks a server that runs.
var dictionaryParts = []struct {
	what, query string
	read        func(*reader, *innodb.Tablespace) error
}{
	{"accounts and their ways to authenticate", "SELECT plugin, count(*) FROM mysql.user GROUP BY plugin", (*reader).accounts},
	{"character sets of databases", "SELECT schema_name, default_collation_name FROM information_schema.schemata", (*reader).defaults},
	{"plugins", "SELECT name, dl FROM mysql.plugin", (*reader).plugins},
}

// myDictionary reads the dictionary, where there is one.
func (r *reader) myDictionary() {
	t, closer, err := r.tables(Dictionary)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err == nil {
		defer closer.Close()
	}
	for _, part := range dictionaryParts {
		partErr := err
		if partErr == nil {
			partErr = part.read(r, t)
		}
		if partErr != nil {
			r.unread("%s: /%s: %v; ask the server: %s", part.what, path.Join(r.dir, Dictionary), partErr, part.query)
		}
	}
	if r.s.State == inProduction {
		r.unread("what changed in /%s since the last checkpoint: the server was not shut down, and that is in its log alone", path.Join(r.dir, Dictionary))
	}
}

// tables opens a tablespace of the directory.
func (r *reader) tables(name string) (*innodb.Tablespace, io.Closer, error) {
	at, closer, err := r.openAt(name)
	if err != nil {
		return nil, nil, err
	}
	t, err := innodb.Open(at)
	if err != nil {
		return nil, nil, errors.Join(err, closer.Close())
	}
	return t, closer, nil
}

// accounts counts the accounts that people made, by how they authenticate.
func (r *reader) accounts(t *innodb.Tablespace) error {
	return t.Each("mysql.user", []string{"User", "plugin"}, func(row []string) {
		if !strings.HasPrefix(row[0], "mysql.") { // the server's own
			r.s.Auth = count(r.s.Auth, strings.TrimRight(row[1], " "))
		}
	})
}

// defaults says of each database in which collation its tables are made.
func (r *reader) defaults(t *innodb.Tablespace) error {
	names := map[string]string{}
	err := t.Each("mysql.collations", []string{"id", "name"}, func(row []string) { names[row[0]] = row[1] })
	if err != nil {
		return err
	}
	return t.Each("mysql.schemata", []string{"name", "default_collation_id"}, func(row []string) {
		i := slices.IndexFunc(r.s.Databases, func(c Catalog) bool { return c.Name == row[0] })
		if i >= 0 {
			c := &r.s.Databases[i]
			c.Collate = names[row[1]]
			c.Encoding, _, _ = strings.Cut(c.Collate, "_")
		}
	})
}

// plugins are those that somebody installed.
func (r *reader) plugins(t *innodb.Tablespace) error {
	return t.Each("mysql.plugin", []string{"name", "dl"}, func(row []string) { r.fact("plugin", row[0]+" of "+row[1], Dictionary) })
}
