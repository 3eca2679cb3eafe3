package migration_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"svc/.ci/e2e"
	"svc/assess"
	"svc/backend/api"
	"svc/tools/migration"
	"svc/tools/parity"
)

// debian is the move of a Debian 11 server with a site, databases and people. What they
// changed is merged into the target's own files, out of the archive's packages.
type debian struct {
	*move
	archives []string
}

func TestDebian(t *testing.T) {
	m := &debian{move: newMove(t)}
	m.makeTarget()
	m.makeSource()
	mirror := m.Call(0, "mirror").Line()
	m.archives = []string{"--source-archive", mirror, "--target-archive", mirror}
	m.migrates()
	m.applyTwice()
	p := m.plan()
	m.installed(p)
	m.carries(p)
	m.works()
	m.merges(p)
	m.sameMachine()
	m.verifiesData()
	m.rotates()
	m.watches()
	t.Run("the MCP Inspector is content", func(t *testing.T) { m.In(t).Inspect(m.source) })
	m.refuses()
	m.clashes()
	m.firewall()
	m.takenIDs()
}

// makeSource is a server whose files of packages people changed. It had ufw, with the rules
// of its converter's test.
func (m *debian) makeSource() {
	m.Copy(filepath.Join(e2e.Cache(), "roots/bullseye-server"), "source")
	m.Shell(0, `cd "$1/etc"
		sed -i 's/^Timeout .*/Timeout 60/; s/^LogLevel .*/LogLevel info/' apache2/apache2.conf
		sed -i 's/^bind-address .*/bind-address = 0.0.0.0/' mysql/mariadb.conf.d/50-server.cnf
		sed -i 's/^pm.max_children = .*/pm.max_children = 20/' php/7.4/fpm/pool.d/www.conf
		printf '\nPackage: ufw\nStatus: install ok installed\nArchitecture: all\nVersion: 0.36-7.1\nMaintainer: Jamie Strandboge <jdstrand@ubuntu.com>\n\n' >>../var/lib/dpkg/status`, m.source)
	m.brings("ubuntu-22.04-ufw.txtar")
	m.modes(map[string]os.FileMode{"etc/ufw/*.rules": 0o640})
}

// migrate migrates the source to Debian 13.
func (m *debian) migrate(code int, options ...string) e2e.Said {
	m.t.Helper()
	return m.SVC(code, append([]string{"migrate", "--root", m.source, "--target", "debian-13"}, options...)...)
}

// archived are options with the archives that packages come from.
func (m *debian) archived(options ...string) []string { return append(options, m.archives...) }

// signed are digests of all that a migration wrote, but of the signature itself.
func (m *debian) signed() string {
	m.t.Helper()
	return m.Shell(0, `cd "$1" && find . -type f ! -name attestation.dsse.json -exec sha256sum {} + | sort`, m.out).Out
}

func (m *debian) migrates() {
	m.migrate(0, "--preflight")
	_, err := os.Stat(m.out)
	m.is.True(os.IsNotExist(err)) // a preflight writes nothing
	m.migrate(2, "--out", m.out)  // without --confirm
	m.migrate(0, m.archived("--out", m.out, "--confirm")...)
	m.SVC(0, "attest", "verify", filepath.Join(m.out, "attestation.dsse.json"))
	first := m.signed()
	m.migrate(0, m.archived("--out", m.out, "--confirm")...)
	m.is.Equal(m.signed(), first) // a repeat gives the same bytes
	var account api.Account
	m.SVC(0, "account", "--json").JSON(&account)
	m.is.Equal(account.BillableInstances, 1) // and claims no second seat
	m.tampers()
	m.Shell(0, `cd "$1" && ansible-lint --nocolor --offline --profile production site.yml role`, m.out)
}

