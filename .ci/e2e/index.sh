#!/usr/bin/env bash
# Builds indexes from archives made here: rpm repositories that createrepo_c
# makes of packages that rpmbuild makes, with module streams, in every packing
# and signed; an apt archive by apt-ftparchive, by HTTP, signed, broken off and
# tampered with; and events of package evolution with their traps. Needs root, for it installs those tools.
# Prints a line for each check and ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh

work=$(mktemp -d)
server='' breaker=''
stop() {
	local pid
	for pid in $server $breaker; do kill "$pid"; done
	rm -rf "$work"
}
trap stop EXIT

# refuses NAME TEXT COMMAND…: it fails, says TEXT, and leaves the index as it was.
refuses() {
	local name=$1 text=$2 before
	shift 2
	before=$(sha256sum "$work/out.index")
	if "$@" >"$work/last.log" 2>&1 || ! grep -q "$text" "$work/last.log" || [ "$before" != "$(sha256sum "$work/out.index")" ]; then
		fail "$name"
		tail -n 15 "$work/last.log" | sed 's/^/      /'
	else
		ok "$name"
	fi
}

build() { svc admin index build --out "$work/out.index" "$@"; }

tools() {
	needs createrepo_c:createrepo-c rpmbuild:rpm apt-ftparchive:apt-utils gpg:gpg python3:python3 jq:jq zstd:zstd lz4:lz4 bzip2:bzip2
}

# rpm NAME VERSION RELEASE [line of the head]…: builds a package into $into.
rpm_of() {
	local name=$1 version=$2 release=$3
	shift 3
	{
		printf 'Name: %s\nVersion: %s\nRelease: %s\nSummary: of the end-to-end test\nLicense: none\nBuildArch: noarch\n' "$name" "$version" "$release"
		printf '%s\n' "$@"
		cat <<-SPEC
			%description
			%install
			mkdir -p %{buildroot}/etc %{buildroot}/usr/lib/systemd/system
			touch %{buildroot}/etc/$name.conf %{buildroot}/usr/lib/systemd/system/$name.service
			%files
			/etc/$name.conf
			/usr/lib/systemd/system/$name.service
		SPEC
	} >"$work/$name.spec"
	rpmbuild -bb --quiet --define "_topdir $work/rpmbuild" --define "_rpmdir $into" "$work/$name.spec" >"$work/rpmbuild.log" 2>&1 ||
		{ cat "$work/rpmbuild.log"; return 1; }
}

modules() {
	cat <<-YAML
		---
		document: modulemd
		version: 2
		data:
		  name: acmedb
		  stream: "10"
		  version: 1
		  context: aaaa
		  artifacts:
		    rpms:
		    - acmedb-0:10.3-1.noarch
		...
		---
		document: modulemd
		version: 2
		data:
		  name: acmedb
		  stream: "13"
		  version: 1
		  context: aaaa
		  artifacts:
		    rpms:
		    - acmedb-0:13.1-1.noarch
		    - acmedb-extra-0:13.1-1.noarch
		...
		---
		document: modulemd-defaults
		version: 1
		data:
		  module: acmedb
		  stream: "10"
		...
	YAML
}

repositories() {
	into=$work/repo/rocky-8/base rpm_of acme-one 1.0 1
	into=$work/repo/rocky-8/base rpm_of acme-old 1.5 1
	into=$work/repo/rocky-8/base rpm_of acme-kept 3.0 1
	into=$work/repo/rocky-9/base rpm_of acme-two 2.0 1 'Obsoletes: acme-one < 2' 'Provides: acme-one = 2.0'
	into=$work/repo/rocky-9/base rpm_of acme-new 2.0 1 'Obsoletes: acme-old < 1.2'
	into=$work/repo/rocky-9/base rpm_of acme-kept 3.1 2 'Epoch: 1'
	into=$work/repo/rocky-9/apps rpm_of acmedb 10.3 1
	into=$work/repo/rocky-9/apps rpm_of acmedb 13.1 1
	into=$work/repo/rocky-9/apps rpm_of acmedb-extra 13.1 1
	modules >"$work/modules.yaml"
	createrepo_c -q "$work/repo/rocky-8/base"
	pack gz
}

# pack KIND: makes the metadata of Rocky 9 again, packed so.
pack() {
	local kind=$1 repo=$work/repo/rocky-9 dir
	rm -rf "$repo"/*/repodata
	[ "$kind" != zstd ] || kind=gz
	for dir in "$repo/base" "$repo/apps"; do createrepo_c -q --general-compress-type "$kind" "$dir"; done
	modifyrepo_c --mdtype=modules --compress-type="$kind" "$work/modules.yaml" "$repo/apps/repodata" >/dev/null
	[ "$1" != zstd ] || for dir in "$repo"/*/repodata; do repack "$dir"; done
}

