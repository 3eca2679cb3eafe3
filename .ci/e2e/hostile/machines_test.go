package hostile_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// machine is a root that is filled. What is large is written as it is made: what this
// process holds when it starts svc would count as svc's.
type machine struct {
	t    *testing.T
	root string
}

// at is a path in the root, whose folder is there.
func (m machine) at(name string) string {
	path := filepath.Join(m.root, name)
	is.New(m.t).NoErr(os.MkdirAll(filepath.Dir(path), 0o755))
	return path
}

// stream writes a file.
func (m machine) stream(name string, write func(io.Writer)) {
	is := is.New(m.t)
	f, err := os.Create(m.at(name))
	is.NoErr(err)
	w := bufio.NewWriter(f)
	write(w)
	is.NoErr(w.Flush())
	is.NoErr(f.Close())
}

// write writes a file of one text.
func (m machine) write(name, text string) { m.repeat(name, 1, text, "") }

// repeat writes a file that has a text n times, after a head.
func (m machine) repeat(name string, n int, text, head string) {
	m.stream(name, func(w io.Writer) {
		io.WriteString(w, head)
		for range n {
			io.WriteString(w, text)
		}
	})
}

// number writes a file of n lines, in which %d is the line's number, after a head.
func (m machine) number(name string, n int, line, head string) {
	m.stream(name, func(w io.Writer) {
		io.WriteString(w, head)
		for i := range n {
			io.WriteString(w, numbered(line, i)+"\n")
		}
	})
}

// noise writes n random bytes after a head, the same each time.
func (m machine) noise(name, head string, n int64) {
	m.stream(name, func(w io.Writer) {
		io.WriteString(w, head)
		io.CopyN(w, rand.NewChaCha8([32]byte{7}), n)
	})
}

// sparse writes a file of n bytes that takes no room.
func (m machine) sparse(name string, n int64) {
	m.write(name, "")
	is.New(m.t).NoErr(os.Truncate(m.at(name), n))
}

func (m machine) link(name, to string) { is.New(m.t).NoErr(os.Symlink(to, m.at(name))) }

// numbered has a number in the place of each %d.
func numbered(text string, i int) string { return strings.ReplaceAll(text, "%d", strconv.Itoa(i)) }

const (
	debian = "ID=debian\nVERSION_ID=12\n"
	rocky  = "ID=rocky\nVERSION_ID=9\n"
	dpkg   = "Package: base-files\nStatus: install ok installed\nVersion: 12\nArchitecture: amd64\n\n"
)