// tampers changes one byte of the payload of a copy.
func (m *debian) tampers() {
	var envelope map[string]any
	m.is.NoErr(json.Unmarshal([]byte(m.read(filepath.Join(m.out, "attestation.dsse.json"))), &envelope))
	payload := []byte(envelope["payload"].(string))
	payload[40] = map[bool]byte{true: 'B', false: 'A'}[payload[40] == 'A']
	envelope["payload"] = string(payload)
	b, err := json.Marshal(envelope)
	m.is.NoErr(err)
	m.Files(m.Dir, map[string]string{"tampered.json": string(b)})
	m.SVC(1, "attest", "verify", m.Path("tampered.json"))
}

// carries: every file that the role carries as it is, is there, byte by byte, with its mode
// and owner. What was converted is put to its own program.
func (m *debian) carries(p migration.Plan) {
	for _, c := range p.Configuration {
		if c.Action != migration.Copy && c.Action != migration.Convert || c.Link != "" || c.Converter != "" {
			continue
		}
		m.is.Equal(m.read(m.at(c.To)), m.read(filepath.Join(m.source, c.From)))
		m.is.Equal(c.To+" "+m.in(0, "stat", "-c", "%04a %U %G", c.To).Line(), strings.Join([]string{c.To, c.Mode, c.Owner, c.Group}, " "))
	}
}

func (m *debian) works() {
	for unit, state := range map[string]string{
		"shop-worker.service": "enabled", "report.timer": "enabled", "apt-daily.timer": "masked", "fail2ban.service": "disabled",
		"nftables.service": "enabled", "apache2.service": "enabled", "php8.4-fpm.service": "enabled",
	} {
		m.is.Equal(unit+" "+m.Shell(0, `systemctl --root="$1" is-enabled "$2" || true`, m.target, unit).Line(), unit+" "+state)
	}
	m.is.Equal(m.lines("id deploy"), "uid=1500(deploy) gid=1500(deploy) groups=1500(deploy),33(www-data),1600(webteam)")
	m.is.Equal(m.lines("id anna"), "uid=1501(anna) gid=1501(anna) groups=1501(anna),901(printers)") // with a group of the system
	m.is.Equal(m.lines("id -u upload"), "902")                                                      // of the system, and a person made it
	m.is.Equal(m.lines("stat -c %a /home/deploy/.ssh/authorized_keys"), "600")
	m.takes(
		"grep -q deploy@ci /home/deploy/.ssh/authorized_keys",
		"visudo -c",
		"apache2ctl configtest",
		"apache2ctl -t -D DUMP_VHOSTS 2>&1 | grep shop.example.org",
		"mkdir -p /run/sshd && /usr/sbin/sshd -t",
		"php-fpm8.4 -t",
		"mariadbd --user=mysql --help --verbose",
		"runuser -u postgres -- /usr/lib/postgresql/17/bin/postgres -D /etc/postgresql/17/main -C max_connections",
		"test -L /etc/apache2/sites-enabled/shop.conf",
	)
	m.is.Equal(m.lines("readlink /etc/localtime"), "/usr/share/zoneinfo/Europe/Vienna")
	m.is.True(!m.there("/etc/ssl/private/shop.key")) // no secret was carried over
}

