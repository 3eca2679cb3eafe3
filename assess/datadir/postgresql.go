package datadir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/assess/datadir/pgfile"
	"svc/backend/sliced"
)

// cluster is a cluster of PostgreSQL that is read.
type cluster struct {
	*reader
	major     int // 9 of 9.6; 0 where unknown
	control   pgfile.Control
	commitLog string
	segments  map[string][]byte // of the commit log
	catalogs  int               // bytes that were read of tables
}

func (r *reader) postgresql() {
	c := r.cluster()
	r.s.Replication = append(r.s.Replication, c.roles()...)
	if c.readControl() {
		c.readDatabases()
	}
}

// cluster is the reader of a cluster, whose version is known.
func (r *reader) cluster() *cluster {
	b := r.head("PG_VERSION", 64)
	version := strings.TrimSpace(string(b))
	if _, err := strconv.ParseFloat(version, 64); err == nil {
		r.s.Version = version
	} else if b != nil {
		r.unread("/%s/PG_VERSION: it states no version", r.dir)
	}
	major, _, _ := strings.Cut(r.s.Version, ".")
	c := &cluster{reader: r, commitLog: "pg_xact", segments: map[string][]byte{}}
	c.major, _ = strconv.Atoi(major) // 0 is "unknown"
	if c.major < 10 {
		c.commitLog = "pg_clog"
	}
	return c
}

// readControl reads pg_control; it reports whether tables can be read after it.
func (c *cluster) readControl() bool {
	b := c.head("global/pg_control", 8192)
	if b == nil {
		return false
	}
	control, err := pgfile.ParseControl(b)
	if err != nil {
		c.unread("/%s/global/pg_control: %v", c.dir, err)
		return false
	}
	c.control = control
	c.s.Form, c.s.State, c.s.Checksums = fmt.Sprintf("catalog %d", control.Catalog), control.State, control.Checksums
	c.fact("control version", fmt.Sprint(control.Version), "global/pg_control")
	c.fact("wal level", control.WALLevel, "global/pg_control")
	if !control.Checked {
		c.unread("/%s/global/pg_control: of form %d only version, catalog and state are known", c.dir, control.Version)
		return false
	}
	if control.Order.String() != "LittleEndian" || control.BlockSize < 1024 || control.BlockSize > 32<<10 {
		c.unread("databases and extensions: tables of this machine's architecture are not read")
		return false
	}
	if control.State != "shut down" && control.State != "shut down in recovery" {
		c.unread("what stands in the write-ahead log alone: the cluster was not shut down, so databases and extensions are those of its last checkpoint, or some newer")
	}
	return true
}

// roles are what the cluster is to others, by the files that say so.
func (c *cluster) roles() []string {
	signals := sliced.Filter([]string{"standby.signal", "recovery.signal", "recovery.conf"}, c.exists)
	roles := append([]string{}, sliced.Map(signals, func(name string) string { return "standby (" + name + ")" })...)
	if slots := c.names("pg_replslot"); len(slots) > 0 {
		slices.Sort(slots)
		roles = append(roles, fmt.Sprintf("primary of %d replication slots: %s", len(slots), strings.Join(slots[:min(5, len(slots))], ", ")))
	}
	return roles
}

// The OIDs of the catalogs that are read.
const (
	pgDatabase  = 1262
	pgClass     = 1259
	pgExtension = 3079
)

// databaseLayout says how a version has the columns of pg_database: their types,
// and where those that are read stand, -1 where there is none.
type databaseLayout struct {
	from                                                             int // major version
	types                                                            string
	oid, name, encoding, provider, space, collate, ctype, icu, built int
}

// databaseLayouts are by version, newest first.
var databaseLayouts = []databaseLayout{
	{17, "iniibbbbiiiittttt", 0, 1, 3, 4, 11, 12, 13, 14, 16},
	{16, "iniibbbiiiittttt", 0, 1, 3, 4, 10, 11, 12, 13, 15},
	{15, "iniibbbiiiitttt", 0, 1, 3, 4, 10, 11, 12, 13, 14},
	{12, "iniinnbbiiiii", 0, 1, 3, -1, 12, 4, 5, -1, -1},
	{9, "niinnbbiiiii", -1, 0, 2, -1, 11, 3, 4, -1, -1},
}

// providers are the letters of collation providers.
var providers = map[string]string{"c": "libc", "i": "icu", "b": "builtin", "d": "default"}

