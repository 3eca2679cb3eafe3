#!/usr/bin/env bash
# Has cosign, a program that knows nothing of svc, verify a parity attestation by
# the service's public key, and refuse it once anything of it was changed.
# Usage: cosign.sh WORK CACHE, where WORK has parity/ and data/svc/keys/.
set -euo pipefail

work=$1 cache=$2/cosign version=v2.6.5
attestation=$work/parity/attestation.dsse.json
key=$work/data/svc/keys/embedded.pem

if [ ! -x "$cache/cosign" ] || [ "$(cat "$cache/version" 2>/dev/null)" != "$version" ]; then
	mkdir -p "$cache"
	# It is built from source: that takes some minutes, once.
	GOBIN=$cache GOFLAGS=-mod=mod go install "github.com/sigstore/cosign/v2/cmd/cosign@$version"
	echo "$version" >"$cache/version"
fi

verify() { # KEY ATTESTATION TYPE FILE
	"$cache/cosign" verify-blob-attestation --insecure-ignore-tlog=true --key "$1" --signature "$2" --type "$3" "$4"
}

refused() {
	if verify "$@"; then
		echo "cosign took what was changed: $*"
		return 1
	fi
}

type=urn:svc:predicate:parity:v1
verify "$key" "$attestation" "$type" "$work/parity/parity.json"
verify "$key" "$attestation" "$type" "$work/parity/assessment.json"

echo changed | cat "$work/parity/parity.json" - >"$work/changed.json"
refused "$key" "$attestation" "$type" "$work/changed.json"
refused "$key" "$attestation" "urn:svc:predicate:migration:v1" "$work/parity/parity.json"
openssl genpkey -algorithm ed25519 2>/dev/null | openssl pkey -pubout >"$work/other.pem"
refused "$work/other.pem" "$attestation" "$type" "$work/parity/parity.json"
python3 - "$attestation" "$work/payload.json" <<'PY'
import base64, json, sys
e = json.load(open(sys.argv[1]))
p = json.loads(base64.b64decode(e["payload"]))
p["predicate"]["parity"] = not p["predicate"]["parity"]
e["payload"] = base64.b64encode(json.dumps(p).encode()).decode()
json.dump(e, open(sys.argv[2], "w"))
PY
refused "$key" "$work/payload.json" "$type" "$work/parity/parity.json"
