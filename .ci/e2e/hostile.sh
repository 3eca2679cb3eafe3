#!/usr/bin/env bash
# Assesses machines that no honest one is like: files without end, lists without
# end, loops, bombs and databases of noise. Each ends soon, in less than 64 MB, and
# without a panic. Prints a line for each check and ends with "N passed, N failed".
# The newest Ansible applies the role of a machine whose every text is meant as a
# program; with the argument all, so does the one of this machine.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh

all=${1:-}
work=$(mktemp -d)
here=$work/here
cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e

cleanup() {
	umount -q -l "$here/proc" "$here/dev" "$here" 2>/dev/null || true
	rm -rf --one-file-system "$work" /tmp/svc-ran*
}
trap cleanup EXIT

needs python3:python3
CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
python3 - "$work/roots" <<'PY'
import os, random, struct, sys
top = sys.argv[1]
random.seed(7)

def write(root, name, data=b"", size=None):
    path = os.path.join(top, root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())
        if size: f.truncate(size)

def machine(root, release="ID=debian\nVERSION_ID=12\n", status=True):
    write(root, "etc/os-release", release)
    if status: write(root, "var/lib/dpkg/status", "Package: base-files\nStatus: install ok installed\nVersion: 12\nArchitecture: amd64\n\n")
    return root

def lines(n, line): return "".join(line.replace("%d", str(i)) + "\n" for i in range(n))

