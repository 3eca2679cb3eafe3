package datadir

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/matryer/is"

	"svc/assess/datadir/pgfile"
	"svc/assess/datadir/rdb"
	"svc/assess/host"
)

// machine writes files into a new root.
func machine(t *testing.T, files map[string]string) host.FS {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h, err := host.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h.FS()
}

// control makes a pg_control of PostgreSQL 13 to 16.
func control(state, checksums uint32) []byte {
	le := binary.LittleEndian
	b := make([]byte, 8192)
	le.PutUint32(b[8:], 1300)
	le.PutUint32(b[12:], 202209061)
	le.PutUint32(b[16:], state)
	le.PutUint32(b[172:], 1)
	le.PutUint32(b[216:], 8192)
	le.PutUint32(b[252:], checksums)
	le.PutUint32(b[288:], crc32.Checksum(b[:288], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

// row is a tuple: its columns in the form of "types", with the transaction that
// made it and the one that deleted it.
type row struct {
	xmin, xmax uint32
	mask       uint16
	values     []any // string of 64 bytes, uint32, byte, or text
}

type text string

// The bits of a tuple that say what became of the transactions.
const (
	xminCommitted = 0x0100
	xmaxInvalid   = 0x0800
)

// page makes a table's page of rows.
func page(rows ...row) []byte {
	le := binary.LittleEndian
	b := make([]byte, 8192)
	at := len(b)
	for i, r := range rows {
		t := make([]byte, 24)
		le.PutUint32(t, r.xmin)
		le.PutUint32(t[4:], r.xmax)
		le.PutUint16(t[18:], uint16(len(r.values)))
		le.PutUint16(t[20:], r.mask)
		t[22] = 24
		for _, v := range r.values {
			t = appendColumn(t, v)
		}
		at = (at - len(t)) &^ 7
		copy(b[at:], t)
		le.PutUint32(b[24+4*i:], uint32(at)|1<<15|uint32(len(t))<<17)
		le.PutUint16(b[12:], uint16(24+4*(i+1)))
	}
	return b
}

func appendColumn(t []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return append(t, append([]byte(v), make([]byte, 64-len(v))...)...)
	case byte:
		return append(t, v)
	case text:
		return append(append(t, byte(len(v)+1)<<1|1), v...)
	case uint32:
		for len(t)%4 != 0 {
			t = append(t, 0)
		}
		return binary.LittleEndian.AppendUint32(t, v)
	}
	return t
}

func fileMap(oid, node uint32) string {
	b := binary.LittleEndian.AppendUint32(nil, 0x592717)
	for _, n := range []uint32{1, oid, node} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return string(b)
}

// database15 is a row of pg_database as PostgreSQL 15 has it.
func database15(oid uint32, name, collate string, xmin, xmax uint32, mask uint16) row {
	return row{xmin, xmax, mask, []any{
		oid, name, uint32(10), uint32(6), byte('c'), byte(0), byte(1), uint32(0xffffffff), uint32(700), uint32(1), uint32(1663), text(collate), text(collate), text(""), text("2.36"),
	}}
}

func cluster15(state uint32) map[string]string {
	committed := make([]byte, 8192)
	committed[500/4] |= 1 << (500 % 4 * 2)
	extensions := page(
		row{1, 0, xmaxInvalid, []any{uint32(1), "plpgsql", uint32(10), uint32(11), byte(0), text("1.0")}},
		row{500, 0, xmaxInvalid, []any{uint32(2), "pg_trgm", uint32(10), uint32(11), byte(1), text("1.6")}},
	)
	return map[string]string{
		"db/PG_VERSION": "15\n", "db/global/pg_control": string(control(state, 1)), "db/global/pg_filenode.map": fileMap(1262, 1262), "db/pg_xact/0000": string(committed),
		"db/global/1262": string(page(
			database15(5, "postgres", "de_DE.UTF-8", 1, 0, xmaxInvalid|xminCommitted),
			database15(16384, "shop", "C", 500, 0, xmaxInvalid),      // made by a transaction that the log has
			database15(16385, "aborted", "C", 501, 0, xmaxInvalid),   // and by one that it has not
			database15(16386, "dropped", "C", 1, 500, xminCommitted), // and this is gone
		)),
		"db/base/16384/3079": string(extensions),
		"db/postgresql.conf": "wal_level = replica # as ever\nshared_preload_libraries = 'pg_stat_statements'\n",
		"db/pg_hba.conf":     "# comment\nlocal all all peer\nhost all all 127.0.0.1/32 md5\nhost all all 10.0.0.0 255.0.0.0 scram-sha-256\n",
		"db/standby.signal":  "",
	}
}

func TestPostgreSQL(t *testing.T) {
	is := is.New(t)
	s := Read(machine(t, cluster15(1)), Source{Engine: "postgresql", Directory: "/db"})
	is.Equal([]string{s.Version, s.Form, s.State, s.Checksums}, []string{"15", "catalog 202209061", "shut down", "on"})
	is.Equal(s.Databases, []Catalog{
		{"postgres", "UTF8", "libc", "de_DE.UTF-8", "de_DE.UTF-8", "2.36", []Extension{}},
		{"shop", "UTF8", "libc", "C", "C", "2.36", []Extension{{"pg_trgm", "1.6"}, {"plpgsql", "1.0"}}},
	})
	is.Equal(Names(machine(t, cluster15(1)), Source{Engine: "postgresql", Directory: "/db"}), []string{"shop"})
	is.Equal(Names(machine(t, nil), Source{Engine: "postgresql", Directory: "/db"}), nil)
	is.Equal(s.Auth, []Count{{"md5", 1}, {"peer", 1}, {"scram-sha-256", 1}})
	is.Equal(s.Replication, []string{"standby (standby.signal)"})
	is.True(slices.Contains(s.Facts, Fact{"setting shared_preload_libraries", "pg_stat_statements", "/db/postgresql.conf"}))
	is.Equal(s.Files, 9)
	is.Equal(s.Unread, []string{})
	running := Read(machine(t, cluster15(6)), Source{Engine: "postgresql", Directory: "/db"})
	is.Equal(running.State, "in production")
	is.True(strings.Contains(strings.Join(running.Unread, "\n"), "was not shut down"))
}

func TestDamageIsSaid(t *testing.T) {
	is := is.New(t)
	files := cluster15(1)
	b := []byte(files["db/global/pg_control"])
	b[100] ^= 1
	files["db/global/pg_control"] = string(b)
	s := Read(machine(t, files), Source{Engine: "postgresql", Directory: "/db"})
	is.True(strings.Contains(strings.Join(s.Unread, "\n"), "pg_control is damaged"))
	is.Equal(s.Databases, []Catalog{}) // nothing is taken from it
}

func TestMySQL(t *testing.T) {
	is := is.New(t)
	log := make([]byte, 512)
	copy(log, "Phys")
	copy(log[16:], "MariaDB 10.11.6\x00")
	files := map[string]string{
		"var/ib_logfile0": string(log), "var/mysql_upgrade_info": "10.11.6-MariaDB\x00", "var/shop/db.opt": "default-character-set=utf8mb4\ndefault-collation=utf8mb4_bin\n",
		"var/shop/a.ibd": "", "var/shop/b.MYD": "", "var/mysql/global_priv.MAD": `{"plugin":"mysql_native_password"}{"plugin":"ed25519"}`, "var/mysql/t.MYD": "", "var/a@0020b/x.frm": "",
		"var/master.info": "1", "var/multi-master.info": "",
	}
	s := Read(machine(t, files), Source{Engine: "mariadb", Directory: "/var"})
	is.Equal(Names(machine(t, files), Source{Engine: "mariadb", Directory: "/var"}), []string{"a b", "shop"})
	is.Equal(Names(machine(t, files), Source{Engine: "mariadb", Directory: "/nowhere"}), nil)
	is.Equal(s.Version, "10.11.6")
	is.Equal(s.Databases, []Catalog{{Name: "a b", Extensions: []Extension{}}, {Name: "shop", Encoding: "utf8mb4", Collate: "utf8mb4_bin", Extensions: []Extension{}}})
	is.Equal(s.Engines, []Count{{"InnoDB", 1}, {"MyISAM", 1}, {"definitions (.frm)", 1}})
	is.Equal(s.Auth, []Count{{"ed25519", 1}, {"mysql_native_password", 1}})
	is.Equal(s.Replication, []string{"replica"})
	is.True(slices.Contains(s.Facts, Fact{"redo log by", "MariaDB 10.11.6", "/var/ib_logfile0"}))
	mysql := make([]byte, 16)
	binary.BigEndian.PutUint32(mysql[8:], 80036)
	is.Equal(Read(machine(t, map[string]string{"d/mysql.ibd": string(mysql)}), Source{Engine: "mysql", Directory: "/d"}).Version, "8.0.36")
}

// dump is the beginning of an RDB file with a number and three keys.
const dump = "REDIS0011\xfa\x09redis-ver\x057.2.4\xfa\x0aredis-bits\xc0\x40\xfe\x00\xfb\x03\x00"

func TestRedis(t *testing.T) {
	is := is.New(t)
	s := Read(machine(t, map[string]string{
		"r/dump.rdb": dump, "r/appendonlydir/appendonly.aof.manifest": "file appendonly.aof.1.base.rdb seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n",
		"r/appendonlydir/appendonly.aof.1.base.rdb": "VALKEY080\xfa\x0avalkey-ver\x059.0.1", "etc/redis.conf": "replicaof 10.0.0.1 6379\nrequirepass secret\n",
	}), Source{Engine: "redis", Directory: "/r", Config: "/etc/redis.conf"})
	is.Equal([]string{s.Form, s.Version}, []string{"rdb 80", "9.0.1"}) // the newest form counts
	is.Equal(s.Replication, []string{"replica"})
	is.True(slices.Contains(s.Facts, Fact{"append-only files", "1 base, 1 incremental, 0 history", "/r/appendonlydir/appendonly.aof.manifest"}))
	is.True(slices.Contains(s.Facts, Fact{"keys of the first database", "3", "/r/dump.rdb"}))
	for _, f := range s.Facts {
		is.True(!strings.Contains(f.Value, "secret"))
	}
}

func TestOthers(t *testing.T) {
	is := is.New(t)
	lmdb := make([]byte, 64)
	binary.LittleEndian.PutUint32(lmdb[16:], 0xbeefc0de)
	binary.LittleEndian.PutUint64(lmdb[32:], 1<<30)
	binary.LittleEndian.PutUint32(lmdb[40:], 4096)
	fsys := machine(t, map[string]string{
		"ldap/data.mdb": string(lmdb), "old/id2entry.bdb": "", "mongo/WiredTiger": "WiredTiger\nWiredTiger 11.2.0: (January 1, 2024)\n", "mongo/mongod.lock": "123\n",
		"mongo/storage.bson": "engine\x00\x0b\x00\x00\x00wiredTiger\x00", "mongo/collection-1.wt": "..featureCompatibilityVersion\x00\x02version\x00\x04\x00\x00\x006.0\x00..", "es/x": "1234",
	})
	is.Equal(Read(fsys, Source{Engine: "slapd", Directory: "/ldap"}).Form, "mdb")
	is.Equal(Read(fsys, Source{Engine: "slapd", Directory: "/old"}).Form, "bdb or hdb")
	mongo := Read(fsys, Source{Engine: "mongodb", Directory: "/mongo"})
	is.Equal([]string{mongo.Form, mongo.Version, mongo.State}, []string{"wiredtiger 11.2.0", "6.0", "in production"})
	named := Read(fsys, Source{Engine: "elasticsearch", Directory: "/es"})
	is.Equal(named.Bytes, int64(4))
	is.Equal(len(named.Unread), 1)
	is.Equal(Read(fsys, Source{Engine: "postgresql", Directory: "/nothing"}).Version, "")
}

// A link of the machine leads to no file of this host.
func TestNothingOutsideIsRead(t *testing.T) {
	is := is.New(t)
	outside := filepath.Join(t.TempDir(), "PG_VERSION")
	is.NoErr(os.WriteFile(outside, []byte("15\n"), 0o644))
	dir := t.TempDir()
	is.NoErr(os.Symlink(filepath.Dir(outside), filepath.Join(dir, "db")))
	h, err := host.OpenRoot(dir)
	is.NoErr(err)
	defer h.Close()
	is.Equal(Read(h.FS(), Source{Engine: "postgresql", Directory: "/db"}).Version, "")
}

func FuzzParseControl(f *testing.F) {
	f.Add(control(1, 1))
	f.Add([]byte("short"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := pgfile.ParseControl(b); err == nil && c.Checked && c.Checksums == "" {
			t.Fatal("checked, and nothing read")
		}
	})
}

func FuzzPageTuples(f *testing.F) {
	f.Add(page(database15(5, "a", "C", 1, 0, 0)), "iniibbbiiiitttt")
	f.Add([]byte("x"), "nt")
	f.Fuzz(func(t *testing.T, b []byte, types string) {
		for _, tuple := range pgfile.Tuples(b) {
			if got := tuple.Columns(types); len(got) > len(types) {
				t.Fatalf("%d columns of %q", len(got), types)
			}
		}
		pgfile.Nodes(b)
	})
}

func FuzzParseDump(f *testing.F) {
	f.Add([]byte(dump))
	f.Add([]byte("VALKEY080\xfa\xc2\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := rdb.Parse(b); err == nil && (len(d.Aux) > 100 || d.Form == "") {
			t.Fatalf("%+v", d)
		}
		manifestLine(string(b))
	})
}

func FuzzHeaders(f *testing.F) {
	f.Add([]byte("SQLite format 3\x00" + strings.Repeat("\x01", 84)))
	f.Add([]byte("Phys" + strings.Repeat("\x00", 12) + "MariaDB 10.11.6" + strings.Repeat("\x00", 50)))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = ParseSQLite(b)
		_, _, _ = parseLMDB(b)
		parseRedoLog(b)
		accountPlugins(b)
		authMethods(string(b))
		schemaName(string(b))
	})
}

