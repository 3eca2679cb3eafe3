package database

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"svc/assess"
	"svc/assess/conf"
	"svc/backend/lazyregexp"
	"svc/backend/sliced"
)

// myServer is an instance of MariaDB or MySQL by its configuration.
type myServer struct {
	name, dir string
	port      int
	evidence  assess.Evidence
}

// myFiles are the configuration files in the order in which they are read.
var myFiles = []string{
	"/etc/my.cnf", "/etc/mysql/my.cnf", "/etc/my.cnf.d/*.cnf", "/etc/mysql/conf.d/*.cnf", "/etc/mysql/mariadb.conf.d/*.cnf", "/etc/mysql/mysql.conf.d/*.cnf",
}

// mySection is a section that a server reads: [mysqld], [mariadb-10.5], and of
// several instances [mysqld2], [mariadb.blue] or [mysqld@blue].
var mySection = lazyregexp.New(`(?i)^(?:mysqld|mariadbd|mariadb|server)(?:-[0-9.]+)?(?:[.@]([a-z0-9][\w.-]*))?$|^(mysqld[0-9]+)$`)

// myBook is what configuration says of instances, by their names.
type myBook struct {
	m       *assess.Machine
	servers map[string]*myServer
	read    map[string]bool
}

// myServers are the instances that configuration files and commands describe; of a
// setting that comes more than once, the last counts.
func myServers(m *assess.Machine, commands []invocation) (all []myServer) {
	b := &myBook{m, map[string]*myServer{"": {dir: "/var/lib/mysql", port: 3306}}, map[string]bool{}}
	b.files(m.Glob(myFiles...), 0)
	all = sliced.FlatMap(commands, b.started)
	return append(all, sliced.Map(assess.SortedKeys(b.servers), func(name string) myServer { return *b.servers[name] })...)
}

// started are the instances of a command that names their data itself, or a file
// of their own.
func (b *myBook) started(c invocation) []myServer {
	args, ok := c.of("mysqld", "mariadbd", "mysqld_safe", "mariadbd-safe")
	file, dir := args.option("--defaults-file"), args.option("--datadir")
	if !ok || file == "" && dir == "" {
		return nil
	}
	own := &myServer{name: strings.TrimSuffix(c.unit, ".service"), dir: "/var/lib/mysql", port: 3306}
	if file != "" && !b.read[file] {
		of := &myBook{b.m, map[string]*myServer{"": own}, map[string]bool{}}
		of.files([]string{path.Clean("/" + file)}, 0)
	}
	if dir != "" {
		own.dir, own.evidence = path.Clean("/"+dir), c.evidence
	}
	if port, err := strconv.Atoi(args.option("--port")); err == nil {
		own.port = port
	}
	return []myServer{*own}
}

// files reads files, each once, so that those that include each other come to an end.
func (b *myBook) files(names []string, depth int) {
	for _, file := range names {
		if b.read[file] || !follow(b.m, depth) {
			continue
		}
		b.read[file] = true
		text, _ := b.m.Text("databases.mysql."+path.Base(file), file[1:])
		b.file(file, text, depth)
	}
}

func (b *myBook) file(file, text string, depth int) {
	var server *myServer // of the section; nil where it is no server's
	for l := range conf.MySQL(text) {
		switch {
		case l.Key == "!include":
			b.files(following(b.m, path.Join("/", l.Value), depth), depth+1)
		case l.Key == "!includedir":
			b.files(following(b.m, path.Join("/", l.Value, "*.cnf"), depth), depth+1)
		case l.Heading:
			server = b.server(l.Section)
		case l.Set && server != nil:
			server.set(l.Key, assess.Unquote(l.Value), assess.Evidence{Path: file, Line: l.N})
		}
	}
}

// server is the one that reads a section, or nil.
func (b *myBook) server(section string) *myServer {
	f := mySection.FindStringSubmatch(section)
	if f == nil {
		return nil
	}
	name := f[1] + f[2]
	if b.servers[name] == nil {
		b.servers[name] = &myServer{name: name}
	}
	return b.servers[name]
}

func (s *myServer) set(key, value string, at assess.Evidence) {
	switch port, err := strconv.Atoi(value); {
	case key == "datadir" && value != "":
		s.dir, s.evidence = path.Clean("/"+value), at
	case key == "port" && err == nil:
		s.port = port
	}
}

// myCollections are the software collections' own instances.
var myCollections = []string{"/var/opt/rh/*mariadb*/lib/mysql", "/var/opt/rh/*mysql*/lib/mysql", "/opt/rh/*mysql*/root/var/lib/mysql", "/opt/rh/*mariadb*/root/var/lib/mysql"}

// mysql reads the instances of MariaDB and MySQL.
func mysql(m *assess.Machine, commands []invocation) {
	servers := myServers(m, commands)
	for _, dir := range m.Glob(myCollections...) {
		servers = append(servers, myServer{path.Base(path.Dir(path.Dir(dir))), dir, 3306, assess.Evidence{Path: dir, Line: 0}})
	}
	found := slices.DeleteFunc(servers, func(s myServer) bool { return !myDatabase(m, s) })
	if len(found) == 0 {
		m.Source("databases.mysql", assess.SourceAbsent, "")
	}
}
