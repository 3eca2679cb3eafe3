package datadir

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"path"
	"slices"
	"strings"

	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// storageEngines are the storage engines by the suffixes of tables' files.
var storageEngines = map[string]string{
	".ibd": "InnoDB", ".MYD": "MyISAM", ".MAD": "Aria", ".CSV": "CSV", ".ARZ": "ARCHIVE", ".MRG": "MERGE", ".frm": "definitions (.frm)", ".sdi": "definitions (.sdi)",
}

// serverSchemas are the databases of the server's own.
var serverSchemas = []string{"mysql", "performance_schema", "information_schema", "sys"}

// mysql reads a data directory of MySQL or MariaDB.
func (r *reader) mysql() {
	r.myVersion()
	r.redoLog()
	for _, folder := range r.schemas() {
		r.schema(folder)
	}
	r.tablespace()
	r.myRoles()
	for _, name := range []string{"mysql/global_priv.MAD", "mysql/user.MYD", "mysql/user.MAD"} {
		for _, plugin := range accountPlugins(r.head(name, 4<<20)) {
			r.s.Auth = count(r.s.Auth, plugin)
		}
	}
	r.myDictionary()
}

// schemas are the folders of the databases that are not the server's own.
func (r *reader) schemas() []string {
	return slices.DeleteFunc(r.names("."), func(name string) bool {
		return slices.Contains(serverSchemas, name) || strings.HasPrefix(name, "#") || !r.isFolder(name)
	})
}

// UpgradeNotes are the files in which the programs that upgrade a server's own tables
// note the version that they made them for.
var UpgradeNotes = []string{"mariadb_upgrade_info", "mysql_upgrade_info"}

// UpgradeHistory is the file in which MySQL since 8.4 notes its versions.
const UpgradeHistory = "mysql_upgrade_history"

// LastUpgrade is the last version of an upgrade history.
func LastUpgrade(b []byte) string {
	var book struct {
		History []struct {
			Version string `json:"version"`
		} `json:"upgrade_history"`
	}
	if json.Unmarshal(b, &book) != nil || len(book.History) == 0 {
		return ""
	}
	return book.History[len(book.History)-1].Version
}

// myVersion takes the version from what was upgraded last, then from what wrote
// the dictionary.
func (r *reader) myVersion() {
	for _, name := range UpgradeNotes {
		line, _, _ := strings.Cut(strings.TrimRight(r.text(name), "\x00"), "\n")
		if v := strings.TrimSpace(line); v != "" {
			r.fact("last upgraded by", v, name)
			r.s.Version, _, _ = strings.Cut(v, "-")
			return
		}
	}
	if by := LastUpgrade(r.head(UpgradeHistory, maxText)); by != "" {
		r.fact("last upgraded by", by, UpgradeHistory)
		r.s.Version, _, _ = strings.Cut(by, "-")
		return
	}
	if v := DictionaryVersion(r.head(Dictionary, 16)); v != "" {
		r.s.Version = v
		r.fact("dictionary of", v, Dictionary)
	}
}

// creator is how InnoDB's redo log names the server that made it.
var creator = lazyregexp.New(`^(?:MySQL|MariaDB|Percona)[ -]?([0-9]+\.[0-9]+\.[0-9]+)?`)

// redoLog reads the headers of InnoDB's redo log: who wrote it, in which form,
// and up to where the tablespaces have what is in it.
func (r *reader) redoLog() {
	logs := sliced.FilterMap(r.names("#innodb_redo"), func(log string) (string, bool) {
		return path.Join("#innodb_redo", log), !strings.HasSuffix(log, "_tmp") // those are empty, for later
	})
	var form, by, name string
	var end logEnd
	for _, log := range append([]string{"ib_logfile0"}, logs...) {
		b := r.head(log, logHeader)
		if f, maker := parseRedoLog(b); f != "" {
			form, by, name = f, maker, log
			end = end.later(b, log)
		}
	}
	r.fact("redo log form", form, name)
	r.fact("redo log by", by, name)
	if m := creator.FindStringSubmatch(by); m != nil && r.s.Version == "" {
		r.s.Version = m[1]
	}
	if by != "" && !strings.HasPrefix(by, "MariaDB") {
		r.myState(end)
	}
}

