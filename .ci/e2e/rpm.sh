#!/usr/bin/env bash
# Reads rpm's databases beside rpm itself: every real one of the library's test
# data, and roots that rpm of Debian 11 (Berkeley DB) and 13 (ndb, SQLite) made
# of packages built here. rpm reads copies: it writes where it reads. Needs root.
# Prints a line for each check and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/rpm
work=$(mktemp -d)
trap 'rm -rf "$work" "$cache"/*/svc' EXIT

# same_files NAME A B: two files are equal.
same_files() { if diff "$2" "$3" >"$work/last.log"; then ok "$1"; else fail "$1"; head -n 15 "$work/last.log" | sed "s/^/      /"; fi; }

# spec writes a package's description: name, further lines of its head, its
# install steps, its files.
spec() {
	cat >"$work/$1.spec" <<-SPEC
		Name: $1
		Version: 1.2
		Release: 3
		Summary: a package of the end-to-end test
		License: none
		Vendor: SVC End to End
		Group: Test/Group
		$2
		%description
		none
		%install
		$3
		%files
		$4
	SPEC
}

# package builds a package: its name, then options of rpmbuild.
package() {
	local name=$1
	shift
	HOME=$work rpmbuild --quiet -bb --define "_topdir $work/build" --define "_rpmdir $work/rpms" --define "_binary_payload w6.gzdio" \
		--define "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm" "$@" "$work/$name.spec" >"$work/build.log" 2>&1 || { cat "$work/build.log"; return 1; }
}

# The configuration of one package: a file of each kind that rpm tells apart.
configured='for f in same changed missing missingok ghost unverified closed plain plainchanged; do mkdir -p %{buildroot}/etc/%{name}; echo "$f" >%{buildroot}/etc/%{name}/$f; done
ln -s same %{buildroot}/etc/%{name}/link; ln -s same %{buildroot}/etc/%{name}/relinked; mkdir -p %{buildroot}/etc/rc.d/init.d; echo x >%{buildroot}/etc/rc.d/init.d/%{name}'
configuration='%config /etc/%{name}/same
%config(noreplace) /etc/%{name}/changed
%config(noreplace) /etc/%{name}/missing
%config(missingok) /etc/%{name}/missingok
%ghost %config /etc/%{name}/ghost
%verify(not md5 size mtime) %config(noreplace) /etc/%{name}/unverified
%attr(0600,root,root) %config(noreplace) /etc/%{name}/closed
/etc/%{name}/plain
/etc/%{name}/plainchanged
%config /etc/%{name}/link
%config /etc/%{name}/relinked
/etc/rc.d/init.d/%{name}'

packages() {
	local i
	spec conf-sha256 "BuildArch: noarch" "$configured" "$configuration"
	spec conf-md5 "BuildArch: noarch" "$configured" "$configuration"
	spec conf-sha1 $'BuildArch: noarch\nEpoch: 7' "$configured" "$configuration"
	spec modular $'BuildArch: noarch\nEpoch: 0\nModularityLabel: nodejs:18:8060020220523:ad008a3a' "" ""
	spec many "BuildArch: noarch" 'mkdir -p %{buildroot}/opt/many; for i in $(seq 5000); do : >%{buildroot}/opt/many/file$i; done' "/opt/many"
	spec multi "" 'mkdir -p %{buildroot}/usr/%{_arch}; echo %{_arch} >%{buildroot}/usr/%{_arch}/multi' "/usr/%{_arch}/multi"
	package conf-sha256 --define "_binary_filedigest_algorithm 8"
	package conf-md5 --define "_binary_filedigest_algorithm 1"
	package conf-sha1 --define "_binary_filedigest_algorithm 2"
	package modular
	package many
	package multi --target x86_64
	package multi --target i686
	for i in 1 2 3; do
		spec kernel "BuildArch: noarch" "mkdir -p %{buildroot}/lib/modules/5.$i; echo >%{buildroot}/lib/modules/5.$i/x" "/lib/modules/5.$i"
		sed -i "s/^Version: .*/Version: 5.$i/" "$work/kernel.spec"
		package kernel
	done
}

# system DIR ID VERSION: what makes a folder the root of a system.
system() {
	mkdir -p "$1/etc"
	printf 'ID="%s"\nVERSION_ID="%s"\n' "$2" "$3" >"$1/etc/os-release"
	printf '0123456789abcdef0123456789abcdef\n' >"$1/etc/machine-id"
	printf 'root:x:0:0:root:/root:/bin/sh\n' >"$1/etc/passwd"
	printf 'root:x:0:\n' >"$1/etc/group"
}