// merges: files that people changed are those of the target's own packages, but for that,
// and the programs read it.
func (m *debian) merges(p migration.Plan) {
	const sources = "" // a file that its package ships in its place
	for _, f := range []struct{ pkg, file, template, changed string }{
		{"openssh-server", "/etc/ssh/sshd_config", "/usr/share/openssh/sshd_config", "PermitRootLogin no X11Forwarding no 2"},
		{"apache2", "/etc/apache2/apache2.conf", sources, "Timeout 60 LogLevel info 2"},
		{"apache2", "/etc/apache2/conf-available/security.conf", sources, "ServerTokens Prod 1"},
		{"mariadb-server", "/etc/mysql/mariadb.conf.d/50-server.cnf", sources, "bind-address = 0.0.0.0 1"},
		{"php8.4-common", "/etc/php/8.4/fpm/php.ini", "/usr/lib/php/8.4/php.ini-production", "memory_limit = 256M 1"},
		{"php8.4-fpm", "/etc/php/8.4/fpm/pool.d/www.conf", sources, "pm.max_children = 20 1"},
	} {
		if f.template == sources {
			f.template = f.file
		}
		// The lines that are not as the package ships them, and how many of the package's are not there.
		changed := m.Shell(0, `deb=$(find "$1/var/cache/apt/archives" -name "$2_*.deb")
			{ diff <(dpkg-deb --fsys-tarfile "$deb" | tar -xO ".$4") "$1$3" || true; } | awk '/^> /{print substr($0, 3)} /^</{n++} END{print n+0}'`, m.target, f.pkg, f.file, f.template)
		m.is.Equal(f.file+": "+strings.ReplaceAll(changed.Line(), "\n", " "), f.file+": "+f.changed)
	}
	postgresql := m.read(m.at("etc/postgresql/17/main/postgresql.conf"))
	m.is.True(strings.Contains(postgresql, "\n#summarize_wal"))      // what 13 had no word for
	m.is.True(!strings.Contains(postgresql, "stats_temp_directory")) // what 17 has none for
	m.is.Equal(m.lines("runuser -u postgres -- /usr/lib/postgresql/17/bin/postgres -D /etc/postgresql/17/main -C max_connections 2>/dev/null"), "150")
	m.is.Equal(m.lines(`mariadbd --user=mysql --help --verbose 2>/dev/null | awk '$1=="bind-address"{print $2}'`), "0.0.0.0")
	m.is.Equal(m.lines("/usr/sbin/sshd -T 2>/dev/null | grep -cE '^(permitrootlogin|x11forwarding|passwordauthentication) no$'"), "3")
	used := map[string]bool{}
	for _, c := range p.Configuration {
		if c.Action == migration.Merge {
			used[c.Merge.Target.PackageSHA256] = true
		}
	}
	m.is.True(len(used) >= 6) // the plan names the packages
}

func (m *debian) sameMachine() {
	var before, after assess.Assessment
	for root, into := range map[string]*assess.Assessment{m.source: &before, m.target: &after} {
		m.Shell(0, `"$1" assess --root "$2" --json || [ $? = 6 ]`, m.Command().Path, root).JSON(into)
	}
	m.is.Equal(after.Fingerprint, before.Fingerprint)
	m.is.Equal(after.Release, "debian-13")
}

// results counts the checks of a dimension in a verification by how they ended.
func (m *debian) results(folder, dimension string) map[parity.Result]int {
	m.t.Helper()
	counts := map[parity.Result]int{}
	for _, c := range m.report(folder).Checks {
		if c.Dimension == dimension {
			counts[c.Result]++
		}
	}
	return counts
}

// verify holds the target with its data against the source.
func (m *debian) verify(code int, options ...string) {
	m.t.Helper()
	m.SVC(code, append([]string{"verify", "--root", m.target, "--source", m.out, "--data", m.Path("data-plan"), "--digests"}, options...)...)
}

// verifiesData moves the data by the scripts of a plan, and has it verified; the
// attestation is checked by svc, and by the program of somebody else.
func (m *debian) verifiesData() {
	m.verifies()
	m.is.Equal(m.results("parity", parity.Data)[parity.Unknown], 5) // without a data plan
	m.SVC(0, "data", "plan", "--root", m.source, "--target", "debian-13", "--out", m.Path("data-plan"), "--source-offline", "--confirm")
	for _, script := range []string{"10-check.sh", "30-before.sh", "40-copy.sh", "50-after.sh"} {
		m.Run(0, "env", "SOURCE_ROOT="+m.source, "TARGET_ROOT="+m.target, "bash", m.Path("data-plan", script))
	}
	m.verify(0, "--out", m.Path("parity"))
	data := m.results("parity", parity.Data) // counts, sizes and contents
	m.is.Equal(data[parity.Match], 10)
	m.is.Equal(data[parity.Unknown], 0)
	m.verify(0, "--out", m.Path("parity2"))
	m.is.Equal(m.read(m.Path("parity2/parity.json")), m.read(m.Path("parity/parity.json"))) // a repeat, byte by byte
	if *all {
		newProver(m.move).isProven("parity")
	}
	page := m.at("srv/www/shop/index.php")
	whole := m.read(page)
	m.Files("", map[string]string{page: "X" + whole[1:]})
	m.verify(6) // a byte of the data changed
	m.Files("", map[string]string{page: whole})
	report := m.Path("parity2/report.html")
	m.Files("", map[string]string{report: m.read(report) + "\n"})
	m.SVC(1, "attest", "verify", m.Path("parity2/attestation.dsse.json")) // a file is not as it was signed
}

