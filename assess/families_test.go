package assess

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestPresets(t *testing.T) {
	is := is.New(t)
	rules := parsePreset("# comment\nenable ssh.*\nenable getty@.service tty1 tty2\ndisable *\nenable late.service\n")
	for unit, want := range map[string]bool{
		"ssh.service": true, "getty@tty1.service": true, "getty@tty3.service": false, "getty@.service": false, "late.service": false, "x.timer": false,
	} {
		is.Equal(rules.enables(unit), want)
	}
	is.True(!presetRules(nil).enables("x.service")) // nothing says so
}

func TestInitHeaders(t *testing.T) {
	is := is.New(t)
	for text, want := range map[string][]string{
		"#!/bin/sh\n# chkconfig: 2345 10 90\n":                       {"2", "3", "4", "5"},
		"# chkconfig: - 10 90\n# Default-Start: 3\n":                 nil,
		"### BEGIN INIT INFO\n# Provides: x\n# Default-Start: 2 S\n": {"2", "S"},
	} {
		got, ok := parseInitHeader(text)
		is.True(ok)
		is.Equal(got, want)
	}
	_, ok := parseInitHeader("#!/bin/sh\necho chkconfig: 2345\n")
	is.True(!ok)
}

func TestUpstartJobs(t *testing.T) {
	is := is.New(t)
	is.Equal(upstartState("start on startup\n", stateStatic), stateEnabled)
	is.Equal(upstartState("start on startup\nmanual\n", stateStatic), stateDisabled)
	is.Equal(upstartState("manual\nstart on startup\n", stateStatic), stateEnabled)
	is.Equal(upstartState("script\n manual\n start on x\nend script\n", stateStatic), stateStatic)
	is.Equal(upstartState("pre-start script\nmanual\nend script\ntask\n", stateStatic), stateStatic)
	is.Equal(upstartLevels("start on (local-filesystems\n and runlevel [23S])\nstop on runlevel [016]\n"), []string{"2", "3", "S"})
	is.Equal(upstartLevels("start on startup\nstop on runlevel [016]\n"), nil)
}

// TestUnitsOfSystemd: every way in which a unit stands in systemd's folders.
func TestUnitsOfSystemd(t *testing.T) {
	is := is.New(t)
	const service = "[Service]\nExecStart=/x\n[Install]\nWantedBy=multi-user.target\n"
	dir := newMachine(t, map[string]string{
		"usr/lib/systemd/systemd": "", "usr/lib/systemd/system/a.service": service, "usr/lib/systemd/system/old.service": service, "usr/lib/systemd/system/empty.service": "",
		"usr/lib/systemd/system/b@.service": service, "usr/local/lib/systemd/system/local.service": service, "opt/x/linked.service": service, "etc/systemd/system/snap-core.mount": service,
		"etc/systemd/system/a.service.d/x.conf": "[Service]\n", "etc/systemd/system.control/old.service.d/50-CPUQuota.conf": "[Service]\n",
		"etc/init.d/hwclock.sh": "#!/bin/sh\n# Provides: hwclock\n", "etc/init.d/real": "#!/bin/sh\n# Provides: real\n# Default-Start: 2\n", "etc/rc2.d/README": "", "etc/rc3.d/S20real": "",
	})
	for name, target := range map[string]string{
		"usr/lib/systemd/system/hwclock.service": "/dev/null", "usr/lib/systemd/system/alias.service": "a.service", "etc/systemd/system/multi-user.target.wants/alias.service": "x",
		"etc/systemd/system/linked.service": "/opt/x/linked.service", "etc/systemd/system/old.service": "/dev/null", "etc/systemd/system/multi-user.target.wants/b@1.service": "x",
		"etc/systemd/system/multi-user.target.wants/hwclock.service": "x",
	} {
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		is.NoErr(os.Symlink(target, filepath.Join(dir, name)))
	}
	units := map[string]Unit{}
	for _, u := range mustAssess(t, dir).Services {
		units[u.Name] = u
	}
	is.Equal(units["a.service"].State, stateEnabled) // by its other name
	is.Equal(units["a.service"].Dropins, []string{"/etc/systemd/system/a.service.d/x.conf"})
	is.Equal(units["old.service"].State, stateMasked)
	is.Equal(len(units["old.service"].Dropins), 1)
	is.Equal(units["b@1.service"].State, stateEnabled)
	is.Equal(units["linked.service"].State, stateLinked)
	is.Equal(units["linked.service"].Path, "/opt/x/linked.service")
	is.True(units["local.service"].Local)
	is.True(!units["snap-core.mount"].Local) // snapd makes it again
	is.Equal(units["real"].Runlevels, []string{"3"})
	for _, name := range []string{"hwclock.service", "hwclock.sh", "empty.service", "alias.service"} {
		is.Equal(units[name].Name, "") // its package masks it, so that it is no news
	}
}

