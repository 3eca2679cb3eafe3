#!/usr/bin/env bash
# Looks whether the move can be made, and works out which id of the target each
# id of the source becomes. Changes nothing but the folder STATE.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=accounts.sh
. "$plan/accounts.sh"

programs() {
	local program
	for program in rsync find sort awk sha256sum xargs flock realpath df; do
		command -v "$program" >/dev/null || die "The target has no $program: install it. Nothing was done."
	done
}

# id_of FILE NAME: the number that an account of the target has.
id_of() {
	awk -F: -v name="$2" '$1 == name { print $3; found = 1; exit } END { exit !found }' "$TARGET_ROOT/etc/$1"
}

# map FILE OUT: what becomes of the ids in IDS, of accounts TO on the target.
map() {
	local i id missing=()
	: >"$2.part"
	for i in "${!IDS[@]}"; do
		if [ -z "${ACCOUNTS[i]}" ]; then
			printf '%s %s\n' "${IDS[i]}" "${IDS[i]}" >>"$2.part"
		elif id=$(id_of "$1" "${ACCOUNTS[i]}"); then
			printf '%s %s\n' "${IDS[i]}" "$id" >>"$2.part"
		else
			missing+=("${ACCOUNTS[i]}")
		fi
	done
	[ ${#missing[@]} = 0 ] || die "The target has no $(printf '%q ' "${missing[@]}")in /etc/$1, and data belong to them. The migration's role makes the people's: apply it first. Then 05-accounts.sh makes those that are left. Nothing was done."
	mv -- "$2.part" "$2"
}

# room adds up what each file system of the target is to take.
declare -A need
room() {
	local at=$TO
	while [ ! -e "$at" ]; do at=$(dirname -- "$at"); done
	at=$(df --output=target -- "$at" | tail -n 1)
	need[$at]=$((${need[$at]:-0} + BYTES))
}

there() { on_source exists "$FROM" || die "The source has no $SOURCE_ROOT$SHOWN, or can't be reached. Nothing was done."; }

# readable: files that one server alone reads need it on the target.
readable() {
	local reader bin
	[ ${#READERS[@]} -gt 0 ] || return 0
	for reader in "${READERS[@]}"; do
		for bin in usr/bin usr/sbin usr/local/bin usr/local/sbin; do
			[ ! -x "$TARGET_ROOT/$bin/$reader" ] || return 0
		done
	done
	die "The target has no ${READERS[*]}, and nothing else reads $SHOWN. Install it, or move these data by another way: svc db plan. Nothing was done."
}

# announce: what the copy will stop.
announce() {
	local units
	units=$(workers | awk '$2 != "-" { print $2 }' | sort -u | paste -sd' ')
	[ -z "$units" ] || say "$SHOWN: the copy will stop $units on the target, until it was compared"
}

begin
programs
IDS=("${USER_IDS[@]}") ACCOUNTS=("${USER_ACCOUNTS[@]}")
map passwd "$STATE/users.map"
IDS=("${GROUP_IDS[@]}") ACCOUNTS=("${GROUP_ACCOUNTS[@]}")
map group "$STATE/groups.map"
each_place there
each_place readable
each_place room
each_place announce
calling=$(callers | paste -sd' ')
[ -z "$calling" ] || say "The copy will stop $calling on the target, until all was compared: what they call may write at any time"
for at in "${!need[@]}"; do
	free=$(($(df --output=avail -B1 -- "$at" | tail -n 1)))
	[ "$free" -gt "${need[$at]}" ] || die "$(printf %q "$at") has $free bytes free, and ${need[$at]} are to come. Nothing was done."
done
say "The move can be made. Next: 20-first-copy.sh while the source still runs, or 30-before.sh once it is quiet."
