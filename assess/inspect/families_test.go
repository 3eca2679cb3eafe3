package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"svc/assess"
)

// TestUnitsOfSystemd: every way in which a unit stands in systemd's folders.
func TestUnitsOfSystemd(t *testing.T) {
	is := is.New(t)
	const service = "[Service]\nExecStart=/x\n[Install]\nWantedBy=multi-user.target\n"
	dir := newMachine(t, map[string]string{
		"usr/lib/systemd/systemd": "", "usr/lib/systemd/system/a.service": service, "usr/lib/systemd/system/old.service": service, "usr/lib/systemd/system/empty.service": "",
		"usr/lib/systemd/system/b@.service": service, "usr/local/lib/systemd/system/local.service": service, "opt/x/linked.service": service, "etc/systemd/system/snap-core.mount": service,
		"etc/systemd/system/a.service.d/x.conf": "[Service]\n", "etc/systemd/system.control/old.service.d/50-CPUQuota.conf": "[Service]\n",
		"etc/init.d/hwclock.sh": "#!/bin/sh\n# Provides: hwclock\n", "etc/init.d/real": "#!/bin/sh\n# Provides: real\n# Default-Start: 2\n", "etc/rc2.d/README": "", "etc/rc3.d/S20real": "",
		"etc/systemd/system/real.service.d/x.conf": "[Service]\n", "etc/systemd/system/gone.service.d/x.conf": "[Service]\n",
	})
	for name, target := range map[string]string{
		"usr/lib/systemd/system/hwclock.service": "/dev/null", "usr/lib/systemd/system/alias.service": "a.service", "etc/systemd/system/multi-user.target.wants/alias.service": "x",
		"etc/systemd/system/linked.service": "/opt/x/linked.service", "etc/systemd/system/old.service": "/dev/null", "etc/systemd/system/multi-user.target.wants/b@1.service": "x",
		"etc/systemd/system/multi-user.target.wants/hwclock.service": "x",
	} {
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		is.NoErr(os.Symlink(target, filepath.Join(dir, name)))
	}
	units := map[string]assess.Unit{}
	for _, u := range mustAssess(t, dir).Services {
		units[u.Name] = u
	}
	is.Equal(units["a.service"].State, assess.StateEnabled) // by its other name
	is.Equal(units["a.service"].Dropins, []string{"/etc/systemd/system/a.service.d/x.conf"})
	is.Equal(units["old.service"].State, assess.StateMasked)
	is.Equal(len(units["old.service"].Dropins), 1)
	is.Equal(units["b@1.service"].State, assess.StateEnabled)
	is.Equal(units["linked.service"].State, assess.StateLinked)
	is.Equal(units["linked.service"].Path, "/opt/x/linked.service")
	is.True(units["local.service"].Local)
	is.True(!units["snap-core.mount"].Local) // snapd makes it again
	is.Equal(units["real"].Runlevels, []string{"3"})
	is.Equal(units["real"].State, assess.StateEnabled) // though only drop-ins of systemd's are there
	is.Equal(units["real"].Dropins, []string{"/etc/systemd/system/real.service.d/x.conf"})
	is.Equal(units["real.service"].Name, "")
	is.Equal(units["gone.service"].State, assess.StateStatic) // a unit that nothing brings
	for _, name := range []string{"hwclock.service", "hwclock.sh", "empty.service", "alias.service"} {
		is.Equal(units[name].Name, "") // its package masks it, so that it is no news
	}
}

// TestDataOfAnotherVersion: the directory's own word is held against the
// installed server.
func TestDataOfAnotherVersion(t *testing.T) {
	is := is.New(t)
	server := "\nPackage: mariadb-server\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:10.11.4-1\n"
	machine := map[string]string{"var/lib/dpkg/status": status + server, "srv/db/mysql_upgrade_info": "10.5.23-MariaDB", "etc/mysql/mariadb.conf.d/9.cnf": "[mysqld]\ndatadir = /srv/db\nport=3310\n"}
	a := mustAssess(t, newMachine(t, machine))
	is.Equal(a.Databases[0], assess.Database{Engine: "mariadb", Version: "10.5.23", DataVersion: "10.5.23", Directory: "/srv/db", Port: 3310, Package: "mariadb-server", Evidence: assess.Evidence{Path: "/srv/db/mysql_upgrade_info", Line: 1}})
	is.True(slices.Contains(keys(a), "database.data-version"))
	machine["srv/db/mysql_upgrade_info"] = "10.11.4-MariaDB"
	is.True(!slices.Contains(keys(mustAssess(t, newMachine(t, machine))), "database.data-version"))
}