el = "ID=rocky\nVERSION_ID=9\n"
r = machine("accounts"); [write(r, "etc/" + f, lines(300_000, "u%d:x:1%d:1::/home/u%d:/bin/sh")) for f in ("passwd", "group", "shadow")]
r = machine("packages", status=False); write(r, "var/lib/dpkg/status", lines(150_000, "Package: p%d\nStatus: install ok installed\nVersion: 1.%d\nArchitecture: amd64\nDescription: " + "x" * 200 + "\n"))
r = machine("conffiles", status=False); write(r, "var/lib/dpkg/status", "Package: p\nStatus: install ok installed\nVersion: 1\nArchitecture: amd64\nConffiles:\n" + lines(300_000, " /etc/c%d 0123456789abcdef0123456789abcdef"))
r = machine("one line", status=False); write(r, "var/lib/dpkg/status", "Package: " + "x" * 90_000_000)
r = machine("release", "ID=debian\nVERSION_ID=12\nNAME=" + "x" * 50_000_000)
r = machine("sparse"); [write(r, f, size=1 << 40) for f in ("etc/passwd", "etc/fstab", "etc/ssh/sshd_config", "etc/apt/sources.list", "var/lib/apt/extended_states", "etc/ssl/certs/a.pem")]
r = machine("files"); [write(r, f"etc/many/{i}/{j}", "x") for i in range(50) for j in range(600)]
r = machine("units"); [write(r, f"etc/systemd/system/u{i}.service", "[Service]\nExecStart=/bin/true\n" + "Environment=" + "y" * 3000 + "\n") for i in range(6000)]
r = machine("deep"); write(r, "etc/" + "d/" * 900 + "f", "x")
r = machine("loops"); [(os.makedirs(os.path.join(top, r, d), exist_ok=True), os.symlink(t, os.path.join(top, r, d, n))) for d, n, t in (("etc", "passwd", "passwd"), ("etc/systemd/system", "a.service", "b.service"), ("etc/systemd/system", "b.service", "a.service"), ("etc/apt/sources.list.d", "x.list", "../../../../../../dev/zero"), ("etc", "fstab", "/proc/kmsg"), ("etc/ssh", "sshd_config.d", "."), ("etc/nginx", "conf.d", "."))]
r = machine("includes"); write(r, "etc/nginx/nginx.conf", "include /etc/nginx/*;\n" * 1000); write(r, "etc/apache2/apache2.conf", "Include /etc/apache2/\n" * 1000); [write(r, f"etc/apache2/c{i}.conf", "Include /etc/apache2/*.conf\n" * 50) for i in range(100)]; write(r, "etc/ssh/sshd_config", "Include /etc/ssh/*\n" * 1000); write(r, "etc/sudoers", "#includedir /etc/sudoers.d\n" * 1000); [write(r, f"etc/sudoers.d/s{i}", "#include /etc/sudoers\n" * 20) for i in range(500)]
r = machine("databases"); [write(r, f"etc/{dir}/{name}".replace("%d", str(i)), line * 60) for i in range(200) for dir, name, line in (("postgresql/13/main", "c%d.conf", "include_dir '.'\n"), ("redis", "r%d.conf", "include /etc/redis/*.conf\n"), ("mysql/conf.d", "m%d.cnf", "!includedir /etc/mysql/conf.d\n"), ("ldap", "l%d.conf", f"include /etc/ldap/l{i}.conf\ninclude /etc/ldap/slapd.conf\n"), ("systemd/system", "u%d.service", "[Service]\nExecStart=/bin/mysqld --defaults-file=/etc/mysql/conf.d/m1.cnf\n"))]; write(r, "etc/postgresql/13/main/postgresql.conf", "include_dir '.'\n" * 50); write(r, "etc/ldap/slapd.conf", lines(200, "include /etc/ldap/l%d.conf"))
r = machine("included"); [write(r, f"srv/f{i}", "") for i in range(20000)]; write(r, "etc/postgresql/13/main/postgresql.conf", "include_dir '/srv'\n" * 20000); write(r, "etc/redis/redis.conf", "include /srv/*.x\n" * 20000); write(r, "etc/my.cnf", "!includedir /srv\n" * 20000)
r = machine("commands"); write(r, "etc/env", "A=1\n" * 2000); [write(r, f"etc/systemd/system/u{i}.service", "[Service]\n" + "EnvironmentFile=/etc/env\n" * 1000 + "Environment=X=" + "a" * 15000 + "\nExecStart=/usr/bin/postgres " + "${X} " * 3000 + "\n") for i in range(60)]; write(r, "etc/systemd/system/v.service", "[Service]\nEnvironment=X=" + "a" * 400000 + "\nExecStart=/usr/bin/postgres " + "${X} " * 20000 + "\n")
r = machine("yaml"); write(r, "etc/netplan/a.yaml", "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{chr(98+i)}: &{chr(98+i)} [{','.join(['*'+chr(97+i)]*9)}]\n" for i in range(9)) + "network: *j\n"); write(r, "etc/netplan/b.yaml", "[" * 60_000)
r = machine("cron"); write(r, "etc/crontab", lines(400_000, "* * * * * root c%d")); [write(r, f"var/spool/cron/crontabs/u{i}", "* * * * * x\n" * 2000) for i in range(300)]
# Each file is one that is read; all of a step are more than is kept.
def many(root, folder, name, line, release=None):
    r = machine(root, *[release] * (release is not None))
    [write(r, f"{folder}/{name}".replace("%d", str(i)), line.replace("%d", str(i)) * (min(19_000, 1_900_000 // len(line)))) for i in range(16)]
many("jobs", "etc/cron.d", "c%d", "* * * * * root x\n")
many("repositories", "etc/apt/sources.list.d", "s%d.list", "deb http://a/ b c\n")
many("sources", "etc/apt/sources.list.d", "s%d.sources", "Types: deb\nURIs: http://a/\nSuites: b\nComponents: c\n\n")
many("rules of sudo", "etc/sudoers.d", "s%d", "u ALL=(ALL) ALL\n")
many("settings", "etc/sysctl.d", "s%d.conf", "net.a = 1\n")
many("yum", "etc/yum.repos.d", "r%d.repo", "[r]\nbaseurl=http://a/\n", el)
many("sites", "etc/nginx/sites-enabled", "s%d", "server { listen 80; server_name a; root /srv; }\n")
many("apache", "etc/apache2/sites-enabled", "s%d.conf", "<VirtualHost *:80>\nServerName a\nDocumentRoot /a\n</VirtualHost>\n")
many("keyfiles", "etc/NetworkManager/system-connections", "n%d.nmconnection", "[ipv4]\naddress1=10.0.0.1/24\n")
many("interfaces", "etc/network/interfaces.d", "i%d", "iface eth0 inet static\naddress 10.0.0.1/24\n")
many("rotation", "etc/logrotate.d", "l%d", "/a {\nweekly\n}\n")
r = machine("keys"); write(r, "etc/passwd", lines(500, "u%d:x:%d:1::/home/u%d:/bin/sh")); [write(r, f"home/u{i}/.ssh/authorized_keys", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPlainPlainPlainPlainPlainPlainPlainPlainPlai x\n" * 2000) for i in range(100)]
r = machine("firewall"); write(r, "etc/nftables.conf", lines(300_000, "add rule inet f c%d ip saddr 10.0.0.1 accept")); write(r, "etc/iptables/rules.v4", "*filter\n" + lines(300_000, "-A INPUT -s 10.0.0.%d -j DROP"))
r = machine("noise", el, False); write(r, "var/lib/rpm/rpmdb.sqlite", b"SQLite format 3\0" + random.randbytes(30_000_000))
r = machine("berkeley", el, False); write(r, "var/lib/rpm/Packages", struct.pack("<12sIIIIIIII", b"\0" * 12, 0x061561, 9, 4096, 8, 0, 9999, 0, 0) + random.randbytes(60_000_000))
r = machine("ndb", 'ID=sles\nVERSION_ID="15.5"\n', False); write(r, "var/lib/rpm/Packages.db", b"RpmP" + random.randbytes(60_000_000))
r = machine("apk", "ID=alpine\nVERSION_ID=3.20.0\n", False); write(r, "lib/apk/db/installed", lines(200_000, "P:p%d\nV:1-r0\nA:x86_64\nF:etc\nR:f%d\nZ:Q1AAAA\n"))
r = machine("secrets"); [write(r, f"etc/many/{i}", part * (3_900_000 // len(part))) for i in range(3) for part in (("password=", "x://a:", "mysql -p", "identified by '", 'password: "', "-----BEGIN PRIVATE KEY-----", "token=a ")[i::3])]
r = machine("certificates"); [write(r, f"etc/ssl/private/c{i}.pem", "-----BEGIN CERTIFICATE-----\n" + "A" * 20_000 + "\n-----END CERTIFICATE-----\n") for i in range(4000)]
PY

for root in "$work"/roots/*; do
	check "$(basename "$root")" python3 - "$work/svc" "$root" "$work" <<-'PY'
		import os, resource, subprocess, sys
		svc, root, work = sys.argv[1:]
		env = {**os.environ, **{k: work + "/" + k for k in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")}}
		p = subprocess.run([svc, "assess", "--root", root, "--json"], env=env, capture_output=True, timeout=60)
		used = resource.getrusage(resource.RUSAGE_CHILDREN)
		cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
		sys.stderr.buffer.write(p.stderr[-600:])
		print(f"exit {p.returncode}, {cpu:.2f} s, {peak:.1f} MB, {len(p.stdout)} bytes")
		sys.exit(not (p.returncode in (0, 1, 6) and b"panic" not in p.stderr and b"goroutine" not in p.stderr and cpu < 10 and peak <= 64))
	PY
	sed 's/^/      /' "$work/last.log" | tail -n 1 | cut -c1-200
done

# templated is a machine whose every text is a program for Ansible or a shell, which
# would leave a file that begins with /tmp/svc-ran.
templated() {
	cp -a fixtures/hosts/debian-11-web "$work/templated"
	python3 - "$work/templated" <<-'PY'
		import os, sys
		def at(name):
		    path = os.path.join(sys.argv[1], name)
		    os.makedirs(os.path.dirname(path), exist_ok=True)
		    return path
		def write(name, text, mode="w"):
		    with open(at(name), mode) as f: f.write(text)
		run = r'lookup("pipe","touch \x2ftmp\x2fsvc-ran-@@")'
		for n, text in (("a", '#jinja2:variable_start_string:"[[",variable_end_string:"]]"\n[[' + run + "]]"), ("b", "{{ " + run + " }}"), ("c", "{% set x = " + run + " %}"), ("d", r"$(touch \x2ftmp\x2fsvc-ran-@@)"), ("e", "x\nrole_packages: [@@]"), ("f", "@@\u2028- x\u0085\u202e\x1b[31m"), ("g", "-rf @@"), ("h", "'\"`@@`")):
		    text = text.replace("@@", n)
		    line = text.replace(":", ";").replace("\n", " ")
		    for name in ("etc/file ", "etc/apache2/sites-available/", "etc/sysctl.d/", "etc/cron.d/"):
		        write(name + text, text)
		    os.symlink(text, at("etc/link-" + n))
		    os.symlink(n, at("etc/at " + text))
		    for name in ("etc/folder ", "var/log/"):
		        os.makedirs(at(name + text), exist_ok=True)
		    write("etc/systemd/system/%s.service" % text, "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n")
		    os.symlink("/etc/systemd/system/%s.service" % text, at("etc/systemd/system/multi-user.target.wants/%s.service" % text))
		    for user, uid in ((line, 3000 + ord(n)), ("u" + n, 3200 + ord(n))):
		        write("etc/passwd", "%s:x:%d:%d:%s:/home/%s:/bin/%s\n" % (user, uid, uid, line, line, line), "a")
		        write("etc/group", "%s:x:%d:u%s\n" % (user, uid, n), "a")
		    write("home/%s/.ssh/authorized_keys" % line, "ssh-ed25519 AAAA %s\n" % line)
		    write("etc/apt/sources.list.d/%s.list" % text, "deb http://%s/ %s main\n" % (line, line))
		os.path.lexists(at("etc/localtime")) and os.unlink(at("etc/localtime"))
		write("etc/timezone", "#jinja2:x\n"); write("etc/hostname", "#jinja2:x\n"); write("etc/default/locale", "LANG=#jinja2:x\n")
	PY
}

# play OUT ARGUMENT…: the role, by the Ansible of a Debian 13 on that system itself.
play() {
	local out=$1
	shift
	rm -rf "$here/role-of-svc"
	cp -a "$out" "$here/role-of-svc"
	chroot "$here" sh -c 'cd /role-of-svc && exec ansible-playbook -i localhost, -c local -e "{role_packages: []}" "$@" site.yml' sh "$@"
}

ran() { find /tmp "$here/tmp" "$work" -maxdepth 1 -name 'svc-ran*'; }

# own ARGUMENT…: the role, by this machine's Ansible, from outside.
own() { ansible-playbook -i "$here," -c community.general.chroot -e "{role_packages: []}" -e ansible_python_interpreter=/usr/bin/python3 "$@" "$work/out/site.yml"; }

# templates: what the machine says runs nowhere, neither here nor there, and the role
# is applied, in check mode and then for real; twice changes nothing.
templates() {
	bash .ci/e2e/roots.sh ansible
	templated
	mkdir -p "$here" "$work/upper" "$work/overlay"
	mount -t overlay overlay -o "lowerdir=$cache/roots/trixie-ansible,upperdir=$work/upper,workdir=$work/overlay" "$here"
	mount -t proc proc "$here/proc"
	mount --bind /dev "$here/dev"
	exits "a machine of templates is migrated" 0 svc migrate --root "$work/templated" --target debian-13 --out "$work/out" --confirm
	said "what no system takes is said" source.invalid-values
	[ "$all" != all ] || check "its role is looked at by this machine's Ansible" own --check
	check "its role is looked at by Debian 13's Ansible" play "$work/out" --check
	[ "$all" != all ] || check "it is applied by this machine's" own
	check "it is applied by Debian 13's" play "$work/out"
	[ "$all" != all ] || said "which changes nothing" "changed=0 "
	same "nothing of what it says was run" "$(ran)" ""
	check "files have the names that they had" test -f "$here/etc/file {{ $(printf 'lookup("pipe","touch \\x2ftmp\\x2fsvc-ran-b")') }}"
	sed -i 's/!unsafe //' "$work/out/role/defaults/main.yml"
	play "$work/out" --check >"$work/last.log" 2>&1 || true
	check "as it would have been, were it no text" test -n "$(ran)"
}

templates
finish