# root NAME SUITE FORM: a root with all packages, by rpm of the suite.
root() {
	local chroot=$cache/$2
	rm -rf "$chroot/svc"
	mkdir -p "$chroot/svc/root"
	cp -r "$work/rpms" "$chroot/svc/rpms"
	# shellcheck disable=SC2016
	chroot "$chroot" sh -ec '
		rpm="rpm --root /svc/root --dbpath /var/lib/rpm"
		$rpm --define "_db_backend $1" --initdb
		$rpm --define "_db_backend $1" -i --nodeps --noscripts --ignorearch --ignoreos --nosignature --oldpackage $(find /svc/rpms -name "*.rpm" | sort)
	' sh "$3" >"$work/root.log" 2>&1 || { cat "$work/root.log"; return 1; }
	mv "$chroot/svc/root" "$work/$1"
	system "$work/$1" almalinux 9.4
}

# edit changes files of a root as people do.
edit() {
	local name
	for name in conf-sha256 conf-md5 conf-sha1; do
		echo edited >>"$1/etc/$name/changed"
		echo edited >>"$1/etc/$name/unverified"
		echo edited >>"$1/etc/$name/plainchanged"
		rm "$1/etc/$name/missing" "$1/etc/$name/missingok"
		ln -sf plain "$1/etc/$name/relinked"
		echo made >"$1/etc/$name/ghost"
		chmod 644 "$1/etc/$name/closed"
	done
}

# by_rpm ROOT DBPATH FORM: its packages as rpm of Debian 13 lists them, from a
# copy. It would pass over packages whose signatures are too old for its taste.
by_rpm() {
	local copy=$cache/trixie/svc/copy
	rm -rf "$copy"
	mkdir -p "$copy$2"
	cp "$1$2"/* "$copy$2/"
	chroot "$cache/trixie" rpm --root /svc/copy --dbpath "$2" --define "_db_backend $3" -qa --nosignature --nodigest --qf '%{NAME} %|EPOCH?{%{EPOCH}:}:{}|%{VERSION}-%{RELEASE} %{ARCH}\n' 2>"$work/rpm.log" |
		sed -e '/^gpg-pubkey /d' -e 's/ 0:/ /' | sort
}

# by_svc ROOT: the same as svc lists them.
by_svc() { assessed "$1" | python3 -c 'import json,sys; [print(p["name"], p["version"], p["arch"]) for p in json.load(sys.stdin)["packages"]]' | sort; }

assessed() { svc assess --root "$1" --json; }

# changes_by_rpm ROOT FORM SUITE: what `rpm -Va` finds below /etc: content, links
# and missing files, as "state path".
changes_by_rpm() {
	local copy=$cache/$3/svc/copy
	rm -rf "$copy"
	mkdir -p "$(dirname "$copy")"
	cp -a "$1" "$copy"
	chroot "$cache/$3" rpm --root /svc/copy --dbpath /var/lib/rpm --define "_db_backend $2" -Va --nodeps --noscripts 2>/dev/null |
		awk '$NF ~ /^\/etc\// { if ($1 == "missing") print "missing", $NF; else if ($1 ~ /^..5|^....L/) print "changed", $NF }' | sort || true
}

# changes_by_svc ROOT: the same as svc has it, less the files whose content the
# package tells rpm not to look at: people's work is there too.
changes_by_svc() {
	assessed "$1" | python3 -c '
import json, sys
for c in json.load(sys.stdin)["configuration"]:
    if c["state"] in ("changed", "missing") and not c["path"].endswith("/unverified"):
        print(c["state"], c["path"])' | sort
}

# says ROOT EXPRESSION: the assessment a has it.
says() { assessed "$1" | python3 -c 'import json,sys; a=json.load(sys.stdin); sys.exit(0 if eval(sys.argv[1]) else 1)' "$2"; }

# untouched NAME ROOT COMMAND…: the command leaves every byte and date of the root.
untouched() {
	local name=$1 root=$2
	shift 2
	find "$root" -printf '%p %s %T@ %C@\n' | sort >"$work/before"
	"$@" >/dev/null 2>&1 || true
	find "$root" -printf '%p %s %T@ %C@\n' | sort >"$work/after"
	same_files "$name" "$work/before" "$work/after"
}

# real compares every real database.
real() {
	local data file name form
	data=$(go list -m -f '{{.Dir}}' github.com/anchore/go-rpmdb)/pkg/testdata
	for file in "$data"/*/Packages "$data"/*/Packages.db "$data"/*/rpmdb.sqlite; do
		name=$(basename "$(dirname "$file")")
		case $file in *.sqlite) form=sqlite ;; *.db) form=ndb ;; *) form=bdb_ro ;; esac
		system "$work/real" centos 7
		mkdir -p "$work/real/var/lib/rpm"
		cp "$file" "$work/real/var/lib/rpm/"
		by_rpm "$work/real" /var/lib/rpm "$form" >"$work/want"
		by_svc "$work/real" >"$work/got"
		same_files "$name: $(wc -l <"$work/want") packages are as rpm -qa has them" "$work/want" "$work/got"
		rm -rf "$work/real"
	done
}

