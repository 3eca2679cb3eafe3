package migration_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"svc/tools/migration"
)

// centos is the move of a web, mail and database server of CentOS 7: a real rpm database
// with the packages of the server added, what people wrote into /etc, and each program's
// own opinion of what was converted.
type centos struct{ *move }

func TestCentOS(t *testing.T) {
	m := centos{newMove(t)}
	m.makeTarget()
	m.makeSource()
	// It is written, and may leave findings to a person.
	m.Shell(0, `"$1" migrate --root "$2" --target debian-13 --out "$3" --include-secrets --confirm || [ $? = 6 ]`, m.Command().Path, m.source, m.out)
	p := m.plan()
	m.plans(p)
	m.applyTwice()
	m.installed(p)
	for _, c := range p.Configuration {
		m.is.True(c.Action != migration.Convert || c.Link != "" || m.there(c.To)) // every converted file is there
	}
	m.servers()
	m.system()
	m.verifies()
	m.drifts("logrotate", "postfix.service", "/etc/nginx/nginx.conf")
	m.network(p)
}

// packages are those of the server, with the versions that CentOS 7 has.
var packages = map[string]string{
	"httpd": "2.4.6", "mod_ssl": "2.4.6", "nginx": "1.20.1", "php-fpm": "5.4.16", "mariadb-server": "5.5.68", "bind": "9.11.4", "postfix": "2.10.1", "dovecot": "2.2.36",
	"chrony": "3.4", "haproxy": "1.5.18", "logrotate": "3.8.6", "openssh-server": "7.4p1", "sudo": "1.8.23", "cronie": "1.4.11", "samba": "4.10.16", "sssd": "1.16.5",
	"sssd-tools": "1.16.5", "keepalived": "1.3.5", "fail2ban": "0.11.2", "cronie-anacron": "1.4.11", "nfs-utils": "1.3.0", "rsyslog": "8.24.0", "nftables": "0.8",
	"firewalld": "0.6.3", "iptables-services": "1.4.21",
}

// makeSource makes the root: the database, accounts, and the files of the converters' own
// tests.
func (m centos) makeSource() {
	m.database()
	m.Files(m.source, map[string]string{
		"etc/os-release":            "ID=\"centos\"\nVERSION_ID=\"7\"\nNAME=\"CentOS Linux\"\n",
		"etc/machine-id":            "0123456789abcdef0123456789abcdef\n",
		"etc/passwd":                "root:x:0:0:root:/root:/bin/bash\napache:x:48:48:Apache:/usr/share/httpd:/sbin/nologin\nmysql:x:27:27::/var/lib/mysql:/sbin/nologin\nanna:x:1000:1000:Anna:/home/anna:/bin/bash\n",
		"etc/group":                 "root:x:0:\nwheel:x:10:anna\napache:x:48:\nmysql:x:27:\nanna:x:1000:\n",
		"etc/shadow":                "root:!:19000::::::\nanna:!:19000::::::\n",
		"etc/httpd/conf.d/users":    "shop:x\n",
		"etc/pki/tls/certs/empty":   "",
		"etc/pki/tls/private/empty": "",
	})
	tests, err := filepath.Glob(converted + "centos-7*.txtar")
	m.is.NoErr(err)
	m.is.True(len(tests) > 10)
	for _, t := range append(tests, "httpd-el6.txtar") {
		m.brings(filepath.Base(t))
	}
	m.modes(map[string]os.FileMode{
		"etc/ssh/sshd_config": 0o600, "etc/sssd/sssd.conf": 0o600, "etc/sudoers": 0o440, "etc/sudoers.d/*": 0o440,
		"etc/cron.daily/shop.sh": 0o755, "etc/httpd/conf.d/users": 0o640,
	})
	m.is.NoErr(os.Chown(filepath.Join(m.source, "etc/httpd/conf.d/users"), 0, 48))
	m.Shell(0, `cd "$1"
		mkdir -p srv/share 'srv/my share' srv/public
		cd etc/pki/tls && rm certs/empty private/empty
		openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=shop.example.org -keyout private/shop.key -out certs/shop.crt`, m.source)
}

