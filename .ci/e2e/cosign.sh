#!/usr/bin/env bash
# Proves a verification's folder with programs that know nothing of svc: the
# README's own recipe, as it stands there; and has it refuse what was changed.
# Usage: cosign.sh WORK CACHE, where WORK has parity/ and data/svc/keys/.
set -euo pipefail

work=$1 cache=$2/cosign version=v2.6.5
readme=$(cd "$(dirname "$0")/../.." && pwd)/README.md

if [ ! -x "$cache/cosign" ] || [ "$(cat "$cache/version" 2>/dev/null)" != "$version" ]; then
	mkdir -p "$cache"
	# It is built from source: that takes some minutes, once.
	GOBIN=$cache GOFLAGS=-mod=mod go install "github.com/sigstore/cosign/v2/cmd/cosign@$version"
	echo "$version" >"$cache/version"
fi
export PATH=$cache:$PATH KEY=$work/data/svc/keys/embedded.pem

# The recipe is the first block of shell below its heading.
awk '/^### Proof without svc/ { here = 1 } here && /^```$/ { exit } block { print } here && /^```sh$/ { block = 1 }' "$readme" >"$work/recipe.sh"
[ -s "$work/recipe.sh" ]

# proves runs the recipe in a folder; what was added it prints as lines that are no
# JSON.
proves() { # FOLDER
	(cd "$1" && bash -e "$work/recipe.sh") >"$work/said" || return
	jq -e .vm_fingerprint "$work/said" >/dev/null
}

# refused makes a copy of the folder, changes it, and has the recipe refuse it.
refused() { # WHAT COMMAND…
	local what=$1
	shift
	rm -rf "$work/copy" && cp -a "$work/parity" "$work/copy"
	(cd "$work/copy" && "$@")
	if proves "$work/copy" 2>/dev/null; then
		echo "the recipe took what was changed: $what"
		return 1
	fi
}

tampered() { # changes the predicate in the payload
	jq -c '.payload |= (@base64d | fromjson | .predicate.parity |= not | tojson | @base64)' attestation.dsse.json >changed && mv changed attestation.dsse.json
}

proves "$work/parity"
refused "a file" bash -c 'echo >>parity.json'
refused "a file that is gone" rm assessment.json
refused "a file that was added" touch ansible.cfg
refused "the manifest" sed -i 1d manifest.sha256
refused "the salt" sed -i 'y/0123456789abcdef/123456789abcdef0/' manifest.salt
refused "the predicate" tampered
openssl genpkey -algorithm ed25519 2>/dev/null | openssl pkey -pubout >"$work/other.pem"
KEY=$work/other.pem refused "the key" true
