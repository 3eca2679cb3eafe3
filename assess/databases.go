package assess

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/assess/datadir"
	"svc/backend/lazyregexp"
	"svc/backend/release"
)

// readDatabases finds databases by the engines' own files, in the directories
// that configuration names, and engines that are installed without data.
func (m *machine) readDatabases() {
	commands := m.invocations()
	m.postgresql(commands)
	m.mysql(commands)
	m.redis(commands)
	m.mongodb(commands)
	m.openldap(commands)
	m.oracle()
	for _, e := range namedOnly {
		if !m.hasDatabase(e.engine) {
			m.named(e)
		}
	}
	slices.SortStableFunc(m.a.Databases, func(a, b Database) int {
		return cmp.Or(cmp.Compare(a.Engine, b.Engine), compareNatural(a.Version, b.Version), cmp.Compare(a.Directory, b.Directory))
	})
}

// engine is one that its own files do not tell of: that it is there is seen by
// its package, or by what its folder holds.
type engine struct {
	engine, pkg, dir string
	port             int
}

// namedOnly are such engines, each by every package it comes in.
var namedOnly = []engine{
	{"arangodb", "arangodb3", "/var/lib/arangodb3", 8529},
	{"cassandra", "cassandra", "/var/lib/cassandra", 9042},
	{"clickhouse", "clickhouse-server", "/var/lib/clickhouse", 9000},
	{"cockroachdb", "cockroach", "/var/lib/cockroach", 26257},
	{"couchbase", "couchbase-server", "/opt/couchbase/var/lib/couchbase", 8091},
	{"couchdb", "couchdb", "/var/lib/couchdb", 5984},
	{"couchdb", "couchdb", "/opt/couchdb/data", 5984},
	{"db2", "db2", "/opt/ibm/db2", 50000},
	{"elasticsearch", "elasticsearch", "/var/lib/elasticsearch", 9200},
	{"etcd", "etcd-server", "/var/lib/etcd", 2379},
	{"etcd", "etcd", "/var/lib/etcd", 2379},
	{"firebird", "firebird4.0-server", "/var/lib/firebird", 3050},
	{"firebird", "firebird3.0-server", "/var/lib/firebird", 3050},
	{"firebird", "firebird", "/opt/firebird", 3050},
	{"influxdb", "influxdb", "/var/lib/influxdb", 8086},
	{"influxdb", "influxdb2", "/var/lib/influxdb", 8086},
	{"memcached", "memcached", "", 11211},
	{"mongodb", "mongodb-org-server", "/var/lib/mongodb", 27017},
	{"mongodb", "mongodb-server-core", "/var/lib/mongodb", 27017},
	{"mongodb", "mongodb-server", "/var/lib/mongo", 27017},
	{"monetdb", "monetdb5-server", "/var/monetdb5", 50000},
	{"mssql", "mssql-server", "/var/opt/mssql", 1433},
	{"neo4j", "neo4j", "/var/lib/neo4j", 7687},
	{"opensearch", "opensearch", "/var/lib/opensearch", 9200},
	{"prometheus", "prometheus", "/var/lib/prometheus/metrics2", 9090}, // beside it are its exporters' folders
	{"rabbitmq", "rabbitmq-server", "/var/lib/rabbitmq", 5672},
	{"sap-hana", "hdb-server", "/hana/shared", 0},
	{"scylla", "scylla-server", "/var/lib/scylla", 9042},
	{"slapd", "slapd", "/var/lib/ldap", 389},
	{"tarantool", "tarantool", "/var/lib/tarantool", 3301},
	{"virtuoso", "virtuoso-opensource", "/var/lib/virtuoso-opensource-7", 1111},
	{"zookeeper", "zookeeper", "/var/lib/zookeeper", 2181},
}

