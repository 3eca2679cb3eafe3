package families_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/rogpeppe/go-internal/txtar"

	"svc/.ci/e2e"
)

// debianMachine is the fixture with more servers, and what is written for them.
func debianMachine(t *testing.T, w *e2e.Work, _ string) string {
	root := w.Copy("../../../fixtures/hosts/debian-11-web", "debian")
	var status strings.Builder
	for _, p := range names("nginx=1.18.0 bind9=1:9.16.50 postfix=3.5.25 haproxy=2.2.9 nodejs=18.19.0 htop=3.0.5") {
		name, version, _ := strings.Cut(p, "=")
		fmt.Fprintf(&status, "\nPackage: %s\nStatus: install ok installed\nArchitecture: amd64\nVersion: %s\n", name, version)
	}
	is := is.New(t)
	f, err := os.OpenFile(root+"/var/lib/dpkg/status", os.O_APPEND|os.O_WRONLY, 0)
	is.NoErr(err)
	_, err = f.WriteString(status.String())
	is.NoErr(err)
	is.NoErr(f.Close())
	unpack(t, w, root, "debian-11-almalinux-9")
	key(w, root, "etc/ssl/private/shop.key", "etc/ssl/certs/shop.pem")
	return root
}

// centosServer are the packages of the CentOS 7, with the versions that it has.
const centosServer = `httpd-2.4.6 mod_ssl-2.4.6 nginx-1.20.1 php-fpm-5.4.16 mariadb-server-5.5.68 bind-9.11.4 postfix-2.10.1
	haproxy-1.5.18 logrotate-3.8.6 openssh-server-7.4p1 sudo-1.8.23 cronie-1.4.11 chrony-3.4 rsyslog-8.24.0 curl-7.29.0`

// centosMachine is a root with a database of rpm and what is written for servers.
func centosMachine(t *testing.T, w *e2e.Work, system string) string {
	is := is.New(t)
	root := w.Path("centos")
	var spec strings.Builder
	spec.WriteString("Name: centos\nVersion: 7\nRelease: 1.el7\nSummary: none\nLicense: none\nVendor: CentOS\nBuildArch: noarch\n%description\nnone\n")
	for _, p := range names(centosServer) {
		i := strings.LastIndex(p, "-")
		fmt.Fprintf(&spec, "%%package -n %[1]s\nVersion: %[2]s\nSummary: none\n%%description -n %[1]s\nnone\n%%files -n %[1]s\n", p[:i], p[i+1:])
	}
	w.Files(system, map[string]string{"svc/centos.spec": spec.String()})
	w.Run(0, "chroot", system, "env", "HOME=/root", "sh", "-ec", `
		rpmbuild --quiet -bb --define "_topdir /svc/build" --define "_rpmdir /svc/rpms" --define "_binary_payload w1.gzdio" /svc/centos.spec
		mkdir /svc/root
		rpm --root /svc/root --dbpath /var/lib/rpm -i --justdb --nodeps $(find /svc/rpms -name "*.rpm" | sort)`)
	w.Run(0, "mv", system+"/svc/root", root)
	is.NoErr(os.RemoveAll(system + "/svc"))
	w.Files(root, map[string]string{
		"etc/os-release":  "ID=\"centos\"\nVERSION_ID=\"7\"\nNAME=\"CentOS Linux\"\n",
		"etc/machine-id":  "0123456789abcdef0123456789abcdef\n",
		"etc/locale.conf": "LANG=de_AT.UTF-8\n",
		"etc/passwd":      "root:x:0:0:root:/root:/bin/bash\napache:x:48:48::/usr/share/httpd:/sbin/nologin\nanna:x:1000:1000:Anna:/home/anna:/bin/bash\n",
		"etc/group":       "root:x:0:\nwheel:x:10:anna\napache:x:48:\nanna:x:1000:\n",
		"etc/shadow":      "root:!:19000::::::\nanna:!:19000::::::\n",
	})
	unpack(t, w, root, "centos-7-rocky-9")
	return root
}

// unpack puts the files of a converter's own test into a root, and its links.
func unpack(t *testing.T, w *e2e.Work, root, name string) {
	is := is.New(t)
	archive, err := txtar.ParseFile("../../../tools/convert/registry/testdata/" + name + ".txtar")
	is.NoErr(err)
	place := func(name string) string {
		path := filepath.Join(root, name)
		is.NoErr(os.MkdirAll(filepath.Dir(path), 0o755))
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
			is.NoErr(os.Remove(path))
		}
		return path
	}
	for _, file := range archive.Files {
		is.NoErr(os.WriteFile(place(file.Name), file.Data, 0o644))
	}
	for line := range strings.Lines(string(archive.Comment)) {
		if link, ok := strings.CutPrefix(line, "@"); ok {
			from, to, _ := strings.Cut(strings.TrimSpace(link), " ")
			is.NoErr(os.Symlink(to, place(from)))
		}
	}
	w.Shell(0, `chmod 440 "$1"/etc/sudoers.d/* && chmod 600 "$1/etc/ssh/sshd_config"`, root) // git keeps no modes
}
