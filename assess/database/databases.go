// Package database reads which databases a machine has, where they stand by their
// own configuration, and of what version their data are.
package database

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/assess"
	"svc/assess/conf"
	"svc/assess/datadir"
	"svc/assess/datadir/rdb"
	"svc/backend/lazyregexp"
	"svc/backend/pkgversion"
	"svc/backend/release"
	"svc/backend/tsv"
)

// ReadDatabases finds databases by the engines' own files, in the directories
// that configuration names, and engines that are installed without data.
func ReadDatabases(m *assess.Machine) {
	commands := invocations(m)
	postgresql(m, commands)
	mysql(m, commands)
	redis(m, commands)
	mongodb(m, commands)
	openldap(m, commands)
	oracle(m)
	for _, e := range namedOnly() {
		if !hasDatabase(m, e.engine) {
			named(m, e)
		}
	}
	slices.SortStableFunc(m.A.Databases, func(a, b assess.Database) int {
		return cmp.Or(cmp.Compare(a.Engine, b.Engine), assess.CompareNatural(a.Version, b.Version), cmp.Compare(a.Directory, b.Directory))
	})
}

// engine is one that its own files do not tell of: that it is there is seen by
// its package, or by what its folder holds.
type engine struct {
	engine, pkg, dir string
	port             int
}

//go:embed engines.tsv
var engineRows string

// namedOnly are such engines, each by every package it comes in.
var namedOnly = tsv.List(engineRows, 4, func(c []string) engine {
	port, _ := strconv.Atoi(c[3])
	return engine{c[0], c[1], c[2], port}
})

// named adds an engine whose package is installed, or whose folder holds
// something, or is closed.
func named(m *assess.Machine, e engine) {
	d := assess.Database{Engine: e.engine, Directory: e.dir, Port: e.port}
	if from(m, &d, "", e.pkg) {
		d.Evidence = assess.Evidence{Path: m.Book.Database, Line: 0}
		addDatabase(m, d)
		return
	}
	if e.dir == "" {
		return
	}
	if files, err := m.Files(datadir.Inside(e.dir)); len(files) > 0 || errors.Is(err, fs.ErrPermission) {
		d.Evidence = assess.Evidence{Path: e.dir, Line: 0}
		addDatabase(m, d)
	}
}

// from notes the first of the packages that is installed, where % stands for a version, as
// the one that an engine is from; false where none is.
func from(m *assess.Machine, d *assess.Database, version string, names ...string) bool {
	if d.Package = m.PackageOf(names, version); d.Package == "" {
		return false
	}
	d.Version = pkgversion.Upstream(m.Installed(d.Package).Version)
	return true
}

func hasDatabase(m *assess.Machine, engine string) bool {
	return slices.ContainsFunc(m.A.Databases, func(d assess.Database) bool { return d.Engine == engine })
}

// addDatabase adds a database; what its data say of their version counts. Two
// engines never share a directory.
func addDatabase(m *assess.Machine, d assess.Database) {
	known := d.Directory != "" && slices.ContainsFunc(m.A.Databases, func(o assess.Database) bool { return o.Directory == d.Directory })
	if known {
		return
	}
	if assess.PlainVersion.MatchString(d.DataVersion) {
		d.Version = d.DataVersion
	}
	d.Databases = datadir.Names(m.FS, datadir.Source{Engine: d.Engine, Directory: d.Directory})
	m.A.Databases = append(m.A.Databases, d)
}

// maxFollowed is as many files, and patterns of them, as the configurations of
// databases include, all together: hostile ones include each other over and over.
const maxFollowed = 300

// follow reports whether one more is read that another file names.
func follow(m *assess.Machine, depth int) bool {
	if m.Followed++; m.Followed == maxFollowed+1 {
		m.Source("databases.included", assess.SourceUnreadable, fmt.Sprintf("the configurations of databases name more than %d files; the rest was not read", maxFollowed))
	}
	return depth <= assess.MaxIncludes && m.Followed <= maxFollowed
}

// following are the files of a pattern that another file names.
func following(m *assess.Machine, pattern string, depth int) []string {
	if !follow(m, depth) {
		return nil
	}
	return m.Glob(pattern)
}

