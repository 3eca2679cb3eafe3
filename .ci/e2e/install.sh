#!/usr/bin/env bash
# Installs what the end-to-end test needs, where it is not there yet.
set -euo pipefail

missing() {
	local tool
	for tool in debootstrap ansible-playbook ansible-lint shellcheck lz4 gcc; do
		command -v "$tool" >/dev/null || return 0
	done
	return 1
}

if missing; then
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		debootstrap ansible ansible-lint shellcheck lz4 gcc libc6-dev ca-certificates >/dev/null
fi
