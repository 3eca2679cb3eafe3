#!/usr/bin/env bash
# Holds cve-scan against osv-scanner, offline and on the same advisories: every
# difference has a reason, and a real machine of EL 8 is scanned faster and in
# less memory. Then a feed from a URL, one that a running service takes, and the
# documents for other programs against their schemas. osv-scanner is built from
# source once, and kept in ${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/osv-scanner.
# The corpus of AlmaLinux is a folder of its tar.zst in $SVC_OSV; without one,
# what needs it is left out. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=.ci/e2e/checks.sh
. .ci/e2e/checks.sh

cache=${XDG_CACHE_HOME:-$HOME/.cache}/svc-e2e/osv-scanner version=v2.5.0
corpus=${SVC_OSV:-../shared/data/osv}
work=$(mktemp -d)
pids=()

cleanup() {
	for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
	rm -rf "$work"
}
trap cleanup EXIT

# exits NAME CODE COMMAND…: the command ends with this exit code; what it prints
# is in out and err.
exits() {
	local name=$1 want=$2 got=0
	shift 2
	"$@" >"$work/out" 2>"$work/err" || got=$?
	if [ "$got" = "$want" ]; then ok "$name"; else fail "$name: exit $got, not $want"; tail -n 5 "$work/err" | sed 's/^/      /'; fi
}


# at_least NAME A B, at_most NAME A B: numbers.
at_least() { if [ "$2" -ge "$3" ]; then ok "$1 ($2)"; else fail "$1: $2, below $3"; fi; }
at_most() { if [ "$2" -le "$3" ]; then ok "$1 ($2)"; else fail "$1: $2, above $3"; fi; }

# eventually NAME COMMAND…: the command succeeds within ten seconds.
eventually() {
	local name=$1
	shift
	for _ in $(seq 50); do
		if "$@" >"$work/last.log" 2>&1; then
			ok "$name"
			return
		fi
		sleep 0.2
	done
	fail "$name"
}

install() {
	needs curl:curl zstd:zstd python3:python3 jsonschema:python3-jsonschema
	CGO_ENABLED=0 go build -trimpath -o "$work/svc" ./cmd/svc
	[ -x "$cache/osv-scanner" ] && [ "$(cat "$cache/version" 2>/dev/null)" = "$version" ] && return
	mkdir -p "$cache"
	GOBIN=$cache GOFLAGS=-mod=mod go install "github.com/google/osv-scanner/v2/cmd/osv-scanner@$version"
	echo "$version" >"$cache/version"
}

# spent COMMAND…: its processor time and wall time in ms, and its memory in KiB.
spent() {
	python3 - "$@" <<-'PY'
		import os, sys, time
		began = time.monotonic()
		pid = os.fork()
		if pid == 0:
		    os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
		    os.dup2(1, 2)
		    os.execvp(sys.argv[1], sys.argv[1:])
		_, status, used = os.wait4(pid, 0)
		if os.waitstatus_to_exitcode(status) not in (0, 1):
		    sys.exit(1)
		print(int((used.ru_utime + used.ru_stime) * 1000), int((time.monotonic() - began) * 1000), used.ru_maxrss)
	PY
}

# image ROOT FILE: a folder as a container image of one layer, which is how
# osv-scanner reads a system.
image() {
	python3 - "$1" "$2" <<-'PY'
		import hashlib, io, json, sys, tarfile
		layer = io.BytesIO()
		with tarfile.open(fileobj=layer, mode="w") as t:
		    t.add(sys.argv[1], arcname=".")
		layer = layer.getvalue()
		digest = hashlib.sha256(layer).hexdigest()
		config = json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": {"type": "layers", "diff_ids": ["sha256:" + digest]}, "history": [{"created_by": "ADD root"}]}).encode()
		manifest = json.dumps([{"Config": "config.json", "RepoTags": ["root:1"], "Layers": ["layer.tar"]}]).encode()
		with tarfile.open(sys.argv[2], "w") as t:
		    for name, content in (("config.json", config), ("layer.tar", layer), ("manifest.json", manifest)):
		        info = tarfile.TarInfo(name)
		        info.size = len(content)
		        t.addfile(info, io.BytesIO(content))
	PY
}