// stated reads the file in which data say what made them. That a directory is
// closed is not that it says nothing.
func stated(m *assess.Machine, engine, dir, name string) string {
	file := path.Join(datadir.Inside(dir), name)
	b, err := m.ReadSmall(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.Outcome("databases."+engine+".data", file, err)
	}
	return assess.FirstLine(string(b))
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
func postgresql(m *assess.Machine, commands []invocation) {
	versions, err := m.Files("etc/postgresql")
	m.Outcome("databases.postgresql", "etc/postgresql", err)
	for _, version := range versions {
		names, _ := m.Files(path.Join("etc/postgresql", version)) // a file beside the versions is no cluster
		for _, name := range names {
			cluster(m, version, name)
		}
	}
	for _, dir := range clusterFolders(m, commands) {
		bareCluster(m, dir)
	}
}

// clusterFolders are the directories that may hold a cluster, each once.
func clusterFolders(m *assess.Machine, commands []invocation) (dirs []string) {
	for _, c := range commands {
		args, _ := c.of("postgres", "postmaster", "pg_ctl")
		if dir := cmp.Or(args.option("-D", "--pgdata"), c.environment["PGDATA"]); strings.HasPrefix(dir, "/") {
			dirs = append(dirs, path.Clean(dir))
		}
	}
	for _, file := range m.Glob("/etc/sysconfig/pgsql/*", "/etc/conf.d/postgresql") {
		if f := pgdata.FindStringSubmatch(m.Peek(file[1:])); f != nil {
			dirs = append(dirs, path.Clean("/"+f[1]))
		}
	}
	dirs = append(dirs, m.Glob(clusterPlaces...)...)
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

func cluster(m *assess.Machine, version, name string) {
	file := path.Join("etc/postgresql", version, name, "postgresql.conf")
	text, ok := m.Text("databases.postgresql."+version+"."+name, file)
	if !ok {
		return
	}
	d := assess.Database{
		Engine: "postgresql", Version: version, Name: name, Directory: path.Join("/var/lib/postgresql", version, name),
		Port: 5432, Package: "postgresql-" + version, Evidence: assess.Evidence{Path: "/" + file, Line: 0},
	}
	configure(m, &d, "/"+file, text, 0)
	// The data say for themselves what made them; only their owner may read that.
	d.DataVersion = stated(m, "postgresql", d.Directory, "PG_VERSION")
	addDatabase(m, d)
}

// configure takes what a postgresql.conf says, and those that it includes: of a
// setting that comes more than once, the last counts.
func configure(m *assess.Machine, d *assess.Database, file, text string, depth int) {
	for s := range conf.PostgreSQL(text) {
		value := s.Value
		switch s.Key {
		case "data_directory":
			d.Directory = value
		case "port":
			d.Port, _ = strconv.Atoi(value) // 0 is "unknown"
		case "include", "include_if_exists":
			include(m, d, file, value, depth)
		case "include_dir":
			include(m, d, file, path.Join(value, "*.conf"), depth)
		}
	}
}

// include configures by the files of a pattern, from the folder of what names it.
func include(m *assess.Machine, d *assess.Database, from, pattern string, depth int) {
	for _, file := range following(m, assess.LeadsTo(from, pattern), depth) {
		if !follow(m, depth) {
			return
		}
		text, _ := m.Text("databases.postgresql."+path.Base(file), file[1:])
		configure(m, d, file, text, depth+1)
	}
}

// bareCluster adds a cluster that is known by its data alone.
func bareCluster(m *assess.Machine, dir string) {
	d := assess.Database{Engine: "postgresql", Name: path.Base(strings.TrimSuffix(dir, "/data")), Directory: dir, Port: 5432, Evidence: assess.Evidence{Path: path.Join(dir, "PG_VERSION"), Line: 0}}
	if d.DataVersion = stated(m, "postgresql", dir, "PG_VERSION"); d.DataVersion == "" && !m.Exists(path.Join(datadir.Inside(dir), "PG_VERSION")) {
		return // an empty folder is no cluster; a closed one is noted
	}
	configure(m, &d, path.Join(dir, "postgresql.conf"), m.Peek(path.Join(datadir.Inside(dir), "postgresql.conf")), 0)
	from(m, &d, strings.ReplaceAll(d.DataVersion, ".", ""), "postgresql%-server", "rh-postgresql%-postgresql-server", "postgresql-server", "postgresql%", "postgresql")
	addDatabase(m, d)
}

// myPackages are the packages of the servers; what begins so is one. Others
// than EL call a server mariadb, as EL calls the client, and all have a mariadb-common
// that the client's library needs.
var myPackages = []struct{ engine, prefix string }{
	{"mariadb", "mariadb-server"}, {"mariadb", "MariaDB-server"}, {"mysql", "mysql-community-server"}, {"mysql", "mysql-server"}, {"mysql", "percona-server-server"}, {"mysql", "mysql80-server"},
}

// myServerPackage is the installed package of a server of MySQL or MariaDB, or nil.
func myServerPackage(m *assess.Machine) (engine string, p *assess.Package) {
	for _, k := range myPackages {
		if p = m.InstalledPrefix(k.prefix); p != nil {
			return k.engine, p
		}
	}
	if line := m.Family().Conventions().Line; line == "" || line == release.LineEL {
		return "mariadb", nil
	}
	return "mariadb", m.Installed("mariadb")
}

// myDatabase adds an instance that has data or is installed.
func myDatabase(m *assess.Machine, s myServer) bool {
	d := assess.Database{Engine: "mariadb", Name: s.name, Directory: s.dir, Port: s.port, Evidence: s.evidence}
	if engine, p := myServerPackage(m); p != nil && s.dir != "" && !strings.Contains(s.dir, "/opt/rh/") {
		d.Engine, d.Package, d.Version = engine, p.Name, pkgversion.Upstream(p.Version)
	}
	there := m.Exists(path.Join(datadir.Inside(s.dir), "ibdata1")) || m.Exists(path.Join(datadir.Inside(s.dir), "mysql"))
	if s.dir == "" || !there && d.Package == "" {
		return false
	}
	d.Evidence.Path = cmp.Or(d.Evidence.Path, s.dir)
	m.Source("databases.mysql", assess.SourceOK, s.dir)
	myVersion(m, &d)
	addDatabase(m, d)
	return true
}

// myVersion reads what the data say of themselves: what upgraded them last, or
// the first page of MySQL 8's dictionary.
func myVersion(m *assess.Machine, d *assess.Database) {
	for _, name := range datadir.UpgradeNotes {
		if v := stated(m, "mysql", d.Directory, name); v != "" {
			var flavour string
			d.DataVersion, flavour, _ = strings.Cut(v, "-")
			d.Evidence = assess.Evidence{Path: path.Join(d.Directory, name), Line: 1}
			if d.Package == "" && !strings.HasPrefix(flavour, "MariaDB") {
				d.Engine = "mysql"
			}
			return
		}
	}
	dir := datadir.Inside(d.Directory)
	if v := datadir.LastUpgrade([]byte(m.Peek(path.Join(dir, datadir.UpgradeHistory)))); v != "" {
		d.Engine, d.DataVersion, d.Evidence = "mysql", v, assess.Evidence{Path: path.Join(d.Directory, datadir.UpgradeHistory), Line: 0}
		return
	}
	if head, err := m.Head(path.Join(dir, datadir.Dictionary), 16); err == nil {
		d.Engine, d.DataVersion, d.Evidence = "mysql", datadir.DictionaryVersion(head), assess.Evidence{Path: path.Join(d.Directory, datadir.Dictionary), Line: 0}
	}
}

// redisFiles are configurations of Redis and Valkey; each is an instance.
var redisFiles = []struct{ engine, pattern string }{
	{"redis", "/etc/redis.conf"}, {"redis", "/etc/redis/*.conf"}, {"valkey", "/etc/valkey.conf"}, {"valkey", "/etc/valkey/*.conf"}, {"redis", "/etc/opt/rh/*redis*/redis.conf"},
}

// redis reads Redis's and Valkey's configuration, and the header of the dump. A file
// that another one includes is no instance's own.
func redis(m *assess.Machine, commands []invocation) {
	var instances []redisInstance
	for _, f := range redisFiles {
		for _, file := range m.Glob(f.pattern) {
			if path.Base(file) != "sentinel.conf" && path.Base(file) != "users.acl" {
				instances = append(instances, redisSettings(m, f.engine, file))
			}
		}
	}
	included := map[string]bool{}
	for _, i := range instances {
		maps.Copy(included, i.included)
	}
	for _, i := range instances {
		if !included[i.file] {
			redisDatabase(m, i)
		}
	}
	for _, c := range commands {
		redisCommand(m, c)
	}
	for _, engine := range []string{"redis", "valkey"} {
		d := assess.Database{Engine: engine, Directory: "/var/lib/" + engine, Port: 6379, Evidence: assess.Evidence{Path: m.Book.Database, Line: 0}}
		if from(m, &d, "", engine+"-server", engine) && !hasDatabase(m, engine) {
			addDatabase(m, d)
		}
	}
}

// redisInstance is what a configuration file says of a server, with what it includes.
type redisInstance struct {
	engine, file, dir, dump string
	port                    int
	included                map[string]bool
}

func redisSettings(m *assess.Machine, engine, file string) redisInstance {
	i := redisInstance{engine, file, "/var/lib/" + engine, "dump.rdb", 6379, map[string]bool{}}
	i.read(m, file, 0)
	delete(i.included, file)
	return i
}

func (i *redisInstance) read(m *assess.Machine, file string, depth int) {
	text, _ := m.Text("databases."+i.engine, file[1:])
	for words, err := range conf.Redis(text) {
		if err != nil || len(words) < 2 {
			continue // its server does not start with it
		}
		value := words[1]
		switch strings.ToLower(words[0]) {
		case "dir":
			i.dir = value
		case "dbfilename":
			i.dump = value
		case "port":
			i.port, _ = strconv.Atoi(value) // 0 is "unknown"
		case "include":
			for _, other := range following(m, value, depth) {
				if !i.included[other] && follow(m, depth) {
					i.included[other] = true
					i.read(m, other, depth+1)
				}
			}
		}
	}
}

// redisCommand adds the server that a command starts with a file or a folder of
// its own.
func redisCommand(m *assess.Machine, c invocation) {
	for _, engine := range []string{"redis", "valkey"} {
		args, ok := c.of(engine + "-server")
		if !ok {
			continue
		}
		i := redisInstance{engine, c.evidence.Path, "", "dump.rdb", 6379, map[string]bool{}}
		if len(args) > 0 && strings.HasPrefix(args[0], "/") {
			i = redisSettings(m, engine, path.Clean(args[0]))
		}
		i.dir, i.dump = cmp.Or(args.option("--dir"), i.dir), cmp.Or(args.option("--dbfilename"), i.dump)
		if port, err := strconv.Atoi(args.option("--port")); err == nil {
			i.port = port
		}
		if i.dir != "" {
			redisDatabase(m, i)
		}
	}
}

func redisDatabase(m *assess.Machine, i redisInstance) {
	d := assess.Database{Engine: i.engine, Directory: i.dir, Port: i.port, Evidence: assess.Evidence{Path: i.file, Line: 0}}
	from(m, &d, "", i.engine+"-server", i.engine)
	file := path.Join(datadir.Inside(i.dir), i.dump)
	head, err := m.Head(file, 256)
	m.Unreadable("databases."+i.engine+".data", file, err)
	if dump, err := rdb.Parse(head); err == nil { // else the server has saved nothing yet
		d.Name, d.DataVersion = dump.Form, cmp.Or(dump.Version(), dump.Form)
	}
	addDatabase(m, d)
}

// mongodbFiles are configurations of MongoDB; each is an instance.
var mongodbFiles = []string{"/etc/mongod*.conf", "/etc/mongod/*.conf", "/etc/opt/rh/*mongodb*/mongod.conf"}

// mongodb reads where configuration and commands say the data are, and what the
// engine below it wrote there.
func mongodb(m *assess.Machine, commands []invocation) {
	for _, file := range m.Glob(mongodbFiles...) {
		mongodbDatabase(m, mongodbSettings(m, file))
	}
	for _, c := range commands {
		args, ok := c.of("mongod")
		file, dir := args.option("-f", "--config"), args.option("--dbpath")
		if !ok || file == "" && dir == "" {
			continue
		}
		d := assess.Database{Engine: "mongodb", Port: 27017, Evidence: c.evidence}
		if file != "" {
			d = mongodbSettings(m, path.Clean("/"+file))
		}
		d.Directory = cmp.Or(dir, d.Directory)
		if port, err := strconv.Atoi(args.option("--port")); err == nil {
			d.Port = port
		}
		mongodbDatabase(m, d)
	}
}

// mongodbSetting is one of the settings that matter, in YAML of either style or in
// the lines of before.
var mongodbSetting = lazyregexp.New(`(?i)\b(dbpath|port)["']?\s*[:=]\s*(?:"([^"]*)"|'([^']*)'|([^\s,}]+))`)

func mongodbSettings(m *assess.Machine, file string) assess.Database {
	d := assess.Database{Engine: "mongodb", Directory: "/var/lib/mongodb", Port: 27017, Evidence: assess.Evidence{Path: file, Line: 0}}
	text, _ := m.Text("databases.mongodb", file[1:])
	for n, line := range assess.NumberedLines(text) {
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

func mongodbDatabase(m *assess.Machine, d assess.Database) {
	from(m, &d, "", "mongodb-org-server", "mongodb-server", "mongodb-server-core", "rh-mongodb36-mongodb-server")
	d.DataVersion = datadir.WiredTiger(string(m.Start(path.Join(datadir.Inside(d.Directory), "WiredTiger"))))
	addDatabase(m, d)
}

// ldapBackends are the forms of OpenLDAP's data by the files they have.
var ldapBackends = []struct{ form, file string }{{"mdb", "data.mdb"}, {"hdb", "id2entry.bdb"}}

// openldap reads the databases of OpenLDAP from its configuration, of either
// form, and finds 389's instances.
func openldap(m *assess.Machine, commands []invocation) {
	folders, files := []string{"/etc/ldap/slapd.d", "/etc/openldap/slapd.d"}, []string{"/etc/openldap/slapd.conf", "/etc/ldap/slapd.conf"}
	for _, c := range commands {
		args, _ := c.of("slapd")
		folders, files = append(folders, path.Clean("/"+args.option("-F"))), append(files, path.Clean("/"+args.option("-f")))
	}
	for _, dir := range folders {
		for _, file := range m.Glob(path.Join(dir, "cn=config", "olcDatabase=*.ldif")) {
			text, _ := m.Text("databases.slapd", file[1:])
			// A long line of LDIF goes on after a space.
			ldapDatabase(m, assess.ParseSettings(file, strings.ReplaceAll(text, "\n ", ""), ":"), "olcdbdirectory", "olcsuffix")
		}
	}
	for _, file := range files {
		slapdFile(m, file, 0)
	}
	for _, dir := range m.Glob("/var/lib/dirsrv/slapd-*/db") {
		addDatabase(m, assess.Database{Engine: "389-ds", Name: path.Base(path.Dir(dir)), Directory: dir, Port: 389, DataVersion: stated(m, "389-ds", dir, "DBVERSION"), Evidence: assess.Evidence{Path: dir, Line: 0}})
	}
}

// slapdFile reads a slapd.conf and what it includes, but schemas: the settings of a
// database follow a line that begins it.
func slapdFile(m *assess.Machine, file string, depth int) {
	if file == "/" || !follow(m, depth) {
		return
	}
	var database []assess.Setting
	text, _ := m.Text("databases.slapd", file[1:])
	for s := range assess.ParseSettings(file, text, "") {
		switch strings.ToLower(s.Key) {
		case "include":
			if path.Ext(s.Value) != ".schema" {
				slapdFile(m, path.Clean("/"+assess.Unquote(s.Value)), depth+1)
			}
		case "database":
			ldapDatabase(m, slices.Values(database), "directory", "suffix")
			database = nil
		default:
			database = append(database, s)
		}
	}
	ldapDatabase(m, slices.Values(database), "directory", "suffix")
}

func ldapDatabase(m *assess.Machine, settings iter.Seq[assess.Setting], directory, suffix string) {
	d := assess.Database{Engine: "slapd", Port: 389}
	for s := range settings {
		switch strings.ToLower(s.Key) {
		case directory:
			d.Directory, d.Evidence = assess.Unquote(s.Value), s.Evidence
		case suffix:
			d.Name = assess.Unquote(s.Value)
		}
	}
	if d.Directory == "" {
		return
	}
	for _, b := range ldapBackends {
		if m.Exists(path.Join(datadir.Inside(d.Directory), b.file)) {
			d.DataVersion = b.form
		}
	}
	from(m, &d, "", "slapd", "openldap-servers", "openldap2", "openldap")
	addDatabase(m, d)
}

// oracle reads the table of Oracle's instances.
func oracle(m *assess.Machine) {
	text, _ := m.Text("databases.oracle", "etc/oratab")
	for s := range assess.ParseSettings("/etc/oratab", text, ":") {
		if home, _, ok := strings.Cut(s.Value, ":"); ok {
			addDatabase(m, assess.Database{Engine: "oracle", Name: s.Key, Directory: home, Port: 1521, Evidence: s.Evidence})
		}
	}
}