# repack FOLDER: packs the parts by zstd, which not every createrepo_c can do.
repack() {
	local file old new
	for file in "$1"/*.gz; do
		zcat "$file" | zstd -q -f -o "$work/packed.zst"
		old=$(sha256sum <"$file" | cut -c1-64)
		new=$(sha256sum <"$work/packed.zst" | cut -c1-64)
		mv "$work/packed.zst" "$(sed "s/$old/$new/; s/gz\$/zst/" <<<"$file")"
		rm "$file"
		sed -i "s/$old/$new/g; s/\(repodata\/.*$new.*\)\.gz/\1.zst/" "$1/repomd.xml"
	done
}

# answer SOURCE TARGET NAME: relation and packages.
answer() { svc admin index ask --index "$work/out.index" --json "$@" | jq -r '[.relation, (.packages[] | .name + "=" + .version + "@" + .repository), .caveats[].code] | join(" ")'; }

# answers NAME SOURCE TARGET PACKAGE TEXT: the answer is TEXT.
answers() {
	local got
	got=$(answer "$2" "$3" "$4" 2>&1)
	if [ "$got" = "$5" ]; then ok "$1"; else fail "$1: $got"; fi
}

rpm_checks() {
	local kind
	for kind in gz xz zstd; do
		pack "$kind"
		check "a folder of rpm repositories, metadata in $kind" build --rpm-md "$work/repo"
		cp "$work/out.index" "$work/$kind.index"
	done
	check 'the packing changes nothing' cmp "$work/gz.index" "$work/zstd.index"
	check 'the same repositories give the same bytes' cmp "$work/gz.index" "$work/xz.index"
	answers 'a package that obsoletes and provides another' rocky-8 rocky-9 acme-one 'renamed acme-two=2.0-1@base'
	answers 'an Obsoletes whose range the version is not in' rocky-8 rocky-9 acme-old 'removed NO_COUNTERPART'
	answers 'a package that stays, with its epoch' rocky-8 rocky-9 acme-kept 'same acme-kept=1:3.1-2@base'
	answers 'the default stream of a module' rocky-9 rocky-9 acmedb 'same acmedb=10.3-1@apps'
	answers 'a stream that must be enabled' rocky-9 rocky-9 acmedb-extra 'same acmedb-extra=13.1-1@apps MODULE_STREAM'
	printf 'damaged' >>"$work"/repo/rocky-9/base/repodata/*primary.xml*
	refuses 'a damaged part' 'SHA-256' build --rpm-md "$work/repo"
	pack gz
}

keys() {
	export GNUPGHOME=$work/gnupg
	mkdir -m 700 "$GNUPGHOME"
	gpg --batch --quiet --passphrase '' --quick-generate-key archive@example.org ed25519 sign never 2>/dev/null
	gpg --batch --quiet --passphrase '' --quick-generate-key stranger@example.org ed25519 sign never 2>/dev/null
	gpg --export archive@example.org >"$work/archive.gpg"
	gpg --armor --export stranger@example.org >"$work/stranger.asc"
}

signature_checks() {
	local dir
	refuses 'an rpm repository without the signature asked for' 'repomd.xml.asc' build --rpm-md "$work/repo" --keyring "$work/archive.gpg"
	for dir in "$work"/repo/*/*/repodata; do gpg --quiet --armor --local-user archive@example.org --detach-sign "$dir/repomd.xml"; done
	check 'signed rpm repositories' build --rpm-md "$work/repo" --keyring "$work/archive.gpg"
	refuses 'rpm repositories signed by another key' 'checking signature' build --rpm-md "$work/repo" --keyring "$work/stranger.asc"
	check 'an rpm repository by HTTP' build --rpm-md "$url/repo/rocky-9/base" --release rocky-9 --keyring "$work/archive.gpg"
}

apt_archive() {
	local dists=$work/apt/dists/bookworm name
	mkdir -p "$dists/main/binary-amd64"
	for name in acme-core acme-tools nginx openssl; do
		printf 'Package: %s\nVersion: 1.0-1\nArchitecture: amd64\nSection: net\nDescription: %s\n\n' "$name" "$name"
	done >"$dists/main/binary-amd64/Packages"
	printf 'etc/acme.conf net/acme-core\n' >"$dists/main/Contents-amd64"
	xz -kf "$dists/main/binary-amd64/Packages"
	gzip -kf "$dists/main/Contents-amd64"
	release_file
}