# database NAME FOLDER: advisories where osv-scanner looks for them.
database() {
	mkdir -p "$work/db/osv-scalibr/$1"
	python3 - "$2" "$work/db/osv-scalibr/$1/all.zip" <<-'PY'
		import pathlib, sys, zipfile
		with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as z:
		    for i, f in enumerate(sorted(pathlib.Path(sys.argv[1]).rglob("*.json"))):
		        z.write(f, f"{i}-{f.name}")
	PY
}

osv_scanner() {
	OSV_SCALIBR_LOCAL_DB_CACHE_DIRECTORY=$work/db OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY=$work/db spent \
		"$cache/osv-scanner" scan image --offline --experimental-plugins os/rpm --experimental-plugins os/dpkg --archive "$1" --format json --all-packages --output-file "$2"
}

# explain holds the pairs of package and advisory of both against each other, and
# prints how many there are of each reason.
explain() { # ours theirs advisories
	python3 - "$@" <<-'PY'
		import collections, json, pathlib, re, sys
		ours = json.load(open(sys.argv[1]))
		mine = {(m["package"], m["version"], m["advisory"]): m for m in ours["matches"] + ours["updates"]}
		documents = {}
		for f in pathlib.Path(sys.argv[3]).rglob("*.json"):
		    d = json.loads(f.read_text())
		    documents.setdefault(d["id"], []).append(d)
		modules = {}
		for line in open(sys.argv[4]):
		    name, version, module, source_version = line.rstrip("\n").split("\t")
		    modules[name, version] = (module, source_version)
		theirs, why = set(), collections.Counter()
		for result in json.load(open(sys.argv[2]))["results"]:
		    for p in result["packages"]:
		        for v in p.get("vulnerabilities", []):
		            theirs.add((p["package"].get("os_package_name") or p["package"]["name"], p["package"]["version"], v["id"]))
		def fixes(id, name):
		    return [e["fixed"] for d in documents[id] for a in d["affected"] if a["package"]["name"] == name for r in a["ranges"] for e in r["events"] if "fixed" in e]
		def streams(id):
		    return {s for d in documents[id] for s in re.findall(r"[\w.+-]+:[\w.+-]+(?=,| and | security| bug| enh|$)", d["summary"])}
		norm = lambda v: v[2:] if v.startswith("0:") else v
		mine_norm = {(n, norm(v), a) for n, v, a in mine}
		theirs_norm = {(n, norm(v), a): (n, v, a) for n, v, a in theirs}
		installed = {(n, norm(v)): m for (n, v), m in modules.items()}
		for key in sorted(set(theirs_norm) - mine_norm):
		    name, version, id = key
		    module, _ = installed.get((name, version), (None, None))
		    fixed = fixes(id, name)
		    modular = [f for f in fixed if ".module" in f]
		    if module is None:
		        why["UNEXPLAINED: no such package"] += 1
		    elif not module and ".module" not in version and fixed and len(modular) == len(fixed):
		        why["theirs: a plain package, and the fix is a module's"] += 1
		    elif module and modular and module not in streams(id):
		        why["theirs: another stream of the module"] += 1
		    else:
		        why["UNEXPLAINED"] += 1
		        print("unexplained", key, module, fixed, file=sys.stderr)
		for key in sorted(mine_norm - set(theirs_norm)):
		    name, version, id = key
		    source_version = installed.get((name, version), (None, ""))[1]
		    if source_version and source_version != version:
		        why["ours: the source's version is not the package's"] += 1
		    else:
		        why["UNEXPLAINED"] += 1
		        print("unexplained, ours", key, file=sys.stderr)
		print("both %d" % len(mine_norm & set(theirs_norm)))
		for reason in sorted(why):
		    print("%s %d" % (reason, why[reason]))
		sys.exit(any(r.startswith("UNEXPLAINED") for r in why))
	PY
}

