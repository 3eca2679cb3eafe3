#!/usr/bin/env bash
# Installs what most of the end-to-end scripts need, where it is not there yet.
set -euo pipefail
cd "$(dirname "$0")"
# shellcheck source=.ci/e2e/checks.sh
. ./checks.sh

needs curl:curl debootstrap:debootstrap debootstrap:ca-certificates ansible-playbook:ansible ansible-lint:ansible-lint \
	shellcheck:shellcheck chromium:chromium jq:jq lz4:lz4 gcc:gcc gcc:libc6-dev