// named adds an engine whose package is installed, or whose folder holds
// something, or is closed.
func (m *machine) named(e engine) {
	d := Database{Engine: e.engine, Directory: e.dir, Port: e.port}
	if p := m.installed(e.pkg); p != nil {
		d.Version, d.Package, d.Evidence = upstream(p.Version), p.Name, Evidence{m.dpkg.database, 0}
		m.addDatabase(d)
		return
	}
	if e.dir == "" {
		return
	}
	if files, err := m.files(inside(e.dir)); len(files) > 0 || errors.Is(err, fs.ErrPermission) {
		d.Evidence = Evidence{e.dir, 0}
		m.addDatabase(d)
	}
}

// installed is the installed package of a name, or nil.
func (m *machine) installed(name string) *Package {
	i := slices.IndexFunc(m.a.Packages, func(p Package) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &m.a.Packages[i]
}

// installedPrefix is the first installed package whose name begins so.
func (m *machine) installedPrefix(prefix string) *Package {
	i := slices.IndexFunc(m.a.Packages, func(p Package) bool { return strings.HasPrefix(p.Name, prefix) })
	if i < 0 {
		return nil
	}
	return &m.a.Packages[i]
}

// upstream is the upstream part of a package's version.
func upstream(version string) string {
	if _, rest, ok := strings.Cut(version, ":"); ok {
		version = rest
	}
	if i := strings.LastIndexByte(version, '-'); i > 0 {
		version = version[:i]
	}
	version, _, _ = strings.Cut(version, "+")
	return version
}

func (m *machine) hasDatabase(engine string) bool {
	return slices.ContainsFunc(m.a.Databases, func(d Database) bool { return d.Engine == engine })
}

// addDatabase adds a database; what its data say of their version counts. Two
// engines never share a directory.
func (m *machine) addDatabase(d Database) {
	known := d.Directory != "" && slices.ContainsFunc(m.a.Databases, func(o Database) bool { return o.Directory == d.Directory })
	if known {
		return
	}
	if plainVersion.MatchString(d.DataVersion) {
		d.Version = d.DataVersion
	}
	d.Databases = datadir.Names(m.fs, datadir.Source{Engine: d.Engine, Directory: d.Directory})
	m.a.Databases = append(m.a.Databases, d)
}

// plainVersion is a version of an engine, not of a form of data: "rdb 9".
var plainVersion = lazyregexp.New(`^[0-9]+(\.[0-9]+)*$`)

// maxFollowed is as many files, and patterns of them, as the configurations of
// databases include, all together: hostile ones include each other over and over.
const maxFollowed = 300

// follow reports whether one more is read that another file names.
func (m *machine) follow(depth int) bool {
	if m.followed++; m.followed == maxFollowed+1 {
		m.source("databases.included", SourceUnreadable, fmt.Sprintf("the configurations of databases name more than %d files; the rest was not read", maxFollowed))
	}
	return depth <= maxIncludes && m.followed <= maxFollowed
}

// following are the files of a pattern that another file names.
func (m *machine) following(pattern string, depth int) []string {
	if !m.follow(depth) {
		return nil
	}
	return m.glob(pattern)
}

// inside is a directory of the machine as its file system takes it.
func inside(dir string) string { return cmp.Or(strings.TrimPrefix(path.Clean("/"+dir), "/"), ".") }

// stated reads the file in which data say what made them. That a directory is
// closed is not that it says nothing.
func (m *machine) stated(engine, dir, name string) string {
	file := path.Join(inside(dir), name)
	b, err := m.readSmall(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.outcome("databases."+engine+".data", file, err)
	}
	return firstLine(string(b))
}

// clusterPlaces are where the families and PostgreSQL's own packages keep
// clusters, beside Debian's.
var clusterPlaces = []string{
	"/var/lib/pgsql/data", "/var/lib/pgsql/[0-9]*/data", "/var/lib/postgres/data", "/var/lib/postgresql/data", "/var/lib/postgresql/[0-9]*/data", "/var/lib/postgresql/[0-9]*/main",
	"/var/opt/rh/*postgresql*/lib/pgsql/data", "/opt/rh/*postgresql*/root/var/lib/pgsql/data", "/usr/local/pgsql/data", "/opt/postgres*/data",
}

// pgdata is how the settings of a service say where its cluster is.
var pgdata = lazyregexp.New(`(?m)^\s*PGDATA=["']?([^"'\s]+)`)

// postgresql reads Debian's clusters, /etc/postgresql/VERSION/NAME, and those
// that stand where others keep them or a service says.
func (m *machine) postgresql(commands []invocation) {
	versions, err := m.files("etc/postgresql")
	m.outcome("databases.postgresql", "etc/postgresql", err)
	for _, version := range versions {
		names, _ := m.files(path.Join("etc/postgresql", version)) // a file beside the versions is no cluster
		for _, name := range names {
			m.cluster(version, name)
		}
	}
	for _, dir := range m.clusterFolders(commands) {
		m.bareCluster(dir)
	}
}

// clusterFolders are the directories that may hold a cluster, each once.
func (m *machine) clusterFolders(commands []invocation) (dirs []string) {
	for _, c := range commands {
		args, _ := c.of("postgres", "postmaster", "pg_ctl")
		if dir := cmp.Or(args.option("-D", "--pgdata"), c.environment["PGDATA"]); strings.HasPrefix(dir, "/") {
			dirs = append(dirs, path.Clean(dir))
		}
	}
	for _, pattern := range []string{"/etc/sysconfig/pgsql/*", "/etc/conf.d/postgresql"} {
		for _, file := range m.glob(pattern) {
			if f := pgdata.FindStringSubmatch(m.peek(file[1:])); f != nil {
				dirs = append(dirs, path.Clean("/"+f[1]))
			}
		}
	}
	for _, pattern := range clusterPlaces {
		dirs = append(dirs, m.glob(pattern)...)
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

func (m *machine) cluster(version, name string) {
	file := path.Join("etc/postgresql", version, name, "postgresql.conf")
	text, ok := m.text("databases.postgresql."+version+"."+name, file)
	if !ok {
		return
	}
	d := Database{
		Engine: "postgresql", Version: version, Name: name, Directory: path.Join("/var/lib/postgresql", version, name),
		Port: 5432, Package: "postgresql-" + version, Evidence: Evidence{"/" + file, 0},
	}
	m.configure(&d, "/"+file, text, 0)
	// The data say for themselves what made them; only their owner may read that.
	d.DataVersion = m.stated("postgresql", d.Directory, "PG_VERSION")
	m.addDatabase(d)
}

// configure takes what a postgresql.conf says, and those that it includes: of a
// setting that comes more than once, the last counts.
func (m *machine) configure(d *Database, file, text string, depth int) {
	for s := range parseSettings(file, text, "") {
		value := postgresqlValue(s.Value)
		switch strings.ToLower(s.Key) {
		case "data_directory":
			d.Directory = value
		case "port":
			d.Port, _ = strconv.Atoi(value) // 0 is "unknown"
		case "include", "include_if_exists":
			m.include(d, file, value, depth)
		case "include_dir":
			m.include(d, file, path.Join(value, "*.conf"), depth)
		}
	}
}

// include configures by the files of a pattern, from the folder of what names it.
func (m *machine) include(d *Database, from, pattern string, depth int) {
	if !path.IsAbs(pattern) {
		pattern = path.Join(path.Dir(from), pattern)
	}
	for _, file := range m.following(pattern, depth) {
		if !m.follow(depth) {
			return
		}
		text, _ := m.text("databases.postgresql."+path.Base(file), file[1:])
		m.configure(d, file, text, depth+1)
	}
}

// postgresqlValue is a value of postgresql.conf without its quotes and what is
// noted behind it.
func postgresqlValue(s string) string {
	if quoted, ok := strings.CutPrefix(s, "'"); ok {
		s, _, _ = strings.Cut(quoted, "'")
		return s
	}
	s, _, _ = strings.Cut(s, "#")
	return strings.TrimSpace(s)
}

// bareCluster adds a cluster that is known by its data alone.
func (m *machine) bareCluster(dir string) {
	d := Database{Engine: "postgresql", Name: path.Base(strings.TrimSuffix(dir, "/data")), Directory: dir, Port: 5432, Evidence: Evidence{path.Join(dir, "PG_VERSION"), 0}}
	if d.DataVersion = m.stated("postgresql", dir, "PG_VERSION"); d.DataVersion == "" && !m.exists(path.Join(inside(dir), "PG_VERSION")) {
		return // an empty folder is no cluster; a closed one is noted
	}
	m.configure(&d, path.Join(dir, "postgresql.conf"), m.peek(path.Join(inside(dir), "postgresql.conf")), 0)
	short := strings.ReplaceAll(d.DataVersion, ".", "")
	if d.Package = m.packageOf([]string{"postgresql" + short + "-server", "rh-postgresql" + short + "-postgresql-server", "postgresql-server", "postgresql" + short, "postgresql"}, ""); d.Package != "" {
		d.Version = upstream(m.installed(d.Package).Version)
	}
	m.addDatabase(d)
}

// myPackages are the packages of the servers; what begins so is one. SUSE's and
// Alpine's server is called as EL calls the client, and all have a
// mariadb-common that the client's library needs.
var myPackages = []struct{ engine, prefix string }{
	{"mariadb", "mariadb-server"}, {"mariadb", "MariaDB-server"}, {"mysql", "mysql-community-server"}, {"mysql", "mysql-server"}, {"mysql", "percona-server-server"}, {"mysql", "mysql80-server"},
}

// myServerPackage is the installed package of a server of MySQL or MariaDB, or nil.
func (m *machine) myServerPackage() (engine string, p *Package) {
	for _, k := range myPackages {
		if p = m.installedPrefix(k.prefix); p != nil {
			return k.engine, p
		}
	}
	if f := m.family(); f == release.SUSE || f == release.Alpine {
		return "mariadb", m.installed("mariadb")
	}
	return "mariadb", nil
}

// myDatabase adds an instance that has data or is installed.
func (m *machine) myDatabase(s myServer) bool {
	d := Database{Engine: "mariadb", Name: s.name, Directory: s.dir, Port: s.port, Evidence: s.evidence}
	if engine, p := m.myServerPackage(); p != nil && s.dir != "" && !strings.Contains(s.dir, "/opt/rh/") {
		d.Engine, d.Package, d.Version = engine, p.Name, upstream(p.Version)
	}
	there := m.exists(path.Join(inside(s.dir), "ibdata1")) || m.exists(path.Join(inside(s.dir), "mysql"))
	if s.dir == "" || !there && d.Package == "" {
		return false
	}
	if d.Evidence.Path == "" {
		d.Evidence.Path = s.dir
	}
	m.source("databases.mysql", SourceOK, s.dir)
	m.myVersion(&d)
	m.addDatabase(d)
	return true
}

// myVersion reads what the data say of themselves: what upgraded them last, or
// the first page of MySQL 8's dictionary.
func (m *machine) myVersion(d *Database) {
	for _, name := range []string{"mariadb_upgrade_info", "mysql_upgrade_info"} {
		if v := m.stated("mysql", d.Directory, name); v != "" {
			var flavour string
			d.DataVersion, flavour, _ = strings.Cut(v, "-")
			d.Evidence = Evidence{path.Join(d.Directory, name), 1}
			if d.Package == "" && !strings.HasPrefix(flavour, "MariaDB") {
				d.Engine = "mysql"
			}
			return
		}
	}
	dir := inside(d.Directory)
	if v := lastUpgrade([]byte(m.peek(path.Join(dir, "mysql_upgrade_history")))); v != "" {
		d.Engine, d.DataVersion, d.Evidence = "mysql", v, Evidence{path.Join(d.Directory, "mysql_upgrade_history"), 0}
		return
	}
	if head, err := m.head(path.Join(dir, "mysql.ibd"), 16); err == nil {
		d.Engine, d.DataVersion, d.Evidence = "mysql", tablespaceVersion(head), Evidence{path.Join(d.Directory, "mysql.ibd"), 0}
	}
}

// lastUpgrade is the last version in MySQL 8.4's book of upgrades.
func lastUpgrade(b []byte) string {
	var book struct {
		History []struct{ Version string } `json:"upgrade_history"`
	}
	if json.Unmarshal(b, &book) != nil || len(book.History) == 0 {
		return ""
	}
	return book.History[len(book.History)-1].Version
}

// tablespaceVersion is the server's version in the first page of a tablespace
// of MySQL 8: 80034 at byte 8.
func tablespaceVersion(page []byte) string {
	if len(page) < 12 {
		return ""
	}
	v := binary.BigEndian.Uint32(page[8:])
	if v < 80000 || v > 200000 {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", v/10000, v/100%100, v%100)
}

// redisFiles are configurations of Redis and Valkey; each is an instance.
var redisFiles = []struct{ engine, pattern string }{
	{"redis", "/etc/redis.conf"}, {"redis", "/etc/redis/*.conf"}, {"valkey", "/etc/valkey.conf"}, {"valkey", "/etc/valkey/*.conf"}, {"redis", "/etc/opt/rh/*redis*/redis.conf"},
}

// redis reads Redis's and Valkey's configuration, and the header of the dump. A file
// that another one includes is no instance's own.
func (m *machine) redis(commands []invocation) {
	var instances []redisInstance
	for _, f := range redisFiles {
		for _, file := range m.glob(f.pattern) {
			if path.Base(file) != "sentinel.conf" && path.Base(file) != "users.acl" {
				instances = append(instances, m.redisSettings(f.engine, file))
			}
		}
	}
	included := map[string]bool{}
	for _, i := range instances {
		maps.Copy(included, i.included)
	}
	for _, i := range instances {
		if !included[i.file] {
			m.redisDatabase(i)
		}
	}
	for _, c := range commands {
		m.redisCommand(c)
	}
	for _, engine := range []string{"redis", "valkey"} {
		if p := m.redisPackage(engine); p != nil && !m.hasDatabase(engine) {
			m.addDatabase(Database{Engine: engine, Version: upstream(p.Version), Directory: "/var/lib/" + engine, Port: 6379, Package: p.Name, Evidence: Evidence{m.dpkg.database, 0}})
		}
	}
}

// redisInstance is what a configuration file says of a server, with what it includes.
type redisInstance struct {
	engine, file, dir, dump string
	port                    int
	included                map[string]bool
}

func (m *machine) redisSettings(engine, file string) redisInstance {
	i := redisInstance{engine, file, "/var/lib/" + engine, "dump.rdb", 6379, map[string]bool{}}
	i.read(m, file, 0)
	delete(i.included, file)
	return i
}

func (i *redisInstance) read(m *machine, file string, depth int) {
	text, _ := m.text("databases."+i.engine, file[1:])
	for s := range parseSettings(file, text, "") {
		value := strings.Trim(s.Value, `'"`)
		switch strings.ToLower(s.Key) {
		case "dir":
			i.dir = value
		case "dbfilename":
			i.dump = value
		case "port":
			i.port, _ = strconv.Atoi(value) // 0 is "unknown"
		case "include":
			for _, other := range m.following(value, depth) {
				if !i.included[other] && m.follow(depth) {
					i.included[other] = true
					i.read(m, other, depth+1)
				}
			}
		}
	}
}

// redisCommand adds the server that a command starts with a file or a folder of
// its own.
func (m *machine) redisCommand(c invocation) {
	for _, engine := range []string{"redis", "valkey"} {
		args, ok := c.of(engine + "-server")
		if !ok {
			continue
		}
		i := redisInstance{engine, c.evidence.Path, "", "dump.rdb", 6379, map[string]bool{}}
		if len(args) > 0 && strings.HasPrefix(args[0], "/") {
			i = m.redisSettings(engine, path.Clean(args[0]))
		}
		i.dir, i.dump = cmp.Or(args.option("--dir"), i.dir), cmp.Or(args.option("--dbfilename"), i.dump)
		if port, err := strconv.Atoi(args.option("--port")); err == nil {
			i.port = port
		}
		if i.dir != "" {
			m.redisDatabase(i)
		}
	}
}

func (m *machine) redisPackage(engine string) *Package {
	if p := m.installed(engine + "-server"); p != nil {
		return p
	}
	return m.installed(engine)
}

func (m *machine) redisDatabase(i redisInstance) {
	d := Database{Engine: i.engine, Directory: i.dir, Port: i.port, Evidence: Evidence{i.file, 0}}
	if p := m.redisPackage(i.engine); p != nil {
		d.Package, d.Version = p.Name, upstream(p.Version)
	}
	file := path.Join(inside(i.dir), i.dump)
	head, err := m.head(file, 256)
	if stateOf(err) == SourceUnreadable {
		m.outcome("databases."+i.engine+".data", file, err)
	}
	d.Name, d.DataVersion = parseRDB(head)
	m.addDatabase(d)
}

// parseRDB reads the header of a dump: its form, "REDIS0009" being "rdb 9", and
// the version of the server that wrote it, a field "redis-ver".
func parseRDB(head []byte) (form, version string) {
	if len(head) < 9 || string(head[:5]) != "REDIS" && string(head[:6]) != "VALKEY" {
		return "", ""
	}
	n, err := strconv.Atoi(strings.TrimLeft(string(head[5:9]), "Y"))
	if err != nil {
		return "", ""
	}
	form = "rdb " + strconv.Itoa(n)
	for _, field := range []string{"redis-ver", "valkey-ver"} {
		_, rest, ok := strings.Cut(string(head), "\xfa"+string(rune(len(field)))+field)
		if ok && len(rest) > 1 && int(rest[0]) < len(rest) && rest[0] < 64 {
			return form, rest[1 : 1+int(rest[0])]
		}
	}
	return form, form
}

// mongodbFiles are configurations of MongoDB; each is an instance.
var mongodbFiles = []string{"/etc/mongod*.conf", "/etc/mongod/*.conf", "/etc/opt/rh/*mongodb*/mongod.conf"}

// mongodb reads where configuration and commands say the data are, and what the
// engine below it wrote there.
func (m *machine) mongodb(commands []invocation) {
	for _, pattern := range mongodbFiles {
		for _, file := range m.glob(pattern) {
			m.mongodbDatabase(m.mongodbSettings(file))
		}
	}
	for _, c := range commands {
		args, ok := c.of("mongod")
		file, dir := args.option("-f", "--config"), args.option("--dbpath")
		if !ok || file == "" && dir == "" {
			continue
		}
		d := Database{Engine: "mongodb", Port: 27017, Evidence: c.evidence}
		if file != "" {
			d = m.mongodbSettings(path.Clean("/" + file))
		}
		d.Directory = cmp.Or(dir, d.Directory)
		if port, err := strconv.Atoi(args.option("--port")); err == nil {
			d.Port = port
		}
		m.mongodbDatabase(d)
	}
}

// mongodbSetting is one of the settings that matter, in YAML of either style or in
// the lines of before.
var mongodbSetting = lazyregexp.New(`(?i)\b(dbpath|port)["']?\s*[:=]\s*(?:"([^"]*)"|'([^']*)'|([^\s,}]+))`)

func (m *machine) mongodbSettings(file string) Database {
	d := Database{Engine: "mongodb", Directory: "/var/lib/mongodb", Port: 27017, Evidence: Evidence{file, 0}}
	text, _ := m.text("databases.mongodb", file[1:])
	for n, line := range numberedLines(text) {
		line, _, _ = strings.Cut(" "+line, " #")
		for _, f := range mongodbSetting.FindAllStringSubmatch(line, -1) {
			if value := f[2] + f[3] + f[4]; strings.EqualFold(f[1], "port") {
				d.Port, _ = strconv.Atoi(value) // 0 is "unknown"
			} else {
				d.Directory, d.Evidence.Line = value, n
			}
		}
	}
	return d
}

func (m *machine) mongodbDatabase(d Database) {
	if d.Package = m.packageOf([]string{"mongodb-org-server", "mongodb-server", "mongodb-server-core", "rh-mongodb36-mongodb-server"}, ""); d.Package != "" {
		d.Version = upstream(m.installed(d.Package).Version)
	}
	d.DataVersion = wiredTiger(m.start(path.Join(inside(d.Directory), "WiredTiger")))
	m.addDatabase(d)
}

// wiredTigerLine is the line of a directory's own file that has the version of
// the storage engine.
var wiredTigerLine = lazyregexp.New(`(?m)^WiredTiger ([0-9]+(?:\.[0-9]+)*)`)

func wiredTiger(b []byte) string {
	if f := wiredTigerLine.FindSubmatch(b); f != nil {
		return "wiredtiger " + string(f[1])
	}
	return ""
}

// ldapBackends are the forms of OpenLDAP's data by the files they have.
var ldapBackends = []struct{ form, file string }{{"mdb", "data.mdb"}, {"hdb", "id2entry.bdb"}}

// openldap reads the databases of OpenLDAP from its configuration, of either
// form, and finds 389's instances.
func (m *machine) openldap(commands []invocation) {
	folders, files := []string{"/etc/ldap/slapd.d", "/etc/openldap/slapd.d"}, []string{"/etc/openldap/slapd.conf", "/etc/ldap/slapd.conf"}
	for _, c := range commands {
		args, _ := c.of("slapd")
		folders, files = append(folders, path.Clean("/"+args.option("-F"))), append(files, path.Clean("/"+args.option("-f")))
	}
	for _, dir := range folders {
		for _, file := range m.glob(path.Join(dir, "cn=config", "olcDatabase=*.ldif")) {
			text, _ := m.text("databases.slapd", file[1:])
			// A long line of LDIF goes on after a space.
			m.ldapDatabase(parseSettings(file, strings.ReplaceAll(text, "\n ", ""), ":"), "olcdbdirectory", "olcsuffix")
		}
	}
	for _, file := range files {
		m.slapdFile(file, 0)
	}
	for _, dir := range m.glob("/var/lib/dirsrv/slapd-*/db") {
		m.addDatabase(Database{Engine: "389-ds", Name: path.Base(path.Dir(dir)), Directory: dir, Port: 389, DataVersion: m.stated("389-ds", dir, "DBVERSION"), Evidence: Evidence{dir, 0}})
	}
}

// slapdFile reads a slapd.conf and what it includes, but schemas: the settings of a
// database follow a line that begins it.
func (m *machine) slapdFile(file string, depth int) {
	if file == "/" || !m.follow(depth) {
		return
	}
	var database []Setting
	text, _ := m.text("databases.slapd", file[1:])
	for s := range parseSettings(file, text, "") {
		switch strings.ToLower(s.Key) {
		case "include":
			if path.Ext(s.Value) != ".schema" {
				m.slapdFile(path.Clean("/"+unquote(s.Value)), depth+1)
			}
		case "database":
			m.ldapDatabase(slices.Values(database), "directory", "suffix")
			database = nil
		default:
			database = append(database, s)
		}
	}
	m.ldapDatabase(slices.Values(database), "directory", "suffix")
}

func (m *machine) ldapDatabase(settings iter.Seq[Setting], directory, suffix string) {
	d := Database{Engine: "slapd", Port: 389}
	for s := range settings {
		switch strings.ToLower(s.Key) {
		case directory:
			d.Directory, d.Evidence = unquote(s.Value), s.Evidence
		case suffix:
			d.Name = unquote(s.Value)
		}
	}
	if d.Directory == "" {
		return
	}
	for _, b := range ldapBackends {
		if m.exists(path.Join(inside(d.Directory), b.file)) {
			d.DataVersion = b.form
		}
	}
	if d.Package = m.packageOf([]string{"slapd", "openldap-servers", "openldap2", "openldap"}, ""); d.Package != "" {
		d.Version = upstream(m.installed(d.Package).Version)
	}
	m.addDatabase(d)
}

// oracle reads the table of Oracle's instances.
func (m *machine) oracle() {
	text, _ := m.text("databases.oracle", "etc/oratab")
	for s := range parseSettings("/etc/oratab", text, ":") {
		if home, _, ok := strings.Cut(s.Value, ":"); ok {
			m.addDatabase(Database{Engine: "oracle", Name: s.Key, Directory: home, Port: 1521, Evidence: s.Evidence})
		}
	}
}