// hostile are machines that no honest one is like.
var hostile = []struct {
	name    string
	release string // Debian 12's where it is empty
	bare    bool   // it has no package database but one of its own
	fill    func(machine)
}{
	{name: "accounts", fill: func(m machine) {
		for _, name := range []string{"passwd", "group", "shadow"} {
			m.number("etc/"+name, 300_000, "u%d:x:1%d:1::/home/u%d:/bin/sh", "")
		}
	}},
	{name: "packages", bare: true, fill: func(m machine) {
		m.number("var/lib/dpkg/status", 150_000, "Package: p%d\nStatus: install ok installed\nVersion: 1.%d\nArchitecture: amd64\nDescription: "+strings.Repeat("x", 200)+"\n", "")
	}},
	{name: "conffiles", bare: true, fill: func(m machine) {
		m.number("var/lib/dpkg/status", 300_000, " /etc/c%d 0123456789abcdef0123456789abcdef", "Package: p\nStatus: install ok installed\nVersion: 1\nArchitecture: amd64\nConffiles:\n")
	}},
	{name: "one line", bare: true, fill: func(m machine) {
		m.repeat("var/lib/dpkg/status", 90_000_000, "x", "Package: ")
	}},
	{name: "release", fill: func(m machine) {
		m.repeat("etc/os-release", 50_000_000, "x", debian+"NAME=")
	}},
	{name: "sparse", fill: func(m machine) {
		for _, name := range []string{"etc/passwd", "etc/fstab", "etc/ssh/sshd_config", "etc/apt/sources.list", "var/lib/apt/extended_states", "etc/ssl/certs/a.pem"} {
			m.sparse(name, 1<<40)
		}
	}},
	{name: "files", fill: func(m machine) {
		for i := range 50 * 600 {
			m.write(fmt.Sprintf("etc/many/%d/%d", i/600, i%600), "x")
		}
	}},
	{name: "units", fill: func(m machine) {
		for i := range 6000 {
			m.write(numbered("etc/systemd/system/u%d.service", i), "[Service]\nExecStart=/bin/true\nEnvironment="+strings.Repeat("y", 3000)+"\n")
		}
	}},
	{name: "deep", fill: func(m machine) { m.write("etc/"+strings.Repeat("d/", 900)+"f", "x") }},
	{name: "loops", fill: func(m machine) {
		for _, link := range [][2]string{
			{"etc/passwd", "passwd"},
			{"etc/systemd/system/a.service", "b.service"},
			{"etc/systemd/system/b.service", "a.service"},
			{"etc/apt/sources.list.d/x.list", "../../../../../../dev/zero"},
			{"etc/fstab", "/proc/kmsg"},
			{"etc/ssh/sshd_config.d", "."},
			{"etc/nginx/conf.d", "."},
		} {
			m.link(link[0], link[1])
		}
	}},
	{name: "includes", fill: func(m machine) {
		m.repeat("etc/nginx/nginx.conf", 1000, "include /etc/nginx/*;\n", "")
		m.repeat("etc/apache2/apache2.conf", 1000, "Include /etc/apache2/\n", "")
		m.repeat("etc/ssh/sshd_config", 1000, "Include /etc/ssh/*\n", "")
		m.repeat("etc/sudoers", 1000, "#includedir /etc/sudoers.d\n", "")
		for i := range 100 {
			m.repeat(numbered("etc/apache2/c%d.conf", i), 50, "Include /etc/apache2/*.conf\n", "")
		}
		for i := range 500 {
			m.repeat(numbered("etc/sudoers.d/s%d", i), 20, "#include /etc/sudoers\n", "")
		}
	}},
	{name: "databases", fill: func(m machine) {
		for i := range 200 {
			for _, file := range [][2]string{
				{"etc/postgresql/13/main/c%d.conf", "include_dir '.'\n"},
				{"etc/redis/r%d.conf", "include /etc/redis/*.conf\n"},
				{"etc/mysql/conf.d/m%d.cnf", "!includedir /etc/mysql/conf.d\n"},
				{"etc/ldap/l%d.conf", "include /etc/ldap/l%d.conf\ninclude /etc/ldap/slapd.conf\n"},
				{"etc/systemd/system/u%d.service", "[Service]\nExecStart=/bin/mysqld --defaults-file=/etc/mysql/conf.d/m1.cnf\n"},
			} {
				m.repeat(numbered(file[0], i), 60, numbered(file[1], i), "")
			}
		}
		m.repeat("etc/postgresql/13/main/postgresql.conf", 50, "include_dir '.'\n", "")
		m.number("etc/ldap/slapd.conf", 200, "include /etc/ldap/l%d.conf", "")
	}},
	{name: "included", fill: func(m machine) {
		for i := range 20_000 {
			m.write(numbered("srv/f%d", i), "")
		}
		m.repeat("etc/postgresql/13/main/postgresql.conf", 20_000, "include_dir '/srv'\n", "")
		m.repeat("etc/redis/redis.conf", 20_000, "include /srv/*.x\n", "")
		m.repeat("etc/my.cnf", 20_000, "!includedir /srv\n", "")
	}},
	{name: "commands", fill: func(m machine) {
		m.repeat("etc/env", 2000, "A=1\n", "")
		start := func(name, head string, value, words int) {
			m.repeat("etc/systemd/system/"+name+".service", words, "${X} ", "[Service]\n"+head+"Environment=X="+strings.Repeat("a", value)+"\nExecStart=/usr/bin/postgres ")
		}
		for i := range 60 {
			start(numbered("u%d", i), strings.Repeat("EnvironmentFile=/etc/env\n", 1000), 15_000, 3000)
		}
		start("v", "", 400_000, 20_000)
	}},
	{name: "yaml", fill: func(m machine) {
		m.write("etc/netplan/a.yaml", bomb())
		m.repeat("etc/netplan/b.yaml", 60_000, "[", "")
	}},
	{name: "cron", fill: func(m machine) {
		m.number("etc/crontab", 400_000, "* * * * * root c%d", "")
		for i := range 300 {
			m.repeat(numbered("var/spool/cron/crontabs/u%d", i), 2000, "* * * * * x\n", "")
		}
	}},
	{name: "jobs", fill: many("etc/cron.d/c%d", "* * * * * root x\n")},
	{name: "repositories", fill: many("etc/apt/sources.list.d/s%d.list", "deb http://a/ b c\n")},
	{name: "sources", fill: many("etc/apt/sources.list.d/s%d.sources", "Types: deb\nURIs: http://a/\nSuites: b\nComponents: c\n\n")},
	{name: "rules of sudo", fill: many("etc/sudoers.d/s%d", "u ALL=(ALL) ALL\n")},
	{name: "settings", fill: many("etc/sysctl.d/s%d.conf", "net.a = 1\n")},
	{name: "yum", release: rocky, fill: many("etc/yum.repos.d/r%d.repo", "[r]\nbaseurl=http://a/\n")},
	{name: "sites", fill: many("etc/nginx/sites-enabled/s%d", "server { listen 80; server_name a; root /srv; }\n")},
	{name: "apache", fill: many("etc/apache2/sites-enabled/s%d.conf", "<VirtualHost *:80>\nServerName a\nDocumentRoot /a\n</VirtualHost>\n")},
	{name: "keyfiles", fill: many("etc/NetworkManager/system-connections/n%d.nmconnection", "[ipv4]\naddress1=10.0.0.1/24\n")},
	{name: "interfaces", fill: many("etc/network/interfaces.d/i%d", "iface eth0 inet static\naddress 10.0.0.1/24\n")},
	{name: "rotation", fill: many("etc/logrotate.d/l%d", "/a {\nweekly\n}\n")},
	{name: "keys", fill: func(m machine) {
		m.number("etc/passwd", 500, "u%d:x:%d:1::/home/u%d:/bin/sh", "")
		for i := range 100 {
			m.repeat(numbered("home/u%d/.ssh/authorized_keys", i), 2000, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPlainPlainPlainPlainPlainPlainPlainPlainPlai x\n", "")
		}
	}},
	{name: "firewall", fill: func(m machine) {
		m.number("etc/nftables.conf", 300_000, "add rule inet f c%d ip saddr 10.0.0.1 accept", "")
		m.number("etc/iptables/rules.v4", 300_000, "-A INPUT -s 10.0.0.%d -j DROP", "*filter\n")
	}},
	{name: "noise", release: rocky, bare: true, fill: func(m machine) {
		m.noise("var/lib/rpm/rpmdb.sqlite", "SQLite format 3\x00", 30_000_000)
	}},
	{name: "berkeley", release: rocky, bare: true, fill: func(m machine) {
		head := make([]byte, 12)
		for _, n := range []uint32{0x061561, 9, 4096, 8, 0, 9999, 0, 0} {
			head = binary.LittleEndian.AppendUint32(head, n)
		}
		m.noise("var/lib/rpm/Packages", string(head), 60_000_000)
	}},
	{name: "ndb", release: "ID=sles\nVERSION_ID=\"15.5\"\n", bare: true, fill: func(m machine) {
		m.noise("var/lib/rpm/Packages.db", "RpmP", 60_000_000)
	}},
	{name: "apk", release: "ID=alpine\nVERSION_ID=3.20.0\n", bare: true, fill: func(m machine) {
		m.number("lib/apk/db/installed", 200_000, "P:p%d\nV:1-r0\nA:x86_64\nF:etc\nR:f%d\nZ:Q1AAAA\n", "")
	}},
	{name: "secrets", fill: func(m machine) {
		parts := []string{"password=", "x://a:", "mysql -p", "identified by '", `password: "`, "-----BEGIN PRIVATE KEY-----", "token=a "}
		for i, part := range parts {
			m.repeat(numbered("etc/many/%d", i), 3_900_000/len(part), part, "")
		}
	}},
	{name: "certificates", fill: func(m machine) {
		for i := range 4000 {
			m.write(numbered("etc/ssl/private/c%d.pem", i), "-----BEGIN CERTIFICATE-----\n"+strings.Repeat("A", 20_000)+"\n-----END CERTIFICATE-----\n")
		}
	}},
}

// many fills a folder with files of one line that are all read; together they are more
// than is kept.
func many(name, line string) func(machine) {
	return func(m machine) {
		for i := range 16 {
			m.repeat(numbered(name, i), min(19_000, 1_900_000/len(line)), line, "")
		}
	}
}

// bomb is a text of YAML in which each list has nine times the one before.
func bomb() string {
	var text strings.Builder
	text.WriteString("a: &a [x,x,x,x,x,x,x,x,x]\n")
	for c := byte('b'); c < 'k'; c++ {
		fmt.Fprintf(&text, "%[1]c: &%[1]c [%[2]s]\n", c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ","))
	}
	return text.String() + "network: *j\n"
}