// FuzzRead puts bytes into each of the files of an engine that are read, in turn.
func FuzzRead(f *testing.F) {
	files := []struct{ engine, name string }{
		{"postgresql", "PG_VERSION"},
		{"postgresql", "global/pg_control"},
		{"postgresql", "global/pg_filenode.map"},
		{"postgresql", "global/1262"},
		{"postgresql", "pg_xact/0000"},
		{"postgresql", "base/16384/3079"},
		{"postgresql", "postgresql.conf"},
		{"postgresql", "pg_hba.conf"},
		{"mariadb", "ib_logfile0"},
		{"mariadb", "ibdata1"},
		{"mysql", "mysql.ibd"},
		{"mysql", "mysql_upgrade_history"},
		{"mysql", "mysql_upgrade_info"},
		{"mariadb", "shop/db.opt"},
		{"mariadb", "mysql/global_priv.MAD"},
		{"redis", "dump.rdb"},
		{"valkey", "appendonlydir/appendonly.aof.manifest"},
		{"mongodb", "WiredTiger"},
		{"mongodb", "storage.bson"},
		{"mongodb", "collection-1.wt"},
		{"mongodb", "mongod.lock"},
		{"slapd", "data.mdb"},
		{"sqlite", ""},
	}
	whole := cluster15(1)
	for i, file := range files {
		f.Add(uint8(i), []byte(whole["db/"+file.name]))
	}
	f.Add(uint8(15), []byte(dump))
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		file := files[int(which)%len(files)]
		machine := fstest.MapFS{}
		for name, content := range whole {
			machine[name] = &fstest.MapFile{Data: []byte(content)}
		}
		machine[path.Join("db", file.name)] = &fstest.MapFile{Data: b}
		s := Read(machine, Source{Engine: file.engine, Directory: "/db"})
		if len(s.Databases) > maxDatabases || len(s.Unread) > 50 || s.Bytes < 0 {
			t.Fatalf("%d databases, %d unread, %d bytes", len(s.Databases), len(s.Unread), s.Bytes)
		}
	})
}