func TestNetworksInTheirDialects(t *testing.T) {
	is := is.New(t)
	n := parseIfcfg("eth0", "DEVICE=eth0\nBOOTPROTO=static\nIPADDR=10.0.0.2\nNETMASK=255.255.254.0\nIPADDR10=10.0.9.2\nPREFIX10=24\nONBOOT=no\n")
	is.Equal(n.Addresses, []string{"10.0.0.2/23", "10.0.9.2/24"})
	is.True(!n.Auto)
	is.Equal(parseSUSE("eth0", "BOOTPROTO=dhcp4\nSTARTMODE=off\n").Method, methodDHCP)
	is.Equal(withMask("10.0.0.2", "255.0.255.0"), "10.0.0.2/255.0.255.0") // no length says what a mask with gaps does
	is.Equal(parseRoutes("ADDRESS0=10.0.0.0\nNETMASK0=255.0.0.0\nGATEWAY0=1.1.1.1\nADDRESS1=0.0.0.0\nNETMASK1=0.0.0.0\nGATEWAY1=2.2.2.2\n", ""), []string{"10.0.0.0/8 via 1.1.1.1", "default via 2.2.2.2"})
	w := parseWicked(`<interface><name>eth0</name><ipv4:static><address><local>10.0.0.2/24</local></address></ipv4:static></interface><interface><name>eth1</name><ipv4:dhcp><enabled>true</enabled></ipv4:dhcp></interface>`)
	is.Equal(len(w), 2)
	is.Equal(w[0].Addresses, []string{"10.0.0.2/24"})
	is.Equal(w[1].Method, methodDHCP)
	c := parseConnection("[connection]\nid=x\ntype=bond\ninterface-name=bond0\nautoconnect=false\n[ipv4]\nmethod=manual\naddress1=1.2.3.4/24,1.2.3.1\nroute1=5.0.0.0/8,1.2.3.9\nroute1_options=table=5\n[ipv6]\nmethod=auto\naddress1=fe80::2/64\n")
	is.Equal(c.Addresses, []string{"1.2.3.4/24", "fe80::2/64"})
	is.Equal(c.Routes, []string{"5.0.0.0/8 via 1.2.3.9"})
	is.Equal(c.Method, "manual")
	is.True(!c.Auto)
	d := parseNetworkd("[Match]\nName=en*\n[Network]\nDHCP=ipv4\n[Address]\nAddress=1.1.1.1/32\n[Route]\nGateway=1.1.1.2\n[Route]\nDestination=2.0.0.0/8\nGateway=1.1.1.3\n")
	is.Equal(d.Gateway, "1.1.1.2")
	is.Equal(d.Routes, []string{"2.0.0.0/8 via 1.1.1.3"})
	a := mustAssess(t, newMachine(t, map[string]string{"etc/dhcpcd.conf": "hostname\ninterface eth0\nstatic ip_address=10.0.0.5/24\nstatic routers=10.0.0.1\nstatic domain_name_servers=10.0.0.53 10.0.0.54\n"}))
	is.Equal(a.Networks[0].Addresses, []string{"10.0.0.5/24"})
	is.Equal(len(a.Networks[0].DNS), 2)
}

func TestFirewallRules(t *testing.T) {
	is := is.New(t)
	is.Equal(nftRules("table inet f { chain in { type filter hook input priority 0; policy drop; tcp dport { 22, 80 } accept; ct state invalid drop; } }\n# tcp accept\nmap m { type ipv4_addr : verdict; }\n"), []string{"tcp dport { 22, 80 } accept", "ct state invalid drop"})
	entries, err := zoneEntries(`<zone><short>x</short><service name="ssh"/><rule><accept/></rule></zone>`)
	is.NoErr(err)
	is.Equal(entries, []string{`service name="ssh"`, "rule accept"})
	_, err = zoneEntries("<zone><service")
	is.True(err != nil)
	is.Equal(len(ufwRules("-A ufw-user-input -p tcp --dport 22 -j ACCEPT\n-A ufw-user-limit -j LOG\n")), 1)
}

func TestWhatDataSayOfThemselves(t *testing.T) {
	is := is.New(t)
	form, version := parseRDB([]byte("REDIS0011\xfa\x09redis-ver\x057.2.4\xfa"))
	is.Equal([]string{form, version}, []string{"rdb 11", "7.2.4"})
	form, version = parseRDB([]byte("REDIS0006\xfe\x00"))
	is.Equal([]string{form, version}, []string{"rdb 6", "rdb 6"})
	form, _ = parseRDB([]byte("VALKEY080\xfa\x0avalkey-ver\x059.0.0"))
	is.Equal(form, "rdb 80")
	is.Equal(tablespaceVersion([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x38, 0xA2, 0, 0, 0, 1}), "8.0.34")
	is.Equal(tablespaceVersion([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}), "")
	is.Equal(lastUpgrade([]byte(`{"upgrade_history":[{"version":"8.3.0"},{"version":"8.4.2"}]}`)), "8.4.2")
	is.Equal(lastUpgrade([]byte(`{"upgrade_history":[]}`)), "")
	is.Equal(wiredTiger([]byte("WiredTiger\nWiredTiger 10.0.2: (x)\n")), "wiredtiger 10.0.2")
}

// TestDataOfAnotherVersion: the directory's own word is held against the
// installed server.
func TestDataOfAnotherVersion(t *testing.T) {
	is := is.New(t)
	server := "\nPackage: mariadb-server\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:10.11.4-1\n"
	machine := map[string]string{"var/lib/dpkg/status": status + server, "srv/db/mysql_upgrade_info": "10.5.23-MariaDB", "etc/mysql/mariadb.conf.d/9.cnf": "[mysqld]\ndatadir = /srv/db\nport=3310\n"}
	a := mustAssess(t, newMachine(t, machine))
	is.Equal(a.Databases[0], Database{Engine: "mariadb", Version: "10.5.23", DataVersion: "10.5.23", Directory: "/srv/db", Port: 3310, Package: "mariadb-server", Evidence: Evidence{"/srv/db/mysql_upgrade_info", 1}})
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
	is.Equal(source(mustAssess(t, dir), "databases.postgresql.data"), SourceUnreadable)
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
	is.True(source(mustAssess(t, h), "ssh.sshd_config") == SourceOK)
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