// rotates changes the service's key: what the old one signed stays good.
func (m *debian) rotates() {
	m.Run(0, "cp", m.Path("data/svc/keys/embedded.pem"), m.Path("old.pem"))
	m.SVC(0, "admin", "key", "rotate")
	m.SVC(0, "verify", "--root", m.target, "--source", m.out, "--out", m.Path("parity3"))
	m.SVC(1, "attest", "verify", m.Path("parity3/attestation.dsse.json"), "--key", m.Path("old.pem")) // the new one signed it
	m.SVC(0, "attest", "verify", m.Path("parity3/attestation.dsse.json"))
	m.SVC(0, "attest", "verify", m.Path("parity/attestation.dsse.json"))
}

// watches finds what changed, data that are gone too.
func (m *debian) watches() {
	m.drifts("fail2ban", "shop-worker.service", "/etc/nftables.conf")
	m.is.NoErr(os.RemoveAll(m.at("srv/www/shop")))
	m.SVC(6, "drift", "--root", m.target, "--source", m.Path("parity"), "--json").Has(`"/srv/www/shop"`)
}

// refuses: what can't be migrated is refused, and nothing is written.
func (m *debian) refuses() {
	m.Files(m.Dir, map[string]string{
		"foreign/thesis.txt": "mine\n", "file": "x\n", "broken/var/lib/dpkg/status": "",
		"broken/etc/os-release": m.read(filepath.Join(m.source, "etc/os-release")), "broken/etc/machine-id": m.read(filepath.Join(m.source, "etc/machine-id")),
	})
	m.Hold(`mkdir "$work/tiny" && mount -t tmpfs -o size=64k tmpfs "$work/tiny"`, `umount -l "$work/tiny"`)
	for _, refused := range []struct {
		code              int
		root, target, out string
	}{
		{4, m.source, "debain-13", "o"},          // an unknown target
		{1, m.Path("foreign"), "debian-13", "o"}, // no system
		{1, m.source, "debian-13", "foreign"},    // a folder with something else
		{1, m.source, "debian-13", "file"},       // a file
		{1, m.source, "debian-13", "tiny/o"},     // a full disk
		{1, m.Path("broken"), "debian-13", "o"},  // an empty package database
	} {
		m.SVC(refused.code, "migrate", "--root", refused.root, "--target", refused.target, "--out", m.Path(refused.out), "--confirm")
	}
	m.SVC(6, "migrate", "--root", m.target, "--target", "debian-12", "--preflight") // an older one is planned, and inhibited
	m.SVC(1, "assess", "--root", m.Path("broken"))
	left := m.Shell(0, `cd "$1" && ls foreign && find tiny -mindepth 1 && find . -maxdepth 1 -name '.svc-staging-*' -o -maxdepth 1 -name o`, m.Dir)
	m.is.Equal(left.Line(), "thesis.txt") // and nothing beside
}

