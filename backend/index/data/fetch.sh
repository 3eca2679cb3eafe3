#!/usr/bin/env bash
# Fetches what the embedded index is built from: Packages and Contents of the
# Debian suites, by apt with folders of its own, from the mirror that this
# machine's apt is set up for, signatures checked.
#
#   fetch.sh DIR    leaves DIR/debian-12/{main,…}/{Packages,Contents-amd64,Contents-all}.lz4
set -euo pipefail

mirror() {
	apt-get indextargets --format '$(REPO_URI) $(SITE)' 'Created-By: Packages' |
		awk '/\/debian\/? /{print $1; exit}'
}

keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# contents_options makes apt fetch Contents files too.
contents_options() {
	local arch
	for arch in amd64 all; do
		printf '%s\n' \
			"Acquire::IndexTargets::deb::Contents-$arch::MetaKey \"\$(COMPONENT)/Contents-$arch\";" \
			"Acquire::IndexTargets::deb::Contents-$arch::ShortDescription \"Contents-$arch\";" \
			"Acquire::IndexTargets::deb::Contents-$arch::Description \"Contents of $arch\";"
	done
}

fetch() { # release suite components…
	local release=$1 suite=$2 work
	shift 2
	work=$out/.apt/$release
	mkdir -p "$work"/{lists/partial,cache/archives/partial,etc/preferences.d,etc/apt.conf.d}
	echo "deb [arch=amd64 signed-by=$keyring] $uri $suite $*" >"$work/sources.list"
	{
		contents_options
		cat <<-CONF
			Dir::Etc::sourcelist "$work/sources.list";
			Dir::Etc::sourceparts "-";
			Dir::Etc::parts "$work/etc/apt.conf.d";
			Dir::Etc::preferencesparts "$work/etc/preferences.d";
			Dir::State::lists "$work/lists";
			Dir::Cache "$work/cache";
			APT::Architecture "amd64";
			APT::Architectures "amd64";
			Acquire::Languages "none";
			Acquire::GzipIndexes "true";
			Acquire::CompressionTypes::Order:: "xz";
			Acquire::Check-Valid-Until "false";
			Debug::NoLocking "true";
		CONF
	} >"$work/apt.conf"
	APT_CONFIG=$work/apt.conf apt-get update -qq
	local component kind file
	for component in "$@"; do
		mkdir -p "$out/$release/$component"
		for kind in Packages Contents-amd64 Contents-all; do
			file=$(find "$work/lists" -maxdepth 1 -type f \( -name "*_${component}_binary-amd64_$kind*" -o -name "*_${component}_$kind*" \) | head -n 1)
			[ -z "$file" ] || ln -f "$file" "$out/$release/$component/$kind.${file##*.}"
		done
	done
}

main() {
	out=$(realpath -m "${1:?a folder to fetch into}")
	mkdir -p "$out"
	uri=$(mirror)
	[ -n "$uri" ] || { echo "apt knows no Debian mirror" >&2; exit 1; }
	fetch debian-11 bullseye main contrib non-free
	fetch debian-12 bookworm main contrib non-free non-free-firmware
	fetch debian-13 trixie main contrib non-free non-free-firmware
	fetch debian-14 forky main contrib non-free non-free-firmware
}

main "$@"