// TestDatabasesStandWhereTheirConfigurationSays: by what files include, in the units
// that people write, and as several instances.
func TestDatabasesStandWhereTheirConfigurationSays(t *testing.T) {
	is := is.New(t)
	const unit = "etc/systemd/system/"
	machine := map[string]string{
		"etc/postgresql/13/shop/postgresql.conf": "include 'where.conf'\ninclude_dir 'conf.d' # more\n", "etc/postgresql/13/shop/where.conf": "data_directory '/pg/shop' # here\ninclude 'postgresql.conf'\n",
		"etc/postgresql/13/shop/conf.d/a.conf":  "port = 5499\n",
		unit + "postgresql-12.service.d/a.conf": "[Service]\nEnvironment=PGDATA=/pg/twelve\n", "pg/twelve/PG_VERSION": "12\n",
		unit + "orders.service": "[Service]\nExecStart=/usr/bin/numactl -i all /usr/lib/postgresql/13/bin/postgres -p 6000 \\\n -D /pg/orders\n", "pg/orders/PG_VERSION": "13\n",
		"etc/default/env": "PGDATA='/pg/env/data'\n", "pg/env/data/PG_VERSION": "", // it is cut off
		unit + "env.service":   "[Service]\nEnvironmentFile=-/etc/default/env\nExecStart=/usr/pgsql-14/bin/postmaster -D${PGDATA}\n",
		unit + "many@.service": "[Service]\nExecStart=/usr/pgsql-14/bin/postgres \"--pgdata=/pg/in %i\"\n", unit + "multi-user.target.wants/many@red.service": "", "pg/in red/PG_VERSION": "14\n",

		"etc/my.cnf": "[client]\nport=1\n!includedir /my.d\n!include /etc/my.cnf\n", "my.d/a.cnf": "[mysqld]\ndatadir = /my/main # here\n[mysqld2]\ndatadir=/my/two\nport=3308\n[mariadb.blue]\ndatadir=/my/blue\n[mysqldump]\ndatadir=/no\n",
		"my/main/ibdata1": "", "my/two/ibdata1": "", "my/blue/ibdata1": "", "my/red/ibdata1": "", "my/arg/ibdata1": "",
		"red.cnf": "[mysqld]\ndatadir=/my/red\nport=3311\n", unit + "red.service": "[Service]\nExecStart=/usr/sbin/mariadbd --defaults-file=/red.cnf\n",
		"usr/lib/systemd/system/arg.service": "[Service]\nExecStart=/usr/sbin/mysqld\n", unit + "arg.service.d/a.conf": "[Service]\nEnvironment='OPTS=--port=3312 --datadir=/my/arg'\nExecStart=\nExecStart=/usr/sbin/mysqld $OPTS\n",

		"etc/redis/redis.conf": "port 6380\ninclude /etc/redis/common.conf\n", "etc/redis/common.conf": "dir '/re/a'\ninclude /etc/redis/common.conf\n",
		"redis.conf": "dir \"/re/b\"\n", unit + "re.service": "[Service]\nExecStart=-/usr/local/bin/redis-server /redis.conf --port 6381\n", unit + "va.service": "[Service]\nExecStart=/usr/bin/valkey-server --dir /va\n",

		"etc/mongod.conf": "storage:\n  dbPath: /mo/a # here\nnet:\n  port: 27018\n", "etc/mongod-flow.conf": "storage: {dbPath: \"/mo/b\"}\n",
		unit + "mo.service": "[Service]\nExecStart=/usr/bin/mongod --dbpath /mo/c --port 27030\n",

		"etc/ldap/slapd.conf": "include /etc/ldap/schema/core.schema\ninclude /etc/ldap/more.conf\ndatabase mdb\nsuffix dc=b\ndirectory \"/ld/b\"\n", "etc/ldap/more.conf": "database mdb\nsuffix dc=c\ndirectory /ld/c\ninclude /etc/ldap/slapd.conf\n",
	}
	found := []string{}
	for _, d := range mustAssess(t, newMachine(t, machine)).Databases {
		found = append(found, fmt.Sprintf("%s %q %s %d", d.Engine, d.Name, d.Directory, d.Port))
	}
	is.Equal(strings.Join(found, "\n"), strings.Join([]string{
		`mariadb "arg" /my/arg 3312`, `mariadb "blue" /my/blue 0`, `mariadb "" /my/main 3306`, `mariadb "red" /my/red 3311`, `mariadb "mysqld2" /my/two 3308`,
		`mongodb "" /mo/a 27018`, `mongodb "" /mo/b 27017`, `mongodb "" /mo/c 27030`,
		`postgresql "env" /pg/env/data 5432`, `postgresql "twelve" /pg/twelve 5432`, `postgresql "orders" /pg/orders 5432`, `postgresql "shop" /pg/shop 5499`, `postgresql "in red" /pg/in red 5432`,
		`redis "" /re/a 6380`, `redis "" /re/b 6381`,
		`slapd "dc=b" /ld/b 389`, `slapd "dc=c" /ld/c 389`,
		`valkey "" /va 6379`,
	}, "\n"))
}