# made compares a root that was made here.
made() { # form suite
	local root=$work/root-$1
	root "root-$1" "$2" "$1"
	by_rpm "$root" /var/lib/rpm "${1/bdb/bdb_ro}" >"$work/want"
	by_svc "$root" >"$work/got"
	check "$1: there are packages" test -s "$work/want"
	same_files "$1: packages are as rpm -qa has them" "$work/want" "$work/got"
	check "$1: nothing of the packages is changed" says "$root" 'not [c for c in a["configuration"] if c["state"] in ("changed", "missing")]'
	edit "$root"
	changes_by_rpm "$root" "$1" "$2" >"$work/want"
	changes_by_svc "$root" >"$work/got"
	check "$1: rpm -Va finds changes" test -s "$work/want"
	same_files "$1: changed files are as rpm -Va has them" "$work/want" "$work/got"
	check "$1: what rpm is told not to look at is seen" says "$root" 'len([c for c in a["configuration"] if c["path"].endswith("/unverified") and c["state"]=="changed"])==3'
	check "$1: a ghost is the machine's" says "$root" 'len([c for c in a["configuration"] if c["path"].endswith("/ghost") and c["state"]=="unowned"])==3'
	check "$1: another mode is a finding" says "$root" '[f for f in a["findings"] if f["key"]=="configuration.access" and "/etc/conf-md5/closed (0644 root:root, shipped as 0600 root:root)" in f["summary"]]'
	check "$1: module, epoch, source, vendor, section, time" says "$root" '[p for p in a["packages"] if p["name"]=="conf-sha1" and p["version"]=="7:1.2-3" and p["source"]=="conf-sha1" and p["source_version"]=="1.2-3" and p["origin"]=="SVC End to End" and p["section"]=="Test/Group" and p["installed_at"][:2]=="20"] and [p for p in a["packages"] if p.get("module")=="nodejs:18" and p["version"]=="1.2-3"]'
	check "$1: three kernels, two architectures" says "$root" '[p["version"] for p in a["packages"] if p["name"]=="kernel"]==["5.1-3","5.2-3","5.3-3"] and [p["arch"] for p in a["packages"] if p["name"]=="multi"]==["i686","x86_64"]'
	untouched "$1: reading changes nothing" "$root" svc assess --root "$root"
}

# logged leaves the last change of the SQLite root in its write-ahead log.
logged() {
	local root=$work/root-sqlite
	python3 - "$root/var/lib/rpm/rpmdb.sqlite" <<-'PY'
		import os, sqlite3, sys
		db = sqlite3.connect(sys.argv[1], isolation_level=None)
		db.execute("PRAGMA journal_mode=WAL")
		db.execute("PRAGMA wal_autocheckpoint=0")
		before = db.execute("SELECT count(*) FROM Packages").fetchone()[0]
		db.execute("DELETE FROM Packages WHERE hnum IN (SELECT key.hnum FROM Name AS key WHERE key.key = 'many')")
		assert db.execute("SELECT count(*) FROM Packages").fetchone()[0] == before - 1
		os._exit(0)
	PY
	check "sqlite: the last change stands in the log" test -s "$root/var/lib/rpm/rpmdb.sqlite-wal"
	by_rpm "$root" /var/lib/rpm sqlite >"$work/want"
	by_svc "$root" >"$work/got"
	same_files "sqlite: packages are as rpm -qa has them, with the log" "$work/want" "$work/got"
	check "sqlite: and without the package that went" says "$root" '"many" not in [p["name"] for p in a["packages"]]'
	untouched "sqlite: the log stays as it is" "$root" svc assess --root "$root"
}

# damaged cuts a database off: an error, quickly, and what could be read.
damaged() { # form file
	local root=$work/root-$1 code=0
	truncate -s "60%" "$root/var/lib/rpm/$2" 2>/dev/null || truncate -s $(($(stat -c %s "$root/var/lib/rpm/$2") * 6 / 10)) "$root/var/lib/rpm/$2"
	timeout 10 env XDG_DATA_HOME="$work/data" "$work/svc" assess --root "$root" --json >"$work/damaged.json" 2>"$work/damaged.err" || code=$?
	check "$1: a cut database is an error ($code)" test "$code" -ne 0 -a "$code" -lt 100
	check "$1: which says where" grep -q "/var/lib/rpm/$2" "$work/damaged.err"
}

needs debootstrap:debootstrap rpmbuild:rpm python3:python3
for suite in bullseye trixie; do kept "$cache/$suite" "$suite" rpm; done
CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
real
packages
made bdb bullseye
made ndb trixie
made sqlite trixie
logged
damaged bdb Packages
damaged ndb Packages.db
damaged sqlite rpmdb.sqlite
finish
