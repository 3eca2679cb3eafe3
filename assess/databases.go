package assess

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// readDatabases finds database clusters by the engines' own files, and engines
// that are installed without one.
func (m *machine) readDatabases() {
	m.postgresql()
	m.mysql()
	m.redis()
	for _, e := range installedOnly {
		if p := m.installed(e.pkg); p != nil {
			m.a.Databases = append(m.a.Databases, Database{Engine: e.engine, Version: upstream(p.Version), Directory: e.dir, Port: e.port, Package: p.Name, Evidence: Evidence{"/var/lib/dpkg/status", 0}})
		}
	}
}

// installedOnly are engines of which the package alone is looked at.
var installedOnly = []struct {
	engine, pkg, dir string
	port             int
}{
	{"mongodb", "mongodb-server-core", "/var/lib/mongodb", 27017},
	{"mongodb", "mongodb-org-server", "/var/lib/mongodb", 27017},
	{"memcached", "memcached", "", 11211},
	{"slapd", "slapd", "/var/lib/ldap", 389},
	{"influxdb", "influxdb", "/var/lib/influxdb", 8086},
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

// upstream is the upstream part of a Debian version.
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

// postgresql reads Debian's clusters: /etc/postgresql/VERSION/NAME.
func (m *machine) postgresql() {
	versions, err := m.files("etc/postgresql")
	m.outcome("databases.postgresql", "etc/postgresql", err)
	for _, version := range versions {
		names, _ := m.files(path.Join("etc/postgresql", version)) // a file beside the versions is no cluster
		for _, name := range names {
			m.cluster(version, name)
		}
	}
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
	for _, s := range parseSettings("/"+file, text, "=") {
		value, _, _ := strings.Cut(s.Value, "#")
		value = unquote(strings.TrimSpace(value))
		switch s.Key {
		case "data_directory":
			d.Directory = value
		case "port":
			d.Port, _ = strconv.Atoi(value) // 0 is "unknown"
		}
	}
	// The data say for themselves what made them; only their owner may read that.
	if v := firstLine(m.peek(path.Join(strings.TrimPrefix(path.Clean("/"+d.Directory), "/"), "PG_VERSION"))); v != "" {
		d.Version = v
	}
	m.a.Databases = append(m.a.Databases, d)
}

// mysql reads MariaDB's or MySQL's one instance.
func (m *machine) mysql() {
	engine, p := "mariadb", m.installedPrefix("mariadb-server")
	if p == nil {
		engine, p = "mysql", m.installedPrefix("mysql-server")
	}
	dir := m.mysqlDir()
	if p == nil && !m.exists(path.Join(dir, "ibdata1")) {
		m.source("databases.mysql", SourceAbsent, "")
		return
	}
	m.source("databases.mysql", SourceOK, "/"+dir)
	d := Database{Engine: engine, Directory: "/" + dir, Port: 3306, Evidence: Evidence{"/" + dir, 0}}
	if p != nil {
		d.Package, d.Version = p.Name, upstream(p.Version)
	}
	for _, name := range []string{"mariadb_upgrade_info", "mysql_upgrade_info"} {
		if v := firstLine(m.peek(path.Join(dir, name))); v != "" {
			d.Version, _, _ = strings.Cut(v, "-")
			d.Evidence.Path = "/" + path.Join(dir, name)
			break
		}
	}
	m.a.Databases = append(m.a.Databases, d)
}

// mysqlDir is the data directory by the configuration that wins: the last.
func (m *machine) mysqlDir() string {
	dir := "var/lib/mysql"
	files := []string{"/etc/mysql/my.cnf", "/etc/my.cnf"}
	for _, folder := range []string{"/etc/mysql/conf.d/*.cnf", "/etc/mysql/mariadb.conf.d/*.cnf", "/etc/mysql/mysql.conf.d/*.cnf"} {
		files = append(files, m.glob(folder)...)
	}
	for _, file := range files {
		if v := first(iniValues(m.peek(file[1:]))["mysqld.datadir"]); v != "" {
			dir = strings.TrimPrefix(path.Clean("/"+v), "/")
		}
	}
	return dir
}

// redis reads Redis's and Valkey's configuration, and the header of the dump.
func (m *machine) redis() {
	for _, engine := range []string{"redis", "valkey"} {
		file := path.Join("etc", engine, engine+".conf")
		text, ok := m.text("databases."+engine, file)
		p := m.installed(engine + "-server")
		if !ok && p == nil {
			continue
		}
		d := Database{Engine: engine, Directory: "/var/lib/" + engine, Port: 6379, Evidence: Evidence{"/" + file, 0}}
		if p != nil {
			d.Package, d.Version = p.Name, upstream(p.Version)
		}
		for _, s := range parseSettings("/"+file, text, "") {
			switch s.Key {
			case "dir":
				d.Directory = s.Value
			case "port":
				d.Port, _ = strconv.Atoi(s.Value) // 0 is "unknown"
			}
		}
		d.Name = m.rdbVersion(d.Directory)
		m.a.Databases = append(m.a.Databases, d)
	}
}

// rdbVersion is the form of a dump by its header, "REDIS0009": "rdb 9".
func (m *machine) rdbVersion(dir string) string {
	f, err := m.fs.Open(path.Join(strings.TrimPrefix(path.Clean("/"+dir), "/"), "dump.rdb"))
	if err != nil {
		return "" // no dump, or one that only its owner may read
	}
	defer f.Close()
	head := make([]byte, 9)
	if n, err := f.Read(head); err != nil || n < len(head) || string(head[:5]) != "REDIS" {
		return ""
	}
	version, err := strconv.Atoi(string(head[5:]))
	if err != nil {
		return ""
	}
	return "rdb " + strconv.Itoa(version)
}