// TestAClosedDataDirectory: unreadable is not absent.
func TestAClosedDataDirectory(t *testing.T) {
	is := is.New(t)
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := newMachine(t, map[string]string{"var/lib/pgsql/data/PG_VERSION": "13\n"})
	is.NoErr(os.Chmod(filepath.Join(dir, "var/lib/pgsql/data"), 0))
	t.Cleanup(func() { is.NoErr(os.Chmod(filepath.Join(dir, "var/lib/pgsql/data"), 0o755)) })
	is.Equal(source(mustAssess(t, dir), "databases.postgresql.data"), assess.SourceUnreadable)
}

func TestPeopleOfOldSystems(t *testing.T) {
	is := is.New(t)
	files := map[string]string{"etc/passwd": "daemon:x:2:2::/:/x\nanna:x:500:500::/home/anna:/bin/sh\n", "etc/group": "anna:x:500:\n", "etc/login.defs": "UID_MIN   500\nGID_MIN 500\n"}
	a := mustAssess(t, newMachine(t, files))
	is.True(a.Users[0].System && !a.Users[1].System && !a.Groups[0].System)
	files["etc/login.defs"] = "UID_MIN 0\n" // a slip makes no person of root
	is.True(mustAssess(t, newMachine(t, files)).Users[1].System)
}

func TestPatternsAreBounded(t *testing.T) {
	is := is.New(t)
	files := map[string]string{"etc/ssh/sshd_config": "Include /a/*/*/*\n"}
	for _, a := range "abcdefghijklmnop" {
		for _, b := range "abcdefghijklmnopqr" {
			files[filepath.Join("a", string(a), string(b), "x")] = ""
		}
	}
	h := newMachine(t, files)
	is.True(source(mustAssess(t, h), "ssh.sshd_config") == assess.SourceOK)
}

// TestALibrarysPartIsNoDatabase: every program that speaks to MariaDB brings
// mariadb-common with it.
func TestALibrarysPartIsNoDatabase(t *testing.T) {
	is := is.New(t)
	common := "\nPackage: mariadb-common\nStatus: install ok installed\nArchitecture: all\nVersion: 1:10.11.4-1\n"
	a := mustAssess(t, newMachine(t, map[string]string{"var/lib/dpkg/status": status + common}))
	is.Equal(len(a.Databases), 0)
	is.True(!slices.Contains(keys(a), "database.mariadb"))
}

func TestAnInterfaceOfDhcpcd(t *testing.T) {
	is := is.New(t)
	a := mustAssess(t, newMachine(t, map[string]string{"etc/dhcpcd.conf": "hostname\ninterface eth0\nstatic ip_address=10.0.0.5/24\nstatic routers=10.0.0.1\nstatic domain_name_servers=10.0.0.53 10.0.0.54\n"}))
	is.Equal(a.Networks[0].Addresses, []string{"10.0.0.5/24"})
	is.Equal(len(a.Networks[0].DNS), 2)
}