// readDatabases reads the table of databases, and the extensions of each.
func (c *cluster) readDatabases() {
	for _, t := range c.tableOfDatabases() {
		d, folder := c.database(t, c.layout())
		if d.Name == "" || d.Name == "template0" || len(c.s.Databases) == maxDatabases {
			continue
		}
		d.Extensions = append(d.Extensions, c.extensions(folder)...)
		c.s.Databases = append(c.s.Databases, d)
	}
	slices.SortFunc(c.s.Databases, func(a, b Catalog) int { return strings.Compare(a.Name, b.Name) })
}

// layout is that of the cluster's version, or that of no version.
func (c *cluster) layout() databaseLayout {
	return sliced.First(databaseLayouts, func(l databaseLayout) bool { return c.major >= l.from })
}

// tableOfDatabases is pg_database, row by row.
func (c *cluster) tableOfDatabases() []pgfile.Tuple {
	node, ok := pgfile.Nodes(c.head("global/pg_filenode.map", 1024))[pgDatabase]
	if c.layout().from == 0 || !ok {
		c.unread("databases: no map of the catalogs' files is there")
		return nil
	}
	return c.rows(fmt.Sprintf("global/%d", node))
}

// database is what a row of pg_database says, and the folder of its files.
func (c *cluster) database(t pgfile.Tuple, l databaseLayout) (d Catalog, folder string) {
	values := t.Columns(l.types)
	at := func(i int) string {
		if i < 0 || i >= len(values) {
			return ""
		}
		return values[i]
	}
	oid := at(l.oid)
	if l.oid < 0 {
		oid = fmt.Sprint(t.OID)
	}
	return Catalog{
		Name: at(l.name), Encoding: encodingName(at(l.encoding)), Provider: cmp.Or(providers[at(l.provider)], "libc"),
		Collate: cmp.Or(at(l.icu), at(l.collate)), CType: at(l.ctype), CollationVersion: at(l.built), Extensions: []Extension{},
	}, c.folderOf(oid, at(l.space))
}

// folderOf is where a database's files are: in base, or in a tablespace, whose
// folder is named for the version and its catalog.
func (c *cluster) folderOf(oid, space string) string {
	const defaultSpace = "1663"
	if space == defaultSpace || space == "" {
		return path.Join("base", oid)
	}
	return path.Join("pg_tblspc", space, fmt.Sprintf("PG_%s_%d", c.s.Version, c.control.Catalog), oid)
}

// extensions reads a database's table of extensions.
func (c *cluster) extensions(folder string) (all []Extension) {
	types, name, version := "iniibt", 1, 5
	if c.major < 12 {
		types, name, version = "niibt", 0, 4
	}
	for _, t := range c.rows(path.Join(folder, fmt.Sprint(c.fileOf(folder, pgExtension)))) {
		if values := t.Columns(types); len(values) > version && len(all) < maxExtensions {
			all = append(all, Extension{values[name], values[version]})
		}
	}
	slices.SortFunc(all, func(a, b Extension) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// fileOf is the file of a catalog in a database: named for its OID until it is
// written anew, of which pg_class then says where.
func (c *cluster) fileOf(folder string, oid uint32) uint32 {
	if _, err := c.fs.Stat(path.Join(c.dir, folder, fmt.Sprint(oid))); !errors.Is(err, fs.ErrNotExist) {
		return oid
	}
	types, file := "iniiiiii", 7
	if c.major < 12 {
		types, file = "niiiiii", 6
	}
	class := pgfile.Nodes(c.head(path.Join(folder, "pg_filenode.map"), 1024))[pgClass]
	for _, t := range c.rows(path.Join(folder, fmt.Sprint(class))) {
		values := t.Columns(types)
		if len(values) <= file || c.major >= 12 && values[0] != fmt.Sprint(oid) || c.major < 12 && t.OID != oid {
			continue
		}
		node, _ := strconv.ParseUint(values[file], 10, 32)
		return uint32(node)
	}
	return oid
}

// encodings are the numbers of PostgreSQL's encodings.
var encodings = []string{
	"SQL_ASCII", "EUC_JP", "EUC_CN", "EUC_KR", "EUC_TW", "EUC_JIS_2004", "UTF8", "MULE_INTERNAL", "LATIN1", "LATIN2", "LATIN3", "LATIN4", "LATIN5", "LATIN6", "LATIN7",
	"LATIN8", "LATIN9", "LATIN10", "WIN1256", "WIN1258", "WIN866", "WIN874", "KOI8R", "WIN1251", "WIN1252", "ISO_8859_5", "ISO_8859_6", "ISO_8859_7", "ISO_8859_8", "WIN1250",
	"WIN1253", "WIN1254", "WIN1255", "WIN1257", "KOI8U",
}

func encodingName(number string) string {
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= len(encodings) {
		return number
	}
	return encodings[n]
}