# packages ROOT: name, version, module and version of the source.
packages() { svc assess --root "$1" --json | python3 -c 'import json,sys; [print(p["name"], p["version"], p.get("module",""), p.get("source_version",""), sep="\t") for p in json.load(sys.stdin)["packages"]]'; }

# el8 is a real machine's package database, with a name.
el8() {
	local data
	data=$(go list -m -f '{{.Dir}}' github.com/anchore/go-rpmdb)/pkg/testdata/centos8-modularitylabel
	mkdir -p "$work/el8/etc" "$work/el8/var/lib/rpm"
	cp "$data/Packages" "$work/el8/var/lib/rpm/"
	printf 'ID="almalinux"\nVERSION_ID="8.4"\n' >"$work/el8/etc/os-release"
	printf '0123456789abcdef0123456789abcdef\n' >"$work/el8/etc/machine-id"
}

# alma compares a machine of EL 8 on the whole corpus of AlmaLinux.
alma() {
	local file ours theirs
	if [ ! -d "$corpus" ]; then
		echo "      without a corpus (SVC_OSV) the machine of EL 8 is not compared"
		return
	fi
	mkdir -p "$work/alma"
	for file in "$corpus"/*.tar.zst; do tar --zstd -xf "$file" -C "$work/alma"; done
	database AlmaLinux "$work/alma"
	exits "a feed is built of the corpus" 0 svc admin advisories build --osv "$corpus" --out "$work/alma.feed"
	el8
	exits "a machine of EL 8 is scanned" 0 svc cve-scan --root "$work/el8" --advisories "$work/alma.feed" --json
	cp "$work/out" "$work/ours.json"
	image "$work/el8" "$work/el8.tar"
	theirs=$(osv_scanner "$work/el8.tar" "$work/theirs.json")
	packages "$work/el8" >"$work/packages.tsv"
	check "every difference from osv-scanner on EL 8 has a reason" explain "$work/ours.json" "$work/theirs.json" "$work/alma" "$work/packages.tsv"
	sed 's/^/      /' "$work/last.log"
	ours=$(for _ in 1 2 3 4 5; do spent env XDG_DATA_HOME="$work/data" "$work/svc" cve-scan --root "$work/el8" --advisories "$work/alma.feed" --json; done | sort -n | head -n 1)
	echo "      ms of processor, ms of wall, KiB: svc $ours; osv-scanner $theirs"
	read -r cpu wall memory <<<"$ours"
	read -r their_cpu their_wall _ <<<"$theirs"
	at_least "times less processor time than osv-scanner" $((their_cpu / cpu)) 20
	at_least "times faster than osv-scanner" $((their_wall / wall)) 20
	at_most "KiB of memory" "$memory" 65536
}

# record ID CVE PACKAGE FIXED: an advisory of Debian 11.
record() {
	cat >"$work/debian/$1.json" <<-JSON
		{"id":"$1","modified":"$(date -u +%FT%TZ)","summary":"$3 - security update","upstream":["$2"],"schema_version":"1.7.0",
		 "severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H"}],
		 "affected":[{"package":{"ecosystem":"Debian:11","name":"$3"},"ranges":[{"type":"ECOSYSTEM","events":[{"introduced":"0"},{"fixed":"$4"}]}]}]}
	JSON
}

# debian compares a server of Debian 11, some of whose packages have another
# version than their source.
debian() {
	mkdir -p "$work/debian"
	record DSA-9001-1 CVE-2099-9001 openssl 1.1.1w-0+deb11u9
	record DSA-9002-1 CVE-2099-9002 lvm2 2.03.11-2.2
	record DSA-9003-1 CVE-2099-9003 util-linux 2.36.1-8+deb11u9
	record DSA-9004-1 CVE-2099-9004 apache2 2.4.10-1
	database Debian "$work/debian"
	exits "a feed is built of a folder" 0 svc admin advisories build --osv "$work/debian" --out "$work/debian.feed"
	exits "a server of Debian is scanned" 0 svc cve-scan --root fixtures/hosts/debian-11-web --advisories "$work/debian.feed" --json
	cp "$work/out" "$work/ours.json"
	image fixtures/hosts/debian-11-web "$work/debian.tar"
	osv_scanner "$work/debian.tar" "$work/theirs.json" >/dev/null
	packages fixtures/hosts/debian-11-web >"$work/packages.tsv"
	check "every difference from osv-scanner on Debian 11 has a reason" explain "$work/ours.json" "$work/theirs.json" "$work/debian" "$work/packages.tsv"
	sed 's/^/      /' "$work/last.log"
}

scan() { svc cve-scan --root fixtures/hosts/debian-11-web --advisories "$work/debian.feed" "$@"; }

# codes are those of the contract.
codes() {
	exits "what is grave enough is exit 6" 6 scan --fail-on high
	exits "what is not is exit 0" 0 scan --fail-on critical
	exits "a threshold that nobody knows is exit 2" 2 scan --fail-on terrible
	exits "a threshold and nothing to compare with is exit 7" 7 svc cve-scan --root fixtures/hosts/debian-11-web --advisories "$work/nothing.feed" --fail-on low
	exits "nothing to compare with is said, with exit 7" 7 svc cve-scan --root fixtures/hosts/debian-11-web --advisories "$work/nothing.feed"
	check "on both streams" sh -c "grep -q 'NOT COMPARED' '$work/out' && grep -q 'NOTHING WAS COMPARED' '$work/err'"
}

# documents are held against the schemas of their formats, which two libraries
# carry.
documents() {
	local sarif cyclonedx
	sarif=$(go mod download -json github.com/owenrumney/go-sarif/v3@v3.3.1 | python3 -c 'import json,sys; print(json.load(sys.stdin)["Dir"])')
	cyclonedx=$(go mod download -json github.com/CycloneDX/cyclonedx-go@v0.12.0 | python3 -c 'import json,sys; print(json.load(sys.stdin)["Dir"])')
	# shellcheck disable=SC2016
	sed -n '/^const schema = `/,/^`/p' "$sarif/pkg/report/v210/sarif/schema.go" | sed -e '1s/^const schema = `//' -e '$d' >"$work/sarif.json"
	svc cve-scan --root "$1" --advisories "$2" --format sarif >"$work/scan.sarif" 2>/dev/null
	svc cve-scan --root "$1" --advisories "$2" --format cyclonedx-vex >"$work/scan.vex" 2>/dev/null
	check "SARIF is valid by its schema ($3)" valid "$work/sarif.json" "$work/scan.sarif"
	check "CycloneDX VEX is valid by its schema ($3)" valid "$cyclonedx/schema/bom-1.6.schema.json" "$work/scan.vex"
}

valid() { # schema document
	python3 -W ignore - "$1" "$2" <<-'PY'
		import json, pathlib, sys
		import jsonschema
		schema = json.load(open(sys.argv[1]))
		store = {}
		for f in pathlib.Path(sys.argv[1]).parent.glob("*.schema*.json"):
		    try:
		        d = json.loads(f.read_text())
		    except ValueError:
		        continue
		    store[d.get("$id", f.name)] = d
		    store["http://cyclonedx.org/schema/" + f.name.replace(".schemax.", ".schema.")] = d
		kind = jsonschema.validators.validator_for(schema)
		kind.check_schema(schema)
		document = json.load(open(sys.argv[2]))
		validator = kind(schema, resolver=jsonschema.RefResolver(schema.get("$id", schema.get("id", "")), schema, store=store))
		errors = [f"{list(e.absolute_path)}: {e.message[:300]}" for e in validator.iter_errors(document)]
		print(*errors[:5], sep="\n")
		assert not errors
		document["version"] = []
		assert list(validator.iter_errors(document)), "the schema takes anything"
	PY
}

# address builds from a URL that the loopback interface serves.
address() {
	mkdir -p "$work/www"
	cp "$work/db/osv-scalibr/Debian/all.zip" "$work/www/all.zip"
	touch -d "1 hour ago" "$work/www/all.zip" # the server tells its age in seconds
	python3 -u -m http.server --bind 127.0.0.1 --directory "$work/www" 0 >"$work/www.log" 2>&1 &
	pids+=($!)
	eventually "a server serves" grep -q 'Serving HTTP' "$work/www.log"
	local url
	url=http://127.0.0.1:$(sed -n 's/.*port \([0-9]*\).*/\1/p' "$work/www.log")/all.zip
	exits "a feed is built of a URL" 0 svc admin advisories build --osv "$url" --out "$work/url.feed"
	exits "and again" 0 svc admin advisories build --osv "$url" --out "$work/url.feed"
	check "without another download" grep -q '" 304 ' "$work/www.log"
	sha256sum <"$work/url.feed" >"$work/before"
	head -c 300 "$work/db/osv-scalibr/Debian/all.zip" >"$work/www/all.zip"
	exits "a broken archive is an error" 1 svc admin advisories build --osv "$url" --out "$work/url.feed"
	exits "so is another digest than asked for" 1 svc admin advisories build --osv "$url#sha256=$(printf '0%.0s' $(seq 64))" --out "$work/url.feed"
	check "the feed is as it was" sh -c "sha256sum <'$work/url.feed' | cmp - '$work/before'"
}