release_file() {
	local dists=$work/apt/dists/bookworm
	rm -f "$dists"/*Release*
	apt-ftparchive -o APT::FTPArchive::Release::Codename=bookworm -o APT::FTPArchive::Release::Components=main release "$dists" >"$work/Release"
	mv "$work/Release" "$dists/Release"
	gpg --quiet --local-user archive@example.org --clearsign --output "$dists/InRelease" "$dists/Release"
	gpg --quiet --local-user archive@example.org --detach-sign --armor --output "$dists/Release.gpg" "$dists/Release"
}

apt_checks() {
	local dists=$work/apt/dists/bookworm from=(--apt "$url/apt" --release debian-12 --keyring "$work/archive.gpg")
	check 'an apt archive by HTTP, signed inside' build "${from[@]}"
	check 'the index has its packages' bash -c "'$work/svc' admin index stats --index '$work/out.index' --json | jq -e '.packages[\"debian-12\"] == 4'"
	rm -rf "$work/.archives"
	mv "$dists/InRelease" "$work/InRelease"
	check 'an apt archive with Release.gpg' build "${from[@]}"
	check 'an apt archive in a folder' build --apt "$work/apt" --keyring "$work/archive.gpg"
	rm "$dists/Release.gpg"
	refuses 'an apt archive without a signature' 'Release.gpg' build "${from[@]}"
	sed 's/Codename: bookworm/Codename: trixie/' "$work/InRelease" >"$dists/InRelease"
	refuses 'a Release file that was changed' 'checking signature' build "${from[@]}"
	release_file
	printf 'Package: evil\nVersion: 1\n\n' | xz >"$dists/main/binary-amd64/Packages.xz"
	rm -rf "$work/.archives"
	refuses 'a listing that is not the one signed' 'SHA-256' build "${from[@]}"
	refuses 'an archive signed by another key' 'checking signature' build --apt "$url/apt" --release debian-12 --keyring "$work/stranger.asc"
	refuses 'an archive without that suite' 'no such file' build --apt "$url/apt" --release debian-13 --keyring "$work/archive.gpg"
}

# breaking serves the archive by HTTP; of a large file it sends 100 kB of what is
# asked for, and breaks off; where slow is there, it waits before that.
breaking() {
	cat >"$work/breaking.py" <<-'PY'
		import http.server, os, sys, time
		class Handler(http.server.SimpleHTTPRequestHandler):
		    def do_GET(self):
		        path = self.translate_path(self.path)
		        if not os.path.isfile(path):
		            return self.send_error(404)
		        body = open(path, "rb").read()
		        tag = '"%d"' % os.stat(path).st_mtime_ns
		        start = 0
		        if "Range" in self.headers and self.headers.get("If-Range") == tag:
		            start = int(self.headers["Range"].split("=")[1].split("-")[0])
		        self.send_response(206 if start else 200)
		        self.send_header("ETag", tag)
		        if start:
		            self.send_header("Content-Range", "bytes %d-%d/%d" % (start, len(body) - 1, len(body)))
		        self.send_header("Content-Length", str(len(body) - start))
		        self.end_headers()
		        self.wfile.write(body[start:start + 100000])
		        self.wfile.flush()
		        if len(body) - start > 100000 and os.path.exists("slow"):
		            time.sleep(20)
		        self.close_connection = True
		server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
		print("at http://127.0.0.1:%d/" % server.server_port, flush=True)
		server.serve_forever()
	PY
	(cd "$work" && exec python3 -u breaking.py) >"$work/breaking.log" 2>&1 &
	breaker=$!
	url=$(address "$work/breaking.log")
}

# address LOG: where the server says that it listens.
address() {
	local found=
	for _ in $(seq 50); do
		found=$(sed -n 's|.*\(http://[^/]*\)/.*|\1|p' "$1" | head -n 1)
		[ -z "$found" ] || break
		read -rt 0.2 <> <(:) || true
	done
	printf '%s' "$found"
}

# killed COMMAND…: runs it for two seconds; it must not have ended by then.
killed() {
	local got=0
	timeout -s KILL 2 env XDG_DATA_HOME="$work/data" "$work/svc" admin index build --out "$work/out.index" "$@" || got=$?
	echo killed
	[ "$got" != 137 ]
}

download_checks() {
	local dists=$work/apt/dists/bookworm from
	head -c 300000 /dev/urandom | base64 -w 0 | sed 's/^/Package: acme-large\nVersion: 1\nArchitecture: amd64\nDescription: /' >>"$dists/main/binary-amd64/Packages"
	rm -f "$dists/main/binary-amd64/Packages.xz"
	xz -kf "$dists/main/binary-amd64/Packages"
	release_file
	breaking
	from=(--apt "$url/apt" --release debian-12 --keyring "$work/archive.gpg")
	rm -rf "$work/.archives"
	touch "$work/slow"
	refuses 'a build that is killed in its download' 'killed' killed "${from[@]}"
	rm "$work/slow"
	check 'a download that breaks off again and again' build "${from[@]}"
	check 'it went on where it broke off' grep -q '" 206 ' "$work/breaking.log"
	check 'and is whole' bash -c "'$work/svc' admin index stats --index '$work/out.index' --json | jq -e '.packages[\"debian-12\"] == 5'"
}

apt_lists_checks() {
	local kind lists=$work/lists/debian-12/main packages=$work/apt/dists/bookworm/main/binary-amd64/Packages
	mkdir -p "$lists"
	for kind in 'lz4 lz4 -q' 'zst zstd -q' 'bz2 bzip2' 'gz gzip'; do
		rm -f "$lists"/*
		# shellcheck disable=SC2086 # a command with its options
		${kind#* } <"$packages" >"$lists/Packages.${kind%% *}"
		check "a folder of listings in ${kind%% *}" build --apt "$work/lists"
	done
	gzip <"$packages" | head -c 100 >"$lists/Packages.gz"
	refuses 'a listing that is cut off' 'it ends too early' build --apt "$work/lists"
}

event_checks() {
	cat >"$work/pes-events.json" <<-'JSON'
		{"legal_notice": "none", "timestamp": "1", "provided_data_streams": ["4.0"], "packageinfo": [
		{"id": 1, "action": 7, "architectures": ["x86_64"], "in_packageset": {"set_id": 1, "package": [{"name": "acme-before", "repository": "base", "module_stream": null}]},
		 "out_packageset": {"set_id": 2, "package": [{"name": "acme-after", "repository": "appstream", "modulestreams": [null]}]},
		 "initial_release": {"os_name": "{os_name}", "major_version": 8, "minor_version": 5}, "release": {"os_name": "{os_name}", "major_version": 8, "minor_version": 6}},
		{"id": 2, "action": 4, "in_packageset": {"package": [{"name": "acme-after"}]}, "out_packageset": {"package": [{"name": "acme-last"}]},
		 "initial_release": {"major_version": 8, "minor_version": 9}, "release": {"major_version": 9, "minor_version": 0}},
		{"id": 3, "action": 1, "architectures": ["s390x"], "in_packageset": {"package": [{"name": "bash"}]}, "out_packageset": null,
		 "initial_release": {"major_version": 8, "minor_version": 9}, "release": {"major_version": 9, "minor_version": 0}},
		{"id": 4, "action": 1, "in_packageset": {"package": [{"name": "acme-gone"}]}, "out_packageset": null,
		 "initial_release": null, "release": {"major_version": 9, "minor_version": 0}}]}
	JSON
	xz -kf "$work/pes-events.json"
	check 'a file of events, packed' build --pes "$work/pes-events.json.xz"
	answers 'events between minors are chained; a split in one is a new name' rhel-8 almalinux-9 acme-before 'renamed acme-last=@'
	answers 'an event of another architecture' rhel-8 almalinux-9 bash 'same bash=@'
	answers 'an event that says no release before' rhel-8 almalinux-9 acme-gone 'removed NO_COUNTERPART'
	head -c 700 "$work/pes-events.json" >"$work/cut.json"
	refuses 'a file of events that is cut off' 'events' build --pes "$work/cut.json"
}

overlay_checks() {
	mkdir "$work/overlay"
	printf 'acme-legacy\treplaced\tnginx\tEL: our own\n' >"$work/overlay/rpm_debian.tsv"
	check 'an overlay of curated rows' build --curated "$work/overlay"
	answers 'what the overlay says' rocky-9 debian-13 acme-legacy "$(answer rocky-9 debian-13 nginx | sed 's/^[a-z]*/replaced/')"
	printf 'acme-legacy\treplaced\tacme-web\tEL: our own\n' >"$work/overlay/rpm_debian.tsv"
	check 'an overlay that leads to a repository of its own' build --curated "$work/overlay"
	mv "$work/last.log" "$work/overlay.log"
	check 'the build tells where' grep -q 'rpm_debian.tsv:1: no list of the index has acme-web' "$work/overlay.log"
	answers 'the answer names it, and warns' rocky-9 debian-13 acme-legacy 'replaced acme-web=@ EXISTENCE_UNKNOWN'
	printf 'x\n' >"$work/overlay/mistyped.tsv"
	refuses 'an overlay with a file that is none' 'mistyped' build --curated "$work/overlay"
}

main() {
	tools
	go build -o "$work/svc" ./cmd/svc
	repositories
	keys
	apt_archive
	(cd "$work" && exec python3 -u -m http.server --bind 127.0.0.1 0) >"$work/http.log" 2>&1 &
	server=$!
	url=$(address "$work/http.log")
	rpm_checks
	signature_checks
	apt_checks
	apt_lists_checks
	download_checks
	event_checks
	overlay_checks
	finish
}

main "$@"