// database is a real one with the server's packages in it. They are of nothing: their names,
// versions and units are what counts. They are added by an rpm that still writes Berkeley DB.
func (m centos) database() {
	for name, version := range packages {
		m.Files(m.Path("specs"), map[string]string{name + ".spec": fmt.Sprintf(
			"Name: %s\nVersion: %s\nRelease: 1.el7\nSummary: %[1]s\nLicense: none\nVendor: CentOS\nBuildArch: noarch\n%%description\nnone\n%%files\n", name, version)})
	}
	m.Shell(0, `for spec in "$1"/specs/*.spec; do
			HOME=$1 rpmbuild --quiet -bb --define "_topdir $1/build" --define "_rpmdir $1/rpms" --define "_binary_payload w6.gzdio" "$spec"
		done`, m.Dir)
	rpm := m.Kept("rpm/bullseye", "bullseye", "rpm") // rpm's own test has the same
	data := m.Run(0, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/anchore/go-rpmdb").Line()
	m.Hold(`rm -rf --one-file-system "$1/svc"; mkdir "$1/svc"`, `rm -rf --one-file-system "$1/svc"`, rpm)
	m.Shell(0, `mkdir -p "$1/svc/root/var/lib/rpm"
		install -m 644 "$2/pkg/testdata/centos7-plain/Packages" "$1/svc/root/var/lib/rpm/"
		cp -r "$3/rpms" "$1/svc/"
		chroot "$1" sh -ec 'rpm --root /svc/root --dbpath /var/lib/rpm --define "_db_backend bdb" -i --justdb --force --nodeps --noscripts --nosignature --nodigest --ignoreos --ignorearch $(find /svc/rpms -name "*.rpm" | sort)'
		mv "$1/svc/root" "$4"`, rpm, data, m.Dir, m.source)
}

func (m centos) plans(p migration.Plan) {
	for _, name := range []string{"apache2", "nginx", "mariadb-server", "bind9", "postfix", "chrony", "haproxy"} {
		m.is.True(slices.Contains(p.Install, name)) // by name
	}
	m.is.True(slices.ContainsFunc(rows(p, "/etc/httpd/conf.d/shop.conf"), func(c migration.Config) bool {
		return c.To == "/etc/apache2/sites-available/shop.conf" && len(c.Changes) > 10 // line by line
	}))
	m.is.True(slices.ContainsFunc(rows(p, "/etc/httpd/conf.d/strange.conf"), func(c migration.Config) bool {
		return c.Action == migration.Manual && c.Refusals[0].Line == 2 // what is not understood is left to a person
	}))
	was := ""
	for _, change := range rows(p, "/etc/my.cnf")[0].Changes {
		was += change.Was
	}
	m.is.True(strings.Contains(was, "Barracuda")) // an option that was removed is named
}

// servers take their configuration.
func (m centos) servers() {
	m.takes(
		"apache2ctl configtest",
		"apache2ctl -t -D DUMP_VHOSTS 2>&1 | grep 'port 443 namevhost shop.example.org\\|:443 .*shop.example.org'",
		"nginx -t",
		"php-fpm8.4 -t",
		"mkdir -p /run/sshd && /usr/sbin/sshd -t",
		"mariadbd --user=mysql --help --verbose",
		"named-checkconf",
		"postfix check",
		"doveconf -n",
		"testparm -s",
		"! testparm -s 2>&1 | grep -i unknown", // parameters
		"sssctl config-check",
		"getent passwd anna",
		"keepalived -t",
		"touch /var/log/apache2/shop.log && fail2ban-client -t",
		"chronyd -p",
		"haproxy -c -f /etc/haproxy/haproxy.cfg",
		"visudo -c",
		`grep "^net.ipv4.ip_forward = 1" /etc/sysctl.d/99-local.conf && ! grep "^net.ipv4.tcp_tw_recycle" /etc/sysctl.d/99-local.conf`,
	)
	m.is.True(!m.there("/etc/apache2/sites-enabled/000-default.conf"))
	m.is.Equal(m.lines(`mariadbd --user=mysql --help --verbose 2>/dev/null | awk '$1=="innodb-buffer-pool-size"{print $2}'`), "536870912") // the source's
	m.is.Equal(m.lines("postconf -h myhostname"), "mail.example.org")
	m.is.Equal(m.lines("stat -c '%a %U %G' /etc/apache2/conf-available/users"), "640 root www-data") // what apache may read www-data may read
	m.is.Equal(m.lines("id -nG anna"), "anna sudo")                                                  // she may become root as before
}

// system: jobs, limits, logs and shares, what people wrote for the system itself.
func (m centos) system() {
	for _, share := range []string{"share", "my share", "public"} {
		m.is.NoErr(os.MkdirAll(m.at("srv/"+share), 0o755))
	}
	m.takes(
		"crontab -n /etc/cron.d/crontab && crontab -n /etc/cron.d/backup_shop && crontab -n /var/spool/cron/crontabs/www-data",
		"run-parts --test /etc/cron.daily | grep shop_sh", // whose name had a dot
		"anacron -T",
		"rsyslogd -N1",
		"exportfs -ra",
		"firewall-offline-cmd --check-config",
	)
	m.is.Equal(m.lines("stat -c '%a %U' /var/spool/cron/crontabs/www-data"), "600 www-data") // apache's jobs
	m.is.Equal(m.lines(`su nobody -s /bin/sh -c "ulimit -Hn"; su root -s /bin/sh -c "ulimit -Hn"`), "8192 8192")
	m.is.Equal(m.lines("nfsconf --get lockd port"), "32803")
}

// network: what decides who reaches the machine waits; it is put in place in a network of
// its own, with an interface of the source's hardware address and another name.
func (m centos) network(p migration.Plan) {
	for _, c := range p.Configuration {
		if c.Action == migration.Convert && c.To != "" && slices.Contains([]string{"network", "iptables", "nftables"}, c.Converter) {
			m.is.True(strings.HasPrefix(c.To, migration.Waiting+"/"))
		}
	}
	m.is.True(!m.there("/etc/network/interfaces.d/eth0"))
	m.Run(0, "cp", "-a", m.at("etc/svc/network")+"/.", m.target)
	has := m.Run(0, "unshare", "-n", "-m", "bash", "-ec", `
		mount -t sysfs sysfs "$1/sys" && mount -t tmpfs tmpfs "$1/run"
		ip link set lo up
		ip link add ens3 address 52:54:00:12:34:56 type veth peer name switch && ip link set switch up
		chroot "$1" iptables-restore --test /etc/iptables/rules.v4 && echo iptables
		chroot "$1" nft -c -f /etc/nftables.conf && echo nftables
		chroot "$1" ifup eth0 >/dev/null 2>&1 || true
		ip -o addr show eth0 scope global | awk "{print \$4}" | sort
		ip route | grep -c "via 192.0.2.[19] "
		cat /sys/class/net/eth0/mtu`, "-", m.target)
	// The firewalls take their rules; the interface has its addresses, routes and MTU.
	m.is.Equal(strings.Fields(has.Out), []string{"iptables", "nftables", "192.0.2.2/24", "192.0.2.3/24", "192.0.2.4/32", "2001:db8::2/64", "3", "1400"})
	m.takes(`for i in /etc/network/interfaces.d/*; do ifquery $(basename $i) || exit 1; done`)
}