// clashes changes a line that the target's package changed too.
func (m *debian) clashes() {
	m.Run(0, "sed", "-i", "s/^AcceptEnv .*/AcceptEnv SHOP_*/", filepath.Join(m.source, "etc/ssh/sshd_config"))
	m.migrate(0, m.archived("--preflight")...).Has("configuration.merge-clash") // a question that stops nothing
	m.migrate(1, "--target-archive", m.Path("foreign"), "--preflight")          // an archive that can't be read
}

// firewall is what a person does when the machine takes over, in a network of its own.
func (m *debian) firewall() {
	m.is.Equal(m.lines("grep -h ^ENABLED /etc/ufw/ufw.conf /etc/svc/network/etc/ufw/ufw.conf"), "ENABLED=no ENABLED=yes") // off until then
	m.Run(0, "cp", "-a", m.at("etc/svc/network/etc")+"/.", m.at("etc"))
	ufw := m.Shell(0, `unshare -n chroot "$1" sh -c 'ufw --force enable && ufw status verbose' || true`, m.target)
	for _, kept := range []string{"Default: deny (incoming), allow (outgoing)", "22/tcp                     LIMIT IN    Anywhere", "80,443/tcp (Apache Full)   ALLOW IN    Anywhere"} {
		ufw.Has(kept)
	}
	_, rules, ok := strings.Cut(m.read(converted+"ubuntu-22.04-ufw-rocky.golden"), "nftables.conf --\n")
	m.is.True(ok)
	m.Files(m.target, map[string]string{"root/ufw.nft": rules})
	m.Run(0, "unshare", "-n", "chroot", m.target, "nft", "-c", "-f", "/root/ufw.nft") // nftables takes what is made of it where there is no ufw
}

// takenIDs gives the ids of a source to others of the target: an account whose id is taken
// gets one that is nobody's, and those whose are free have theirs, whatever comes first.
// One that runs something has the source's home.
func (m *debian) takenIDs() {
	m.takes("groupadd -g 1700 taken && useradd -u 1700 -g 1700 taken && useradd -u 1709 -d /run/busy busy")
	busy := m.Command("setpriv", "--reuid=1709", "--clear-groups", "sleep", "600")
	m.is.NoErr(busy.Start())
	defer func() { _ = busy.Process.Kill(); _ = busy.Wait() }()
	m.Files(m.Dir, map[string]string{"taken.yml": `- hosts: all
  gather_facts: false
  vars:
    role_groups: [{name: shopd, gid: 1700, system: true}, {name: dora, gid: 1701, system: false}]
    role_users:
      - {name: shopd, uid: 1700, group: shopd, groups: [], comment: "", home: /srv, shell: /bin/false, system: true, password: "!"}
      - {name: dora, uid: 1701, group: dora, groups: [shopd], comment: "", home: /home/dora, shell: /bin/sh, system: false, password: "!"}
      - {name: busy, uid: 1709, group: busy, groups: [], comment: "", home: /srv/busy, shell: /bin/sh, system: true, password: "!"}
      - {name: dora-too, uid: 1701, group: dora, groups: [], comment: "", home: /home/dora, shell: /bin/sh, system: false, password: "!"}
    role_members: [{name: www-data, groups: [shopd, nobody-made-it]}, {name: nobody-at-all, groups: [shopd]}]
  tasks:
    - ansible.builtin.import_tasks: ` + m.out + "/role/tasks/accounts.yml\n"})
	m.Run(0, "env", "ANSIBLE_NOCOWS=1", "ansible-playbook", "-i", m.target+",", "-c", "community.general.chroot", m.Path("taken.yml"))
	m.is.Equal(m.lines("id -u dora; id -g dora; id -u dora-too"), "1701 1701 1701") // who can have it has it, shared ones too
	m.takes(`[ "$(id -u shopd)" -lt 1000 ]`)                                        // who can't has one of the system's
	m.is.Equal(m.lines("getent passwd busy | cut -d: -f 6"), "/srv/busy")
	m.takes(`id -nG www-data | grep -w shopd`) // an account of a package is in the groups that are there
}