ask() {
	curl -sf -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$server/v1/cve-scan" -d \
		'{"vm_fingerprint":"'"$(printf 'a%.0s' $(seq 64))"'","release":"debian-11","packages":[{"name":"openssl","version":"1.1.1w-0+deb11u1"}]}'
}
has() { ask | grep -q "$1"; }

# reload has a running service take newer feeds, and leave broken ones.
reload() {
	local db=sqlite:$work/serve.db account
	account=$(svc admin account create --db "$db" --name e2e --plan internal --unlimited --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["account_id"])')
	token=$(svc admin token create --db "$db" --account "$account" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["token"])')
	# Not the function svc: what ends that would leave the program running.
	XDG_CONFIG_HOME=$work/config "$work/svc" serve --listen 127.0.0.1:0 --db "$db" --advisories "$work/live.feed" --signing-key "$work/key.pem" >/dev/null 2>"$work/serve.log" &
	pids+=($!)
	eventually "the service serves" grep -q '"addr"' "$work/serve.log"
	server=http://$(sed -n 's/.*"addr":"\([^"]*\)".*/\1/p' "$work/serve.log" | head -n 1)
	check "a service without advisories says so" grep -q 'there are no advisories' "$work/serve.log"
	check "to who asks, too" has '"loaded":false'
	cp "$work/debian.feed" "$work/live.new" && mv "$work/live.new" "$work/live.feed"
	eventually "it takes a feed that comes later" has DSA-9001-1
	head -c 300 "$work/debian.feed" >"$work/live.feed" # into the very file
	eventually "a half-written one is said" grep -q "can't be used" "$work/serve.log"
	check "and the one before stays" has DSA-9001-1
	record DSA-9005-1 CVE-2099-9005 openssl 1.1.1w-0+deb11u8
	svc admin advisories build --osv "$work/debian" --out "$work/live.feed" >/dev/null 2>&1
	eventually "a newer one is taken without a restart" has DSA-9005-1
}

install
alma
debian
codes
documents fixtures/hosts/debian-11-web "$work/debian.feed" "Debian 11"
[ ! -f "$work/alma.feed" ] || documents "$work/el8" "$work/alma.feed" "EL 8"
address
reload
finish