// parseRedoLog reads the first block of a redo log: a form, and its maker.
func parseRedoLog(b []byte) (form, by string) {
	if len(b) < 48 {
		return "", ""
	}
	switch n := binary.BigEndian.Uint32(b); {
	case n == 0x50485953 || n == 0x50687973:
		form = string(b[:4]) // PHYS and Phys
	case n <= 1<<20 || n>>31 == 1:
		form = fmt.Sprint(n &^ (1 << 31))
	}
	text, _, _ := bytes.Cut(b[16:48], []byte{0})
	if creator.Match(text) {
		by = string(text)
	}
	return form, by
}

// schema reads one database's folder: its defaults, and its tables' engines.
func (r *reader) schema(name string) {
	d := Catalog{Name: schemaName(name), Extensions: []Extension{}}
	for line := range strings.Lines(r.text(path.Join(name, "db.opt"))) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), "="); key {
		case "default-character-set":
			d.Encoding = value
		case "default-collation":
			d.Collate = value
		}
	}
	if len(r.s.Databases) < maxDatabases {
		r.s.Databases = append(r.s.Databases, d)
	}
	for _, file := range r.names(name) {
		if engine := storageEngines[path.Ext(file)]; engine != "" {
			r.s.Engines = count(r.s.Engines, engine)
		}
	}
}

// fullCRC32 is the flag of a tablespace whose pages are checked as a whole.
const fullCRC32 = 1 << 4

// noChecksum stands where the checksum of a page would be.
const noChecksum = 0xdeadbeef

// tablespace tells by the first page of the system tablespace how pages are
// checked. Servers before MySQL 5.7 have sums of their own, which are not known.
func (r *reader) tablespace() {
	const page, most = 16 << 10, 64 << 10
	b := r.head("ibdata1", most)
	if len(b) < page {
		return
	}
	be := binary.BigEndian
	flags, sum := be.Uint32(b[54:]), be.Uint32(b)
	size := page
	if n := flags >> 6 & 0xf; n != 0 {
		size = min(512<<n, len(b))
	}
	switch {
	case flags&fullCRC32 != 0:
		r.s.Checksums = "on"
		r.fact("page checksums", "full_crc32", "ibdata1")
	case sum == noChecksum:
		r.s.Checksums = "off"
	case sum == castagnoli(b[4:26])^castagnoli(b[38:size-8]):
		r.s.Checksums = "on"
		r.fact("page checksums", "crc32", "ibdata1")
	}
}

func castagnoli(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// WritesLog begins the role of a server that others may follow.
const WritesLog = "writes a binary log"

// myRoles are what the server is to others, by the files that it keeps.
func (r *reader) myRoles() {
	for _, role := range []struct{ file, role string }{
		{"grastate.dat", "node of a Galera cluster"}, {"master.info", "replica"}, {"relay-log.info", "replica"}, {"multi-master.info", "replica of several primaries"},
	} {
		if r.filled(role.file) && !slices.Contains(r.s.Replication, role.role) {
			r.s.Replication = append(r.s.Replication, role.role)
		}
	}
	names := r.names(".")
	for _, name := range names {
		stem, index := strings.CutSuffix(name, ".index")
		if index && (strings.HasSuffix(stem, "-bin") || strings.HasSuffix(stem, "binlog") || r.isBinaryLog(stem, names)) {
			r.s.Replication = append(r.s.Replication, WritesLog+" ("+name+")")
		}
	}
}

// isBinaryLog reports whether files called so, and numbered, begin as binary logs do,
// whatever their name; a replica's own are what it has read.
func (r *reader) isBinaryLog(stem string, names []string) bool {
	return !strings.Contains(stem, "relay") && slices.ContainsFunc(names, func(name string) bool {
		number, ok := strings.CutPrefix(name, stem+".")
		return ok && number != "" && strings.Trim(number, "0123456789") == "" && string(r.head(name, 4)) == "\xfebin"
	})
}

// filled reports whether a file is there and not empty: servers make some of
// them before there is anything to say.
func (r *reader) filled(name string) bool {
	info, err := r.fs.Stat(path.Join(r.dir, name))
	return err == nil && info.Size() > 0
}

// plugin names a way to authenticate, in the table of accounts.
var plugin = lazyregexp.New(`mysql_native_password|mysql_old_password|caching_sha2_password|sha256_password|unix_socket|auth_socket|ed25519|parsec|auth_pam|gssapi|"plugin":"pam"`)

// accountPlugins are the ways to authenticate that the table of accounts names.
func accountPlugins(table []byte) []string {
	return sliced.Map(plugin.FindAll(table, 10_000), func(name []byte) string { return strings.Trim(strings.TrimPrefix(string(name), `"plugin":`), `"`) })
}