func TestSchemaName(t *testing.T) {
	for folder, name := range map[string]string{
		"shop": "shop", "od@002dd": "od-d", "@0p@002d@r1@002e@0G@65e5@0040@1j@0020x": "é-я.À日@ß x", // as MySQL 9.7 made them
		"plain@": "plain@", "@zz": "@zz", "a@00": "a@00", "@": "@", "": "",
	} {
		if got := schemaName(folder); got != name {
			t.Errorf("%s: %s, want %s", folder, got, name)
		}
	}
}

func TestMySQLTellsAShutdown(t *testing.T) {
	be := binary.BigEndian
	const checkpoint = 40*logBlock + 100
	for _, c := range []struct {
		stamp  uint64
		filled uint16
		state  string
	}{{checkpoint, 100, shutDown}, {checkpoint, 180, inProduction}, {checkpoint - 300, 100, inProduction}} {
		log := make([]byte, logHeader+30*logBlock)
		be.PutUint32(log, 6)
		be.PutUint64(log[8:], 20*logBlock)
		copy(log[16:], "MySQL 8.4.6")
		be.PutUint64(log[logBlock+8:], checkpoint)
		be.PutUint16(log[logHeader+20*logBlock+4:], c.filled)
		system := make([]byte, 64)
		be.PutUint64(system[26:], c.stamp)
		fsys := machine(t, map[string]string{"d/ibdata1": string(system), "d/#innodb_redo/#ib_redo9": string(log), "d/#innodb_redo/#ib_redo10_tmp": ""})
		if s := Read(fsys, Source{Engine: "mysql", Directory: "/d"}); s.State != c.state || s.Version != "8.4.6" {
			t.Errorf("%v: %q of %q", c, s.State, s.Version)
		}
	}
}

func TestWhatDataSayOfThemselves(t *testing.T) {
	is := is.New(t)
	for head, want := range map[string][]string{
		"REDIS0011\xfa\x09redis-ver\x057.2.4\xfa":     {"rdb 11", "7.2.4"},
		"REDIS0006\xfe\x00":                           {"rdb 6", ""},
		"VALKEY080\xfa\x0avalkey-ver\x059.0.0":        {"rdb 80", "9.0.0"},
		"REDIS0011\xfa\x09redis-ver\x057.2.4\xfa\x0c": {"rdb 11", "7.2.4"}, // the beginning of a dump is cut anywhere
	} {
		d, err := rdb.Parse([]byte(head))
		is.NoErr(err)
		is.Equal([]string{d.Form, d.Version()}, want)
	}
	is.Equal(DictionaryVersion([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x38, 0xA2, 0, 0, 0, 1}), "8.0.34")
	is.Equal(DictionaryVersion([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}), "")
	is.Equal(LastUpgrade([]byte(`{"upgrade_history":[{"version":"8.3.0"},{"version":"8.4.2"}]}`)), "8.4.2")
	is.Equal(LastUpgrade([]byte(`{"upgrade_history":[]}`)), "")
}
