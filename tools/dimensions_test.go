package tools

import (
	"cmp"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"svc/tools/machine"
	"svc/tools/parity"
	"svc/tools/tool"
	"svc/tools/verification"
)

// replace changes a file of a machine; the text to be changed must be there.
func replace(file, old, new string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		is := is.New(t)
		b, err := os.ReadFile(filepath.Join(root, file))
		is.NoErr(err)
		is.True(strings.Contains(string(b), old))
		put(file, strings.Replace(string(b), old, new, 1))(t, root)
	}
}

// put makes a file of a machine. Other machines may have the old one too.
func put(file, content string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		is := is.New(t)
		is.NoErr(os.MkdirAll(filepath.Dir(filepath.Join(root, file)), 0o755))
		is.NoErr(os.RemoveAll(filepath.Join(root, file)))
		is.NoErr(os.WriteFile(filepath.Join(root, file), []byte(content), 0o644))
	}
}

func remove(file string) func(*testing.T, string) {
	return func(t *testing.T, root string) { is.New(t).NoErr(os.Remove(filepath.Join(root, file))) }
}

func link(target, file string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		is := is.New(t)
		is.NoErr(os.Remove(filepath.Join(root, file)))
		is.NoErr(os.Symlink(target, filepath.Join(root, file)))
	}
}

// renew puts a certificate of the same name, until another day, into a file.
func renew(file, name string) func(*testing.T, string) {
	return func(t *testing.T, root string) {
		is := is.New(t)
		public, key, err := ed25519.GenerateKey(rand.Reader)
		is.NoErr(err)
		c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)}
		der, err := x509.CreateCertificate(rand.Reader, c, c, public, key)
		is.NoErr(err)
		put(file, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))(t, root)
	}
}

// TestEachDimensionNamesItsChange makes one change on a real root, which is
// named by its dimension and by no other.
func TestEachDimensionNamesItsChange(t *testing.T) {
	env := newEnv(t)
	root, migrated, verifiedOut := verified(t, env, put("var/lib/mysql/mysql/db.opt", ""))
	for _, c := range []struct {
		name    string
		change  func(*testing.T, string)
		want    string
		drifted bool // only what was verified shows it: the plan leaves it to the machine
		// verified is what a verification calls it, where that is not the same.
		verified string
	}{
		{"an older package", replace("var/lib/dpkg/status", "Version: 2.4.62-1~deb11u1", "Version: 2.4.38-3"), "packages apache2", false, ""},
		{"a unit that is off", remove("etc/systemd/system/multi-user.target.wants/shop-worker.service"), "services shop-worker.service", false, ""},
		{"a timer that is on", remove("etc/systemd/system/apt-daily.timer"), "timers apt-daily.timer", false, ""},
		{"a job at another time", replace("etc/cron.d/shop", "*/5", "*/7"), "jobs www-data: /usr/bin/php /srv/www/shop/cron.php", false, ""},
		{"another shell", replace("etc/passwd", "/home/anna:/bin/bash", "/home/anna:/bin/false"), "users anna", false, ""},
		{"a password that is set", replace("etc/shadow", "anna:!:", "anna:$y$x:"), "users anna (password)", true, ""},
		{"another group id", replace("etc/group", "webteam:x:1600:", "webteam:x:1601:"), "groups webteam", false, ""},
		{"a rule of sudo", replace("etc/sudoers.d/deploy", "reload apache2", "* apache2"), "sudoers deploy", false, ""},
		{"a key that may do more", replace("home/deploy/.ssh/authorized_keys", "ssh-", `command="/bin/sh" ssh-`), "authorized_keys deploy SHA256:643dfoE9Gj2HIFeBypJc4+8qOxY5MQzZ/gWLmjo0AA0", false, ""},
		{"a line of configuration", replace("etc/mysql/mariadb.conf.d/60-local.cnf", "200", "2000"), "configuration /etc/mysql/mariadb.conf.d/60-local.cnf", false, ""},
		{"a port", replace("etc/ssh/sshd_config.d/10-local.conf", "PasswordAuthentication", "Port 2222\nPasswordAuthentication"), "ports ssh", false, "ports 2222/tcp"},
		{"a name of a site", replace("etc/apache2/sites-available/shop.conf", "ServerAlias", "ServerAlias evil.example"), "sites shop.example.org", false, ""},
		{"a certificate", renew("etc/ssl/certs/shop.pem", "shop.example.org"), "certificates CN=shop.example.org", false, ""},
		{"options of a mount", replace("etc/fstab", "nfs defaults", "nfs ro"), "mounts /srv/backup", true, ""},
		{"a setting of the kernel", replace("etc/sysctl.d/60-local.conf", "swappiness=10", "swappiness=60"), "sysctl vm.swappiness", false, ""},
		{"a rule of the firewall", replace("etc/nftables.conf", "22, 80, 443", "22, 80, 443, 8080"), "firewall nftables", false, ""},
		{"the locale", replace("etc/default/locale", "de_AT", "en_US"), "system locale", false, ""},
		{"the time zone", link("/usr/share/zoneinfo/Europe/London", "etc/localtime"), "system time zone", false, ""},
		{"a database", put("var/lib/mysql/shop/db.opt", ""), "databases mariadb: shop", true, ""},
		{"an older engine", replace("var/lib/mysql/mysql_upgrade_info", "10.5", "10.3"), "databases mariadb", false, ""},
		{"software past the packages", put("usr/local/lib/node_modules/pm2/package.json", `{"name":"pm2","version":"5.3.0"}`), "software npm pm2", false, ""},
		{"a container", put("etc/containers/systemd/web.container", "[Container]\nImage=nginx:1\n"), "containers podman unit web", false, ""},
		{"a module", put("etc/modules-load.d/tun.conf", "tun\n"), "modules tun", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			dir := filepath.Join(t.TempDir(), "host")
			is.NoErr(exec.Command("cp", "-al", root, dir).Run())
			c.change(t, dir)
			r, err := verification.Drift(t.Context(), env, verification.Input{Machine: machine.Machine{Root: dir}, Source: verifiedOut, Detail: tool.DetailFull})
			is.NoErr(err)
			is.Equal(named(r.Checks), []string{c.want})
			is.True(len(r.Checks) == 0 || len(r.Checks[0].Evidence) > 0)
			r, err = verification.Verify(t.Context(), env, verification.Input{Machine: machine.Machine{Root: dir}, Source: migrated, Detail: tool.DetailFull, Accept: accept(t, "")})
			is.NoErr(err)
			is.Equal(slices.Contains(named(r.Differences()), cmp.Or(c.verified, c.want)), !c.drifted)
		})
	}
}

func named(checks []parity.Check) (all []string) {
	for _, c := range checks {
		all = append(all, c.Dimension+" "+c.Subject)
	}
	return all
}
